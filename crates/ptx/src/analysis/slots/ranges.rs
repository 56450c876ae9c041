//! Which register meets which, where registers are counted in thousands: a graph of them would have the square
//! of their number of edges.
//!
//! A register *occupies* the places behind which it holds something that is still read, and those
//! that write it: a few ranges of the code. Two registers meet where one is written at a place that
//! the other occupies. Two trees over the code know the colours that have been given: one those
//! that occupy all of a node's places, the other those that are written at one of them. What is
//! closed to a register is then the union of a few sets of colours, and as colours are given from
//! the lowest on, each set is a few runs of numbers.

use super::super::access::{reads, writes};
use super::super::liveness::{Liveness, RegSet};
use super::keeps_sources;
use crate::kernel::{Kernel, RegId};

/// Where registers are. The entry is place 0, the instruction at `pc` place `pc + 1`.
pub(super) struct Ranges {
    /// By register: first and last places, from the end of the code on.
    occupied: Vec<Vec<(u32, u32)>>,
    /// By register: places that write it. The entry writes what is live there.
    written: Vec<Vec<u32>>,
    places: usize,
}

impl Ranges {
    pub fn of(kernel: &Kernel, live: &Liveness) -> Ranges {
        let count = kernel.registers.len();
        let mut ranges = Ranges {
            occupied: vec![Vec::new(); count],
            written: vec![Vec::new(); count],
            places: kernel.code.len() + 1,
        };
        // Backwards through the text: what is live, and the last place that it occupies.
        let mut now = RegSet::new(count);
        let mut until = vec![0u32; count];
        for (index, block) in kernel.blocks.iter().enumerate().rev() {
            // From behind the block to its end.
            for word in 0..count.div_ceil(64) {
                let (is, becomes) = (now.word(word), live.live_out[index].word(word));
                for reg in ones(word, is & !becomes) {
                    now.remove(reg);
                    ranges.occupy(reg, block.end + 1, until[usize::from(reg.0)]);
                }
                for reg in ones(word, becomes & !is) {
                    now.insert(reg);
                    until[usize::from(reg.0)] = block.end;
                }
            }
            for pc in (block.start..block.end).rev() {
                let (instr, place) = (&kernel.code[pc as usize], pc + 1);
                for reg in writes(instr) {
                    ranges.write(reg, place);
                    if !now.contains(reg) {
                        ranges.occupy(reg, place, place);
                    } else if instr.guard.is_none() {
                        now.remove(reg);
                        ranges.occupy(reg, place, until[usize::from(reg.0)]);
                    }
                }
                let last = if keeps_sources(instr) { place } else { pc };
                for reg in reads(instr) {
                    if now.insert(reg) {
                        until[usize::from(reg.0)] = last;
                    }
                }
            }
        }
        for reg in now.iter() {
            ranges.write(reg, 0);
            ranges.occupy(reg, 0, until[usize::from(reg.0)]);
        }
        ranges
    }

    fn write(&mut self, reg: RegId, place: u32) {
        let places = &mut self.written[usize::from(reg.0)];
        if places.last() != Some(&place) {
            places.push(place);
        }
    }

    /// Adds a range that ends no later than those before; nothing where it is empty.
    fn occupy(&mut self, reg: RegId, first: u32, last: u32) {
        let ranges = &mut self.occupied[usize::from(reg.0)];
        match ranges.last_mut() {
            _ if first > last => {}
            Some(next) if next.0 <= last + 1 => next.0 = next.0.min(first),
            _ => ranges.push((first, last)),
        }
    }
}

/// The registers of these bits of a set's word.
fn ones(word: usize, mut bits: u64) -> impl Iterator<Item = RegId> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            RegId((word as u32 * 64 + bit) as u16)
        })
    })
}

/// A set of colours: runs from a colour to before another, with gaps between them.
#[derive(Clone, Debug, Default)]
struct Colours(Vec<(u32, u32)>);

