//! Runs a kernel without timing.
//!
//! A few blocks are resident at a time and their warps take turns, so that kernels in which
//! blocks wait for one another end. Each warp has a reconvergence stack (taken side first);
//! atomics act at once in lane order; `%clock` counts warp instructions.

mod barrier;
mod fault;
mod races;
mod stack;
mod steps;
mod virtual_blocks;

pub use fault::{SimFault, StuckWarp};
pub use races::RaceCheck;
pub use steps::StepCheck;

use super::access::atomic;
use super::code::Code;
use super::fault::{Fault, FaultKind};
use super::grid::Grid;
use super::launch::warps_per_block;
use super::memory::image::GlobalMemory;
use super::memory::store_buffer::GlobalView;
use super::state::{Effect, EffectKind, HomeBlock, HomeWarp, Lanes, Moment, Threads, lanes_of};
use barrier::Gate;
use races::Who;
use stack::{Level, waiting_at};
use std::ops::ControlFlow;
use virtual_blocks::VirtualRun;
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::{Kernel, NO_PC, Pc};

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Give up after so many warp instructions.
    pub max_instructions: u64,
    /// Most blocks resident at a time. Few are at first, which is kinder to the host's caches;
    /// more join when none ends for a while, since those may wait for blocks that are not there.
    pub resident_blocks: usize,
    /// Warp instructions after which the next warp has its turn.
    pub turn: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_instructions: u64::MAX,
            resident_blocks: 16,
            turn: 256,
        }
    }
}

/// Blocks resident at first, and how many join when none ends.
const BLOCKS_AT_FIRST: usize = 16;
/// Rounds of turns without a block's end before more blocks join.
const PATIENCE: u32 = 64;

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionalStats {
    /// Instructions by warp.
    pub warp_instructions: u64,
    /// Instructions by thread (guards that were false left out).
    pub thread_instructions: u64,
}

/// A warp as the runner sees it.
#[derive(Clone, Debug, Default)]
struct Runner {
    stack: Vec<Level>,
    /// Instructions since it came, or went on to its block.
    instructions: u64,
    /// The barrier it waits at, and the instruction that says so.
    waiting: Option<(u8, Pc)>,
}

/// Who hears of a run.
pub struct Listeners<'a> {
    /// Called now and then: gets what threads have printed, takes it, and says whether to go on.
    pub hand_on: &'a mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
    /// Looks for races.
    pub races: Option<&'a mut RaceCheck>,
    /// Looks for threads that count on being in step.
    pub steps: Option<&'a mut StepCheck>,
}

/// Runs a kernel to its end.
pub fn run(
    code: &Code,
    kernel: &Kernel,
    grid: &Grid,
    image: &mut GlobalMemory,
    listeners: Listeners<'_>,
    options: Options,
) -> Result<FunctionalStats, SimFault> {
    if grid.threads() == 0 || grid.blocks() == 0 {
        return Err(SimFault::Launch(format!(
            "kernel {}: a launch of {:?} blocks of {:?} threads is empty",
            shown(&kernel.name),
            grid.grid,
            grid.block
        )));
    }
    if grid.threads() > 1024 {
        return Err(SimFault::Launch(format!(
            "kernel {}: {} threads per block are more than 1024",
            shown(&kernel.name),
            grid.threads()
        )));
    }
    let warps = warps_per_block(grid) as usize;
    // Warps are numbered in 16 bits.
    let resident = options
        .resident_blocks
        .clamp(1, usize::from(u16::MAX) / warps);
    let slots = resident.min(usize::try_from(grid.blocks()).unwrap_or(resident));
    let mut machine = Machine {
        code,
        kernel,
        grid,
        threads: Threads {
            warps: vec![HomeWarp::default(); slots * warps],
            blocks: vec![HomeBlock::default(); slots],
            ..Threads::default()
        },
        runners: vec![Runner::default(); slots * warps],
        gates: vec![std::array::from_fn(|_| Gate::default()); slots],
        virtual_run: VirtualRun::default(),
        warps,
        next_block: 0,
        stats: FunctionalStats::default(),
        limit: options.max_instructions,
        turn: options.turn.max(1),
        effect: Effect::default(),
        numbers: vec![0; slots],
        races: listeners.races,
        steps: listeners.steps,
    };
    if let Some(races) = &mut machine.races {
        races.begin();
    }
    if let Some(steps) = &mut machine.steps {
        steps.begin();
    }
    machine.prepare_virtual(slots);
    let mut prints = Vec::new();
    let mut view = GlobalView::direct(image, &mut prints);
    let result = machine.run(slots, &mut view, listeners.hand_on);
    // What was printed is handed on, however it ended.
    let _ = (listeners.hand_on)(&mut prints);
    result?;
    Ok(machine.stats)
}

