//! Warps that belong to a block: they come with it and leave with it.

use super::{BarrierAt, Ownership};
use crate::divergence::{BlockArrival, GroupState};
use crate::observe::WarpEvent;
use crate::sm::launch::Launched;
use crate::sm::observe::StuckWarp;
use crate::sm::residents::Residents;
use crate::sm::residents::blocks::ResidentBlock;
use crate::sm::residents::blocks::barrier::{Arrival, Release};
use crate::sm::warps::Hold;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// See [`Ownership`].
pub struct StaticWarps;

impl Ownership for StaticWarps {
    fn start(&self, r: &mut Residents, arrival: BlockArrival, number: u64, now: Cycle) {
        let block = arrival.block;
        let (first, slices) = (arrival.homes.start, arrival.layout.slices());
        let mut warps = 0;
        for (slot, home, slice) in arrival.slots() {
            warps += 1;
            let age = r.blocks.next_age;
            r.warps.edit(slot, &mut r.books).arrive(block, age, now);
            let place = r.warps.place(slot);
            r.books.policy.launched(place, age, block);
            r.blocks.next_age += 1;
            let event = WarpEvent::Launched {
                block: number,
                warp: (home - first) * slices + slice,
            };
            r.books.watch.tell(now, slot, event);
        }
        let resident = ResidentBlock::new(arrival, number, warps);
        r.blocks.slots[block as usize] = Some(resident);
    }

    fn follow(&self, r: &mut Residents, slot: u16, launched: &Launched) {
        let group = r.groups.get(slot);
        let (state, pc) = (group.state, group.pc);
        r.warps.warp_mut(slot).lanes = group.mask.count_ones();
        let mut edit = r.warps.edit(slot, &mut r.books);
        edit.follow_static(state, pc, launched.facts.len() as Pc);
        edit.refresh_head(pc, &launched.facts);
        match state {
            GroupState::Stopped => {
                r.warps.check_settling(slot, &mut r.books);
                r.settle(slot);
            }
            GroupState::Finished => {
                r.warp_exited(slot);
                r.warps.check_leaving(slot);
            }
            GroupState::Running => {
                r.warps.warp_mut(slot).exited = false;
                r.books.policy.restarted(r.warps.place(slot));
            }
            GroupState::Free | GroupState::Held => {}
        }
    }

    fn exited(&self, r: &mut Residents, slot: u16, _: u32, now: Cycle, launched: &Launched) {
        if r.groups.get(slot).state == GroupState::Finished {
            r.warp_exited(slot);
        }
        r.recheck_barriers(r.warps.warp(slot).block, now, launched);
    }

    fn arrive(
        &self,
        r: &mut Residents,
        slot: u16,
        executed: u32,
        at: BarrierAt,
        launched: &Launched,
    ) {
        if !at.barrier.arrive {
            r.warps.edit(slot, &mut r.books).hold(Hold::Barrier, true);
        }
        note_arrival(r, slot, executed, at, launched);
    }

    fn release(&self, r: &mut Residents, block: u16, release: &Release, now: Cycle) {
        let mut left = &release.slots[..];
        while let [slot, others @ ..] = left {
            if r.books.plans()
                && let Some((gang, others)) = r.warps.first_gang(left)
            {
                r.let_gang_go(Hold::Barrier, gang);
                left = others;
                continue;
            }
            r.books.watch.tell(now, *slot, WarpEvent::Released);
            r.let_go(Hold::Barrier, *slot);
            left = others;
        }
        r.warps.touch_all(&mut r.books); // as on arrival
        let warps = &r.warps;
        let mut places = release.slots.iter().map(|&slot| warps.place(slot));
        r.books.policy.released(block, &mut places);
        r.end_phase(block, &release.slots, now);
    }

    fn joined(&self, r: &mut Residents, slot: u16, meeting: usize) {
        r.meetings[meeting].slots.push(slot);
        r.warps.warp_mut(slot).awaits += 1;
    }

    fn wait_for_members(&self, r: &mut Residents, slot: u16, _: u32) {
        r.warps.edit(slot, &mut r.books).hold(Hold::Members, true);
    }

    fn met(&self, _: &mut Residents, _: u16, _: u32) {}

    fn is_active(&self, r: &Residents) -> bool {
        r.warps.any_resident()
    }

    fn stuck(&self, r: &Residents, id: u16, memory: &str, launched: &Launched) -> Vec<StuckWarp> {
        let mut stuck = Vec::new();
        for block in r.blocks.slots.iter().flatten() {
            for (slot, _, _) in block.arrival.slots() {
                let group = r.groups.get(slot);
                let gone = matches!(group.state, GroupState::Finished | GroupState::Free);
                if gone || group.mask == 0 {
                    continue;
                }
                // A warp at a barrier has its next instruction before it already.
                let number = block.arrival.block;
                let takers = r.barrier_takers(number, r.barrier_set(number, slot));
                let barrier = block.waits_at(slot, takers.unwrap_or(0));
                let pc = barrier.as_ref().map_or(group.pc, |b| b.pc);
                let waits_for = match barrier {
                    Some(b) => b.describe(),
                    None => r.describe_wait(slot, memory, launched),
                };
                let home = group.first_home();
                stuck.push(r.stuck_warp(id, slot, home, pc, waits_for, launched));
            }
        }
        stuck.extend(r.parked(id, launched));
        stuck
    }
}

/// A warp has come to a barrier, and is held there if it waits: the barrier may open.
pub(in crate::sm::residents) fn note_arrival(
    r: &mut Residents,
    slot: u16,
    executed: u32,
    at: BarrierAt,
    launched: &Launched,
) {
    let BarrierAt { barrier, pc, now } = at;
    let block = r.warps.warp(slot).block;
    let threads = r
        .model
        .barrier_threads(slot, r.groups.get(slot), &r.threads);
    let waits = !barrier.arrive;
    if waits {
        r.warps.warp_mut(slot).phase_ended = now;
        r.warps.touch_all(&mut r.books); // other schedulers may look at their warps in another order now
        r.books.policy.waits(r.warps.place(slot), block, now);
    }
    let id = barrier.id;
    r.books
        .watch
        .tell(now, slot, WarpEvent::Barrier { id, waits });
    let arrival = Arrival {
        slot,
        lanes: &r.groups.get(slot).lanes,
        executed,
        threads,
        pc,
        barrier,
    };
    let set = r.barrier_set(block, slot);
    let takers = r.barrier_takers(block, set);
    let Some(resident) = &mut r.blocks.slots[block as usize] else {
        return;
    };
    if let Some(release) = resident.arrive(&arrival, set, takers, &r.threads) {
        r.release_barrier(block, release, now, launched);
    }
}
