//! Where the parts of an original gang stand, and what parts it has.

use super::{Part, Table, bin};
use crate::fixed_list::FixedList;
use crate::place::Place;
use warpsim_ptx::kernel::Pc;

impl Table {
    /// The warps of an original gang of one part all stand at `pc`.
    #[inline]
    pub fn move_whole(&mut self, home: u16, pc: Pc) {
        self.originals[home as usize].parts[0].pc = pc;
    }

    /// The parts of an original gang stand at these PCs, some of them held, and none of them waits for the others.
    pub fn move_parts(&mut self, home: u16, stands: &[(Pc, bool)]) {
        let original = &mut self.originals[home as usize];
        for (part, stands) in original.parts.iter_mut().zip(stands) {
            (part.pc, part.held) = *stands;
        }
        self.note_meetings(home);
    }

    /// The gang of an original gang that these slices are has issued, and stands at `pc`, where it waits for no thread.
    /// Says whether there is one.
    #[inline]
    pub fn move_part(&mut self, home: u16, slices: u8, pc: Pc) -> bool {
        let parts = &mut self.originals[home as usize].parts;
        let several = parts.len() > 1;
        let Some(part) = parts.iter_mut().find(|part| part.slices == slices) else {
            return false;
        };
        (part.pc, part.held) = (pc, false);
        if several {
            self.note_meetings(home);
        }
        true
    }

    /// Notes whether parts of an original gang can be joined.
    fn note_meetings(&mut self, home: u16) {
        if !self.notes_meetings {
            return;
        }
        let original = &mut self.originals[home as usize];
        let parts = &original.parts;
        let meets = |i: usize| parts[..i].iter().any(|p| p.meets(&parts[i]));
        let mergeable = (1..parts.len()).any(meets);
        self.mergeable += u32::from(mergeable);
        self.mergeable -= u32::from(original.mergeable);
        original.mergeable = mergeable;
    }

    /// Divides an original gang anew.
    pub fn set_parts(&mut self, home: u16, mut parts: FixedList<Part, 8>) {
        if parts.len() > 1 {
            parts.sort_unstable_by_key(|part| part.slices.trailing_zeros());
        }
        let old = self.originals[home as usize].parts;
        let same = |a: &Part, b: &Part| a.slices == b.slices && a.waits == b.waits;
        let stay =
            old.len() == parts.len() && old.iter().zip(parts.iter()).all(|(a, b)| same(a, b));
        if !stay {
            self.divide(home, &parts);
        }
        self.originals[home as usize].parts = parts;
        self.note_meetings(home);
    }

    /// Brings the sets of warps in line with a new division.
    fn divide(&mut self, home: u16, parts: &FixedList<Part, 8>) {
        let old = self.originals[home as usize].parts;
        for part in old.iter() {
            let size = part.slices.count_ones();
            self.sizes[bin(size)] -= size;
            for place in self.places(home, part.slices).iter() {
                let (d, keep) = (place.domain as usize, !(1u64 << place.index));
                self.ganged[d] &= keep;
                self.single[d] &= keep;
                self.waiting[d] &= keep;
            }
        }
        let first = self.place(home, 0);
        for part in old.iter().filter(|part| part.is_gang()) {
            self.shapes.remove(first, part.slices);
        }
        for part in parts.iter().filter(|part| part.is_gang()) {
            self.shapes.add(first, part.slices);
        }
        let mut members = 0;
        for part in parts.iter() {
            members |= part.slices;
            let size = part.slices.count_ones();
            self.sizes[bin(size)] += size;
            for place in self.places(home, part.slices).iter() {
                let (d, bit) = (place.domain as usize, 1u64 << place.index);
                *match part.is_gang() {
                    true => &mut self.ganged[d],
                    false => &mut self.single[d],
                } |= bit;
                if part.waits.is_some() {
                    self.waiting[d] |= bit;
                }
            }
        }
        let Place { domain, index } = first;
        let gangs = parts.iter().any(Part::is_gang);
        let set = &mut self.gangs[domain as usize];
        *set = *set & !(1 << index) | u64::from(gangs) << index;
        let is_whole = |part: &Part| part.slices == self.slices && part.waits.is_none();
        let partial = |part: &&Part| part.is_gang() && !is_whole(part);
        let partial = |parts: &[Part]| parts.iter().filter(partial).count() as u32;
        self.partial += partial(parts);
        self.partial -= partial(&old);
        let whole = matches!(&parts[..], [part] if part.is_gang() && is_whole(part));
        let set = &mut self.whole[domain as usize];
        *set = *set & !(1 << index) | u64::from(whole) << index;
        let original = &mut self.originals[home as usize];
        original.members = members;
        let slices =
            |of: &FixedList<Part, 8>| of.iter().fold(0, |all, p| all << 8 | u64::from(p.slices));
        if !original.regrouped && slices(&old) != slices(parts) {
            original.regrouped = true;
            self.regrouped.push(home);
        }
    }
}