impl Colours {
    /// The runs that begin at this colour or before.
    fn up_to(&self, colour: u32) -> usize {
        self.0.partition_point(|run| run.0 <= colour)
    }

    /// The first colour from this one on that is not in the set.
    fn free_from(&self, colour: u32) -> u32 {
        match self.up_to(colour).checked_sub(1) {
            Some(at) => colour.max(self.0[at].1),
            None => colour,
        }
    }

    fn insert(&mut self, colour: u32) {
        let next = self.up_to(colour);
        let before = next.checked_sub(1);
        if before.is_some_and(|at| self.0[at].1 > colour) {
            return;
        }
        let before = before.filter(|at| self.0[*at].1 == colour);
        let behind = self.0.get(next).is_some_and(|run| run.0 == colour + 1);
        match (before, behind) {
            (Some(at), true) => {
                self.0[at].1 = self.0[next].1;
                self.0.remove(next);
            }
            (Some(at), false) => self.0[at].1 += 1,
            (None, true) => self.0[next].0 = colour,
            (None, false) => self.0.insert(next, (colour, colour + 1)),
        }
    }
}

/// The colours that registers have been given so far.
pub(super) struct Palette<'a> {
    ranges: &'a Ranges,
    leaves: usize,
    /// By node: colours that occupy all its places.
    occupied: Vec<Colours>,
    /// By node: colours that are written at one of its places.
    written: Vec<Colours>,
    /// By node: the step at which it was come by last.
    passed: Vec<u32>,
    step: u32,
    above: Vec<usize>,
    within: Vec<usize>,
}

impl<'a> Palette<'a> {
    pub fn new(ranges: &'a Ranges) -> Palette<'a> {
        let leaves = ranges.places.next_power_of_two();
        Palette {
            ranges,
            leaves,
            occupied: vec![Colours::default(); 2 * leaves],
            written: vec![Colours::default(); 2 * leaves],
            passed: vec![0; 2 * leaves],
            step: 0,
            above: Vec::new(),
            within: Vec::new(),
        }
    }

    /// Gives a register the lowest colour that none of those that it meets has.
    pub fn give(&mut self, reg: RegId) -> u32 {
        self.find_nodes(reg);
        let mut colour = 0;
        loop {
            let begun = colour;
            for node in &self.above {
                colour = self.occupied[*node].free_from(colour);
            }
            for node in &self.within {
                colour = self.written[*node].free_from(colour);
            }
            if colour == begun {
                break;
            }
        }
        for node in &self.above {
            self.written[*node].insert(colour);
        }
        for node in &self.within {
            self.occupied[*node].insert(colour);
        }
        colour
    }

    /// The nodes with a place that writes the register (`above`), and those that make up the places
    /// that it occupies (`within`).
    fn find_nodes(&mut self, reg: RegId) {
        self.above.clear();
        self.within.clear();
        self.step += 1;
        for place in &self.ranges.written[usize::from(reg.0)] {
            let mut node = self.leaves + *place as usize;
            while node > 0 && std::mem::replace(&mut self.passed[node], self.step) != self.step {
                self.above.push(node);
                node /= 2;
            }
        }
        for (first, last) in &self.ranges.occupied[usize::from(reg.0)] {
            let mut first = self.leaves + *first as usize;
            let mut end = self.leaves + *last as usize + 1;
            while first < end {
                if first % 2 == 1 {
                    self.within.push(first);
                    first += 1;
                }
                if end % 2 == 1 {
                    end -= 1;
                    self.within.push(end);
                }
                first /= 2;
                end /= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Colours;

    #[test]
    fn colours_are_runs_that_grow_together() {
        let mut set = Colours::default();
        for colour in [3, 1, 7, 2, 2, 8, 0] {
            set.insert(colour);
        }
        assert_eq!(set.0, [(0, 4), (7, 9)]);
        let free: Vec<u32> = (0..10).map(|c| set.free_from(c)).collect();
        assert_eq!(free, [4, 4, 4, 4, 4, 5, 6, 9, 9, 9]);
    }
}
