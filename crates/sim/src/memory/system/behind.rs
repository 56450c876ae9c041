//! All that lies behind the network to the partitions, as one thing, which another thread can run for a while.

use super::far_sides::FarSides;
use super::letters::Letters;
use super::mail::Mail;
use super::outgoing::Outgoing;
use super::partitions::Partitions;
use crate::config::Machine;
use crate::memory::stats::MemoryStats;
use crate::time::{Cycle, Tick};

/// An atomic that a slice has served: SM and token.
pub(super) type Atomic = (u16, u32);

/// Partitions and DRAM.
pub struct Behind {
    pub(super) partitions: Partitions,
    /// The far sides of the channels, unless another thread runs them.
    pub(super) far: Option<FarSides>,
    /// What the partitions read and write.
    pub(super) letters: Letters,
    /// Where the partitions go ahead.
    pub(super) ahead: Option<Ahead>,
}

/// When slices had room for requests: which slice, from which tick on, and whether it had.
pub(super) type Room = Vec<(u32, Tick, bool)>;

/// What partitions that are ahead have done that other parts have not heard of. The thread that runs them writes all of it at the end, so that the parts
/// that hear of it need not look at the partitions themselves, which are in another core's cache.
pub(super) struct Ahead {
    pub quantum: u64,
    /// Cycles per period.
    pub period: u64,
    /// Core cycles before this one have been simulated in the partitions.
    pub now: Cycle,
    /// The far sides have been told what was sent to them before this cycle, or a letter says so.
    told: Cycle,
    last_active: Cycle,
    pub outgoing: Outgoing,
    /// Requests that have come and that slices have not taken in.
    pub mail: Mail,
    /// Atomics of the period that SMs run, and of the one behind it.
    pub due: Vec<Atomic>,
    pub early: Vec<Atomic>,
    pub room: Room,
    /// What the partitions were when they had run, if it has not been [asked for](Ahead::settle) since.
    settled: Settled,
    has_run: bool,
}

/// The partitions at some time.
pub(super) struct Settled {
    /// When the partitions go on.
    pub next: Cycle,
    pub last_active: Cycle,
    pub idle: bool,
    pub counted: Box<MemoryStats>,
}

impl Default for Settled {
    fn default() -> Settled {
        Settled {
            next: Cycle::NEVER,
            last_active: Cycle::ZERO,
            idle: true,
            counted: Box::default(),
        }
    }
}

impl Ahead {
    /// The state of partitions that are ahead by a period of so many cycles; SMs have so many places for replies.
    pub fn new(machine: &Machine, period: u64, places: usize, partitions: &Partitions) -> Ahead {
        let quantum = u64::from(machine.gpu.quantum.max(1));
        let (sms, network) = (machine.gpu.sms as usize, partitions.clocks.network);
        Ahead {
            quantum,
            period,
            now: Cycle::ZERO,
            told: Cycle::ZERO,
            last_active: Cycle::ZERO,
            outgoing: Outgoing::new(sms, places, quantum, network),
            mail: Mail::new(),
            due: Vec::new(),
            early: Vec::new(),
            room: Vec::new(),
            settled: Settled::default(),
            has_run: false,
        }
    }

    /// Simulates the partitions up to a cycle that ends a period, or a step of SMs that drift apart. Atomics are those of the period that SMs run, or come `early`.
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
        partitions.tell_room(&mut self.room);
        self.note(partitions);
    }

    /// What the partitions are.
    fn note(&mut self, partitions: &Partitions) {
        let Settled { counted, .. } = &mut self.settled;
        let idle = partitions.is_idle();
        // Of idle partitions all has happened that was counted, wherever a run of the far sides ended.
        partitions.count(if idle { Cycle::NEVER } else { self.now }, counted);
        counted.replies.packets = self.outgoing.counters.packets;
        counted.replies.flits = self.outgoing.counters.flits;
        self.settled.next = partitions.next();
        self.settled.last_active = self.last_active;
        self.settled.idle = idle;
        self.has_run = true;
    }

    /// What the partitions are, with the requests that have come to them: `settled` was that when it was last asked for.
    pub fn settle(&mut self, settled: &mut Settled) {
        if std::mem::take(&mut self.has_run) {
            std::mem::swap(&mut self.settled, settled);
        }
        settled.next = settled.next.min(self.mail.first());
        settled.idle &= self.mail.is_empty();
    }
}

impl Behind {
    /// Takes requests over for slices, which take them in before they run.
    pub(super) fn receive(&mut self, mail: &mut Mail) {
        if let Some(ahead) = &mut self.ahead
            && !mail.is_empty()
        {
            self.partitions.take_in(&mut ahead.mail);
            std::mem::swap(&mut ahead.mail, mail);
        }
    }

    /// Lets another thread run the far sides of the channels through the period behind cycle `end`, or as far as can be, and says to which cycle, if all that
    /// happens there is known for the time up to `end`, for which [`run`](Behind::run) is to be called.
    pub(super) fn let_far_sides_go(&mut self, end: Cycle) -> Option<(FarSides, Cycle)> {
        let ahead = self.ahead.as_ref()?;
        let (now, further) = (ahead.now, end + ahead.period);
        let to = further.min(self.far.as_ref()?.reach(now));
        let is_told = ahead.told >= now;
        let far = self.far.take_if(|far| {
            let goes = is_told && far.has_come_to(end) && far.has_to_run(now, to);
            if goes && !far.have_work(to) {
                far.run(to); // at once
                return false;
            }
            goes
        })?;
        Some((far, to))
    }

    /// Takes far sides back that have been run up to cycle `to`, or should have been.
    pub(super) fn take_far_sides_back(&mut self, mut far: FarSides, to: Cycle) {
        far.run_apart(to); // unless that is done
        std::mem::swap(&mut self.letters, &mut far.letters);
        self.far = Some(far);
    }

    /// Simulates partitions that are ahead up to a cycle that ends a period, if they have not come there. Atomics are those of the period that SMs
    /// run, or come `early`. Returns whether they ran.
    pub(super) fn come_to(&mut self, end: Cycle, early: bool) -> bool {
        let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.now < end) else {
            return false;
        };
        let mut far = self.far.as_mut();
        self.partitions.read(&mut self.letters, ahead.now);
        if let Some(far) = &mut far {
            far.read();
        }
        ahead.run_until(end, &mut self.partitions, far, early);
        true
    }

    /// Simulates partitions that are ahead up to cycle `end`, with which the period ends behind the one that SMs run, or a step of SMs that drift apart.
    pub(super) fn run(&mut self, end: Cycle) {
        self.come_to(end, true);
        let (Some(ahead), partitions) = (&mut self.ahead, &mut self.partitions) else {
            return;
        };
        // So that another thread can go on with them.
        match &mut self.far {
            None => partitions.write(&mut self.letters),
            Some(far) => {
                partitions.exchange(far, end);
                let to = end + ahead.period;
                if far.has_to_run(end, to) {
                    far.run(to);
                    partitions.exchange(far, end);
                }
            }
        }
        ahead.told = end;
    }
}
