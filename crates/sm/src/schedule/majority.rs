//! Majority (thread-block-compaction §2.3): the PC at which most threads of the pool are.

use super::{Considers, Facts, IssuePolicy, Place, Policy};
use crate::divergence::Group;
use warpsim_machine::mechanism::Info;
use warpsim_ptx::kernel::Pc;

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "majority",
        description: "for dwf and dwf-wb: all warps at the PC where most pooled threads are, in the order in which they were formed, then the next such PC",
        parameters: &[],
    },
    needs_pool: true,
    ranks_blocks: false,
    make: |_, _, domains| Box::new(Majority::new(domains)),
};

/// Issues every warp at the chosen PC, those that come there meanwhile included, in the order
/// in which they came, and chooses again when none is left. Warps from an opened barrier go
/// before all others. Each scheduler chooses among its share of the pool.
#[derive(Debug)]
pub struct Majority {
    shares: Vec<Share>,
    /// Order number of the next warp that comes.
    next: u64,
    counts: Vec<(Pc, u32)>,
}

#[derive(Clone, Debug)]
struct Share {
    /// Warps that can issue.
    pooled: u64,
    /// Those of them from an opened barrier.
    urgent: u64,
    /// Those of them at the chosen PC.
    at_chosen: u64,
    chosen: Option<Pc>,
    warps: [Pooled; 64],
}

#[derive(Clone, Copy, Debug, Default)]
struct Pooled {
    pc: Pc,
    threads: u32,
    order: u64,
}

impl Share {
    /// What a warp is ranked by; the smallest goes first.
    fn rank(&self, index: u8) -> (bool, bool, bool, u64, u8) {
        let not = |set: u64| set >> index & 1 == 0;
        let order = self.warps[index as usize].order;
        let out = not(self.pooled);
        let order = if out { 0 } else { order };
        (out, not(self.urgent), not(self.at_chosen), order, index)
    }

    fn remove(&mut self, index: u8) {
        let keep = !(1u64 << index);
        self.pooled &= keep;
        self.urgent &= keep;
        self.at_chosen &= keep;
        if self.at_chosen == 0 {
            self.chosen = None;
        }
    }
}

/// The members of a set.
fn members(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let index = (set != 0).then(|| set.trailing_zeros() as u8)?;
        set &= set - 1;
        Some(index)
    })
}

impl Majority {
    /// A policy for this many domains.
    pub fn new(domains: usize) -> Majority {
        let share = Share {
            pooled: 0,
            urgent: 0,
            at_chosen: 0,
            chosen: None,
            warps: [Pooled::default(); 64],
        };
        Majority {
            shares: vec![share; domains],
            next: 0,
            counts: Vec::new(),
        }
    }

    /// The PC with most pooled threads; the smaller of two with as many.
    fn choose(&mut self, domain: usize) {
        let share = &mut self.shares[domain];
        self.counts.clear();
        for index in members(share.pooled) {
            let warp = &share.warps[index as usize];
            match self.counts.iter_mut().find(|c| c.0 == warp.pc) {
                Some(count) => count.1 += warp.threads,
                None => self.counts.push((warp.pc, warp.threads)),
            }
        }
        let largest = self
            .counts
            .iter()
            .max_by_key(|(pc, threads)| (*threads, std::cmp::Reverse(*pc)));
        share.chosen = largest.map(|c| c.0);
        share.at_chosen = members(share.pooled)
            .filter(|&i| Some(share.warps[i as usize].pc) == share.chosen)
            .fold(0, |all, i| all | 1 << i);
    }
}

impl IssuePolicy for Majority {
    fn launched(&mut self, _: Place, _: u64, _: u16) {}

    fn finished(&mut self, place: Place) {
        self.shares[place.domain as usize].remove(place.index);
    }

