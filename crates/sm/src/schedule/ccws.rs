//! Cache-conscious wavefront scheduling (Rogers, O'Connor and Aamodt, MICRO 2012): warps that
//! lose their own data in the L1 get more of it to themselves, because others may not load.
//!
//! Each warp has a small array of the tags of lines that it brought in and that were pushed out
//! (its victim tags). When it misses such a line it has lost locality: its score jumps, by an
//! amount that grows with how often that happens on the whole SM, and falls back cycle by cycle.
//! Warps are stacked by their scores, the highest first; those that do not fit under the sum of
//! the base scores of all warps may not issue memory instructions. Among warps that may issue the
//! order is greedy then oldest.

use super::gto::Gto;
use super::{CacheEvent, Considers, Facts, HearsCache, IssuePolicy, Place, Policy};
use crate::time::Cycle;
use std::collections::VecDeque;
use warpsim_machine::mechanism::{Info, Integer};

const VICTIMS: Integer = Integer {
    name: "victims",
    low: 1,
    high: 64,
    default: 16,
    unit: "lines",
    description: "victim tags that are kept for each warp",
};

const BASE: Integer = Integer {
    name: "base",
    low: 1,
    high: 10_000,
    default: 100,
    unit: "points",
    description: "score of a warp that has lost no locality lately",
};

const THROTTLE: Integer = Integer {
    name: "throttle",
    low: 0,
    high: 1000,
    default: 8,
    unit: "",
    description: "how strongly lost locality throttles the other warps (the paper's K)",
};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "ccws",
        description: "cache-conscious: warps that lose their own lines in the L1 keep others from loading; greedy then oldest",
        parameters: &[&VICTIMS, &BASE, &THROTTLE],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |values, _, domains| {
        Box::new(Ccws {
            order: Gto::new(domains),
            domains: vec![Domain::default(); domains],
            victims: values.get(&VICTIMS) as usize,
            base: values.get(&BASE) as u64,
            throttle: values.get(&THROTTLE) as u64,
            lost: 0,
            instructions: 0,
        })
    },
};

/// The policy.
#[derive(Debug)]
struct Ccws {
    order: Gto,
    domains: Vec<Domain>,
    victims: usize,
    base: u64,
    throttle: u64,
    /// Misses of lines that the warp itself had, and instructions issued, on the whole SM.
    lost: u64,
    instructions: u64,
}

#[derive(Clone, Debug, Default)]
struct Domain {
    /// Cycles that have passed here: its schedulers' own clock.
    clock: u64,
    /// By index: those that are there.
    warps: Vec<Option<Warp>>,
}

#[derive(Clone, Debug, Default)]
struct Warp {
    age: u64,
    /// Its score was this, at that time, and falls by one per cycle.
    score: u64,
    at: u64,
    /// Lines it brought in and that were pushed out, the latest at the end.
    victims: VecDeque<u64>,
}

impl Warp {
    fn score(&self, now: u64, base: u64) -> u64 {
        self.score.saturating_sub(now - self.at).max(base)
    }
}

impl Ccws {
    fn warp(&mut self, place: Place) -> Option<&mut Warp> {
        let warps = &mut self.domains[place.domain as usize].warps;
        warps.get_mut(place.index as usize)?.as_mut()
    }

    /// The score of a warp that has just lost locality: with every such loss and every warp it
    /// is more, with every instruction that got through less.
    fn raised(&self, domain: usize) -> u64 {
        let there = self.domains[domain].warps.iter().flatten().count() as u64;
        let cutoff = there * self.base;
        self.base + self.lost * self.throttle * cutoff / self.instructions.max(1)
    }
}

impl IssuePolicy for Ccws {
    fn launched(&mut self, place: Place, age: u64, block: u16) {
        self.order.launched(place, age, block);
        let domain = &mut self.domains[place.domain as usize];
        let index = place.index as usize;
        if domain.warps.len() <= index {
            domain.warps.resize(index + 1, None);
        }
        domain.warps[index] = Some(Warp {
            age,
            ..Warp::default()
        });
    }

    fn finished(&mut self, place: Place) {
        self.order.finished(place);
        self.domains[place.domain as usize].warps[place.index as usize] = None;
    }

    fn issued(&mut self, place: Place) {
        self.order.issued(place);
        self.instructions += 1;
        self.domains[place.domain as usize].clock += 1;
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        self.order.before(domain, a, b)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        self.order.first(domain, among)
    }

    fn advance(&mut self, domain: usize, from: Cycle, to: Cycle) {
        self.domains[domain].clock += to - from;
    }

    fn considers(&mut self) -> Option<&mut dyn Considers> {
        Some(self)
    }

    fn hears_cache(&mut self) -> Option<&mut dyn HearsCache> {
        Some(self)
    }
}

