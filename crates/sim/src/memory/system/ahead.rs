//! Partitions that are ahead of the SMs, so that both can run at the same time, and an SM can run for
//! a while without asking.
//!
//! Time is cut into periods of one or more quanta. While the SMs run period k, the partitions run
//! period k + 1. When SMs are through with period k, or as far as they can get in it, their requests go through the network while the
//! partitions still run. The result
//! is that of taking turns in every quantum, because in period k + 1 the partitions need
//! nothing of what SMs and requests do in period k:
//!
//! - A request that comes to a slice is not looked at for `l2.latency` cycles. [`lookahead`] says
//!   for how many quanta that is enough, [`period`] how long a period is. So the request comes there by [mail](super::mail), which is handed over
//!   between two periods.
//! - The other way round, the network asks whether a slice has room. Slices that are ahead write down
//!   when that changes ([`History`](crate::memory::history::History)), and requests wait at the entrance. They
//!   are let in from there, as written ([`gates`](super::gates)): in period k as the slices wrote down before the SMs began it.
//! - Places for replies become free by time alone: those that arrive before the end of a quantum are
//!   as good as taken in it, because the SM sees them. So the times at which the last replies
//!   arrive tell whether there is room ([`Outgoing`]).
//! - Where a period is a quantum, a reply arrives at the earliest in the one behind that in which it is
//!   sent: SMs do not miss those that are held back until the quantum is over. Where it is longer,
//!   the partitions are through with a period before SMs begin it ([`MemorySystem::prepare`]).
//! - Atomics are only written down. Where a period is a quantum, they are performed at its end, behind
//!   its stores. Where it is longer, they are performed before it begins, so that a warp that has the
//!   answer to one finds it in memory. An atomic is served at least two periods after it
//!   was sent, so that all that its thread has stored before is there, too.
//!
//! Where SMs drift apart partitions go by shorter steps, up to as far ahead ([`lead`]).
//!
//! The far sides of the memory channels run beside the partitions in turn, and a period further than the partitions, where requests are
//! in the delay before them for two periods ([`far_sides`](super::far_sides)). Each side tells the other by [letter](super::letters) what the
//! other side has to know in the next period.
//!
//! What others ask about the whole system (is it idle, what has it counted, when does it go on) is
//! answered as of the end of period k: it is noted when the partitions come past ([`Settled`]).
//!
//! Between two periods all threads but one wait. So what is handed over then, mail, letters, what was noted, has been made ready by the thread that
//! ran the parts, and goes from one to the other as a whole.

use super::MemorySystem;
use super::advance::Requests;
use super::behind::{Ahead, Behind, Settled};
use super::far_sides::FarSides;
use super::gates::{AtGates, Gates};
use crate::config::Machine;
use crate::memory::inflight::MAX_PIECES;
use crate::memory::l2::Slice;
use crate::memory::network::crossbar::Backlog;
use crate::memory::network::inbox::Inbox;
use crate::memory::packet::Reply;
use crate::memory::ring::Ring;
use crate::memory::stats::MemoryStats;
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

/// Cycles by which partitions may be ahead of the requests that have gone through the network.
pub fn lead(machine: &Machine) -> u64 {
    (lookahead(machine) + 1) * u64::from(machine.gpu.quantum.max(1))
}

/// The part of a memory system that stays with the SMs when its partitions go ahead.
pub(super) struct Front {
    pub gates: Gates,
    /// The partitions at the end of the period that SMs run.
    settled: Settled,
    /// The far sides of the channels where they are run beside the partitions.
    far_sides: Option<AheadOfPartitions>,
}

/// The partitions, for the thread that runs them beside the SMs.
pub struct AheadOfSms {
    behind: Box<Behind>,
    end: Cycle,
}

impl AheadOfSms {
    /// Simulates the period behind the one that SMs run.
    pub fn run(&mut self) {
        self.behind.run(self.end);
    }

    /// Hands over the replies of that period, by SM.
    pub fn hand_over(&mut self, put: impl FnMut(usize, &mut Ring<(Cycle, Reply)>)) {
        if let Some(ahead) = &mut self.behind.ahead {
            ahead.outgoing.hand_over(put);
        }
    }
}

/// The far sides of the channels, for the thread that runs them beside the partitions up to a cycle.
pub struct AheadOfPartitions {
    far: FarSides,
    to: Cycle,
}

