//! Policies by the type of a warp's next instruction, over the active set of two-level scheduling.
//!
//! The order of types is integer, memory, special functions, floating point, or the other way
//! round. The first and the last are swapped when no active warp's next instruction is of the
//! favoured type and some is of the other, or when all units of the favoured type are in blackout
//! and those of the other, which some warp waits for, are not. (Where both are, a swap would gain
//! nothing, and be undone in the next cycle.)

pub mod gates;
pub mod origami;

use super::lrr::first_from;
use super::tls::Tls;
use super::{Considers, Facts, IssuePolicy, MindsPower, Place, WarpInfo};
use crate::lanes::Side;
use warpsim_machine::mechanism::Switch;
use warpsim_ptx::isa::Pipe;

/// Types of instructions, as numbers of sets.
const INT: usize = 0;
const MEMORY: usize = 1;
const SPECIAL: usize = 2;
const FP: usize = 3;

/// The policy.
pub struct TypeFirst {
    tls: Tls,
    domains: Vec<Domain>,
    /// Lanes of a full warp.
    width: u32,
    /// Whether all units of each side are in blackout.
    blackout: [bool; 2],
    groups: Option<Groups>,
    /// Warps whose lanes are off or waking up go behind all others of the active set.
    avoids_sleepers: bool,
}

/// Neither paper says that the scheduler looks at single gates: an option.
const AVOID: Switch = Switch {
    name: "avoid",
    default: false,
    description: "active warps whose lanes are off or waking up go behind the others, whatever their type",
};

#[derive(Clone, Default)]
struct Domain {
    /// Active warps by the type of their next instruction.
    types: [u64; 4],
    /// Those whose lanes are all active.
    full: u64,
    /// Floating point goes first.
    fp_first: bool,
    /// Active warps whose lanes are off or waking up, where the policy avoids them.
    asleep: u64,
}

/// Which warps of a type go first: those whose lanes are all active, or the others.
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    phase: u64,
    switch: u32,
    full_first: bool,
    /// Phases in a row for which that has been so.
    phases: u32,
    /// What it will be when the warps are next looked at.
    decided: bool,
}

impl Groups {
    /// Phases of so many cycles; after `switch` of them in a row it is the other warps' turn.
    pub fn new(phase: u64, switch: u32) -> Groups {
        Groups {
            phase,
            switch,
            full_first: true,
            phases: 0,
            decided: true,
        }
    }

    /// A phase starts, with so many warps in each group.
    fn start(&mut self, full: u32, partial: u32) {
        let larger = match full.cmp(&partial) {
            std::cmp::Ordering::Equal => self.decided,
            order => order.is_gt(),
        };
        let stays = larger == self.decided && self.phases < self.switch;
        let next = if stays { larger } else { !self.decided };
        self.phases = if stays { self.phases + 1 } else { 1 };
        self.decided = next;
    }
}

impl TypeFirst {
    /// `places` active warps in each of `domains` domains, with full warps of so many lanes.
    pub fn new(domains: usize, places: usize, width: u32, groups: Option<Groups>) -> TypeFirst {
        TypeFirst {
            avoids_sleepers: false,
            tls: Tls::new(domains, places),
            domains: vec![Domain::default(); domains],
            width,
            blackout: [false; 2],
            groups,
        }
    }

    /// Whether warps whose lanes are off or waking up go behind the others.
    pub fn avoiding_sleepers(self, avoids_sleepers: bool) -> TypeFirst {
        TypeFirst {
            avoids_sleepers,
            ..self
        }
    }

    /// The active warps that go first, then those that go next, and so on.
    fn ranks(&self, domain: usize) -> impl Iterator<Item = u64> {
        let d = &self.domains[domain];
        let types = match d.fp_first {
            false => [INT, MEMORY, SPECIAL, FP],
            true => [FP, MEMORY, SPECIAL, INT],
        };
        let active = self.tls.active(domain);
        let first = match self.groups {
            None => !0,
            Some(groups) if groups.full_first => d.full,
            Some(_) => !d.full,
        };
        let sets = types.map(|t| d.types[t] & active);
        let by_group = move |of: u64| {
            let groups = move |set| [set & first & of, set & !first & of];
            sets.into_iter().flat_map(groups)
        };
        by_group(!d.asleep)
            .chain(by_group(d.asleep))
            .chain([active])
    }

    fn rank(&self, domain: usize, index: u8) -> Option<usize> {
        self.ranks(domain).position(|set| set >> index & 1 != 0)
    }
}

