//! Who has to run when. Most SMs sleep through most quanta; a glance at a few words here must
//! tell, without touching the SM.

use crate::sm::Sm;
use crate::time::Cycle;

/// When each SM has something to do next, by the [wake contract](crate::time), and which have
/// something to hand over.
#[derive(Debug)]
pub struct Pace {
    sms: Vec<Cycle>,
    /// The smallest of them.
    next: Cycle,
    /// Room at its port that each SM waits for, `u32::MAX` if for none.
    wanted: Vec<u32>,
    /// Whether each SM runs in the quantum under way.
    awake: Vec<bool>,
    /// SMs that stored or printed in it, in order.
    to_flush: Vec<usize>,
}

impl Pace {
    /// For SMs that are all to run at cycle `now`.
    pub fn new(sms: usize, now: Cycle) -> Pace {
        Pace {
            sms: vec![now; sms],
            next: now,
            wanted: vec![u32::MAX; sms],
            awake: vec![true; sms],
            to_flush: Vec::with_capacity(sms),
        }
    }

    /// A quantum begins: every SM will be passed over or run.
    pub fn begin(&mut self) {
        self.to_flush.clear();
        self.next = Cycle::NEVER;
    }

    /// Whether SM number `number` has nothing to do before cycle `end` with so much room at its
    /// port, packets from memory aside.
    #[inline]
    pub fn sleeps(&self, number: usize, room: u32, end: Cycle) -> bool {
        self.sms[number] >= end && room < self.wanted[number]
    }

    /// SM number `number` is passed over.
    #[inline]
    pub fn passed_over(&mut self, number: usize) {
        self.awake[number] = false;
        self.next = self.next.min(self.sms[number]);
    }

    /// SM number `number` is to run.
    #[inline]
    pub fn wakes(&mut self, number: usize) {
        self.awake[number] = true;
    }

    /// Whether SM number `number` runs in the quantum under way.
    #[inline]
    pub fn is_awake(&self, number: usize) -> bool {
        self.awake[number]
    }

    /// The SMs that run in the quantum under way, in order.
    pub fn awake(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.awake.len()).filter(|&number| self.awake[number])
    }

    /// SM number `number` has run.
    #[inline]
    pub fn ran(&mut self, number: usize, sm: &Sm) {
        self.sms[number] = sm.next();
        self.wanted[number] = sm.port.wanted();
        self.next = self.next.min(self.sms[number]);
        if sm.has_to_flush() {
            self.to_flush.push(number);
        }
    }

    /// Something outside the SMs changed what they have to do.
    pub fn look_again(&mut self, sms: &[Sm]) {
        self.next = Cycle::NEVER;
        for (number, sm) in sms.iter().enumerate() {
            self.sms[number] = sm.next();
            self.next = self.next.min(self.sms[number]);
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

    /// Whether some SM waits for room which it will have soon. `moves` tells whether.
    pub fn awaits_room(&self, moves: impl Fn(usize) -> bool) -> bool {
        let mut waiting = self.wanted.iter().enumerate();
        waiting.any(|(sm, &wanted)| wanted != u32::MAX && moves(sm))
    }

    /// When the first SM has something to do, room at its port aside.
    pub fn next(&self) -> Cycle {
        self.next
    }
}
