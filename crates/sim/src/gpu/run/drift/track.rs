//! What all that takes part in a drift share: how far SMs and the exchange are, a [lane](super::lane) per SM, and memory, for whoever runs it.
//!
//! Periods are counted from the one in which SMs begin to drift.

use super::super::period::Clocking;
use super::super::stretch::Stretch;
use super::lane::{Lane, lock, odd};
use super::places::Places;
use crate::exec::memory::image::GlobalMemory;
use crate::gpu::run::blocks::Blocks;
use crate::memory::system::{AheadOfPartitions, AheadOfSms};
use crate::sm::Launched;
use crate::time::Cycle;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// All of it.
pub struct Track<'a> {
    pub image: &'a GlobalMemory,
    launched: &'a Launched,
    clocking: Clocking,
    start: Cycle,
    /// How many periods there are at most.
    pub periods: u64,
    pub lanes: &'a [Lane],
    pub places: Places<'a>,
    said: Said,
    memory: Memory,
    /// Of even periods and odd ones: SMs that are neither through with the one under way nor wait in it.
    running: [Running; 2],
}

/// What the exchange says to all.
#[repr(align(128))]
struct Said {
    /// The last period that may be begun.
    ready: AtomicU64,
    /// Requests of so many periods have gone through the network.
    exchanged: AtomicU64,
    /// All stop where they are.
    over: AtomicBool,
}

#[repr(align(128))]
struct Running(AtomicU64);

/// Memory partitions, which somebody runs.
#[repr(align(128))]
struct Memory {
    /// The partitions, if there is something to do, and the period that they are run through.
    place: Mutex<(Option<AheadOfSms>, u64)>,
    /// They wait for somebody, or have been run and wait to be taken back.
    waits: AtomicBool,
    ran: AtomicBool,
    /// The far sides of the channels if they are to be run beside them, and whether nobody has.
    far_sides: Mutex<Option<AheadOfPartitions>>,
    far_sides_wait: AtomicBool,
}

impl<'a> Track<'a> {
    /// For SMs that are about to drift, from cycle `start` on.
    pub fn new(
        image: &'a GlobalMemory,
        (launched, clocking): (&'a Launched, Clocking),
        blocks: &'a mut Blocks,
        (start, periods): (Cycle, u64),
        lanes: &'a [Lane],
    ) -> Track<'a> {
        let running = || Running(AtomicU64::new(lanes.len() as u64));
        Track {
            image,
            launched,
            clocking,
            start,
            periods,
            running: [running(), running()],
            lanes,
            places: Places::new(blocks),
            memory: Memory {
                place: Mutex::new((None, 0)),
                waits: AtomicBool::new(false),
                ran: AtomicBool::new(true),
                far_sides: Mutex::new(None),
                far_sides_wait: AtomicBool::new(false),
            },
            said: Said {
                ready: AtomicU64::new(0),
                exchanged: AtomicU64::new(0),
                over: AtomicBool::new(false),
            },
        }
    }

    /// The first cycle of a period.
    pub fn start_of(&self, period: u64) -> Cycle {
        self.start + period * self.clocking.period
    }

    /// The cycle behind the last of a period.
    pub fn end_of(&self, period: u64) -> Cycle {
        self.start_of(period + 1)
    }