impl AheadOfPartitions {
    /// Simulates the far sides through the period behind the cycle that the partitions run to, or as far as can be.
    pub fn run(&mut self) {
        self.far.run_apart(self.to);
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

impl MemorySystem {
    /// Lets the partitions be a period ahead of the SMs from now on, if the machine allows that. Time
    /// passes by [`MemorySystem::set_off`] or [`MemorySystem::prepare`], [`MemorySystem::catch_up`] and [`MemorySystem::turn_over`] then.
    pub fn go_ahead(&mut self, machine: &Machine) {
        if lookahead(machine) == 0 || self.front.is_some() {
            return;
        }
        let Some(behind) = self.behind.as_deref_mut() else {
            return;
        };
        let (partitions, places) = (&mut behind.partitions, self.inboxes.capacity());
        let cycles = period(machine) * u64::from(machine.gpu.quantum.max(1));
        behind.ahead = Some(Ahead::new(machine, cycles, places, partitions));
        partitions.slices.iter_mut().for_each(Slice::go_ahead);
        self.front = Some(Box::new(Front {
            gates: Gates::new(machine, partitions.slices.len(), self.clocks),
            settled: Settled::default(),
            far_sides: None,
        }));
    }

    /// Whether partitions are ahead of the SMs.
    pub fn is_ahead(&self) -> bool {
        self.front.is_some()
    }

    /// Where partitions are ahead: as SMs begin a period that ends with cycle `end`, the partitions for the thread that runs them
    /// through the period behind it, if they are to go `further` and there is something to do. They are to be [taken
    /// back](MemorySystem::take_back) before the period is [over](MemorySystem::turn_over).
    pub fn set_off(&mut self, end: Cycle, further: bool) -> Option<AheadOfSms> {
        let ahead = self.behind.as_ref()?.ahead.as_ref()?;
        let (period, quantum) = (ahead.period, ahead.quantum);
        if period == quantum {
            self.come_to(end, false);
        }
        match further {
            true => self.send_to(end + period),
            false => None,
        }
    }

    /// The partitions for the thread that runs them up to a cycle, if there is something to do.
    fn send_to(&mut self, to: Cycle) -> Option<AheadOfSms> {
        let (front, behind) = (self.front.as_deref_mut()?, self.behind.as_deref_mut()?);
        // Partitions with nothing to do are done at once, and need not be waited for.
        if front.settled.next >= to {
            behind.run(to);
            return None;
        }
        let far_sides = behind.let_far_sides_go(to);
        front.far_sides = far_sides.map(|(far, to)| AheadOfPartitions { far, to });
        let behind = self.behind.take()?;
        Some(AheadOfSms { behind, end: to })
    }

    /// Takes back partitions that have been run.
    pub fn take_back(&mut self, partitions: AheadOfSms) {
        let mut behind = partitions.behind;
        let front = self.front.as_deref_mut();
        if let Some(AheadOfPartitions { far, to }) = front.and_then(|front| front.far_sides.take())
        {
            behind.take_far_sides_back(far, to);
        }
        self.behind = Some(behind);
    }

    /// The far sides of the channels if they are to be run beside the partitions, the inboxes of all SMs in their order, and what is
    /// in the way of their requests: for different threads. An inbox of an SM that runs is to be
    /// shown before and followed by [`close_inbox`](MemorySystem::close_inbox).
    pub fn side_by_side(
        &mut self,
    ) -> (
        Option<&mut AheadOfPartitions>,
        impl Iterator<Item = &mut Inbox>,
        Outlets<'_>,
    ) {
        let outlets = Outlets {
            now: self.injection_tick(),
            requests: &self.requests,
        };
        let front = self.front.as_deref_mut();
        let far = front.and_then(|front| front.far_sides.as_mut());
        let far = far.filter(|ahead| !ahead.far.has_come_to(ahead.to));
        (far, self.inboxes.all(), outlets)
    }

    /// Partitions that are ahead, and have not come to cycle `end`, with which the period ends that SMs are about to run, do so; and it is noted
    /// what they are then. Returns whether they ran.
    fn come_to(&mut self, end: Cycle, early: bool) -> bool {
        self.hear_of_partitions(|behind| behind.come_to(end, early))
    }

    /// Partitions that are ahead take in what has come for them, do what they are `to` do, and it is noted what they are then.
    fn hear_of_partitions(&mut self, to: impl FnOnce(&mut Behind) -> bool) -> bool {
        let (Some(front), Some(behind)) = (self.front.as_deref_mut(), self.behind.as_deref_mut())
        else {
            return false;
        };
        behind.receive(&mut front.gates.mail);
        let did = to(behind);
        if let Some(ahead) = &mut behind.ahead {
            front.gates.hear(&mut ahead.room);
            ahead.settle(&mut front.settled);
        }
        did
    }

    /// Before SMs begin a period of several quanta that ends with cycle `end`: the partitions up to
    /// there, if they have not been, with what SMs have to know of it.
    pub fn prepare(&mut self, end: Cycle, perform_atomic: &mut dyn FnMut(u16, u32)) {
        if self.come_to(end, true) {
            self.turn_over(perform_atomic);
        }
    }

    /// The far sides of the channels if they are to be run beside the partitions, which have been [sent](MemorySystem::send_on).
    pub fn lend_far_sides(&mut self) -> Option<AheadOfPartitions> {
        self.front.as_deref_mut()?.far_sides.take()
    }

    /// Takes far sides back that were lent, before the partitions.
    pub fn take_far_sides_back(&mut self, far_sides: Option<AheadOfPartitions>) {
        if let Some(front) = self.front.as_deref_mut() {
            front.far_sides = far_sides;
        }
    }

    /// The inboxes of all SMs, in their order, for SMs that run by themselves. Replies come to them by [`hand_over`](AheadOfSms::hand_over), until they are [taken
    /// back](MemorySystem::take_inboxes_back).
    pub fn lend_inboxes(&mut self) -> Vec<Inbox> {
        self.inboxes.lend()
    }

    /// Takes inboxes back that were lent.
    pub fn take_inboxes_back(&mut self, inboxes: Vec<Inbox>) {
        self.inboxes.take_back(inboxes);
    }

    /// Where periods are longer than a quantum and SMs drift apart: the partitions, which have been run to where they were sent before, for the thread that runs them
    /// up to cycle `to`, if there is something to do. That is no more than their [`lead`] beyond the cycle to which requests have gone through the network.
    pub fn send_on(&mut self, to: Cycle) -> Option<AheadOfSms> {
        self.hear_of_partitions(|_| false);
        self.send_to(to)
    }

    /// The period that SMs run is over, its stores included. Where partitions are ahead, the replies of the one
    /// behind it come to the SMs, and atomics are performed: those of the period behind it, or
    /// those of the quantum that has ended if a period is no longer than that.
    pub fn turn_over(&mut self, perform_atomic: &mut dyn FnMut(u16, u32)) {
        let behind = self.behind.as_deref_mut();
        let Some(ahead) = behind.and_then(|behind| behind.ahead.as_mut()) else {
            return;
        };
        ahead.outgoing.deliver_to(&mut self.inboxes);
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
        let Some(Front { gates, .. }) = self.front.as_deref_mut() else {
            return;
        };
        gates.ask_again(self.now);
        loop {
            let waiting = gates.next();
            let cycle = self.requests.next.min(waiting).max(self.now);
            if cycle >= end {
                break;
            }
            if waiting <= cycle {
                gates.let_in(cycle);
            }
            if self.requests.next <= cycle {
                let end = self.clocks.l2.first_tick(cycle + 1);
                let requests = &mut self.requests;
                requests.cycle(cycle, &self.clocks, |counters| AtGates {
                    gates,
                    counters,
                    end,
                });
            }
            self.last_active = cycle;
            self.now = cycle + 1;
        }
        self.now = self.now.max(end);
    }

    /// What the partitions are at the end of the quantum that SMs have run: when they go on, when
    /// something last happened, whether they are idle, and what they have counted.
    pub(super) fn settled(&self) -> Option<(Cycle, Cycle, bool, &MemoryStats)> {
        let Front { gates, settled, .. } = self.front.as_deref()?;
        let next = match gates.waiting() {
            0 => settled.next.min(gates.mail.first()),
            _ => self.now,
        };
        // What they were, they still are if nothing has come since.
        let idle = settled.idle && gates.is_empty();
        Some((next, settled.last_active, idle, &settled.counted))
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
