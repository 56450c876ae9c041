//! Partitions that are ahead of the SMs, so that both can run at the same time, and an SM can run for
//! a while without asking.
//!
//! Time is cut into periods of one or more quanta. While the SMs run period k, the partitions run
//! period k + 1. Then, with nobody else running, the requests of period k go through the network. That
//! gives what taking turns in every quantum gives, because in period k + 1 the partitions need
//! nothing of what SMs and requests do in period k:
//!
//! - A request that comes to a slice is not looked at for `l2.latency` cycles. [`lookahead`] says
//!   for how many quanta that is enough, [`period`] how long a period is.
//! - The other way round, the network asks whether a slice has room. Slices that are ahead write down
//!   when that changes ([`History`](crate::memory::history::History)), and the requests wait at the entrance, and
//!   are let in from there, as written.
//! - Places for replies become free by time alone: those that arrive before the end of a quantum are
//!   as good as taken in it, because the SM sees them. So the times at which the last replies
//!   arrive tell whether there is room ([`Outgoing`]).
//! - Where a period is a quantum, a reply arrives at the earliest in the one behind that in which it is
//!   sent: SMs do not miss those that are held back until the quantum is over. Where it is longer,
//!   the partitions are through with a period before SMs begin it ([`MemorySystem::prepare`]).
//! - Atomics are only written down. Where a period is a quantum, they are performed at its end, behind
//!   its stores. Where it is longer, they are performed before it begins, so that whoever has the
//!   answer to one finds it in memory. An atomic is served at least two periods after it
//!   was sent, so that all that its thread has stored before is there, too.
//!
//! The far sides of the memory channels run beside the partitions in turn, and a period further than these, where requests are
//! in the delay before them for two periods ([`far_sides`](super::far_sides)).
//!
//! What others ask about the whole system (is it idle, what has it counted, when does it go on) is
//! answered as of the end of period k: the partitions note it when they come past.

use super::MemorySystem;
use super::advance::Requests;
use super::far_sides::FarSides;
use super::partitions::Partitions;
use crate::config::Machine;
use crate::memory::clock::Clock;
use crate::memory::inflight::MAX_PIECES;
use crate::memory::l2::Slice;
use crate::memory::network::DELIVERY_CYCLES;
use crate::memory::network::crossbar::{Backlog, Sink};
use crate::memory::network::inbox::Inbox;
use crate::memory::packet::Reply;
use crate::memory::ring::Ring;
use crate::memory::stats::{MemoryStats, NetworkCounters};
use crate::time::{Cycle, Tick};

/// How many quanta the partitions of a machine may be ahead of its SMs. What comes to a slice in
/// quantum k must not be looked at in quantum k + lookahead or before, nor, where a slice serves
/// several sectors at once, in the clocks that it foresees then. A network with credits has to know
/// in every cycle what SMs have taken.
pub fn lookahead(machine: &Machine) -> u64 {
    if machine.interconnect.credits {
        return 0;
    }
    let quantum = u64::from(machine.gpu.quantum.max(1));
    let unseen = u64::from(machine.l2.latency).saturating_sub(MAX_PIECES.into());
    (unseen / quantum).saturating_sub(1)
}

/// Quanta per period: those after which SMs see each other's stores, as far as partitions can be a
/// period ahead of them that long.
pub fn period(machine: &Machine) -> u64 {
    let quantum = u64::from(machine.gpu.quantum.max(1));
    let asked = u64::from(machine.gpu.store_visibility) / quantum;
    asked.min(lookahead(machine).div_ceil(2)).max(1)
}

/// An atomic that a slice has served: SM and token.
type Atomic = (u16, u32);

/// What partitions that are ahead have done that nobody else has heard of.
pub(super) struct Ahead {
    quantum: u64,
    /// Cycles per period.
    period: u64,
    /// Core cycles before this one have been simulated in the partitions.
    now: Cycle,
    last_active: Cycle,
    outgoing: Outgoing,
    /// Requests at the entrances of slices without room for them.
    at_entrances: u32,
    /// Atomics of the period that SMs run, and of the one behind it.
    due: Vec<Atomic>,
    early: Vec<Atomic>,
    /// The partitions at the end of the period that SMs run.
    settled: Settled,
}

