//! The gang front end: fetches once for all warps of a gang, before the units of the slices and past
//! their small caches (variable warp sizing, section 4.6).

use super::icache::ICache;
use super::unit::{address, decode, take};
use crate::schedule::{FetchView, Together};
use crate::sm::launch::Launched;
use crate::sm::memory::Outcome;
use crate::sm::residents::Residents;
use crate::sm::warps::{Domain, Waiters, WarpTable};
use warpsim_ptx::kernel::Pc;

/// The gang front end.
pub(super) struct GangFetch {
    /// Fetches left in this cycle.
    left: u32,
    /// Fetched in the last cycle, to be decoded in this; for whole gangs, by their warp in the first
    /// slice.
    fetched: Vec<(u16, Pc)>,
    whole: Vec<(u16, Pc)>,
    /// Warps that wait for a line, by the first, for which it was asked.
    waiting: Vec<(u16, Together)>,
    /// By domain: see [`FetchView`] and [`members`](GangFetch::members).
    lacking: Vec<u64>,
    fetchable: Vec<u64>,
    members: Vec<u64>,
    waiters: Waiters,
}

impl GangFetch {
    /// For an SM with so many domains.
    pub fn new(domains: usize, waiters: Waiters) -> GangFetch {
        GangFetch {
            left: 0,
            fetched: Vec::new(),
            whole: Vec::new(),
            waiting: Vec::new(),
            lacking: vec![0; domains],
            fetchable: vec![0; domains],
            members: vec![0; domains],
            waiters,
        }
    }

    /// Whether something is to be decoded.
    pub fn has_fetched(&self) -> bool {
        !self.fetched.is_empty() || !self.whole.is_empty()
    }

    /// Puts what was fetched into the buffers.
    #[inline]
    pub fn decode(&mut self, residents: &mut Residents, launched: &Launched) {
        if !self.whole.is_empty() {
            for (first, pc) in self.whole.drain(..) {
                decode_whole_gang(first, pc, residents, launched);
            }
        }
        if !self.fetched.is_empty() {
            residents.warps.part();
            decode(&mut self.fetched, residents, launched);
        }
    }

    /// A cycle begins.
    pub fn open_ports(&mut self, residents: &Residents) {
        self.left = residents.books.gang_fetches();
    }

    /// Whether a line that was asked for by this slot is for a gang.
    #[inline]
    pub fn awaits(&self, slot: u16) -> bool {
        self.waiting.iter().any(|(first, _)| *first == slot)
    }