/// The type of a warp's next instruction.
fn type_of(warp: &WarpInfo) -> Option<usize> {
    let (_, pipe) = warp.next?;
    Some(match (warp.side, pipe) {
        (Some(Side::Int), _) => INT,
        (Some(Side::Fp), _) => FP,
        (None, Pipe::Memory) => MEMORY,
        (None, _) => SPECIAL,
    })
}

impl IssuePolicy for TypeFirst {
    fn launched(&mut self, place: Place, age: u64, block: u16) {
        self.tls.launched(place, age, block);
    }

    fn finished(&mut self, place: Place) {
        self.tls.finished(place);
    }

    fn issued(&mut self, place: Place) {
        self.tls.issued(place);
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        match (self.rank(domain, a), self.rank(domain, b)) {
            (Some(x), Some(y)) if x != y => x < y,
            _ => self.tls.before(domain, a, b),
        }
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        let start = self.tls.start(domain);
        let mut ranks = self.ranks(domain);
        let best = ranks.find_map(|set| first_from(among & set, start));
        best.or_else(|| self.tls.first(domain, among))
    }

    fn considers(&mut self) -> Option<&mut dyn Considers> {
        Some(self)
    }

    fn active(&self, domain: usize) -> u64 {
        self.tls.active(domain)
    }

    fn minds_power(&mut self) -> Option<&mut dyn MindsPower> {
        Some(self)
    }
}

impl Considers for TypeFirst {
    fn consider(&mut self, domain: usize, facts: &Facts) -> u64 {
        let active = self.tls.consider(domain, facts);
        if let Some(groups) = &mut self.groups {
            groups.full_first = groups.decided;
        }
        let d = &mut self.domains[domain];
        (d.types, d.full) = ([0; 4], 0);
        let mut left = active & facts.known;
        while left != 0 {
            let index = left.trailing_zeros() as u8;
            left &= left - 1;
            let warp = facts.warp(index);
            if let Some(of) = type_of(&warp) {
                d.types[of] |= 1 << index;
            }
            d.full |= u64::from(warp.lanes == self.width) << index;
        }
        let [int_out, fp_out] = self.blackout;
        let (int, fp) = (d.types[INT] != 0, d.types[FP] != 0);
        let (mine, other, mine_out, other_out) = match d.fp_first {
            false => (int, fp, int_out, fp_out),
            true => (fp, int, fp_out, int_out),
        };
        if other && (!mine || mine_out && !other_out) {
            d.fp_first = !d.fp_first;
        }
        active
    }
}

impl MindsPower for TypeFirst {
    fn blackout(&mut self, sides: [bool; 2]) {
        self.blackout = sides;
    }

    fn avoids_sleepers(&self) -> bool {
        self.avoids_sleepers
    }

    fn sleepers(&mut self, domain: usize, warps: u64) {
        self.domains[domain].asleep = warps;
    }

    fn phase(&self) -> Option<u64> {
        self.groups.map(|groups| groups.phase)
    }

