//! Who has to run when. Most SMs sleep through most quanta; a glance at a few words here must
//! tell, without touching the SM.

use crate::sm::Sm;

/// When each SM has something to do next, and which have run in the quantum under way.
#[derive(Debug)]
pub struct Pace {
    due: Vec<u64>,
    /// SMs that ran, in order.
    awake: Vec<usize>,
}

impl Pace {
    /// For SMs that are all to run at cycle `now`.
    pub fn new(sms: usize, now: u64) -> Pace {
        Pace {
            due: vec![now; sms],
            awake: Vec::with_capacity(sms),
        }
    }

    /// Whether an SM has nothing to do before cycle `end`, packets from memory aside.
    #[inline]
    pub fn sleeps(&self, sm: usize, end: u64) -> bool {
        self.due[sm] >= end
    }

    /// A quantum begins.
    pub fn begin(&mut self) {
        self.awake.clear();
    }

    /// SM number `number` has run.
    #[inline]
    pub fn ran(&mut self, number: usize, sm: &Sm) {
        self.due[number] = due(sm);
        self.awake.push(number);
    }

    /// Something outside the SMs changed what they have to do.
    pub fn look_again(&mut self, sms: &[Sm]) {
        for (due_at, sm) in self.due.iter_mut().zip(sms) {
            *due_at = due(sm);
        }
    }

    /// SMs that have run in this quantum, in order.
    pub fn awake(&self) -> &[usize] {
        &self.awake
    }

    /// When the first SM has something to do; `u64::MAX` for never.
    pub fn earliest(&self) -> u64 {
        self.due.iter().fold(u64::MAX, |a, &b| a.min(b))
    }
}

fn due(sm: &Sm) -> u64 {
    sm.sleeps_until().min(sm.port.next().unwrap_or(u64::MAX))
}