    /// The line that a gang waited for has come: it is fetched now, if there is a fetch left in this
    /// cycle; says whether.
    pub fn line_has_come(&mut self, slot: u16, residents: &mut Residents) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let Some(at) = self.waiting.iter().position(|(first, _)| *first == slot) else {
            return true;
        };
        let (_, members) = self.waiting.swap_remove(at);
        let mut any = false;
        let warps = &mut residents.warps;
        if members.len() == warps.layout().domains() && warps.is_together(slot) {
            if warps.set_whole_missing(slot, false) {
                let pc = warps.warp(slot).buffer().fetch_pc();
                self.whole.push((slot, pc));
                warps.whole_fetch_under_way(slot);
                residents.books.stats.counters.fetches += 1;
            }
            return true;
        }
        for place in members.iter() {
            // It may have left meanwhile.
            if warps.set_missing(place, false) {
                let slot = warps.slot_at(place);
                let pc = warps.warp(slot).buffer().fetch_pc();
                take(&mut self.fetched, slot, pc, warps);
                any = true;
            }
        }
        residents.books.stats.counters.fetches += u64::from(any);
        true
    }

    /// Fetches for as many gangs as it may and as the instruction cache has ports for.
    pub fn fetch(&mut self, icache: &mut ICache, residents: &mut Residents, launched: &Launched) {
        self.look(residents);
        while self.left != 0 && icache.has_port() {
            let alike = residents.warps.alike();
            if alike && self.lacking[0] & self.fetchable[0] == 0 {
                return; // nobody is to be fetched for
            }
            let policy = &mut residents.books.policy;
            let view = FetchView {
                lacking: &self.lacking,
                fetchable: &self.fetchable,
                alike,
            };
            let Some(members) = policy.plan().and_then(|p| p.next_fetch(&view)) else {
                return;
            };
            self.left -= 1;
            self.fetch_for(members, icache, residents, launched);
            if residents.warps.alike() {
                self.fetchable[0] = residents.warps.domain(0).fetchable(self.waiters);
                continue;
            }
            if alike {
                self.look(residents);
                continue;
            }
            for place in members.iter() {
                let domain = residents.warps.sets(place.domain as usize);
                self.fetchable[place.domain as usize] = domain.fetchable(self.waiters);
            }
        }
    }

    /// Looks at the warps, of domains for which the first one may stand.
    fn look(&mut self, residents: &Residents) {
        let kept = residents.warps.domains();
        for (d, domain) in kept.iter().enumerate() {
            self.lacking[d] = domain.lacking();
            self.fetchable[d] = domain.fetchable(self.waiters);
        }
    }

    fn fetch_for(
        &mut self,
        members: Together,
        icache: &mut ICache,
        residents: &mut Residents,
        launched: &Launched,
    ) {
        let pc = common_pc(members, residents, launched);
        let warps = &mut residents.warps;
        let first = warps.slot_at(members.leader());
        let outcome = icache.look_up(address(pc, launched), first);
        if outcome == Outcome::Stall {
            return;
        }
        let hit = outcome == Outcome::Hit;
        let counters = &mut residents.books.stats.counters;
        counters.l1i_accesses += 1;
        counters.l1i_misses += u64::from(!hit);
        counters.fetches += u64::from(hit);
        let whole = members.len() == warps.layout().domains();
        if hit && whole {
            self.whole.push((first, pc));
            return warps.whole_fetch_under_way(first);
        }
        if whole && warps.is_together(first) {
            warps.set_whole_missing(first, true);
            return self.waiting.push((first, members));
        }
        for place in members.iter() {
            if hit {
                take(&mut self.fetched, warps.slot_at(place), pc, warps);
            } else {
                warps.set_missing(place, true);
            }
        }
        if !hit {
            self.waiting.push((first, members));
        }
    }

    /// Whether units of slices have nobody to fetch for or to notice: the warps that concern fetch
    /// are in gangs.
    pub fn leaves_nobody(&self, residents: &mut Residents) -> bool {
        let Residents { warps, books, .. } = residents;
        if warps.alike() && warps.domain(0).concerns_fetch(self.waiters) == 0 {
            return true;
        }
        let ganged = match books.policy.plan() {
            Some(plan) => plan.fetched_together(),
            None => &[],
        };
        let alone = |(sets, ganged): (&Domain, u64)| {
            sets.fetchable(self.waiters) & !ganged | sets.leaving()
        };
        match warps.alike() {
            true => {
                let all = ganged.iter().fold(!0, |all, set| all & set);
                alone((warps.domain(0), all)) == 0
            }
            false => {
                let ganged = ganged.iter().copied();
                warps.domains().iter().zip(ganged).all(|of| alone(of) == 0)
            }
        }
    }

    /// By domain: the warps that are in gangs, and that no unit of a slice fetches for.
    pub fn members(&mut self, residents: &mut Residents) -> &[u64] {
        if let Some(plan) = residents.books.policy.plan() {
            let together = plan.fetched_together();
            self.members[..together.len()].copy_from_slice(together);
        }
        &self.members
    }
}

/// Where to fetch from for warps whose buffers are empty: behind what they had, as long as that is
/// the same for all, else where they are.
fn common_pc(members: Together, residents: &mut Residents, launched: &Launched) -> Pc {
    let Residents { warps, groups, .. } = residents;
    let end = launched.facts.len() as Pc;
    let from = |warps: &mut WarpTable, slot: u16| warps.fetch_from(slot, groups.get(slot).pc, end);
    let first = warps.slot_at(members.leader());
    if members.len() < warps.layout().domains() {
        warps.part(); // each has its own buffer
    }
    let pc = from(warps, first);
    if members.len() == warps.layout().domains() && warps.is_together(first) {
        return pc; // it is the same for all
    }
    let layout = warps.layout();
    let slots = members.iter().map(|place| layout.slot_at(place));
    if slots.clone().all(|slot| from(warps, slot) == pc) {
        return pc;
    }
    let pc = groups.get(first).pc;
    slots.for_each(|slot| warps.restart_fetch(slot, pc));
    pc
}

/// Puts what was fetched for a whole gang into its buffers.
fn decode_whole_gang(first: u16, pc: Pc, residents: &mut Residents, launched: &Launched) {
    let Residents {
        warps,
        books,
        groups,
        ..
    } = residents;
    let next = groups.get(first).pc;
    let waits = |slot: u16| {
        let there = warps.warp(slot).buffer().fetch_pc() == pc;
        there && warps.is_running(slot)
    };
    let all = warps.whole(first);
    let wait = match warps.is_together(first) {
        true => {
            debug_assert!(groups.all_at(all.clone(), next));
            waits(first)
        }
        false => all.clone().all(waits) && groups.all_at(all, next),
    };
    if wait {
        return warps.decode_whole(first, pc, next, &launched.facts, books);
    }
    warps.part();
    let mut each = warps.whole(first).map(|slot| (slot, pc)).collect();
    decode(&mut each, residents, launched);
}