/// The partitions at some time.
struct Settled {
    next: Cycle,
    last_active: Cycle,
    idle: bool,
    counted: MemoryStats,
}

/// The SMs' side of the network from the partitions, where SMs run meanwhile: replies wait here.
struct Outgoing {
    network: Clock,
    /// By SM.
    to: Vec<ToSm>,
    /// The end of the quantum that is simulated.
    end: Cycle,
    counters: NetworkCounters,
}

/// What is on its way to one SM.
#[derive(Clone)]
struct ToSm {
    /// In order of arrival.
    replies: Ring<(Cycle, Reply)>,
    /// Arrival times of the last replies, as many as it has places, in a ring: which is the oldest, and its time.
    arrivals: Box<[Cycle]>,
    oldest: usize,
    first_place: Cycle,
}

impl ToSm {
    fn new(places: usize) -> ToSm {
        ToSm {
            replies: Ring::new(),
            arrivals: vec![Cycle::ZERO; places.max(1)].into(),
            oldest: 0,
            first_place: Cycle::ZERO,
        }
    }
}

impl Sink<Reply> for Outgoing {
    /// Replies arrive in order. If the one that came as many replies ago as there are places is seen
    /// in this quantum, fewer have not been.
    #[inline]
    fn has_room(&self, sm: usize) -> bool {
        self.to[sm].first_place < self.end
    }

    /// Nobody asks: a network with credits is not run ahead.
    fn waiting(&self, _sm: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn deliver(&mut self, sm: usize, tick: Tick, flits: u32, reply: Reply) {
        self.counters.packets += 1;
        self.counters.flits += u64::from(flits);
        let at = self.network.cycle_of(tick) + DELIVERY_CYCLES;
        let to = &mut self.to[sm];
        to.arrivals[to.oldest] = at;
        to.oldest += 1;
        if to.oldest == to.arrivals.len() {
            to.oldest = 0;
        }
        to.first_place = to.arrivals[to.oldest];
        to.replies.push_back((at, reply));
    }
}

/// The partitions, for whoever runs them beside the SMs.
pub struct AheadOfSms<'a> {
    partitions: &'a mut Partitions,
    ahead: &'a mut Ahead,
    /// The far sides of the channels, unless somebody else runs them.
    far: Option<&'a mut FarSides>,
}

/// The far sides of the channels, for whoever runs them beside the partitions.
pub struct AheadOfPartitions<'a> {
    far: &'a mut FarSides,
    to: Cycle,
}

impl AheadOfPartitions<'_> {
    /// Simulates them up to the end of the period behind the one that the partitions run.
    pub fn run(&mut self) {
        self.far.run(self.to);
    }
}

/// The SMs' side of the network to the partitions.
pub struct Outlets<'a> {
    now: Tick,
    requests: &'a Requests,
}

impl Outlets<'_> {
    /// What of the SM's packets is still on the SM's side as it begins to run.
    #[inline]
    pub fn backlog(&self, sm: usize) -> Backlog {
        self.requests.network.backlog(sm, self.now)
    }
}

impl<'a> AheadOfSms<'a> {
    /// Whether there is anything to do in the period that ends with cycle `end` or in the one
    /// behind it.
    pub fn have_work(&self, end: Cycle) -> bool {
        self.partitions.next() < end + self.ahead.period
    }

