//! The far sides of all memory channels: what lies behind the fixed delay before DRAM.
//!
//! A request is in the delay for `dram.latency` core cycles. So the far sides can be simulated so much further than the near ones, which the
//! partitions hold. The partitions run the far sides for a while whenever they come to where nothing is known of them.

use super::partitions::Partitions;
use crate::clock::Clock;
use crate::dram::far::FarSide;
use crate::time::{Cycle, Tick};
use warpsim_machine::{DramModel, Machine};

/// All far sides.
pub(super) struct FarSides {
    all: Vec<FarSide>,
    clock: Clock,
    /// Core cycles that a request is in the delay.
    latency: u64,
    /// Core cycles before this one have been simulated, and the near sides know what happened in them.
    known: Cycle,
    /// The first tick in which anything happens on a far side.
    next: Tick,
}

impl FarSides {
    /// Idle far sides; none where DRAM is a latency and a bandwidth.
    pub fn new(machine: &Machine, clock: Clock) -> FarSides {
        let channels = match machine.dram.model {
            DramModel::Gddr => machine.dram.channels.max(1) as usize,
            DramModel::Simple => 0,
        };
        let slices = machine.l2.slices_per_channel.max(1) as usize;
        FarSides {
            all: vec![FarSide::new(&machine.dram, clock, slices); channels],
            clock,
            latency: u64::from(machine.dram.latency),
            known: match channels {
                0 => Cycle::NEVER,
                _ => Cycle::ZERO,
            },
            next: Tick::NEVER,
        }
    }

    /// Core cycles before this one are known to the near sides.
    #[inline]
    pub fn known(&self) -> Cycle {
        self.known
    }

    /// Simulates the far sides up to a cycle.
    fn run(&mut self, to: Cycle) {
        let end = self.clock.first_tick(to);
        if self.next < end {
            self.next = Tick::NEVER;
            for far in &mut self.all {
                far.run(end);
                self.next = self.next.min(far.next());
            }
        }
    }

    /// What is waiting on the far side of a channel, for a report on a deadlock.
    pub fn describe(&self, channel: usize) -> Option<String> {
        self.all.get(channel).map(FarSide::describe)
    }
}

impl Partitions {
    /// Time goes back to cycle `now`, since when nothing has happened: requests may come to the far sides earlier than was known.
    pub(super) fn know_less(&mut self, now: Cycle, far: &mut FarSides) {
        if !far.all.is_empty() && far.known > now {
            far.known = now;
            self.hear_all(far);
        }
    }

    /// The near sides hear what happens on the far ones before the cycle that is known.
    fn hear_all(&mut self, far: &mut FarSides) {
        let tick = self.clocks.dram.first_tick(far.known);
        for (number, side) in far.all.iter_mut().enumerate() {
            let told = side.told();
            self.hear_channel(number, told, tick);
            self.stats.dram.add(&std::mem::take(&mut told.counted));
        }
    }

    /// From cycle `cycle` on nothing is known of the far sides: runs them as far as may be, but not beyond cycle `end`, when their counters are
    /// asked for.
    #[inline(never)]
    pub(super) fn foresee(&mut self, cycle: Cycle, end: Cycle, far: &mut FarSides) {
        for (channel, side) in self.channels.iter_mut().zip(&mut far.all) {
            channel.tell(|sent| {
                side.take(sent);
                far.next = far.next.min(side.next());
            });
        }
        if far.latency == 0 {
            self.run_both_sides(cycle, far);
            far.known = cycle + 1;
        } else {
            // What is sent from `cycle` on comes there later.
            far.known = (cycle + far.latency).min(end);
            far.run(far.known);
        }
        self.hear_all(far);
    }

    /// Where requests are not delayed: the ticks of a cycle on both sides of all channels, in turn.
    #[cold]
    fn run_both_sides(&mut self, cycle: Cycle, far: &mut FarSides) {
        for tick in far.clock.ticks_of(cycle) {
            for (number, far) in far.all.iter_mut().enumerate() {
                far.begin_tick(tick);
                self.hear_channel(number, far.told(), tick + 1);
            }
            self.run_channels(cycle, tick + 1);
            for (channel, far) in self.channels.iter_mut().zip(&mut far.all) {
                channel.tell(|sent| far.take(sent));
                far.end_tick(tick);
            }
        }
    }
}
