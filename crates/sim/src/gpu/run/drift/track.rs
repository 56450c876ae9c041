//! What all that takes part in a drift share: how far SMs and the exchange are, a [lane](super::lane) per SM, and memory, for the thread that runs it.

use super::super::stretch::Stretch;
use super::lane::{Lane, lock};
use super::places::Places;
use super::steps::{BySteps, Steps};
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
    quantum: u64,
    pub steps: Steps,
    pub lanes: &'a [Lane],
    pub places: Places<'a>,
    said: Said,
    memory: Memory,
    /// SMs that are neither through with a step nor wait in it.
    running: BySteps<Running>,
}

/// What the exchange says to all.
#[repr(align(128))]
struct Said {
    /// The last step that may be begun.
    ready: AtomicU64,
    /// Requests of so many steps have gone through the network.
    exchanged: AtomicU64,
    /// All stop where they are, or are to when they meet.
    over: AtomicBool,
    ends_soon: AtomicBool,
}

#[derive(Default)]
#[repr(align(128))]
struct Running(AtomicU64);

/// Memory partitions, which one of the threads runs.
#[repr(align(128))]
struct Memory {
    /// The partitions, if there is something to do, and the step that they are run through.
    place: Mutex<(Option<AheadOfSms>, u64)>,
    /// The partitions wait for a thread, or have been run and wait to be taken back.
    waits: AtomicBool,
    ran: AtomicBool,
    /// The far sides of the channels if they are to be run beside them, and whether that is still to be done.
    far_sides: Mutex<Option<AheadOfPartitions>>,
    far_sides_wait: AtomicBool,
}

impl<'a> Track<'a> {
    /// For SMs that are about to drift.
    pub fn new(
        image: &'a GlobalMemory,
        (launched, quantum): (&'a Launched, u64),
        blocks: &'a mut Blocks,
        steps: Steps,
        lanes: &'a [Lane],
    ) -> Track<'a> {
        let mut track = Track {
            image,
            launched,
            quantum,
            steps,
            running: BySteps::default(),
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
                ready: AtomicU64::new(steps.last_of_period(0)),
                exchanged: AtomicU64::new(0),
                over: AtomicBool::new(false),
                ends_soon: AtomicBool::new(false),
            },
        };
        track
            .running
            .each(|Running(sms)| *sms.get_mut() = lanes.len() as u64);
        track
    }

    /// The rest of a step from cycle `at` on, for an SM.
    pub fn stretch(&self, at: Cycle, step: u64, sm: usize) -> Stretch<'a> {
        let blocks_wait = self.places.are_wanted();
        Stretch {
            span: at..self.steps.end_of(step),
            quantum: self.quantum,
            launched: self.launched,
            observed: false,
            skip: true,
            blocks_wait,
            heard_by: blocks_wait.then_some(&self.lanes[sm]),
        }
    }

    /// A thread is to run these partitions through a step, if there is something to do.
    pub fn send_memory(
        &self,
        ahead: Option<AheadOfSms>,
        far_sides: Option<AheadOfPartitions>,
        step: u64,
    ) {
        let memory = &self.memory;
        if ahead.is_none() && far_sides.is_none() {
            self.set_ready(step);
            memory.ran.store(true, Ordering::Release);
            return;
        }
        let far_sides_wait = far_sides.is_some();
        *lock(&memory.place) = (ahead, step);
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

    /// Whether a thread runs the partitions.
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
        let (ahead, step) = &mut *lock(place);
        if let Some(ahead) = ahead {
            ahead.run();
            ahead.hand_over(|sm, replies| self.lanes[sm].letter().replies.append(replies));
        }
        self.set_ready(*step);
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

    /// Replies of a step, and of those before it, are in the letters.
    fn set_ready(&self, step: u64) {
        self.said.ready.store(step, Ordering::Release);
    }

    pub fn is_ready(&self, step: u64) -> bool {
        self.said.ready.load(Ordering::Acquire) >= step
    }

    /// Requests of a step have gone through the network.
    pub fn set_exchanged(&self, step: u64) {
        self.said.exchanged.store(step + 1, Ordering::Release);
    }

    /// Requests of so many steps have gone through the network.
    pub fn exchanged(&self) -> u64 {
        self.said.exchanged.load(Ordering::Acquire)
    }

    /// So many SMs are about to run in a step.
    pub fn set_running(&self, step: u64, sms: usize) {
        let Running(running) = self.running.of(step);
        running.store(sms as u64, Ordering::Relaxed);
    }

    /// All are through with a step: its place is another one's.
    pub fn end(&self, step: u64) {
        self.set_running(step, self.lanes.len());
    }

    /// An SM is through with a step, or waits in it, and has told what it has to.
    pub fn pause(&self, step: u64) {
        self.running.of(step).0.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether all are through with a step or wait in it.
    pub fn all_pause(&self, step: u64) -> bool {
        self.running(step) == 0
    }

    /// Whether all that are not have found that blocks have ended on them, and wait for others.
    pub fn none_but_those_who_wish_run(&self, step: u64) -> bool {
        let waiting = self.places.waiting(step);
        self.running(step) == waiting
    }

    fn running(&self, step: u64) -> u64 {
        self.running.of(step).0.load(Ordering::Acquire)
    }

    /// All stop where they are.
    pub fn stop(&self) {
        self.said.over.store(true, Ordering::Release);
    }

    /// All are to stop when they meet.
    pub fn end_soon(&self) {
        self.said.ends_soon.store(true, Ordering::Relaxed);
    }

    pub fn ends_soon(&self) -> bool {
        self.said.ends_soon.load(Ordering::Relaxed)
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
