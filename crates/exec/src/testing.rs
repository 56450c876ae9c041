//! Helpers for tests: kernels built by hand.

use warpsim_ptx::isa::{Mods, Op, Type};
use warpsim_ptx::kernel::{Instr, Kernel, Likely, NO_PC, Operand, RegClass, RegId, Register};

use super::code::Code;
use super::grid::Grid;
use super::memory::image::GlobalMemory;
use super::memory::store_buffer::GlobalView;
use super::state::{Effect, HomeBlock, HomeWarp, LANES, Lanes, Moment, Threads};

/// Register numbers of the test kernel: 8 narrow, 8 wide, 4 predicates.
pub fn n(k: u16) -> Operand {
    Operand::Reg(RegId(k))
}
pub fn w(k: u16) -> Operand {
    Operand::Reg(RegId(8 + k))
}
pub fn p(k: u16) -> Operand {
    Operand::Reg(RegId(16 + k))
}

/// Modifiers with one type.
pub fn mods(ty: Type) -> Mods {
    Mods {
        types: [Some(ty), None, None],
        ..Mods::default()
    }
}

/// An instruction without guard.
pub fn instr(op: Op, mods: Mods, dst: &[Operand], src: &[Operand]) -> Instr {
    Instr {
        op,
        mods,
        guard: None,
        dst: dst.into(),
        src: src.into(),
        target: NO_PC,
        reconverge: NO_PC,
        likely: Likely::NOWHERE,
        uniform: false,
        intrinsic: None,
        line: 1,
        source: None,
    }
}

/// A kernel of these instructions.
pub fn kernel(code: Vec<Instr>) -> Kernel {
    let mut registers = Vec::new();
    for k in 0..8u32 {
        registers.push((RegClass::B32, Type::B32, k));
    }
    for k in 0..8u32 {
        registers.push((RegClass::B64, Type::B64, 8 + 2 * k));
    }
    for k in 0..4u32 {
        registers.push((RegClass::Pred, Type::Pred, k));
    }
    Kernel {
        files: Default::default(),
        name: "test".into(),
        params: Vec::new(),
        param_bytes: 0,
        code,
        registers: registers
            .into_iter()
            .enumerate()
            .map(|(number, (class, ty, slot))| Register {
                name: format!("%r{number}"),
                number: number as u32,
                class,
                ty,
                slot,
            })
            .collect(),
        rows: 24,
        predicate_slots: 4,
        register_demand: 24,
        register_floor: 24,
        shared_bytes: 0,
        dynamic_shared: None,
        local_bytes: 16,
        spill_base: None,
        bounds: Default::default(),
        blocks: Vec::new(),
        rolled: Vec::new(),
        crossings: Default::default(),
        virtualised: Default::default(),
        undefined: Vec::new(),
    }
}

/// A machine with two warps of one block and 256 bytes of shared memory.
pub struct Bench {
    pub threads: Threads,
    pub grid: Grid,
    pub image: GlobalMemory,
    pub prints: Vec<u8>,
    pub effect: Effect,
}

impl Bench {
    pub fn new() -> Bench {
        let grid = Grid {
            grid: [2, 1, 1],
            block: [64, 1, 1],
            total_shared: 256,
            sms: 1,
            warps_per_sm: 48,
            ..Grid::default()
        };
        let code = Code::new(&kernel(Vec::new()), &[]).unwrap();
        let mut threads = Threads::default();
        for k in 0..2 {
            let mut warp = HomeWarp::default();
            warp.reset(&code, &grid, 0, k);
            threads.warps.push(warp);
        }
        let mut block = HomeBlock::default();
        block.reset(&grid, 1);
        threads.blocks.push(block);
        Bench {
            threads,
            grid,
            image: GlobalMemory::new(),
            prints: Vec::new(),
            effect: Effect::default(),
        }
    }

    pub fn set(&mut self, reg: Operand, lane: usize, value: u64) {
        let Operand::Reg(reg) = reg else {
            panic!("register")
        };
        let code = Code::new(&kernel(Vec::new()), &[]).unwrap();
        for home in 0..2 {
            code.write_register(&Lanes::Static(home), reg, lane, value, &mut self.threads);
        }
    }

    pub fn get(&self, reg: Operand, lane: usize) -> u64 {
        let Operand::Reg(RegId(k)) = reg else {
            panic!("register")
        };
        let warp = &self.threads.warps[0];
        let k = usize::from(k);
        match k {
            0..8 => u64::from(warp.rows[k * LANES + lane]),
            8..16 => {
                let at = (8 + 2 * (k - 8)) * LANES + 2 * lane;
                u64::from(warp.rows[at]) | u64::from(warp.rows[at + 1]) << 32
            }
            _ => u64::from(warp.predicates[k - 16] >> lane & 1),
        }
    }

    /// Executes one instruction on warp 0.
    pub fn step(&mut self, i: Instr, active: u32) -> Result<(), super::fault::Fault> {
        self.step_on(i, &Lanes::Static(0), active)
    }

    pub fn step_on(
        &mut self,
        i: Instr,
        lanes: &Lanes,
        active: u32,
    ) -> Result<(), super::fault::Fault> {
        let code = Code::new(&kernel(vec![i]), &[]).unwrap_or_else(|e| panic!("{e}"));
        let mut view = GlobalView::direct(&mut self.image, &mut self.prints);
        let now = Moment {
            cycle: 77,
            core_mhz: 1000,
            sm: 3,
        };
        code.step(
            0,
            lanes,
            active,
            &mut self.threads,
            &self.grid,
            &mut view,
            now,
            &mut self.effect,
        )
    }
}

/// The result of an operation with these source values in every lane; sources are narrow or
/// wide as `src` says.
pub fn eval(op: Op, mods: Mods, dst: Operand, src: &[(Operand, u64)]) -> u64 {
    let mut bench = Bench::new();
    for (reg, value) in src {
        for lane in 0..LANES {
            bench.set(*reg, lane, *value);
        }
    }
    let sources: Vec<Operand> = src.iter().map(|s| s.0).collect();
    bench
        .step(instr(op, mods, &[dst], &sources), u32::MAX)
        .unwrap();
    let first = bench.get(dst, 0);
    for lane in 1..LANES {
        assert_eq!(bench.get(dst, lane), first, "lanes differ");
    }
    first
}
