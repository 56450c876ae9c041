//! All that lies behind the network to the partitions, as one thing, which somebody else can run for a while.

use super::far_sides::FarSides;
use super::mail::Mail;
use super::outgoing::Outgoing;
use super::partitions::Partitions;
use crate::config::Machine;
use crate::memory::stats::MemoryStats;
use crate::time::Cycle;

/// An atomic that a slice has served: SM and token.
pub(super) type Atomic = (u16, u32);

/// Partitions and DRAM.
pub struct Behind {
    pub(super) partitions: Partitions,
    /// The far sides of the channels, unless somebody else runs them.
    pub(super) far: Option<FarSides>,
    /// Where the partitions go ahead.
    pub(super) ahead: Option<Ahead>,
}

/// What partitions that are ahead have done that nobody else has heard of.
pub(super) struct Ahead {
    pub quantum: u64,
    /// Cycles per period.
    pub period: u64,
    /// Core cycles before this one have been simulated in the partitions.
    pub now: Cycle,
    last_active: Cycle,
    pub outgoing: Outgoing,
    /// Requests that have come and that slices have not taken in.
    pub mail: Mail,
    /// Atomics of the period that SMs run, and of the one behind it.
    pub due: Vec<Atomic>,
    pub early: Vec<Atomic>,
}

/// The partitions at some time.
pub(super) struct Settled {
    /// When they go on.
    pub next: Cycle,
    pub last_active: Cycle,
    pub idle: bool,
    pub counted: MemoryStats,
}

impl Default for Settled {
    fn default() -> Settled {
        Settled {
            next: Cycle::NEVER,
            last_active: Cycle::ZERO,
            idle: true,
            counted: MemoryStats::default(),
        }
    }
}

impl Ahead {
    /// For partitions that are ahead by a period of so many cycles; SMs have so many places for replies.
    pub fn new(machine: &Machine, period: u64, places: usize, partitions: &Partitions) -> Ahead {
        let quantum = u64::from(machine.gpu.quantum.max(1));
        let (sms, network) = (machine.gpu.sms as usize, partitions.clocks.network);
        Ahead {
            quantum,
            period,
            now: Cycle::ZERO,
            last_active: Cycle::ZERO,
            outgoing: Outgoing::new(sms, places, quantum, network),
            mail: Mail::new(),
            due: Vec::new(),
            early: Vec::new(),
        }
    }

    /// Takes requests over for slices, which take them in before they run.
    pub fn receive(&mut self, mail: &mut Mail, partitions: &mut Partitions) {
        if !mail.is_empty() {
            partitions.take_in(&mut self.mail);
            std::mem::swap(&mut self.mail, mail);
        }
    }

    /// When something can happen in the partitions.
    pub fn next(&self, partitions: &Partitions) -> Cycle {
        partitions.next().min(self.mail.first())
    }

    /// Simulates the partitions up to a cycle that ends a period. Atomics are those of the period that SMs run, or come `early`.
    pub fn run_until(
        &mut self,
        end: Cycle,
        partitions: &mut Partitions,
        mut far: Option<&mut FarSides>,
        early: bool,
    ) {
        partitions.take_in(&mut self.mail);
        let atomics = match early {
            true => &mut self.early,
            false => &mut self.due,
        };
        loop {
            let cycle = partitions.next().max(self.now);
            if cycle >= end {
                break;
            }
            self.outgoing.come_to(cycle);
            let far = far.as_deref_mut();
            partitions.cycle(cycle, end, far, &mut self.outgoing, &mut |sm, token| {
                atomics.push((sm, token));
            });
            self.last_active = cycle;
            self.now = cycle + 1;
        }
        self.now = self.now.max(end);
    }

    /// What the partitions are.
    pub fn settle(&self, partitions: &Partitions) -> Settled {
        let mut counted = partitions.counted(self.now);
        counted.replies.packets = self.outgoing.counters.packets;
        counted.replies.flits = self.outgoing.counters.flits;
        Settled {
            next: self.next(partitions),
            last_active: self.last_active,
            idle: partitions.is_idle() && self.mail.is_empty(),
            counted,
        }
    }
}

impl Behind {
    /// Lets somebody else run the far sides of the channels through the period behind cycle `end`, and says to which cycle, if all that
    /// happens there is known for the time up to `end`, for which [`run`](Behind::run) is to be called.
    pub(super) fn let_far_sides_go(&mut self, end: Cycle) -> Option<(FarSides, Cycle)> {
        let Behind {
            partitions,
            far,
            ahead: Some(ahead),
        } = self
        else {
            return None;
        };
        let (now, to) = (ahead.now, end + ahead.period);
        let far = far.take_if(|far| {
            partitions.exchange(far, now);
            let goes = partitions.foreseen.known >= end && far.has_to_run(now, to);
            if goes && !far.have_work(to) {
                far.run(to); // at once
                return false;
            }
            goes
        })?;
        Some((far, to))
    }

    /// Simulates partitions that are ahead up to cycle `end`, with which the period ends behind the one that SMs run.
    pub(super) fn run(&mut self, end: Cycle) {
        let Behind {
            partitions,
            far,
            ahead: Some(ahead),
        } = self
        else {
            return;
        };
        ahead.run_until(end, partitions, far.as_mut(), true);
        if let Some(far) = far {
            // So that somebody else can go on with them.
            partitions.exchange(far, end);
            let to = end + ahead.period;
            if far.has_to_run(end, to) {
                far.run(to);
            }
        }
    }
}
