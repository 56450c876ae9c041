//! A decoded instruction, and what its function is given.

use warpsim_ptx::isa::{BoolOp, Space};
use warpsim_ptx::kernel::Instr;

use super::regs::{Dst, PredSrc, Regs, Src, Width};
use super::temps::{Drain, Fill};
use crate::fault::Fault;
use crate::grid::Grid;
use crate::memory::local::LocalMemory;
use crate::memory::store_buffer::GlobalView;
use crate::state::{Effect, LANES, Lanes, Threads};

/// Function of an instruction that touches only registers. Unsafe to call because some
/// versions need CPU features; decoding picks those only where the host has them.
pub(crate) type AluFn = unsafe fn(&Decoded, &mut Regs<'_>);

/// Function of an instruction that does more than change registers.
pub(crate) type FullFn = fn(&Decoded, &mut Regs<'_>, &mut World<'_, '_>) -> Result<(), Fault>;

/// Function that does a load or store for all lanes at once; `false` where that does not apply,
/// with no register and no memory changed.
pub(crate) type AllLanesFn = fn(&Decoded, &mut Regs<'_>, &mut Reach<'_, '_>) -> bool;

/// What a load or store for all lanes at once can reach, and where it says what it did.
pub(crate) struct Reach<'a, 'm> {
    /// Shared memory of the block that all lanes belong to.
    pub shared: &'a mut [u8],
    /// Local memory of the warp that all lanes belong to, if it is one.
    pub local: Option<&'a mut LocalMemory<LANES>>,
    pub params: &'a [u8],
    pub memory: &'a mut GlobalView<'m>,
    pub effect: &'a mut Effect,
}

/// What executes an instruction.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// Registers only.
    Alu(AluFn),
    /// Memory, other threads, control.
    Full(FullFn),
    /// A load or store: for all lanes at once, and lane by lane where that does not apply.
    Access {
        all_lanes: AllLanesFn,
        by_lane: FullFn,
    },
    /// A branch: nothing but the guard matters.
    Branch,
}

/// How a family wants an instruction executed.
pub(crate) struct Plan {
    pub action: Action,
    pub src: [Width; SOURCES],
    pub dst: [Width; RESULTS],
    /// Takes any number of operands: the width of those behind the first `SOURCES`, and of all
    /// results. They are in [`Cold::sources`] and [`Cold::results`].
    pub many: Option<Width>,
}

pub(crate) const SOURCES: usize = 5;
pub(crate) const RESULTS: usize = 4;

impl Plan {
    pub fn new(action: Action, src: &[Width], dst: &[Width]) -> Plan {
        let mut plan = Plan {
            action,
            src: [Width::None; SOURCES],
            dst: [Width::None; RESULTS],
            many: None,
        };
        plan.src[..src.len()].copy_from_slice(src);
        plan.dst[..dst.len()].copy_from_slice(dst);
        plan
    }
    /// An instruction that only changes registers.
    pub fn alu(f: AluFn, src: &[Width], dst: &[Width]) -> Plan {
        Plan::new(Action::Alu(f), src, dst)
    }
    /// An instruction with any number of operands; the first ones have widths of their own.
    pub fn many(f: FullFn, first: &[Width], width: Width) -> Plan {
        let mut plan = Plan::new(Action::Full(f), &[width; SOURCES], &[width; RESULTS]);
        plan.src[..first.len()].copy_from_slice(first);
        plan.many = Some(width);
        plan
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
pub(crate) struct Decoded {
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
pub(crate) struct Cold {
    pub instr: Instr,
    pub fills: Vec<Fill>,
    pub drains: Vec<Drain>,
    /// Word ranges of registers read and written, for gathered groups.
    pub reads: Vec<(u32, u32)>,
    pub writes: Vec<(u32, u32)>,
    pub predicate_reads: Vec<u32>,
    pub predicate_writes: Vec<u32>,
    /// All sources and results of an instruction that takes any number.
    pub sources: Vec<Src>,
    pub results: Vec<Dst>,
}

/// What an instruction that does more than change registers may touch. The registers of the
/// group are not here but in its [`Regs`].
pub(crate) struct World<'a, 'm> {
    pub lanes: &'a Lanes,
    pub threads: &'a mut Threads,
    pub grid: &'a Grid,
    pub memory: &'a mut GlobalView<'m>,
    pub effect: &'a mut Effect,
    pub cold: &'a Cold,
    pub active: u32,
}
