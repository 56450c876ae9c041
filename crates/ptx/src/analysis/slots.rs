//! Register slots: which rows of the simulated register file the virtual registers use.
//!
//! Registers that are never live together may share a slot. A warp that diverges runs both
//! sides of a branch one after the other, and a value that only the waiting lanes need is
//! not live on the side that runs now; it may still share a slot with one that is. That is
//! sound because slots are rows with a word for each lane and an instruction writes only
//! the words of its own active lanes: the waiting lanes keep theirs. What one thread can see
//! is therefore decided by that thread's own path alone, and liveness of a single thread is
//! all that interference needs to look at.
//!
//! Two things break that argument, and the allocation keeps clear of both:
//!
//! - A 64-bit register is stored as 32 whole values one after the other, so a lane's word
//!   of a 32-bit row is part of *another* lane's value in a 64-bit row. Rows are therefore
//!   never shared between the widths: 64-bit slots come first, 32-bit slots behind them.
//! - Writes that arrive late. An atomic on global memory is performed when it reaches the L2 and writes
//!   its destination then, while the scoreboard protects the *name* of the destination, not
//!   its slot. If that value is dead on some path, another register in the same slot could
//!   be written first and then be overwritten. Destinations of such
//!   atomics share with nobody.

use super::access::{reads, writes};
use super::liveness::{Liveness, RegSet};
use crate::isa::{Op, Space};
use crate::kernel::{Instr, Kernel, RegClass, RegId};

/// Where every register lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotPlan {
    /// Slot by register.
    pub slots: Vec<u32>,
    /// 32-bit rows in all.
    pub rows: u32,
    /// Predicate slots in all.
    pub predicates: u32,
}

/// Colours the interference graph greedily, class by class: each register gets the lowest
/// slot that none of its neighbours has.
pub fn assign_slots(kernel: &Kernel, live: &Liveness) -> SlotPlan {
    let count = kernel.registers.len();
    let graph = interference(kernel, live);
    let mut alone = RegSet::new(count);
    let late = |i: &&Instr| i.op == Op::Atom && i.mods.space != Some(Space::Shared);
    for instr in kernel.code.iter().filter(late) {
        for reg in writes(instr) {
            alone.insert(reg);
        }
    }
    let mut colours = vec![u32::MAX; count];
    let wide = colour(kernel, RegClass::B64, &graph, &alone, &mut colours);
    let narrow = colour(kernel, RegClass::B32, &graph, &alone, &mut colours);
    let predicates = colour(kernel, RegClass::Pred, &graph, &alone, &mut colours);
    let slots = colours
        .iter()
        .zip(&kernel.registers)
        .map(|(colour, register)| match register.class {
            RegClass::B64 => 2 * colour,
            RegClass::B32 => 2 * wide + colour,
            RegClass::Pred => *colour,
        })
        .collect();
    SlotPlan {
        slots,
        rows: 2 * wide + narrow,
        predicates,
    }
}

/// Gives every register of `class` a colour; says how many colours it took. Registers that
/// share with nobody come first, with a colour each that is then closed to the rest.
fn colour(
    kernel: &Kernel,
    class: RegClass,
    graph: &[RegSet],
    alone: &RegSet,
    colours: &mut [u32],
) -> u32 {
    let members = || {
        (0..kernel.registers.len() as u32)
            .map(|r| RegId(r as u16))
            .filter(|r| kernel.registers[r.0 as usize].class == class)
    };
    let mut used = 0;
    for reg in members().filter(|r| alone.contains(*r)) {
        colours[reg.0 as usize] = used;
        used += 1;
    }
    let closed = used;
    let mut taken: Vec<bool> = Vec::new();
    for reg in members().filter(|r| !alone.contains(*r)) {
        taken.clear();
        taken.resize((used - closed) as usize, false);
        for other in graph[reg.0 as usize].iter() {
            let colour = colours[other.0 as usize];
            let same = kernel.registers[other.0 as usize].class == class;
            if same && colour != u32::MAX && colour >= closed {
                taken[(colour - closed) as usize] = true;
            }
        }
        let free = taken.iter().position(|t| !t).unwrap_or(taken.len());
        colours[reg.0 as usize] = closed + free as u32;
        used = used.max(closed + free as u32 + 1);
    }
    used
}

/// Instructions that read other lanes' sources, or write several destinations: one lane's
/// (or element's) write must not touch what another has yet to read.
fn keeps_sources(instr: &Instr) -> bool {
    instr.dst.len() > 1 || matches!(instr.op, Op::Shfl | Op::Vote | Op::Match | Op::Redux)
}

/// For every register, those that are live (or written) while it is written. Registers
/// that are live on entry to the kernel (read before any write) meet each other there.
fn interference(kernel: &Kernel, live: &Liveness) -> Vec<RegSet> {
    let count = kernel.registers.len();
    let mut graph = vec![RegSet::new(count); count];
    let connect = |graph: &mut Vec<RegSet>, a: RegId, others: &RegSet| {
        graph[a.0 as usize].union_with(others);
    };
    for index in 0..kernel.blocks.len() {
        live.walk_back(kernel, index, |pc, after| {
            let instr = &kernel.code[pc as usize];
            if instr.dst.is_empty() {
                return;
            }
            let mut alive = after.clone();
            for reg in writes(instr) {
                alive.insert(reg);
            }
            if keeps_sources(instr) {
                for reg in reads(instr) {
                    alive.insert(reg);
                }
            }
            for reg in writes(instr) {
                connect(&mut graph, reg, &alive);
            }
        });
    }
    if let Some(entry) = live.live_in.first() {
        for reg in entry.iter() {
            connect(&mut graph, reg, entry);
        }
    }
    for reg in 0..count as u32 {
        let mine = std::mem::take(&mut graph[reg as usize]);
        let id = RegId(reg as u16);
        for other in mine.iter().filter(|o| *o != id) {
            graph[other.0 as usize].insert(id);
        }
        graph[reg as usize] = mine;
        graph[reg as usize].remove(id);
    }
    graph
}