    /// Lets the far sides of the channels be run beside, if all that happens there is known for the time for which
    /// [`run`](AheadOfSms::run) is to be called, and if they can be run through the period behind it.
    pub fn let_far_sides_go(&mut self, end: Cycle, further: bool) -> Option<AheadOfPartitions<'a>> {
        let period = self.ahead.period;
        let behind = if further { end + period } else { end };
        let (now, to) = (self.ahead.now, behind + period);
        let far = self.far.take_if(|far| {
            self.partitions.exchange(far, now);
            let goes = self.partitions.foreseen.known >= behind && far.has_to_run(now, to);
            if goes && !far.have_work(to) {
                far.run(to); // at once
                return false;
            }
            goes
        })?;
        Some(AheadOfPartitions { far, to })
    }

    /// Simulates the partitions up to cycle `end`, with which the period ends that SMs run, and then
    /// the period behind it, or not if `further` says so.
    pub fn run(&mut self, end: Cycle, further: bool) {
        let (partitions, ahead) = (&mut *self.partitions, &mut *self.ahead);
        ahead.run_until(end, partitions, self.far.as_deref_mut(), false);
        ahead.settle(partitions);
        if further {
            let behind = end + ahead.period;
            ahead.run_until(behind, partitions, self.far.as_deref_mut(), true);
            if let Some(far) = &mut self.far {
                // So that somebody else can go on with them.
                partitions.exchange(far, behind);
                let to = behind + ahead.period;
                if far.has_to_run(behind, to) {
                    far.run(to);
                }
            }
        }
    }
}

impl Ahead {
    fn new(machine: &Machine, network: Clock, places: usize) -> Ahead {
        let sms = machine.gpu.sms as usize;
        let quantum = u64::from(machine.gpu.quantum.max(1));
        Ahead {
            quantum,
            period: period(machine) * quantum,
            now: Cycle::ZERO,
            last_active: Cycle::ZERO,
            outgoing: Outgoing {
                network,
                to: vec![ToSm::new(places); sms],
                end: Cycle::ZERO,
                counters: NetworkCounters::default(),
            },
            at_entrances: 0,
            due: Vec::new(),
            early: Vec::new(),
            settled: Settled {
                next: Cycle::NEVER,
                last_active: Cycle::ZERO,
                idle: true,
                counted: MemoryStats::default(),
            },
        }
    }

    /// Simulates the partitions up to a cycle that ends a period.
    fn run_until(
        &mut self,
        end: Cycle,
        partitions: &mut Partitions,
        mut far: Option<&mut FarSides>,
        early: bool,
    ) {
        let atomics = match early {
            true => &mut self.early,
            false => &mut self.due,
        };
        loop {
            let cycle = partitions.next().max(self.now);
            if cycle >= end {
                break;
            }
            if cycle >= self.outgoing.end {
                self.outgoing.end = cycle.round_down(self.quantum) + self.quantum;
            }
            let far = far.as_deref_mut();
            partitions.cycle(cycle, end, far, &mut self.outgoing, &mut |sm, token| {
                atomics.push((sm, token));
            });
            self.last_active = cycle;
            self.now = cycle + 1;
        }
        self.now = self.now.max(end);
    }

    /// Notes what the partitions are.
    fn settle(&mut self, partitions: &Partitions) {
        let mut counted = partitions.counted(self.now);
        counted.replies.packets = self.outgoing.counters.packets;
        counted.replies.flits = self.outgoing.counters.flits;
        self.settled = Settled {
            next: partitions.next(),
            last_active: self.last_active,
            idle: partitions.is_idle(),
            counted,
        };
    }
}

impl MemorySystem {
    /// Lets the partitions be a period ahead of the SMs from now on, if the machine allows that.
    /// Time passes by [`AheadOfSms::run`], [`MemorySystem::catch_up`] and [`MemorySystem::turn_over`] then.
    pub fn go_ahead(&mut self, machine: &Machine) {
        if lookahead(machine) == 0 || self.ahead.is_some() {
            return;
        }
        let places = self.inboxes.capacity();
        let network = self.partitions.clocks.network;
        self.ahead = Some(Box::new(Ahead::new(machine, network, places)));
        self.partitions.slices.iter_mut().for_each(Slice::go_ahead);
    }

