//! The gang table: which warps of each original gang go together.
//!
//! An original gang is a home warp, cut into as many hardware warps as there are slices. Its parts
//! are gangs of two or more of these, which the gang unit manages, and single warps, which
//! their slices manage. A part is a set of slices: with eight of them there are at most four
//! gangs, with four at most two, so the paper's table of 32 sets of four (two) entries is never
//! full.

use super::super::order::AgeOrder;
use super::super::{FetchView, Together, WholeFetch};
use super::shapes::{Shape, Shapes};
use crate::place::{Layout, Place, each};
use crate::sm::fixed_list::FixedList;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// Warps of an original gang that go together, or one alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The slices of its warps, a bit each.
    pub slices: u8,
    /// Where they stand.
    pub pc: Pc,
    /// Waits for the others of its original gang until this cycle.
    pub waits: Option<Cycle>,
    /// Names it for as long as no other warp joins it and it does not fall apart.
    pub id: u64,
}

impl Part {
    /// Whether it has several warps.
    #[inline]
    pub fn is_gang(&self) -> bool {
        self.slices.count_ones() > 1
    }
}

/// An original gang.
#[derive(Clone, Debug, Default)]
pub struct Original {
    /// Its running warps by slice, a bit each.
    pub members: u8,
    /// Age of its first warp.
    pub age: u64,
    /// How they are divided, by their first slices.
    pub parts: FixedList<Part, 8>,
    /// Warps have come, or some have issued, since its parts were last looked at.
    stirred: bool,
    mergeable: bool,
    /// By slice: the part of its warp as it was last told, and whether that has changed.
    told: [u8; 8],
    regrouped: bool,
}

/// Bins of gang sizes: 8, 5 to 7, 4, 2 or 3, 1.
pub const BINS: usize = 5;

fn bin(size: u32) -> usize {
    match size {
        8.. => 0,
        5..8 => 1,
        4 => 2,
        2 | 3 => 3,
        _ => 4,
    }
}

/// The table.
#[derive(Debug)]
pub struct Table {
    /// Schedulers of each slice.
    schedulers: u16,
    originals: Vec<Original>,
    /// By domain: warps in gangs, the indices that are in all of these sets, single warps, and those of either
    /// that wait for siblings.
    pub ganged: Vec<u64>,
    pub ganged_in_all: u64,
    pub single: Vec<u64>,
    pub waiting: Vec<u64>,
    /// By scheduler: home warps, by index, with gangs, and those whose warps of all slices are one.
    gangs: Vec<u64>,
    pub whole: Vec<u64>,
    /// All gangs by the slices of their warps.
    pub shapes: Shapes,
    /// Gangs that do not have a warp in every slice, or that wait for siblings.
    partial: u32,
    /// By scheduler: its home warps by age.
    by_age: Vec<AgeOrder>,
    /// All slices, a bit each.
    pub slices: u8,
    /// Running warps by the size of their gang.
    pub sizes: [u32; BINS],
    /// Original gangs to be looked at again.
    stirred: Vec<u16>,
    /// Original gangs with warps that go together with others than was told.
    regrouped: Vec<u16>,
    /// Original gangs with parts that stand at one PC, where anybody asks for them.
    mergeable: u32,
    notes_meetings: bool,
    next_id: u64,
}

impl Table {
    /// An empty table for an SM.
    pub fn new(layout: Layout, domains: usize) -> Table {
        Table {
            schedulers: layout.schedulers(),
            originals: Vec::new(),
            ganged: vec![0; domains],
            ganged_in_all: 0,
            single: vec![0; domains],
            waiting: vec![0; domains],
            gangs: vec![0; layout.schedulers() as usize],
            whole: vec![0; layout.schedulers() as usize],
            shapes: Shapes::new(layout.schedulers()),
            partial: 0,
            by_age: vec![AgeOrder::default(); layout.schedulers() as usize],
            slices: u8::MAX >> (8 - layout.slices().min(8)),
            sizes: [0; BINS],
            stirred: Vec::new(),
            regrouped: Vec::new(),
            mergeable: 0,
            notes_meetings: true,
            next_id: 0,
        }
    }

    /// The same, where nobody asks for parts that stand at one PC.
    pub fn without_meetings(self) -> Table {
        Table {
            notes_meetings: false,
            ..self
        }
    }

    /// The home warp and the slice of a place.
    #[inline]
    pub fn home_of(&self, place: Place) -> (u16, u8) {
        let schedulers = self.schedulers;
        if schedulers == 1 {
            return (u16::from(place.index), place.domain);
        }
        let domain = u16::from(place.domain);
        let home = u16::from(place.index) * schedulers + domain % schedulers;
        (home, (domain / schedulers) as u8)
    }

