//! Writeback: results go to registers, and with that their instructions are complete. The memory stage is here, too: what
//! the load/store unit tells the warps, and how it and the collectors take turns within a cycle.

use super::memory::Event;
use super::{Sm, gather};
use crate::exec::state::LANES;
use crate::sm::facts::Traffic;
use crate::sm::launch::Launched;
use crate::time::Cycle;

impl Sm {
    /// Results of the pipelines that come out in cycle `now`.
    pub(super) fn write_back(&mut self, now: Cycle, launched: &Launched) {
        for done in self.pipelines.take(now) {
            let facts = &launched.facts[done.pc as usize];
            self.collectors.write(done.slot, &facts.write_banks);
            self.complete(done.slot, facts);
            self.follow(now, launched);
            if facts.control && self.machine.fetch.wait_for_branch {
                self.resolve(done.slot);
            }
        }
    }

    /// The load/store unit and the operand collectors in cycle `now`.
    pub(super) fn memory_stage(&mut self, now: Cycle, launched: &Launched) {
        let emptied = std::mem::take(&mut self.emptied) && self.machine.gpu.flush_l1_when_idle;
        if std::mem::take(&mut self.fence_passed) || emptied {
            self.memory.invalidate(&mut self.stats.counters);
        }
        let code = &launched.facts;
        self.memory.write_back(now, &mut self.collectors, code);
        self.collectors.step(code);
        self.memory
            .cycle(now, &mut self.port, &mut self.stats.counters);
        if !self.memory.enter_for_line()
            && self.memory.accepts()
            && let Some(op) = self.collectors.take_for_memory()
            && let Some(memory) = op.memory
        {
            self.memory.enter(memory);
        }
        if let Some(most) = gather::memory_ahead(&self.machine) {
            self.collectors
                .let_memory_issue(self.memory.backlog() <= most);
        }
        for event in std::mem::take(&mut self.memory.events) {
            self.hear(event, launched);
        }
        self.follow(now, launched);
    }

    /// Something has happened in the load/store unit.
    fn hear(&mut self, event: Event, launched: &Launched) {
        match event {
            Event::Loaded { slot, pc } => {
                let facts = &launched.facts[pc as usize];
                if facts.traffic == Traffic::Copy {
                    self.copy_ended(slot);
                }
                self.complete_load(slot, facts, launched);
            }
            Event::Stored { slot } => {
                self.warps[usize::from(slot)].land(true);
                self.settle(slot);
            }
            Event::StoresSent { slot, count } => self.warps[usize::from(slot)].stores += count,
            Event::Acknowledged { slot } => {
                self.warps[usize::from(slot)].stores -= 1;
                self.settle(slot);
            }
            Event::Cache { slot, what, line } => {
                let place = self.layout.place_of(slot);
                if let Some(policy) = self.policy.hears_cache() {
                    policy.cache(place, what, line);
                }
            }
            Event::SharedAtomicDone { op } => {
                let record = self.memory.op(op);
                let slots: Vec<u16> = record
                    .owners
                    .iter()
                    .flat_map(|o| record.slots(o).iter())
                    .collect();
                slots.into_iter().for_each(|slot| self.let_atomic_go(slot));
            }
            Event::AtomicBack { op, lanes } => self.atomic_back(op, lanes, launched),
        }
    }

    /// Old values of an atomic have come: they are in the registers before a warp that waits for them can issue.
    fn atomic_back(&mut self, op: u32, lanes: u32, launched: &Launched) {
        let record = self.memory.op(op);
        if let Some(data) = record.atomic.as_deref() {
            for lane in (0..LANES).filter(|lane| lanes >> lane & 1 != 0) {
                let (to, what, old) = (&data.lanes, &data.what, data.old[lane]);
                launched
                    .code
                    .complete_atomic(to, what, lane, old, &mut self.threads);
            }
        }
        // This access still counts as one that is to come.
        let last = record
            .owners
            .iter()
            .filter(|owner| owner.lanes & lanes != 0 && owner.pending == 1);
        let slots: Vec<u16> = last.flat_map(|owner| record.slots(owner).iter()).collect();
        slots.into_iter().for_each(|slot| self.let_atomic_go(slot));
    }

    fn let_atomic_go(&mut self, slot: u16) {
        self.warps[usize::from(slot)].waits.atomic = false;
        self.settle(slot);
    }
}
