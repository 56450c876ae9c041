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
//!   atomics share with no other register.

mod ranges;

use super::access::{reads, writes};
use super::liveness::{Liveness, RegSet};
use crate::isa::{Op, Space};
use crate::kernel::{Instr, Kernel, RegClass, RegId};
use ranges::{Palette, Ranges};

/// Registers up to which the graph of which meets which is small: two megabytes.
const FEW: usize = 4096;

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

/// Class by class, each register gets the lowest slot that none of those before has which it meets.
pub fn assign_slots(kernel: &Kernel, live: &Liveness) -> SlotPlan {
    if kernel.registers.len() <= FEW {
        by_graph(kernel, live)
    } else {
        by_ranges(kernel, live)
    }
}

pub(super) fn by_graph(kernel: &Kernel, live: &Liveness) -> SlotPlan {
    let graph = interference(kernel, live);
    plan(kernel, || {
        let mut colours = Colouring::new(&graph);
        move |reg| colours.give(reg)
    })
}

pub(super) fn by_ranges(kernel: &Kernel, live: &Liveness) -> SlotPlan {
    let ranges = Ranges::of(kernel, live);
    plan(kernel, || {
        let mut colours = Palette::new(&ranges);
        move |reg| colours.give(reg)
    })
}

/// Slots from colours. `colouring` makes what gives colours to the registers of a class, one after
/// the other.
fn plan<G: FnMut(RegId) -> u32>(kernel: &Kernel, colouring: impl Fn() -> G) -> SlotPlan {
    let count = kernel.registers.len();
    let mut alone = RegSet::new(count);
    let late = |i: &&Instr| i.op == Op::Atom && i.mods.space != Some(Space::Shared);
    for instr in kernel.code.iter().filter(late) {
        for reg in writes(instr) {
            alone.insert(reg);
        }
    }
    let mut colours = vec![u32::MAX; count];
    let mut colour = |class| colour(kernel, class, &alone, &colouring, &mut colours);
    let wide = colour(RegClass::B64);
    let narrow = colour(RegClass::B32);
    let predicates = colour(RegClass::Pred);
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
/// share with no other come first, with a colour each that is then closed to the rest.
fn colour<G: FnMut(RegId) -> u32>(
    kernel: &Kernel,
    class: RegClass,
    alone: &RegSet,
    colouring: impl Fn() -> G,
    colours: &mut [u32],
) -> u32 {
    let members = || {
        (0..kernel.registers.len() as u32)
            .map(|r| RegId(r as u16))
            .filter(|r| kernel.registers[r.0 as usize].class == class)
    };
    let mut closed = 0;
    for reg in members().filter(|r| alone.contains(*r)) {
        colours[reg.0 as usize] = closed;
        closed += 1;
    }
    let mut used = closed;
    let mut give = None;
    for reg in members().filter(|r| !alone.contains(*r)) {
        let colour = closed + give.get_or_insert_with(&colouring)(reg);
        colours[reg.0 as usize] = colour;
        used = used.max(colour + 1);
    }
    used
}

/// Colours of registers, by the graph of which meets which.
struct Colouring<'a> {
    graph: &'a [RegSet],
    /// By register, of those that have one.
    given: Vec<u32>,
    used: u32,
    taken: Vec<u64>,
}

impl<'a> Colouring<'a> {
    fn new(graph: &'a [RegSet]) -> Colouring<'a> {
        Colouring {
            graph,
            given: vec![u32::MAX; graph.len()],
            used: 0,
            taken: Vec::new(),
        }
    }

    /// Gives a register the lowest colour that none of its neighbours has. Registers come in their
    /// order.
    fn give(&mut self, reg: RegId) -> u32 {
        self.taken.clear();
        self.taken.resize(self.used as usize / 64 + 1, 0);
        // Those behind it have no colour yet. Where hundreds are live together this is where the
        // time goes: words by hand, and nothing but a colour to look up.
        let last = usize::from(reg.0) / 64;
        for word in 0..=last {
            let mut others = self.graph[usize::from(reg.0)].word(word);
            if word == last {
                others &= (1 << (reg.0 % 64)) - 1;
            }
            while others != 0 {
                let at = self.given[64 * word + others.trailing_zeros() as usize];
                others &= others - 1;
                if at != u32::MAX {
                    self.taken[at as usize / 64] |= 1 << (at % 64);
                }
            }
        }
        // There is one more bit than colours at least.
        let free = (0..).zip(&self.taken).find(|(_, word)| **word != u64::MAX);
        let free = free.map_or(self.used, |(at, word)| 64 * at + word.trailing_ones());
        self.given[usize::from(reg.0)] = free;
        self.used = self.used.max(free + 1);
        free
    }
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
    make_symmetric(&mut graph);
    for (reg, mine) in (0..).zip(&mut graph) {
        mine.remove(RegId(reg));
    }
    graph
}

/// Whom a register meets meets that register. Squares of 64 by 64 bits are turned at once: with
/// thousands of registers that are live together, one bit after the other takes seconds.
fn make_symmetric(graph: &mut [RegSet]) {
    for above in 0..graph.len().div_ceil(64) {
        for left in 0..=above {
            let (upper, lower) = (square(graph, left, above), square(graph, above, left));
            add_square(graph, above, left, &transposed(upper));
            add_square(graph, left, above, &transposed(lower));
        }
    }
}

/// Word `column` of the 64 registers of group `row`.
fn square(graph: &[RegSet], row: usize, column: usize) -> [u64; 64] {
    std::array::from_fn(|i| graph.get(64 * row + i).map_or(0, |set| set.word(column)))
}

fn add_square(graph: &mut [RegSet], row: usize, column: usize, bits: &[u64; 64]) {
    for (set, bits) in graph[64 * row..].iter_mut().zip(bits) {
        set.add_word(column, *bits);
    }
}

/// Rows become columns: halves of the square change places, then quarters, and so on.
fn transposed(mut square: [u64; 64]) -> [u64; 64] {
    let (mut step, mut mask) = (32, u64::MAX >> 32);
    while step != 0 {
        for at in (0..64).filter(|at| at & step == 0) {
            let swapped = (square[at] >> step ^ square[at + step]) & mask;
            square[at] ^= swapped << step;
            square[at + step] ^= swapped;
        }
        step /= 2;
        mask ^= mask << step.max(1);
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_becomes_symmetric() {
        let count = 200;
        let mut graph = vec![RegSet::new(count); count];
        let mut random = 1u64;
        let mut pairs = Vec::new();
        for _ in 0..500 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
            let pair = [random >> 33, random >> 48].map(|r| RegId((r % count as u64) as u16));
            graph[usize::from(pair[0].0)].insert(pair[1]);
            pairs.push(pair);
        }
        make_symmetric(&mut graph);
        for a in 0..count as u16 {
            for b in 0..count as u16 {
                let is = |x: u16, y: u16| pairs.contains(&[RegId(x), RegId(y)]);
                let found = graph[usize::from(a)].contains(RegId(b));
                assert_eq!(found, is(a, b) || is(b, a), "{a} {b}");
            }
        }
    }
}
