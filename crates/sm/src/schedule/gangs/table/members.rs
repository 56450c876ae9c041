//! Warps that come and leave.

use super::{Original, Part, Table, bin};
use crate::fixed_list::FixedList;
use crate::place::Place;

impl Table {
    /// A warp comes: it joins those of its home warp that come with it.
    pub fn add(&mut self, place: Place, age: u64) {
        let (home, _) = self.home_of(place);
        if self.originals.len() <= home as usize {
            self.originals
                .resize(home as usize + 1, Original::default());
        }
        let original = &mut self.originals[home as usize];
        if original.members == 0 {
            original.age = age;
            let Place { domain, index } = self.place(home, 0);
            let order = &mut self.by_age[domain as usize];
            order.remove(index);
            order.add(index, age);
        }
        self.add_back(place);
    }

    /// Whether a warp is there.
    pub fn has(&self, place: Place) -> bool {
        let (home, slice) = self.home_of(place);
        let original = self.originals.get(home as usize);
        original.is_some_and(|o| o.members >> slice & 1 != 0)
    }

    /// A warp comes, or goes on where others of its home warp do: it joins them.
    pub fn add_back(&mut self, place: Place) {
        let (home, slice) = self.home_of(place);
        let id = self.new_id();
        let mut parts = self.originals[home as usize].parts;
        if let [one] = &parts[..]
            && one.waits.is_none()
            && one.slices >> slice & 1 == 0
        {
            self.widen(home, slice); // as most often
            return self.stir(home);
        }
        match parts.first_mut() {
            Some(first) => first.slices |= 1 << slice,
            None => parts.push(Part {
                slices: 1 << slice,
                id,
                ..Part::default()
            }),
        }
        self.set_parts(home, parts);
        self.stir(home);
    }

    /// The one part of an original gang, which does not wait, has a warp on another slice too: as if it had been divided
    /// anew.
    fn widen(&mut self, home: u16, slice: u8) {
        let old = self.originals[home as usize].parts[0].slices;
        let (slices, size) = (old | 1 << slice, old.count_ones());
        self.sizes[bin(size)] -= size;
        self.sizes[bin(size + 1)] += size + 1;
        let first = self.place(home, 0);
        let (d, bit) = (first.domain as usize, 1u64 << first.index);
        let in_slice = |slice: u32| d + slice as usize * self.schedulers as usize;
        if size == 1 {
            let single = in_slice(old.trailing_zeros());
            self.single[single] &= !bit;
            self.ganged[single] |= bit;
        } else {
            self.shapes.remove(first, old);
        }
        self.shapes.add(first, slices);
        self.ganged[in_slice(slice.into())] |= bit;
        self.gangs[d] |= bit;
        self.partial -= u32::from(size > 1);
        if slices == self.slices {
            self.whole[d] |= bit;
        } else {
            self.partial += 1;
        }
        let original = &mut self.originals[home as usize];
        (original.parts[0].slices, original.members) = (slices, slices);
        if !original.regrouped {
            original.regrouped = true;
            self.regrouped.push(home);
        }
    }

    /// A warp has left; most often it has been dropped when it exited.
    pub fn remove(&mut self, place: Place) {
        let (home, slice) = self.home_of(place);
        if self.get(home).members >> slice & 1 == 0 {
            return;
        }
        let mut left = FixedList::default();
        for part in self.get(home).parts.iter() {
            let part = Part {
                slices: part.slices & !(1 << slice),
                ..*part
            };
            if part.slices != 0 {
                left.push(part);
            }
        }
        self.set_parts(home, left);
    }
}
