//! A kernel decoded for execution: operands resolved to rows, a function for each instruction.

use warpsim_ptx::isa::{BoolOp, Space};
use warpsim_ptx::kernel::{Instr, Kernel, Pc, RegClass, RegId};

use super::decode::Decoder;
use super::fault::{Fault, LoadError};
use super::grid::Grid;
use super::regs::{AluFn, Dst, PredSrc, Regs, Src, Width};
use super::state::{Effect, LANES, Lanes, Threads};
use super::temps::{Drain, Fill};
use super::whole::WholeFn;
use crate::memory::store_buffer::GlobalView;

/// Function of an instruction that does more than change registers.
pub(super) type FullFn = fn(&Decoded, &mut Regs<'_>, &mut World<'_, '_>) -> Result<(), Fault>;

/// What executes an instruction.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// Registers only.
    Alu(AluFn),
    /// Memory, other threads, control.
    Full(FullFn),
    /// A load or store: the short way for one home warp, and the long way where that does not
    /// apply.
    Access { whole: WholeFn, lanes: FullFn },
    /// A branch: nothing but the guard matters.
    Branch,
}

/// How a family wants an instruction executed.
pub(super) struct Plan {
    pub action: Action,
    pub src: [Width; SOURCES],
    pub dst: [Width; RESULTS],
}

pub(super) const SOURCES: usize = 5;
pub(super) const RESULTS: usize = 4;

impl Plan {
    pub fn new(action: Action, src: &[Width], dst: &[Width]) -> Plan {
        let mut plan = Plan {
            action,
            src: [Width::None; SOURCES],
            dst: [Width::None; RESULTS],
        };
        plan.src[..src.len()].copy_from_slice(src);
        plan.dst[..dst.len()].copy_from_slice(dst);
        plan
    }
    /// An instruction that only changes registers.
    pub fn alu(f: AluFn, src: &[Width], dst: &[Width]) -> Plan {
        Plan::new(Action::Alu(f), src, dst)
    }
    /// A branch.
    pub fn branch() -> Plan {
        Plan::new(Action::Branch, &[], &[])
    }
    /// Any other instruction.
    pub fn full(f: FullFn, src: &[Width], dst: &[Width]) -> Plan {
        Plan::new(Action::Full(f), src, dst)
    }
}

/// An instruction ready to execute. In this order, what most instructions need of it is in two
/// lines of the host's cache.
#[repr(C, align(64))]
pub(super) struct Decoded {
    pub action: Action,
    pub guard: PredSrc,
    /// Temporary rows it needs; those instructions take the slower way.
    pub temps: u8,
    /// The first source is an address whose base has 64 bits.
    pub wide_address: bool,
    /// The space of an access.
    pub space: Space,
    /// How a comparison is combined with the predicate source.
    pub boolop: Option<BoolOp>,
    /// What `set` writes for true; 0 for all others.
    pub truth: u32,
    /// Offset of an address.
    pub offset: i64,
    pub src: [Src; SOURCES],
    pub dst: [Dst; RESULTS],
    /// Predicate sources in order.
    pub preds: [PredSrc; 2],
    /// Predicate destinations in order.
    pub pdst: [u32; 2],
}

impl Decoded {
    /// A comparison's result combined with the predicate source.
    #[inline(always)]
    pub fn combine(&self, bits: u32, r: &Regs<'_>) -> u32 {
        match self.boolop {
            None | Some(BoolOp::Popc) => bits,
            Some(BoolOp::And) => bits & r.predicate(self.preds[0]),
            Some(BoolOp::Or) => bits | r.predicate(self.preds[0]),
            Some(BoolOp::Xor) => bits ^ r.predicate(self.preds[0]),
        }
    }
}

/// What only some instructions need.
pub(super) struct Cold {
    pub instr: Instr,
    pub fills: Vec<Fill>,
    pub drains: Vec<Drain>,
    /// Word ranges of registers read and written, for gathered groups.
    pub reads: Vec<(u32, u32)>,
    pub writes: Vec<(u32, u32)>,
    pub predicate_reads: Vec<u32>,
    pub predicate_writes: Vec<u32>,
}