    fn pooled(&mut self, place: Place, group: &Group) {
        let share = &mut self.shares[place.domain as usize];
        let bit = 1u64 << place.index;
        let warp = &mut share.warps[place.index as usize];
        (warp.pc, warp.threads) = (group.pc, group.mask.count_ones());
        if share.pooled & bit == 0 {
            warp.order = self.next;
            self.next += 1;
        }
        share.pooled |= bit;
        share.urgent = share.urgent & !bit | if group.urgent { bit } else { 0 };
        let here = share.chosen == Some(group.pc);
        share.at_chosen = share.at_chosen & !bit | if here { bit } else { 0 };
    }

    fn considers(&mut self) -> Option<&mut dyn Considers> {
        Some(self)
    }

    fn issued(&mut self, place: Place) {
        self.shares[place.domain as usize].remove(place.index);
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        let share = &self.shares[domain];
        share.rank(a) < share.rank(b)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        let share = &self.shares[domain];
        members(among).min_by_key(|&i| share.rank(i))
    }
}

impl Considers for Majority {
    fn consider(&mut self, domain: usize, _: &Facts) -> u64 {
        if self.shares[domain].at_chosen == 0 && self.shares[domain].pooled != 0 {
            self.choose(domain);
        }
        let share = &self.shares[domain];
        if share.urgent != 0 {
            share.urgent
        } else {
            share.at_chosen
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::GroupState;
    use crate::exec::state::Lanes;

    fn put(policy: &mut Majority, index: u8, pc: Pc, mask: u32, urgent: bool) {
        let group = Group {
            pc,
            watch: pc + 1,
            mask,
            lanes: Lanes::Static(0),
            state: GroupState::Running,
            fresh: false,
            urgent,
        };
        policy.pooled(Place { domain: 0, index }, &group);
    }

    /// Issues until the pool is empty; the order.
    fn issue(policy: &mut Majority) -> Vec<u8> {
        let mut order = Vec::new();
        loop {
            let considered = policy.consider(0, &Facts::default());
            let Some(index) = policy.first(0, considered) else {
                return order;
            };
            policy.issued(Place { domain: 0, index });
            order.push(index);
        }
    }

    #[test]
    fn threads_are_counted_not_warps() {
        let mut policy = Majority::new(1);
        put(&mut policy, 3, 10, 0b1, false);
        put(&mut policy, 1, 10, 0b1, false);
        put(&mut policy, 2, 20, 0b111, false);
        assert_eq!(issue(&mut policy), [2, 3, 1], "then in the order they came");
    }

    #[test]
    fn as_many_threads_at_the_smaller_pc_go_first() {
        let mut policy = Majority::new(1);
        put(&mut policy, 0, 20, 0b11, false);
        put(&mut policy, 1, 10, 0b11, false);
        assert_eq!(issue(&mut policy), [1, 0]);
    }

    #[test]
    fn the_choice_stands_until_none_is_left_newcomers_included() {
        let mut policy = Majority::new(1);
        put(&mut policy, 0, 10, 0b11, false);
        put(&mut policy, 1, 20, 0b1, false);
        assert_eq!(policy.consider(0, &Facts::default()), 0b01);
        put(&mut policy, 1, 20, 0b1111, false);
        put(&mut policy, 2, 10, 0b1, false);
        assert_eq!(policy.consider(0, &Facts::default()), 0b101);
        assert_eq!(issue(&mut policy), [0, 2, 1]);
    }

    #[test]
    fn a_warp_that_is_filled_keeps_its_turn() {
        let mut policy = Majority::new(1);
        put(&mut policy, 5, 10, 0b1, false);
        put(&mut policy, 4, 10, 0b1, false);
        put(&mut policy, 5, 10, 0b11, false);
        assert_eq!(issue(&mut policy), [5, 4]);
    }

    #[test]
    fn warps_from_an_opened_barrier_go_before_the_majority() {
        let mut policy = Majority::new(1);
        put(&mut policy, 0, 10, 0b1111, false);
        put(&mut policy, 1, 30, 0b1, true);
        assert_eq!(policy.consider(0, &Facts::default()), 0b10);
        assert_eq!(issue(&mut policy), [1, 0]);
    }
}
