//! Warps that belong to the SM rather than to a block (see
//! [`divergence::pool`](crate::divergence::pool)): slots are filled and emptied as warps are
//! formed and dissolve, and blocks count their threads. Phases from barrier to barrier are those
//! of static warps: there are none here.

use super::{BarrierAt, Ownership};
use crate::divergence::pool::WarpPool;
use crate::divergence::{BlockArrival, DivergenceModel, GroupState};
use crate::exec::state::{Lanes, Threads};
use crate::observe::WarpEvent;
use crate::sm::launch::Launched;
use crate::sm::observe::StuckWarp;
use crate::sm::residents::Residents;
use crate::sm::residents::blocks::ResidentBlock;
use crate::sm::residents::blocks::barrier::{Arrival, Release};
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// See [`Ownership`].
pub struct PooledWarps;

fn pool(model: &mut Box<dyn DivergenceModel>) -> &mut dyn WarpPool {
    model.pool().expect("this kind is for models with a pool")
}

impl Ownership for PooledWarps {
    fn start(&self, r: &mut Residents, arrival: BlockArrival, number: u64, _: Cycle) {
        let block = arrival.block as usize;
        let mut resident = ResidentBlock::new(arrival, number, 0);
        let threads = resident.live_threads(&r.threads);
        resident = ResidentBlock::new(resident.arrival, number, threads);
        r.blocks.slots[block] = Some(resident);
    }

    fn follow(&self, r: &mut Residents, slot: u16, launched: &Launched) {
        let now = r.warps.now();
        let counts_from = r.warps.changes_count_from(slot);
        let fresh = r.groups.seen(slot);
        let (state, pc) = (r.groups.get(slot).state, r.groups.get(slot).pc);
        let place = r.warps.place(slot);
        let resident = r.warps.is_resident(slot);
        let mut edit = r.warps.edit(slot, &mut r.books);
        if resident && (fresh || state == GroupState::Free) {
            // Its threads are elsewhere.
            edit.clear();
            r.books.policy.finished(place);
            r.books.watch.tell(counts_from, slot, WarpEvent::Dissolved);
        }
        if state == GroupState::Free {
            return;
        }
        if fresh {
            let home = r.groups.get(slot).first_home();
            let block = r.threads.warps[home as usize].block;
            edit.form(block, now, pc);
            r.books.policy.launched(place, r.blocks.next_age, block);
            r.blocks.next_age += 1;
            r.books.watch.tell(counts_from, slot, WarpEvent::Formed);
        }
        edit.set_lanes(r.groups.get(slot).mask.count_ones());
        let released = edit.follow_pooled(state, pc, launched.facts.len() as Pc);
        edit.refresh_head(pc, &launched.facts);
        if state == GroupState::Running {
            r.books.policy.pooled(place, r.groups.get(slot));
            if released {
                r.books.watch.tell(counts_from, slot, WarpEvent::Released);
            }
        }
        if state == GroupState::Stopped {
            r.warps.check_settling(slot, &mut r.books);
            r.settle(slot);
        }
    }

    fn exited(&self, r: &mut Residents, slot: u16, executed: u32, now: Cycle, launched: &Launched) {
        let lanes = &r.groups.get(slot).lanes;
        for (block, _) in blocks_of(&r.threads, lanes, executed) {
            r.recheck_barriers(block, now, launched);
        }
    }

    /// The group arrives at the barrier of each of its blocks.
    fn arrive(
        &self,
        r: &mut Residents,
        slot: u16,
        executed: u32,
        at: BarrierAt,
        launched: &Launched,
    ) {
        let BarrierAt { barrier, pc, now } = at;
        let group = r.groups.get(slot);
        let lanes = group.lanes.clone();
        let arriving = pool(&mut r.model).barrier_lanes(slot, executed, group);
        let parts = blocks_of(&r.threads, &lanes, arriving);
        let (id, waits) = (barrier.id, !barrier.arrive);
        r.books
            .watch
            .tell(now, slot, WarpEvent::Barrier { id, waits });
        for (block, part) in parts {
            if waits {
                pool(&mut r.model).barrier(slot, block, barrier.id, part);
            }
            let arrival = Arrival {
                slot,
                lanes: &lanes,
                executed: executed & part,
                threads: part.count_ones(),
                pc,
                barrier,
            };
            let takers = r.barrier_takers(block, 0);
            let Some(resident) = &mut r.blocks.slots[block as usize] else {
                continue;
            };
            if let Some(release) = resident.arrive(&arrival, 0, takers, &r.threads) {
                r.release_barrier(block, release, now, launched);
            }
        }
    }

    fn release(&self, r: &mut Residents, block: u16, release: &Release, _: Cycle) {
        pool(&mut r.model).released(block, release.id, &mut r.groups);
    }

    fn joined(&self, _: &mut Residents, _: u16, _: usize) {}

    fn wait_for_members(&self, r: &mut Residents, slot: u16, lanes: u32) {
        pool(&mut r.model).awaits(slot, lanes);
    }

    fn met(&self, r: &mut Residents, home: u16, lanes: u32) {
        pool(&mut r.model).met(home, lanes, &mut r.groups);
    }

    fn is_active(&self, r: &Residents) -> bool {
        !r.blocks.none()
    }

    /// Every warp of the pool, and the threads that wait outside.
    fn stuck(&self, r: &Residents, id: u16, memory: &str, launched: &Launched) -> Vec<StuckWarp> {
        let mut stuck = Vec::new();
        for slot in 0..r.warps.slots() as u16 {
            let group = r.groups.get(slot);
            if matches!(group.state, GroupState::Free | GroupState::Held) {
                continue; // the model lists those that are held
            }
            let waits_for = r.describe_wait(slot, memory, launched);
            stuck.push(r.stuck_warp(id, slot, group.first_home(), group.pc, waits_for, launched));
        }
        stuck.extend(r.parked(id, launched));
        stuck
    }
}

/// The blocks of the threads on the lanes of `mask`, with the lanes of each.
fn blocks_of(threads: &Threads, lanes: &Lanes, mask: u32) -> Vec<(u16, u32)> {
    let mut blocks: Vec<(u16, u32)> = Vec::new();
    lanes.each_home(mask, |home, part| {
        let block = threads.warps[home as usize].block;
        match blocks.iter_mut().find(|b| b.0 == block) {
            Some(all) => all.1 |= part,
            None => blocks.push((block, part)),
        }
    });
    blocks
}