    fn phase_starts(&mut self, full: u32, partial: u32) {
        if let Some(groups) = &mut self.groups {
            groups.start(full, partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each of eight warps has next: integer, floating point, memory or a special function,
    /// on so many lanes.
    type Next<'a> = &'a [(char, u32)];

    fn considered(policy: &mut TypeFirst, next: Next) {
        let info = |index: u8| {
            let (of, lanes) = next[index as usize];
            let (side, pipe) = match of {
                'i' => (Some(Side::Int), Pipe::Int),
                'f' => (Some(Side::Fp), Pipe::Fp),
                'm' => (None, Pipe::Memory),
                _ => (None, Pipe::Sfu),
            };
            WarpInfo {
                next: Some((0, pipe)),
                side,
                lanes,
                instructions: 0,
            }
        };
        let all = (1 << next.len()) - 1;
        let facts = Facts {
            running: all,
            known: all,
            warps: Some(&info),
            ..Facts::default()
        };
        policy.consider(0, &facts);
    }

    fn policy(warps: u8, groups: Option<Groups>) -> TypeFirst {
        let mut policy = TypeFirst::new(1, warps as usize, 32, groups);
        for index in 0..warps {
            policy.launched(Place { domain: 0, index }, index.into(), 0);
        }
        policy
    }

    /// The order in which ready warps issue.
    fn order(policy: &TypeFirst, mut ready: u64) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(index) = policy.first(0, ready) {
            let others = (0..64).filter(|o| ready >> o & 1 != 0 && *o != index);
            assert!(others.into_iter().all(|o| policy.before(0, index, o)));
            ready &= !(1 << index);
            all.push(index);
        }
        all
    }

    const MIXED: Next = &[('f', 32), ('s', 32), ('m', 32), ('i', 32), ('i', 32)];

    #[test]
    fn integer_then_memory_then_special_then_floating_point() {
        let mut p = policy(5, None);
        considered(&mut p, MIXED);
        assert_eq!(order(&p, 0b11111), [3, 4, 2, 1, 0]);
        p.issued(Place {
            domain: 0,
            index: 3,
        });
        assert_eq!(order(&p, 0b11111), [4, 3, 2, 1, 0], "round robin inside");
        assert_eq!(p.first(0, 0b00001), Some(0), "who is ready issues");
    }

    #[test]
    fn types_swap_when_the_favoured_one_is_not_there() {
        let mut p = policy(3, None);
        considered(&mut p, &[('f', 32), ('m', 32), ('i', 32)]);
        assert_eq!(order(&p, 0b111), [2, 1, 0]);
        considered(&mut p, &[('f', 32), ('m', 32), ('m', 32)]);
        assert_eq!(p.first(0, 0b111), Some(0));
        // Being ready or not does not matter, nor a type that is there again.
        considered(&mut p, &[('f', 32), ('m', 32), ('i', 32)]);
        assert_eq!(order(&p, 0b111), [0, 1, 2]);
        considered(&mut p, &[('m', 32), ('m', 32), ('m', 32)]);
        considered(&mut p, &[('f', 32), ('m', 32), ('i', 32)]);
        assert_eq!(order(&p, 0b111), [0, 1, 2], "neither was there");
    }

    #[test]
    fn types_swap_when_all_units_of_the_favoured_one_are_in_blackout() {
        let mut p = policy(2, None);
        let both: Next = &[('f', 32), ('i', 32)];
        p.blackout([false, true]);
        considered(&mut p, both);
        assert_eq!(order(&p, 0b11), [1, 0]);
        p.blackout([true, true]);
        considered(&mut p, both);
        assert_eq!(order(&p, 0b11), [1, 0], "nothing would be gained");
        p.blackout([true, false]);
        considered(&mut p, both);
        assert_eq!(order(&p, 0b11), [0, 1]);
        considered(&mut p, both);
        assert_eq!(order(&p, 0b11), [0, 1], "looking again changes nothing");
    }

    #[test]
    fn warps_whose_lanes_sleep_go_behind_those_whose_lanes_are_on() {
        let mut p = policy(5, None).avoiding_sleepers(true);
        assert!(p.avoids_sleepers() && !policy(1, None).avoids_sleepers());
        considered(&mut p, MIXED);
        p.sleepers(0, 0b01001);
        assert_eq!(order(&p, 0b11111), [4, 2, 1, 3, 0]);
        assert_eq!(p.first(0, 0b01001), Some(3), "work-conserving");
        p.sleepers(0, 0);
        assert_eq!(order(&p, 0b11111), [3, 4, 2, 1, 0]);
    }

    const MASKS: Next = &[('i', 32), ('i', 7), ('i', 32), ('f', 7)];

    #[test]
    fn within_a_type_the_preferred_group_goes_first_and_the_other_is_not_kept_waiting() {
        let mut p = policy(4, Some(Groups::new(300, 2)));
        considered(&mut p, MASKS);
        assert_eq!(order(&p, 0b1111), [0, 2, 1, 3]);
        p.phase_starts(1, 3);
        assert_eq!(order(&p, 0b1111), [0, 2, 1, 3], "not before the next look");
        considered(&mut p, MASKS);
        assert_eq!(order(&p, 0b1111), [1, 0, 2, 3]);
        assert_eq!(p.first(0, 0b0100), Some(2), "work-conserving");
    }

    #[test]
    fn the_larger_group_is_preferred_for_two_phases_at_most() {
        let mut groups = Groups::new(300, 2);
        let mut starts = |full, partial| {
            groups.start(full, partial);
            groups.decided
        };
        assert_eq!(
            [(); 7].map(|()| starts(5, 1)),
            [true, true, false, true, true, false, true]
        );
        assert!(!starts(1, 5));
        assert!(!starts(3, 3), "no reason to change");
        assert!(starts(1, 5), "but its time is over");
    }
}
