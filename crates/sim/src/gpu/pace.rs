//! Who has to run when. Most SMs sleep through most quanta; a glance at a few words here must
//! tell, without touching the SM.

use crate::sm::Sm;

/// When each SM has something to do next, and which have something to hand over.
#[derive(Debug)]
pub struct Pace {
    due: Vec<u64>,
    /// The least of them.
    earliest: u64,
    /// Room at its port that each SM waits for, `u32::MAX` if for none.
    wanted: Vec<u32>,
    /// SMs that stored or printed in the quantum under way, in order.
    to_flush: Vec<usize>,
}

impl Pace {
    /// For SMs that are all to run at cycle `now`.
    pub fn new(sms: usize, now: u64) -> Pace {
        Pace {
            due: vec![now; sms],
            earliest: now,
            wanted: vec![u32::MAX; sms],
            to_flush: Vec::with_capacity(sms),
        }
    }

    /// A quantum begins: every SM will be passed over or run.
    pub fn begin(&mut self) {
        self.to_flush.clear();
        self.earliest = u64::MAX;
    }

    /// Whether SM number `number` has nothing to do before cycle `end` with so much room at its
    /// port, packets from memory aside.
    #[inline]
    pub fn sleeps(&self, number: usize, room: u32, end: u64) -> bool {
        self.due[number] >= end && room < self.wanted[number]
    }

    /// SM number `number` is passed over.
    #[inline]
    pub fn passed_over(&mut self, number: usize) {
        self.earliest = self.earliest.min(self.due[number]);
    }

    /// SM number `number` has run.
    #[inline]
    pub fn ran(&mut self, number: usize, sm: &Sm) {
        self.due[number] = sm.next().get();
        self.wanted[number] = sm.port.wanted();
        self.passed_over(number);
        if sm.has_to_flush() {
            self.to_flush.push(number);
        }
    }

    /// Something outside the SMs changed what they have to do.
    pub fn look_again(&mut self, sms: &[Sm]) {
        self.earliest = u64::MAX;
        for (number, sm) in sms.iter().enumerate() {
            self.due[number] = sm.next().get();
            self.passed_over(number);
        }
    }

    /// SMs that have stored or printed in this quantum, in order.
    pub fn to_flush(&self) -> &[usize] {
        &self.to_flush
    }

    /// Whether some SM has the room it waits for. `free` tells how much an SM has.
    pub fn has_room(&self, free: impl Fn(usize) -> u32) -> bool {
        let mut waiting = self.wanted.iter().enumerate();
        waiting.any(|(sm, &wanted)| wanted != u32::MAX && free(sm) >= wanted)
    }

    /// When the first SM has something to do, room at its port aside; `u64::MAX` for never.
    pub fn earliest(&self) -> u64 {
        self.earliest
    }
}
