//! The gang front end: fetches once for all warps of a gang, before the units of the slices and past their small caches.

use super::Sm;
use super::fetch::address;
use crate::place::Place;
use crate::schedule::{FetchView, Together};
use crate::sm::launch::Launched;
use crate::sm::memory::Outcome;
use warpsim_ptx::kernel::Pc;

/// What it keeps.
#[derive(Debug, Default)]
pub(super) struct GangFetch {
    /// Fetches left in this cycle.
    left: u32,
    /// Gangs that wait for a line, by the warp for which it was asked.
    waiting: Vec<(u16, Vec<u16>)>,
    /// Fetched in the last cycle.
    pub fetched: Vec<(u16, Pc)>,
    /// By domain: warps that are fetched for here, and not by themselves.
    pub members: Vec<u64>,
}

impl Sm {
    /// A cycle begins.
    pub(super) fn open_gang_ports(&mut self) {
        self.gang_fetch.left = self.policy.plan().map_or(0, |plan| plan.fetches());
    }

    /// Fetches for as many gangs as it may and as the instruction cache has ports for.
    pub(super) fn fetch_for_gangs(&mut self, launched: &Launched) {
        let end = launched.facts.len() as Pc;
        while self.gang_fetch.left > 0
            && self.fetch.cache.has_port()
            && let Some(gang) = self.next_gang_to_fetch(end)
        {
            self.gang_fetch.left -= 1;
            let slots: Vec<u16> = gang.slots(self.layout).collect();
            let pc = self.common_pc(&slots, end);
            let outcome = self.fetch.cache.look_up(address(pc, launched), slots[0]);
            if outcome == Outcome::Stall {
                continue;
            }
            let counters = &mut self.stats.counters;
            counters.l1i_accesses += 1;
            if outcome == Outcome::Hit {
                counters.fetches += 1;
                for slot in slots {
                    self.warps[usize::from(slot)].fetching = true;
                    self.gang_fetch.fetched.push((slot, pc));
                }
            } else {
                counters.l1i_misses += 1;
                slots
                    .iter()
                    .for_each(|slot| self.warps[usize::from(*slot)].missing = true);
                self.gang_fetch.waiting.push((slots[0], slots));
            }
        }
        self.gang_fetch.members = match self.policy.plan() {
            Some(plan) => plan.fetched_together().to_vec(),
            None => Vec::new(),
        };
    }

    /// Where to fetch from for warps with empty buffers: behind what they had, if that is the same for all, else where
    /// they are.
    fn common_pc(&mut self, slots: &[u16], end: Pc) -> Pc {
        let from: Vec<Pc> = slots
            .iter()
            .map(|slot| self.fetch_from(*slot, end))
            .collect();
        let pc = match from.iter().all(|pc| *pc == from[0]) {
            true => from[0],
            false => self.groups.get(slots[0]).pc,
        };
        slots
            .iter()
            .for_each(|slot| self.warps[usize::from(*slot)].direct(pc));
        pc
    }

    /// Whether a line that was asked for by this warp is for a gang.
    pub(super) fn is_for_gang(&self, slot: u16) -> bool {
        self.gang_fetch
            .waiting
            .iter()
            .any(|(first, _)| *first == slot)
    }

    /// The line that a gang waited for has come: it is fetched now, if there is a fetch left; says whether.
    pub(super) fn gang_line_has_come(&mut self, slot: u16) -> bool {
        if self.gang_fetch.left == 0 {
            return false;
        }
        self.gang_fetch.left -= 1;
        let mut any = false;
        // Some may have left meanwhile.
        for slot in self.end_gang_wait(slot) {
            any = true;
            let warp = &mut self.warps[usize::from(slot)];
            warp.fetching = true;
            self.gang_fetch.fetched.push((slot, warp.fetch_pc));
        }
        self.stats.counters.fetches += u64::from(any);
        true
    }

    /// The wait of a gang for a line is over; the warps that have waited until now.
    pub(super) fn end_gang_wait(&mut self, slot: u16) -> Vec<u16> {
        let waiting = &mut self.gang_fetch.waiting;
        let Some(at) = waiting.iter().position(|(first, _)| *first == slot) else {
            return Vec::new();
        };
        let (_, mut slots) = waiting.swap_remove(at);
        slots.retain(|slot| std::mem::take(&mut self.warps[usize::from(*slot)].missing));
        slots
    }

    /// A gang that is fetched for together next, of those that lack their next instruction, if there is one.
    fn next_gang_to_fetch(&mut self, end: Pc) -> Option<Together> {
        let (domains, schedulers) = (self.layout.domains(), usize::from(self.layout.schedulers()));
        let lacks = |sm: &Sm, d: usize| {
            sm.those(d, |slot, warp| {
                warp.is_running() && !warp.has_next(sm.groups.get(slot).pc)
            })
        };
        let skips = self.fetch.skips_waiters();
        let may = |sm: &Sm, d: usize| {
            sm.those(d, |slot, warp| {
                let fetchable = warp.is_running()
                    && warp.wants_fetch(&sm.machine.fetch, end)
                    && !warp.missing
                    && !warp.unresolved
                    && !(skips && warp.waits.barrier);
                fetchable && (warp.buffer.is_empty() || warp.has_next(sm.groups.get(slot).pc))
            })
        };
        let sets: Vec<[u64; 2]> = (0..domains)
            .map(|d| [lacks(self, d), may(self, d)])
            .collect();
        let mut wanting = vec![0; schedulers];
        let mut in_all = vec![!0; schedulers];
        for (d, [lacking, may]) in sets.iter().enumerate() {
            wanting[d % schedulers] |= lacking & may;
            in_all[d % schedulers] &= lacking & may;
        }
        if wanting.iter().all(|set| *set == 0) {
            return None;
        }
        let slices = |home: Place| {
            let mut found = [0u8; 2];
            let its = (usize::from(home.domain)..domains).step_by(schedulers);
            for (slice, d) in its.enumerate() {
                for (found, set) in found.iter_mut().zip(&sets[d]) {
                    *found |= ((set >> home.index & 1) as u8) << slice;
                }
            }
            found
        };
        let view = FetchView {
            wanting: &wanting,
            in_all: &in_all,
            slices: &slices,
        };
        self.policy.plan()?.next_fetch(&view)
    }
}
