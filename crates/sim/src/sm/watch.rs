//! Telling an observer when a warp's state changes. Without one, nothing here runs.

use super::{Quantum, Sm};
use crate::observe::WarpEvent;
use crate::stats::WarpState;

impl Sm {
    /// Reports the warps of domain `d` whose state in cycle `now` differs from the one they
    /// were last reported in. The arguments are those the cycle is accounted with.
    #[inline]
    pub(super) fn watch(
        &mut self,
        d: usize,
        issued: u64,
        room: u64,
        now: u64,
        quantum: &mut Quantum,
    ) {
        if quantum.observer.is_some() {
            self.report_changes(d, issued, room, now, quantum);
        }
    }

    #[cold]
    fn report_changes(
        &mut self,
        d: usize,
        issued: u64,
        room: u64,
        now: u64,
        quantum: &mut Quantum,
    ) {
        let Some(observer) = quantum.observer.as_deref_mut() else {
            return;
        };
        self.watched.resize(self.slots.len(), None);
        let (id, domains) = (self.id, self.domains.len() as u16);
        let watched = &mut self.watched;
        self.domains[d].classify(issued, room, |state, mut set| {
            while set != 0 {
                let index = set.trailing_zeros() as u16;
                set &= set - 1;
                let slot = index * domains + d as u16;
                if watched[slot as usize].replace(state) != Some(state) {
                    observer.warp(now, id, slot, WarpEvent::State(state));
                }
            }
        });
    }

    /// Reports for cycles from `accounted` on in which nothing happens.
    pub(super) fn watch_pass(&mut self, quantum: &mut Quantum) {
        if quantum.observer.is_none() {
            return;
        }
        let room = self.room();
        for d in 0..self.domains.len() {
            let room = self.domains[d].with_room(room);
            self.report_changes(d, 0, room, self.accounted, quantum);
        }
    }

    /// A warp has come to or left `slot`: whatever state it is in next is news.
    pub(super) fn forget_state(&mut self, slot: u16) {
        if let Some(state) = self.watched.get_mut(slot as usize) {
            *state = None;
        }
    }

    /// Tells the observer what the warp in `slot` did.
    #[inline]
    pub(super) fn tell(&self, now: u64, slot: u16, event: WarpEvent, quantum: &mut Quantum) {
        if let Some(observer) = quantum.observer.as_deref_mut() {
            observer.warp(now, self.id, slot, event);
        }
    }
}

/// The state each warp was last reported in.
pub(super) type Watched = Vec<Option<WarpState>>;