    /// Whether partitions are ahead of the SMs.
    pub fn is_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// Partitions that are ahead, the inboxes of all SMs in their order, and what is in the way of
    /// their requests: for different threads. An inbox of an SM that runs is to be
    /// shown before and followed by [`close_inbox`](MemorySystem::close_inbox).
    pub fn side_by_side(
        &mut self,
    ) -> (
        Option<AheadOfSms<'_>>,
        impl Iterator<Item = &mut Inbox>,
        Outlets<'_>,
    ) {
        let outlets = Outlets {
            now: self.injection_tick(),
            requests: &self.requests,
        };
        let (partitions, far) = (&mut self.partitions, &mut self.far_sides);
        let ahead = self.ahead.as_deref_mut();
        let ahead = ahead.map(|ahead| AheadOfSms {
            partitions,
            ahead,
            far: Some(far),
        });
        (ahead, self.inboxes.all(), outlets)
    }

    /// Before SMs begin a period of several quanta that ends with cycle `end`: the partitions up to
    /// there, if they have not been, with what SMs have to know of it.
    pub fn prepare(&mut self, end: Cycle, perform_atomic: &mut dyn FnMut(u16, u32)) {
        let Some(ahead) = self.ahead.as_deref_mut() else {
            return;
        };
        if ahead.now < end {
            let far = Some(&mut self.far_sides);
            ahead.run_until(end, &mut self.partitions, far, true);
            ahead.settle(&self.partitions);
            self.turn_over(perform_atomic);
        }
    }

    /// The period that SMs run is over, its stores included. Where partitions are ahead, the replies of the one
    /// behind it come to the SMs, and atomics are performed: those of the period behind it, or
    /// those of the quantum that has ended if a period is no longer than that.
    pub fn turn_over(&mut self, perform_atomic: &mut dyn FnMut(u16, u32)) {
        let Some(ahead) = self.ahead.as_deref_mut() else {
            return;
        };
        for (sm, to) in ahead.outgoing.to.iter_mut().enumerate() {
            self.inboxes.put_all(sm, &mut to.replies);
        }
        for (sm, token) in ahead.due.drain(..) {
            perform_atomic(sm, token);
        }
        std::mem::swap(&mut ahead.due, &mut ahead.early);
        if ahead.period > ahead.quantum {
            for (sm, token) in ahead.due.drain(..) {
                perform_atomic(sm, token);
            }
        }
    }

    /// Where partitions are ahead and have come to cycle `end` or further: the network to them up to
    /// that cycle, to which SMs have run.
    pub fn catch_up(&mut self, end: Cycle) {
        let Some(ahead) = self.ahead.as_deref_mut() else {
            return;
        };
        if ahead.at_entrances > 0 {
            self.partitions.ask_at_entrances(self.now);
        }
        loop {
            let waiting = self.partitions.entrances.next();
            let cycle = self.requests.next.min(waiting).max(self.now);
            if cycle >= end {
                break;
            }
            if waiting <= cycle {
                self.partitions.let_in(cycle, |ready| {
                    ahead.at_entrances -= 1;
                    ahead.settled.next = ahead.settled.next.min(ready);
                });
            }
            if self.requests.next <= cycle {
                let arrived = self.requests.cycle(cycle, &mut self.partitions);
                ahead.settled.next = ahead.settled.next.min(arrived.ready);
                ahead.at_entrances += arrived.waiting;
            }
            self.last_active = cycle;
            self.now = cycle + 1;
        }
        self.now = self.now.max(end);
    }

    /// What the partitions are at the end of the quantum that SMs have run: when they go on, when
    /// something last happened, whether they are idle, and what they have counted.
    pub(super) fn settled(&self) -> Option<(Cycle, Cycle, bool, &MemoryStats)> {
        let ahead = self.ahead.as_deref()?;
        let settled = &ahead.settled;
        let next = match ahead.at_entrances {
            0 => settled.next,
            _ => self.now,
        };
        let delivered = || ahead.outgoing.to.iter().all(|to| to.replies.is_empty());
        let idle = settled.idle && ahead.at_entrances == 0 && delivered();
        Some((next, settled.last_active, idle, &settled.counted))
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
