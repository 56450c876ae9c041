//! The far sides of all memory channels ([`far`](crate::memory::dram::far)): how far they have been run, and what that means for
//! the partitions, which hold the near ones.
//!
//! The partitions run to where what happens on the far sides is known. Either the partitions run the far sides for a while when
//! they come there ([`Partitions::foresee`]), or another thread has done so meanwhile, and what both have to know of each other goes by
//! [letter](super::letters).

use super::letters::Letters;
use super::partitions::Partitions;
use crate::config::{DramModel, Machine};
use crate::memory::clock::Clock;
use crate::memory::dram::far::{FarSide, Told};
use crate::memory::stats::DramCounters;
use crate::time::{Cycle, Tick};

/// All far sides.
pub struct FarSides {
    all: Vec<FarSide>,
    clock: Clock,
    /// Core cycles that a request is in the delay.
    latency: u64,
    /// Core cycles before this one have been simulated.
    ran: Cycle,
    /// The first tick in which anything happens on a far side, where requests are delayed.
    next: Tick,
    /// The letters that the far sides read and write.
    pub(super) letters: Letters,
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
            ran: match channels {
                0 => Cycle::NEVER,
                _ => Cycle::ZERO,
            },
            next: Tick::NEVER,
            letters: Letters::new(channels, slices),
        }
    }

    /// Letters for the near sides.
    pub(super) fn empty_letters(&self) -> Letters {
        self.letters.clone()
    }

    /// How far the far sides can be run once they have been told what has been sent before cycle `near`: what is sent from then on
    /// comes later.
    pub fn reach(&self, near: Cycle) -> Cycle {
        near + self.latency
    }

    /// Whether the far sides have not been run up to cycle `to` and can be, when they have been told what has been sent before cycle `near`.
    pub fn has_to_run(&self, near: Cycle, to: Cycle) -> bool {
        self.ran < to && to <= self.reach(near)
    }

    /// Whether the far sides have been run up to cycle `to`.
    pub fn has_come_to(&self, to: Cycle) -> bool {
        self.ran >= to
    }

    /// Whether anything happens on the far sides before cycle `to`, letters included.
    pub fn have_work(&self, to: Cycle) -> bool {
        self.next.min(self.letters.first()) < self.clock.first_tick(to)
    }

    /// Simulates the far sides up to a cycle that is within [reach](FarSides::reach).
    pub fn run(&mut self, to: Cycle) {
        if to > self.ran {
            let end = self.clock.first_tick(to);
            if self.next < end {
                self.next = Tick::NEVER;
                for far in &mut self.all {
                    far.run(end);
                    self.next = self.next.min(far.next());
                }
            }
            self.ran = to;
        }
    }

    /// Takes in what has come by letter.
    pub(super) fn read(&mut self) {
        for (far, sent) in self.all.iter_mut().zip(self.letters.take_sent()) {
            far.take(sent);
            self.next = self.next.min(far.next());
        }
    }

    /// Runs the far sides by themselves up to cycle `to`; what the near sides have to know goes by letter.
    pub fn run_apart(&mut self, to: Cycle) {
        if to > self.ran {
            self.read();
            self.run(to);
            let told = self.all.iter_mut().map(FarSide::told);
            self.letters.write_told(to, told);
        }
    }

    /// What is waiting on the far side of a channel, for a report on a deadlock.
    pub fn describe(&self, channel: usize) -> Option<String> {
        self.all.get(channel).map(FarSide::describe)
    }
}

/// What is known of the far sides.
pub(super) struct Foreseen {
    /// Before this core cycle, all that happens there.
    pub known: Cycle,
    /// What the far sides have counted before each of these core cycles, and after the one before it, as far as it is not counted here.
    counted: Vec<(Cycle, DramCounters)>,
}

impl Foreseen {
    pub fn new(far: &FarSides) -> Foreseen {
        Foreseen {
            known: far.ran,
            counted: Vec::new(),
        }
    }

    /// Adds what has been counted before a cycle with which some run of the far sides ended.
    pub fn add_counted(&self, before: Cycle, to: &mut DramCounters) {
        let counted = self.counted.iter().filter(|(end, _)| *end <= before);
        counted.for_each(|(_, more)| to.add(more));
    }
}

impl Partitions {
    /// Tells the far sides what has been sent to them before cycle `now`, to which the partitions have come, and hears what happens
    /// there as far as they have been run.
    pub(super) fn exchange(&mut self, far: &mut FarSides, now: Cycle) {
        if !far.all.is_empty() {
            self.tell(far);
            self.hear(far, now);
        }
    }

    fn tell(&mut self, far: &mut FarSides) {
        for (channel, side) in self.channels.iter_mut().zip(&mut far.all) {
            channel.tell(|sent| {
                side.take(sent);
                far.next = far.next.min(side.next());
            });
        }
    }

    fn hear(&mut self, far: &mut FarSides, now: Cycle) {
        let told = far.all.iter_mut().map(FarSide::told);
        self.hear_told(told, far.ran, now);
    }

    /// Takes in what has come by letter, at cycle `now`, to which the partitions have come.
    pub(super) fn read(&mut self, letters: &mut Letters, now: Cycle) {
        let ran = letters.ran();
        if ran > self.foreseen.known {
            self.hear_told(letters.take_told(), ran, now);
        }
    }

    /// Tells the far sides by letter what has been sent to them.
    pub(super) fn write(&mut self, letters: &mut Letters) {
        for (number, channel) in self.channels.iter_mut().enumerate() {
            channel.tell(|sent| letters.write_sent(number, sent));
        }
    }

    /// Hears what all channels are told of far sides that have been run up to cycle `ran`.
    fn hear_told<'a>(&mut self, told: impl Iterator<Item = &'a mut Told>, ran: Cycle, now: Cycle) {
        let tick = self.clocks.dram.first_tick(ran);
        let mut more = DramCounters::default();
        for (number, told) in told.enumerate() {
            self.hear_channel(number, told, tick);
            more.add(&std::mem::take(&mut told.counted));
        }
        let Foreseen { known, counted } = &mut self.foreseen;
        counted.retain(|(end, before)| {
            let later = *end > now;
            if !later {
                self.stats.dram.add(before);
            }
            later
        });
        counted.push((ran, more));
        *known = ran;
    }

    /// From cycle `cycle` on nothing is known of the far sides: runs them as far as may be, but not
    /// beyond cycle `end`, when their counters are asked for.
    #[inline(never)]
    pub(super) fn foresee(&mut self, cycle: Cycle, end: Cycle, far: &mut FarSides) {
        self.tell(far);
        match far.latency {
            0 => self.run_both_sides(cycle, far),
            _ => far.run(far.reach(cycle).min(end)),
        }
        self.hear(far, cycle);
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
        far.ran = cycle + 1;
    }
}