impl Considers for Ccws {
    fn consider(&mut self, domain: usize, facts: &Facts) -> u64 {
        let d = &self.domains[domain];
        let mut stack: Vec<(u64, u64, usize)> = Vec::with_capacity(d.warps.len());
        for (index, warp) in d.warps.iter().enumerate() {
            if let Some(warp) = warp
                && facts.running >> index & 1 != 0
            {
                stack.push((warp.score(d.clock, self.base), warp.age, index));
            }
        }
        // The highest score first, the oldest of equals.
        stack.sort_unstable_by_key(|&(score, age, _)| (u64::MAX - score, age));
        let cutoff = stack.len() as u64 * self.base;
        let mut height = 0;
        let mut may_load = 0u64;
        for (score, _, index) in stack {
            height += score;
            if height <= cutoff || may_load == 0 {
                may_load |= 1 << index;
            }
        }
        may_load | !facts.accesses
    }
}

impl HearsCache for Ccws {
    fn cache(&mut self, place: Place, event: CacheEvent, line: u64) {
        let victims = self.victims;
        match event {
            CacheEvent::Evicted => {
                if let Some(warp) = self.warp(place) {
                    warp.victims.retain(|&l| l != line);
                    warp.victims.push_back(line);
                    if warp.victims.len() > victims {
                        warp.victims.pop_front();
                    }
                }
            }
            CacheEvent::Miss => {
                let lost = |warp: &mut Warp| warp.victims.contains(&line);
                if !self.warp(place).is_some_and(lost) {
                    return;
                }
                self.lost += 1;
                let raised = self.raised(place.domain as usize);
                let now = self.domains[place.domain as usize].clock;
                if let Some(warp) = self.warp(place) {
                    (warp.score, warp.at) = (raised, now);
                    warp.victims.retain(|&l| l != line);
                }
            }
            CacheEvent::Hit | CacheEvent::Merged | CacheEvent::Fill => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReadMachine;
    use crate::mechanism::Values;

    fn place(index: u8) -> Place {
        Place { domain: 0, index }
    }

    /// Four warps; warp 2 has lost line 7 and missed it `times` times.
    fn policy(times: usize) -> Box<dyn IssuePolicy> {
        let machine = crate::config::Machine::preset("gtx480").expect("a preset");
        let values = Values::defaults(&POLICY.info);
        let mut ccws = (POLICY.make)(&values, &machine, 1);
        (0..4).for_each(|i| ccws.launched(place(i), i as u64, 0));
        (0..100).for_each(|_| ccws.issued(place(0)));
        for _ in 0..times {
            let cache = ccws.hears_cache().expect("it does");
            cache.cache(place(2), CacheEvent::Evicted, 7 * 128);
            cache.cache(place(2), CacheEvent::Miss, 7 * 128);
        }
        ccws
    }

    /// The warps that may issue when all want to load.
    fn may_load(ccws: &mut dyn IssuePolicy) -> u64 {
        let facts = Facts {
            running: 0b1111,
            accesses: 0b1111,
            ..Facts::default()
        };
        ccws.considers().expect("it does").consider(0, &facts) & 0b1111
    }

    #[test]
    fn all_warps_load_while_none_loses_locality() {
        assert_eq!(may_load(&mut *policy(0)), 0b1111);
    }

    #[test]
    fn a_warp_that_lost_its_lines_pushes_the_youngest_off_the_stack() {
        // One loss: 100 + 1 * 8 * 400 / 100 = 132, so that one of four no longer fits.
        assert_eq!(may_load(&mut *policy(1)), 0b0111);
        // Ten: 100 + 320, which alone is more than there is.
        assert_eq!(may_load(&mut *policy(10)), 0b0100);
    }

    #[test]
    fn scores_fall_back_as_time_passes() {
        let mut ccws = policy(1);
        ccws.advance(0, Cycle::new(0), Cycle::new(31));
        assert_eq!(may_load(&mut *ccws), 0b0111, "one point is left");
        ccws.advance(0, Cycle::new(31), Cycle::new(32));
        assert_eq!(may_load(&mut *ccws), 0b1111);
    }

    #[test]
    fn lines_of_others_and_lines_long_gone_count_for_nothing() {
        let mut ccws = policy(0);
        let cache = ccws.hears_cache().expect("it does");
        cache.cache(place(1), CacheEvent::Evicted, 0);
        cache.cache(place(2), CacheEvent::Miss, 0);
        for line in 1..=16 {
            cache.cache(place(1), CacheEvent::Evicted, line * 128);
        }
        cache.cache(place(1), CacheEvent::Miss, 0);
        assert_eq!(may_load(&mut *ccws), 0b1111);
    }

    #[test]
    fn only_memory_instructions_are_held_back() {
        let mut ccws = policy(10);
        let facts = Facts {
            running: 0b1111,
            accesses: 0b0011,
            ..Facts::default()
        };
        let considered = ccws.considers().expect("it does").consider(0, &facts);
        assert_eq!(considered & 0b1111, 0b1100);
    }
}