/// What an instruction that does more than change registers may touch. The registers of the
/// group are not here but in its [`Regs`].
pub(super) struct World<'a, 'm> {
    pub lanes: &'a Lanes,
    pub threads: &'a mut Threads,
    pub grid: &'a Grid,
    pub memory: &'a mut GlobalView<'m>,
    pub effect: &'a mut Effect,
    pub cold: &'a Cold,
    pub code: &'a Code,
    pub active: u32,
}

/// A kernel ready to execute.
pub struct Code {
    pub(super) ops: Vec<Decoded>,
    pub(super) cold: Vec<Cold>,
    pub(super) pool: Vec<u32>,
    pub(super) registers: Vec<(u32, RegClass)>,
    pub(super) rows: u32,
    pub(super) predicate_slots: u32,
    local_bytes: u32,
}

impl Code {
    /// Decodes a kernel. `symbols` holds the address of each of the program's symbols.
    pub fn new(kernel: &Kernel, symbols: &[u64]) -> Result<Code, LoadError> {
        let mut code = Code {
            ops: Vec::with_capacity(kernel.code.len()),
            cold: Vec::with_capacity(kernel.code.len()),
            pool: Vec::new(),
            registers: kernel.registers.iter().map(|r| (r.slot, r.class)).collect(),
            rows: kernel.rows,
            predicate_slots: kernel.predicate_slots,
            local_bytes: kernel.local_bytes,
        };
        for r in &kernel.registers {
            let (end, limit) = match r.class {
                RegClass::Pred => (r.slot + 1, kernel.predicate_slots),
                RegClass::B32 => (r.slot + 1, kernel.rows),
                RegClass::B64 => (r.slot + 2, kernel.rows),
            };
            if end > limit {
                return Err(LoadError {
                    kernel: kernel.name.clone(),
                    pc: 0,
                    line: 0,
                    message: format!("register {} lies outside the register file", r.name),
                });
            }
        }
        for (pc, instr) in kernel.code.iter().enumerate() {
            let (decoded, cold) = Decoder {
                code: &mut code,
                kernel,
                symbols,
            }
            .decode(instr)
            .map_err(|message| LoadError {
                kernel: kernel.name.clone(),
                pc: pc as Pc,
                line: instr.line,
                message,
            })?;
            code.ops.push(decoded);
            code.cold.push(cold);
        }
        Ok(code)
    }

    /// 32-bit register rows a warp needs.
    pub fn rows(&self) -> u32 {
        self.rows
    }
    /// Predicate registers a warp needs.
    pub fn predicate_slots(&self) -> u32 {
        self.predicate_slots
    }
    /// Local memory of a thread in bytes.
    pub fn local_bytes(&self) -> u32 {
        self.local_bytes
    }
    /// The instruction as lowered.
    pub fn instr(&self, pc: Pc) -> &Instr {
        &self.cold[pc as usize].instr
    }
    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.ops.len()
    }
    /// No instruction at all (kernels always have some).
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    fn place(&self, reg: RegId) -> Option<(usize, RegClass)> {
        let &(slot, class) = self.registers.get(usize::from(reg.0))?;
        Some((slot as usize, class))
    }

    /// Writes a value to a register (or predicate) of the thread on `lane`.
    pub fn write_register(
        &self,
        lanes: &Lanes,
        reg: RegId,
        lane: usize,
        value: u64,
        threads: &mut Threads,
    ) {
        let warp = &mut threads.warps[usize::from(lanes.home(lane))];
        match self.place(reg) {
            Some((slot, RegClass::Pred)) => {
                let p = &mut warp.predicates[slot];
                *p = *p & !(1 << lane) | u32::from(value != 0) << lane;
            }
            Some((slot, RegClass::B32)) => warp.rows[slot * LANES + lane] = value as u32,
            Some((slot, RegClass::B64)) => {
                let at = slot * LANES + 2 * lane;
                warp.rows[at] = value as u32;
                warp.rows[at + 1] = (value >> 32) as u32;
            }
            None => {}
        }
    }
}