    /// The rest of a period from cycle `at` on, for an SM.
    pub fn stretch(&self, at: Cycle, period: u64, sm: usize) -> Stretch<'a> {
        let blocks_wait = self.places.are_wanted();
        Stretch {
            span: at..self.end_of(period),
            quantum: self.clocking.quantum,
            launched: self.launched,
            observed: false,
            skip: true,
            blocks_wait,
            heard_by: blocks_wait.then_some(&self.lanes[sm]),
        }
    }

    /// Somebody is to run these partitions through a period, if there is something to do.
    pub fn send_memory(
        &self,
        ahead: Option<AheadOfSms>,
        far_sides: Option<AheadOfPartitions>,
        period: u64,
    ) {
        let memory = &self.memory;
        let far_sides_wait = far_sides.is_some();
        *lock(&memory.place) = (ahead, period);
        *lock(&memory.far_sides) = far_sides;
        let waits = &memory.far_sides_wait;
        waits.store(far_sides_wait, Ordering::Release);
        memory.waits.store(true, Ordering::Release);
    }

    /// Runs far sides that wait for it. Returns whether there are any.
    pub fn run_far_sides(&self) -> bool {
        let waits = &self.memory.far_sides_wait;
        if !waits.load(Ordering::Acquire) || !waits.swap(false, Ordering::AcqRel) {
            return false;
        }
        if let Some(far_sides) = &mut *lock(&self.memory.far_sides) {
            far_sides.run();
        }
        true
    }

    /// Whether somebody runs the partitions.
    pub fn runs_memory(&self) -> bool {
        let Memory { waits, ran, .. } = &self.memory;
        !waits.load(Ordering::Relaxed) && !ran.load(Ordering::Relaxed)
    }

    /// Runs partitions that wait for it. Returns whether there are any.
    pub fn run_memory(&self) -> bool {
        let Memory {
            place, waits, ran, ..
        } = &self.memory;
        if !waits.load(Ordering::Acquire) || !waits.swap(false, Ordering::AcqRel) {
            return false;
        }
        let (ahead, period) = &mut *lock(place);
        if let Some(ahead) = ahead {
            ahead.run();
            if *period < self.periods {
                ahead.hand_over(|sm, replies| self.lanes[sm].letter().replies.append(replies));
            }
        }
        self.set_ready(*period);
        ran.store(true, Ordering::Release);
        true
    }

    /// Takes partitions back that have been run, if they have, and far sides, which may have been.
    pub fn take_memory_back(&self) -> Option<(Option<AheadOfSms>, Option<AheadOfPartitions>)> {
        let memory = &self.memory;
        if !memory.ran.swap(false, Ordering::AcqRel) {
            return None;
        }
        memory.far_sides_wait.store(false, Ordering::Relaxed);
        let (partitions, far_sides) = (&memory.place, &memory.far_sides);
        Some((lock(partitions).0.take(), lock(far_sides).take()))
    }

    /// Replies of a period, and of those before it, are in the letters.
    fn set_ready(&self, period: u64) {
        self.said.ready.store(period, Ordering::Release);
    }

    pub fn is_ready(&self, period: u64) -> bool {
        self.said.ready.load(Ordering::Acquire) >= period
    }

    /// Requests of a period have gone through the network.
    pub fn set_exchanged(&self, period: u64) {
        self.said.exchanged.store(period + 1, Ordering::Release);
    }

    /// Whether all requests from before a period have gone through the network.
    pub fn is_exchanged_before(&self, period: u64) -> bool {
        self.said.exchanged.load(Ordering::Acquire) >= period
    }

    /// So many SMs are about to run in a period.
    pub fn set_running(&self, period: u64, sms: usize) {
        self.running[odd(period)]
            .0
            .store(sms as u64, Ordering::Relaxed);
    }

    /// An SM is through with a period, or waits in it, and has told what it has to.
    pub fn pause(&self, period: u64) {
        self.running[odd(period)].0.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether all are through with a period or wait in it.
    pub fn all_pause(&self, period: u64) -> bool {
        self.running[odd(period)].0.load(Ordering::Acquire) == 0
    }

    /// Whether all that are not have found that blocks have ended on them, and wait for others.
    pub fn none_but_those_who_wish_run(&self, period: u64) -> bool {
        let waiting = self.places.waiting(period);
        self.running[odd(period)].0.load(Ordering::Acquire) == waiting
    }

    /// All stop where they are.
    pub fn stop(&self) {
        self.said.over.store(true, Ordering::Release);
    }

    pub fn is_over(&self) -> bool {
        self.said.over.load(Ordering::Acquire)
    }

    /// Who panics while it has this makes all others stop.
    pub fn stop_on_panic(&self) -> StopOnPanic<'_, 'a> {
        StopOnPanic(self)
    }
}

pub struct StopOnPanic<'a, 'b>(&'a Track<'b>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
