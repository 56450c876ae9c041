//! The gang table: which warps of each original gang go together.
//!
//! An original gang is a home warp, cut into as many hardware warps as there are slices. Its parts
//! are gangs of two or more of these, which the gang unit manages, and single warps, which
//! their slices manage. A part is a set of slices: with eight of them there are at most four
//! gangs, with four at most two, so the paper's table of 32 sets of four (two) entries is never
//! full.

mod divide;
mod fetching;
mod members;

use super::super::Together;
use super::super::order::AgeOrder;
use super::shapes::Shapes;
use crate::fixed_list::FixedList;
use crate::place::{Layout, Place};
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// Warps of an original gang that go together, or one alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The slices of its warps, a bit each.
    pub slices: u8,
    /// Where they stand.
    pub pc: Pc,
    /// They wait until other threads come there, at a barrier or in a `.sync` operation: all of them do, or none.
    /// Of an original gang of one part it is not noted.
    pub held: bool,
    /// Waits for the others of its original gang until this cycle.
    pub waits: Option<Cycle>,
    /// Names it for as long as no other warp joins it and it does not fall apart.
    pub id: u64,
}

impl Part {
    /// Whether it can go together with another. One that waits for threads, and one that does not, cannot: it may
    /// be this that has to come, or to exit, for those to go on.
    #[inline]
    pub fn meets(&self, other: &Part) -> bool {
        (self.pc, self.held) == (other.pc, other.held)
    }

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
    /// By domain: warps in gangs, single warps, and those of either that wait for siblings.
    pub ganged: Vec<u64>,
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
    /// Original gangs with parts that can be joined, where a caller asks for them.
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

    /// A table that does not note which parts can be joined, for policies that never join them.
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

    /// Whether all gangs have a warp in every slice, and none waits for siblings.
    #[inline]
    pub fn all_whole(&self) -> bool {
        self.partial == 0
    }

    /// Whether there are single warps.
    #[inline]
    pub fn any_single(&self) -> bool {
        self.sizes[bin(1)] != 0
    }

    /// Home warps of a scheduler, by index, whose warps of all slices are one gang, and all in these
    /// sets, by domain.
    #[inline]
    pub fn whole_in(&self, scheduler: u16, sets: &[u64]) -> u64 {
        let whole = self.whole[scheduler as usize];
        if self.schedulers == 1 {
            return sets.iter().fold(whole, |all, set| all & set);
        }
        let sets = sets[scheduler as usize..].iter();
        let sets = sets.step_by(self.schedulers as usize);
        sets.fold(whole, |all, set| all & set)
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

    /// Whether parts of any original gang can be joined.
    pub fn any_mergeable(&self) -> bool {
        self.mergeable != 0
    }

    /// A new name for a part.
    pub fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
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

    /// A warp that goes together with others than was told, and with which.
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