struct Machine<'a> {
    code: &'a Code,
    kernel: &'a Kernel,
    grid: &'a Grid,
    threads: Threads,
    runners: Vec<Runner>,
    /// Two sets for each block: the second is for every other iteration of a virtual one.
    gates: Vec<[Gate; 32]>,
    virtual_run: VirtualRun,
    /// Warps per block.
    warps: usize,
    next_block: u64,
    stats: FunctionalStats,
    limit: u64,
    turn: u32,
    effect: Effect,
    /// The number of the block in each slot.
    numbers: Vec<u64>,
    races: Option<&'a mut RaceCheck>,
    steps: Option<&'a mut StepCheck>,
}

impl Machine<'_> {
    fn run(
        &mut self,
        slots: usize,
        view: &mut GlobalView<'_>,
        hand_on: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
    ) -> Result<(), SimFault> {
        let mut open = slots.min(BLOCKS_AT_FIRST);
        for slot in 0..open {
            self.start_block(slot);
        }
        let mut rounds = 0;
        loop {
            let mut progress = false;
            let mut alive = false;
            for slot in 0..open {
                for warp in slot * self.warps..(slot + 1) * self.warps {
                    progress |= self.run_warp(warp, view)?;
                }
                if hand_on(view.prints).is_break() {
                    return Err(SimFault::Stopped {
                        kernel: self.kernel.name.clone(),
                        instructions: self.stats.warp_instructions,
                    });
                }
                let done = self
                    .block_warps(slot)
                    .all(|w| self.runners[w].stack.is_empty());
                let start = done && self.next_block < self.grid.blocks();
                if start {
                    self.start_block(slot);
                    progress = true;
                    rounds = 0;
                }
                alive |= !done || start;
            }
            if !alive {
                return Ok(());
            }
            if !progress {
                return Err(self.deadlock());
            }
            rounds += 1;
            if rounds == PATIENCE {
                rounds = 0;
                let before = open;
                open = slots.min(open + BLOCKS_AT_FIRST);
                for slot in before..open {
                    if self.next_block < self.grid.blocks() {
                        self.start_block(slot);
                    }
                }
            }
        }
    }

    fn block_warps(&self, slot: usize) -> std::ops::Range<usize> {
        slot * self.warps..(slot + 1) * self.warps
    }

    fn start_block(&mut self, slot: usize) {
        let number = self.next_block;
        self.next_block += 1;
        self.numbers[slot] = number;
        self.threads.blocks[slot].reset(self.grid, number);
        self.begin_virtual(slot);
        self.gates[slot] = std::array::from_fn(|_| Gate::default());
        for (index, w) in self.block_warps(slot).enumerate() {
            let home = &mut self.threads.warps[w];
            home.reset(self.code, self.grid, slot as u16, index as u16);
            let runner = &mut self.runners[w];
            runner.waiting = None;
            runner.instructions = 0;
            runner.stack.clear();
            runner.stack.push(Level {
                pc: 0,
                reconverge: NO_PC,
                mask: home.live,
            });
        }
    }

    /// One turn of a warp; whether it did anything.
    fn run_warp(&mut self, warp: usize, view: &mut GlobalView<'_>) -> Result<bool, SimFault> {
        let lanes = Lanes::Static(warp as u16);
        let mut progress = false;
        for _ in 0..self.turn {
            if self.runners[warp].waiting.is_some() {
                break;
            }
            let Some(&Level { pc, mask, .. }) = self.runners[warp].stack.last() else {
                break;
            };
            if self.waits_for_siblings(warp, pc) {
                break;
            }
            if self.stats.warp_instructions >= self.limit {
                return Err(SimFault::Limit {
                    kernel: self.kernel.name.clone(),
                    instructions: self.limit,
                });
            }
            let now = Moment {
                cycle: self.stats.warp_instructions,
                core_mhz: 1000,
                sm: 0,
            };
            let mut effect = std::mem::take(&mut self.effect);
            let (code, grid) = (self.code, self.grid);
            let mut step = |threads: &mut Threads| {
                code.step(pc, &lanes, mask, threads, grid, view, now, &mut effect)?;
                Ok(matches!(effect.kind, EffectKind::Awaits))
            };
            let mut stepped = step(&mut self.threads);
            if let (Ok(true), Some(end)) = (&stepped, code.next_block()) {
                self.threads.warps[warp].done |= waiting_at(&self.runners[warp].stack, end);
                stepped = step(&mut self.threads);
            }
            let stepped = stepped.map(drop);
            if (self.races.is_some() || self.steps.is_some()) && stepped.is_ok() {
                self.look_for_races(warp, pc, mask, &effect, view);
            }
            let stepped = stepped.and_then(|()| self.settle(warp, pc, mask, &lanes, &effect, view));
            progress = true;
            self.stats.warp_instructions += 1;
            self.runners[warp].instructions += 1;
            self.stats.thread_instructions += u64::from(effect.executed.count_ones());
            self.effect = effect;
            if let Err(fault) = stepped {
                let mut report = fault.report(self.kernel, pc, &self.threads);
                report.name_argument(self.kernel, &self.grid.params, view.memory());
                return Err(SimFault::Thread(Box::new(report)));
            }
        }
        Ok(progress)
    }

    #[cold]
    fn look_for_races(
        &mut self,
        warp: usize,
        pc: Pc,
        mask: u32,
        effect: &Effect,
        view: &GlobalView<'_>,
    ) {
        let home = &self.threads.warps[warp];
        let who = Who {
            block: self.numbers[warp / self.warps],
            warp: home.index,
        };
        let live = home.live | mask;
        if let Some(races) = &mut self.races {
            races.executed(who, (pc, self.kernel), effect, live, view.memory());
        }
        if let Some(steps) = &mut self.steps {
            steps.executed(who, (pc, self.kernel), effect, view.memory());
        }
    }

    /// Acts on what an instruction did and moves the warp on.
    fn settle(
        &mut self,
        warp: usize,
        pc: Pc,
        mask: u32,
        lanes: &Lanes,
        effect: &Effect,
        view: &mut GlobalView<'_>,
    ) -> Result<(), Fault> {
        let mut next = pc + 1;
        match &effect.kind {
            EffectKind::Alu
            | EffectKind::Access(_)
            | EffectKind::Prefetch(_)
            | EffectKind::Fence
            | EffectKind::Copies(_)
            | EffectKind::Sleep { .. } => {}
            EffectKind::Branch { taken } => {
                let instr = self.code.instr(pc);
                let (target, reconverge) = (instr.target, instr.reconverge);
                if *taken == mask {
                    next = target;
                } else if *taken != 0 {
                    self.diverge(warp, pc, *taken, target, reconverge);
                    self.tidy(warp);
                    return Ok(());
                }
            }
            EffectKind::Exit => self.exit(warp, effect.executed),
            EffectKind::Atomic(a) => {
                for lane in lanes_of(effect.executed) {
                    let operands = [effect.operands[0][lane], effect.operands[1][lane]];
                    let address = effect.address[lane];
                    let Some(image) = view.memory_mut() else {
                        continue;
                    };
                    let old = atomic::apply(image, address, a, operands).map_err(|cause| {
                        let kind = FaultKind::Memory {
                            space: warpsim_ptx::isa::Space::Global,
                            address,
                            bytes: a.ty.bytes(),
                            store: true,
                            cause,
                        };
                        Fault::new(kind, lane, warp as u16)
                    })?;
                    self.code
                        .complete_atomic(lanes, a, lane, old, &mut self.threads);
                }
            }
            EffectKind::Barrier(b) => self.arrive(warp, pc, effect.executed, b),
            EffectKind::NextBlock(results) => self.next_block(warp, *results),
            // The missing threads are below in this warp's stack: they cannot come.
            EffectKind::Awaits => {
                let instr = self.code.instr(pc);
                return Err(Fault::missing_members(effect, lanes, &self.threads, instr));
            }
        }
        if let Some(top) = self.runners[warp].stack.last_mut()
            && top.pc == pc
        {
            top.pc = next;
        }
        self.tidy(warp);
        Ok(())
    }
}
