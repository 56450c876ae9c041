//! What one thread at a time does for all SMs that drift apart: their requests go through the network, blocks go to where others have ended, and
//! memory is sent ahead of them.

use super::super::pace::Pace;
use super::super::round::{Failed, note};
use super::lane::{Lane, Told};
use super::track::Track;
use crate::memory::system::MemorySystem;
use crate::time::Cycle;

/// The exchange.
pub struct Exchange<'a> {
    memory: &'a mut MemorySystem,
    pace: &'a mut Pace,
    failed: &'a mut Failed,
    /// The step whose requests go through the network next.
    step: u64,
    /// By SM: to which cycle of that step it has come, and whether it waits there.
    came_to: Vec<(Cycle, bool)>,
    /// SMs that have run since they were heard.
    awaited: Vec<usize>,
    /// The last step that memory has been sent through, and the last of which it has told when there was room for requests.
    sent: u64,
    heard: u64,
    /// The cycle to which all have come, and the end of its period, when they have stopped.
    stopped: (Cycle, Cycle),
}

impl<'a> Exchange<'a> {
    pub fn new(
        memory: &'a mut MemorySystem,
        pace: &'a mut Pace,
        failed: &'a mut Failed,
        track: &Track,
    ) -> Exchange<'a> {
        let (sms, first) = (track.lanes.len(), track.steps.last_of_period(0));
        Exchange {
            memory,
            pace,
            failed,
            step: 0,
            came_to: vec![(Cycle::ZERO, false); sms],
            awaited: (0..sms).collect(),
            sent: first,
            heard: first,
            stopped: (Cycle::ZERO, Cycle::ZERO),
        }
    }

    /// The cycle to which all had come when they stopped, and the end of the period that it is in.
    pub fn stopped(&self) -> (Cycle, Cycle) {
        self.stopped
    }

    /// Does what there is to do. Returns whether there was anything.
    pub fn go_on(&mut self, track: &Track) -> bool {
        if track.is_over() {
            return false;
        }
        let any = self.send_memory(track);
        match self.step <= self.heard && track.all_pause(self.step) {
            true => {
                self.meet(track);
                true
            }
            false => any,
        }
    }

    /// All SMs are through with the step, or wait in it.
    fn meet(&mut self, track: &Track) {
        for at in 0..self.awaited.len() {
            let number = self.awaited[at];
            let mut told = track.lanes[number].told(self.step);
            self.came_to[number] = (told.news.came_to, told.waits);
            self.hear(number, &mut told);
        }
        super::linger();
        let end = track.steps.end_of(self.step);
        let reached = self.came_to.iter().map(|&(at, _)| at).fold(end, Cycle::min);
        self.memory.catch_up(reached);
        let goes_on = !self.has_failed(reached) && track.places.hand_out(reached, track.lanes);
        let ends = !goes_on || track.ends_soon();
        if ends || reached == end && self.step + 1 == track.steps.count {
            self.stopped = (reached, track.steps.end_of_period(self.step));
            track.stop();
            return;
        }
        match reached == end {
            true => self.end_step(track),
            false => self.let_go(reached, track),
        }
    }

    /// Hears what an SM has to tell.
    fn hear(&mut self, number: usize, told: &mut Told) {
        let news = &told.news;
        told.is_new = false;
        self.pace.hear(number, news);
        let result = std::mem::replace(&mut told.result, Ok(()));
        note(self.failed, number, news.came_to, result);
        for (cycle, request) in told.sent.drain(..) {
            self.memory.push(cycle, request);
        }
    }

    /// All have stopped: hears what an SM has told since it was listened to, and notes where it is.
    pub fn hear_rest(&mut self, number: usize, lane: &Lane, track: &Track) {
        for step in self.step..=self.step + track.steps.lead {
            let mut told = lane.told(step);
            if told.is_new {
                self.hear(number, &mut told);
            }
        }
    }

    /// Whether a thread of the program has failed that all others have caught up with in cycle `at`.
    fn has_failed(&self, at: Cycle) -> bool {
        let failed = self.failed.as_ref();
        failed.is_some_and(|&(before, ..)| before <= at)
    }

    /// SMs that wait for the others in cycle `at` go on.
    fn let_go(&mut self, at: Cycle, track: &Track) {
        self.awaited.clear();
        let waiting = self.came_to.iter().enumerate();
        let waiting = waiting.filter(|(_, (came_to, _))| *came_to == at);
        self.awaited.extend(waiting.map(|(number, _)| number));
        track.set_running(self.step, self.awaited.len());
        for &number in &self.awaited {
            let backlog = self.memory.injection_backlog(number);
            track.lanes[number].set_backlog(self.step, backlog);
            track.lanes[number].let_go();
        }
    }

    /// All are through with a step.
    fn end_step(&mut self, track: &Track) {
        for (number, lane) in track.lanes.iter().enumerate() {
            lane.set_backlog(self.step, self.memory.injection_backlog(number));
        }
        track.end(self.step);
        track.set_exchanged(self.step);
        for (lane, &(_, waits)) in track.lanes.iter().zip(&self.came_to) {
            if waits {
                lane.let_go();
            }
        }
        self.step += 1;
        self.awaited.clear();
        self.awaited.extend(0..track.lanes.len());
    }

    /// If memory is back, and may be run further or has told nothing of the step that is next, sends it on with what has gone through the network since. Returns whether it is.
    fn send_memory(&mut self, track: &Track) -> bool {
        let through = track.steps.memory_through(self.step);
        let wanted = through > self.sent || self.step > self.heard;
        if !wanted || !self.take_memory_back(track) {
            return false;
        }
        let ahead = self.memory.send_on(track.steps.end_of(through));
        (self.heard, self.sent) = (self.sent, through);
        track.send_memory(ahead, self.memory.lend_far_sides(), through);
        true
    }

    /// All have stopped: memory comes back.
    pub fn finish(&mut self, track: &Track) {
        track.run_memory();
        self.take_memory_back(track);
    }

    /// Takes memory back, if it has been run. Returns whether it has.
    fn take_memory_back(&mut self, track: &Track) -> bool {
        let Some((ahead, far_sides)) = track.take_memory_back() else {
            return false;
        };
        self.memory.take_far_sides_back(far_sides);
        if let Some(ahead) = ahead {
            self.memory.take_back(ahead);
        }
        true
    }
}