    /// Where the warp of a home warp on a slice sits.
    #[inline]
    pub fn place(&self, home: u16, slice: u8) -> Place {
        let schedulers = self.schedulers;
        Place {
            domain: (u16::from(slice) * schedulers + home % schedulers) as u8,
            index: (home / schedulers) as u8,
        }
    }

    /// The home warp and the slices, a bit each, of warps that go together.
    #[inline]
    pub fn part_of(&self, members: Together) -> (u16, u8) {
        let (home, slice) = self.home_of(members.leader());
        match members.slices() {
            1 => (home, 1 << slice), // one by itself may be counted from its own slice
            slices => (home, slices),
        }
    }

    /// Where the warps of a part sit, that of the first slice first.
    #[inline]
    pub fn places(&self, home: u16, slices: u8) -> Together {
        Together::new(self.place(home, 0), self.schedulers as u8, slices)
    }

    /// Where every slice has one scheduler: as [`next_wanting`](Table::next_wanting), as far as it is a gang with a warp in
    /// every slice. `wanting`: home warps of which a warp wants to be fetched for, by index; `whole`: all of whose warps do.
    #[inline]
    pub fn next_whole_wanting(&self, wanting: u64, whole: u64, last: u16) -> WholeFetch {
        let those = wanting & self.gangs[0];
        if those == 0 {
            return WholeFetch::Nobody;
        }
        let behind = those & (!1u64 << (last % 64));
        let first = if behind == 0 { those } else { behind };
        let home = first.trailing_zeros();
        match (whole & self.whole[0]).unbounded_shr(home) & 1 {
            0 => WholeFetch::Unclear,
            _ => WholeFetch::Gang(home as u8),
        }
    }

    /// Of the gangs that lack their instruction and may be fetched for, the first behind the one of home warp
    /// `last`: its home warp and the slices that lack it.
    pub fn next_wanting(&self, view: &FetchView, last: u16) -> Option<(u16, u8)> {
        if self.schedulers == 1 {
            let those = view.wanting[0] & self.gangs[0];
            if those == 0 {
                return None;
            }
            let behind = those & (!1u64 << (last % 64));
            return self.next_part_wanting(behind, those & !behind, view);
        }
        let homes = |first: u16| {
            let home = move |index: usize| index as u16 * self.schedulers + first;
            each(view.wanting[first as usize]).map(home)
        };
        let mut next: Option<((bool, u16), u8)> = None;
        for home in (0..self.schedulers).flat_map(homes) {
            let turn = (home <= last, home);
            if next.is_none_or(|(first, _)| turn < first)
                && let Some(slices) = self.wanting(home, view)
            {
                next = Some((turn, slices));
            }
        }
        next.map(|((_, home), slices)| (home, slices))
    }

    /// The same among these home warps, the first ones first.
    #[inline(never)]
    fn next_part_wanting(&self, first: u64, then: u64, view: &FetchView) -> Option<(u16, u8)> {
        for homes in [first, then] {
            for home in each(homes) {
                if let Some(slices) = self.wanting(home as u16, view) {
                    return Some((home as u16, slices));
                }
            }
        }
        None
    }

    /// The slices of the first gang of a home warp with warps that lack their instruction, if all of
    /// these may be fetched for.
    #[inline]
    pub fn wanting(&self, home: u16, view: &FetchView) -> Option<u8> {
        let [lacking, fetchable] = (view.slices)(self.place(home, 0));
        let wants = |part: &&Part| {
            let lacks = part.slices & lacking;
            part.is_gang() && lacks != 0 && lacks & !fetchable == 0
        };
        let part = self.get(home).parts.iter().find(wants);
        part.map(|part| part.slices & lacking)
    }

    /// Whether all gangs have a warp in every slice, and none waits for siblings.
    #[inline]
    pub fn all_whole(&self) -> bool {
        self.partial == 0
    }

    /// Whether a gang is all in these sets, by domain, or a single warp is in them, and does not wait for siblings.
    /// Slices that are not `open` have none.
    pub fn any_ready(&self, sets: &[u64], open: u8) -> bool {
        let shape = |shape: &Shape| {
            if shape.slices & !open != 0 {
                return false;
            }
            let ready = shape.all_in(|d| sets[d]);
            ready & !self.waiting[shape.first_domain()] != 0
        };
        let single = |d: usize| sets[d] & self.single[d] & !self.waiting[d] != 0;
        self.shapes.iter().any(shape) || self.any_single() && (0..sets.len()).any(single)
    }

    /// Whether there are single warps.
    #[inline]
    pub fn any_single(&self) -> bool {
        self.sizes[bin(1)] != 0
    }

    /// Home warps of a scheduler, by index, whose warps of all slices are one gang, and all in these
    /// sets, by domain. `alike`: those are the same in all domains.
    #[inline]
    pub fn whole_in(&self, scheduler: u16, sets: &[u64], alike: bool) -> u64 {
        let scheduler = scheduler as usize;
        if alike {
            return self.whole[scheduler] & sets[scheduler];
        }
        let sets = sets[scheduler..].iter().step_by(self.schedulers as usize);
        sets.fold(self.whole[scheduler], |all, set| all & set)
    }

    /// The oldest of these home warps of a scheduler, which are or were here.
    #[inline]
    pub fn oldest(&self, scheduler: u16, among: u64) -> Option<u16> {
        let index = self.by_age[scheduler as usize].oldest(among)?;
        Some(u16::from(index) * self.schedulers + scheduler)
    }

    /// Schedulers of a slice.
    pub fn schedulers(&self) -> u16 {
        self.schedulers
    }

    /// The warps of an original gang of one part all stand at `pc`.
    #[inline]
    pub fn move_whole(&mut self, home: u16, pc: Pc) {
        self.originals[home as usize].parts[0].pc = pc;
    }

    /// The parts of an original gang stand at these PCs, and none of them waits.
    pub fn move_parts(&mut self, home: u16, pcs: &[Pc]) {
        let original = &mut self.originals[home as usize];
        for (part, pc) in original.parts.iter_mut().zip(pcs) {
            part.pc = *pc;
        }
        self.note_meetings(home);
    }

    /// The gang of an original gang that these slices are stands at `pc`. Says whether there is one.
    #[inline]
    pub fn move_part(&mut self, home: u16, slices: u8, pc: Pc) -> bool {
        let parts = &mut self.originals[home as usize].parts;
        let several = parts.len() > 1;
        let Some(part) = parts.iter_mut().find(|part| part.slices == slices) else {
            return false;
        };
        part.pc = pc;
        if several && self.notes_meetings {
            self.note_meetings(home);
        }
        true
    }

    /// Notes whether parts of an original gang stand at one PC.
    fn note_meetings(&mut self, home: u16) {
        if !self.notes_meetings {
            return;
        }
        let original = &mut self.originals[home as usize];
        let parts = &original.parts;
        let meets = |i: usize| parts[..i].iter().any(|p| p.pc == parts[i].pc);
        let mergeable = (1..parts.len()).any(meets);
        self.mergeable += u32::from(mergeable);
        self.mergeable -= u32::from(original.mergeable);
        original.mergeable = mergeable;
    }

    /// All original gangs, by home warp; some are empty.
    pub fn originals(&self) -> impl Iterator<Item = (u16, &Original)> {
        let all = self.originals.iter().enumerate();
        all.map(|(home, original)| (home as u16, original))
    }

    /// An original gang.
    #[inline]
    pub fn get(&self, home: u16) -> &Original {
        &self.originals[home as usize]
    }

    /// The part of a home warp that these slices are.
    #[inline]
    pub fn part(&self, home: u16, slices: u8) -> &Part {
        let part = self.get(home).parts.iter().find(|p| p.slices == slices);
        part.expect("shapes are those of parts")
    }

    /// How many there are or were.
    pub fn len(&self) -> u16 {
        self.originals.len() as u16
    }

    /// Whether parts of any original gang stand at one PC.
    pub fn any_mergeable(&self) -> bool {
        self.mergeable != 0
    }

    /// A new name for a part.
    pub fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

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
            self.ganged_in_all = self.ganged.iter().fold(!0, |all, set| all & set);
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

    /// An original gang is to be looked at again.
    pub fn stir(&mut self, home: u16) {
        let original = &mut self.originals[home as usize];
        if !original.stirred {
            original.stirred = true;
            self.stirred.push(home);
        }
    }

    /// Whether any is.
    #[inline]
    pub fn any_stirred(&self) -> bool {
        !self.stirred.is_empty()
    }

    /// Takes an original gang that is to be looked at again.
    pub fn next_stirred(&mut self) -> Option<u16> {
        let home = self.stirred.pop()?;
        self.originals[home as usize].stirred = false;
        Some(home)
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
        self.ganged_in_all = self.ganged.iter().fold(!0, |all, set| all & set);
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

    /// A warp that goes together with others than was told, and with whom.
    pub fn next_regrouped(&mut self) -> Option<(Place, u8)> {
        while let Some(&home) = self.regrouped.last() {
            let original = &mut self.originals[home as usize];
            for slice in 0..8u8 {
                let part = original.parts.iter().find(|p| p.slices >> slice & 1 != 0);
                let slices = part.map_or(0, |p| p.slices);
                if original.told[slice as usize] != slices {
                    original.told[slice as usize] = slices;
                    return Some((self.place(home, slice), slices));
                }
            }
            original.regrouped = false;
            self.regrouped.pop();
        }
        None
    }
}
