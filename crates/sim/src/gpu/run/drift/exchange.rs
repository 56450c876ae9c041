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
    /// The period whose requests go through the network next.
    period: u64,
    /// By SM: to which cycle of that period it has come, and whether it waits there.
    came_to: Vec<(Cycle, bool)>,
    /// SMs that have run since they were heard.
    awaited: Vec<usize>,
    /// Memory is to be run on when it is back.
    runs_memory: bool,
    /// The cycle to which all have come, and the end of its period, when they have stopped.
    stopped: (Cycle, Cycle),
}

impl<'a> Exchange<'a> {
    pub fn new(
        memory: &'a mut MemorySystem,
        pace: &'a mut Pace,
        failed: &'a mut Failed,
        sms: usize,
    ) -> Exchange<'a> {
        Exchange {
            memory,
            pace,
            failed,
            period: 0,
            came_to: vec![(Cycle::ZERO, false); sms],
            awaited: (0..sms).collect(),
            runs_memory: true,
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
        let any = self.runs_memory && self.send_memory(track);
        match !self.runs_memory && track.all_pause(self.period) {
            true => {
                self.meet(track);
                true
            }
            false => any,
        }
    }

    /// All SMs are through with the period, or wait in it.
    fn meet(&mut self, track: &Track) {
        for at in 0..self.awaited.len() {
            let number = self.awaited[at];
            let mut told = track.lanes[number].told(self.period);
            self.came_to[number] = (told.news.came_to, told.waits);
            self.hear(number, &mut told);
        }
        let end = track.end_of(self.period);
        let reached = self.came_to.iter().map(|&(at, _)| at).fold(end, Cycle::min);
        self.memory.catch_up(reached);
        let goes_on = !self.has_failed(reached) && track.places.hand_out(reached, track.lanes);
        if !goes_on || reached == end && self.period + 1 == track.periods {
            self.stopped = (reached, end);
            track.stop();
            return;
        }
        match reached == end {
            true => self.end_period(track),
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
    pub fn hear_rest(&mut self, number: usize, lane: &Lane) {
        for period in [self.period, self.period + 1] {
            let mut told = lane.told(period);
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
        track.set_running(self.period, self.awaited.len());
        for &number in &self.awaited {
            let backlog = self.memory.injection_backlog(number);
            track.lanes[number].set_backlog(self.period, backlog);
            track.lanes[number].let_go();
        }
    }

    /// All are through with a period.
    fn end_period(&mut self, track: &Track) {
        for (number, lane) in track.lanes.iter().enumerate() {
            lane.set_backlog(self.period, self.memory.injection_backlog(number));
        }
        track.set_running(self.period + 2, track.lanes.len());
        track.set_exchanged(self.period);
        for (lane, &(_, waits)) in track.lanes.iter().zip(&self.came_to) {
            if waits {
                lane.let_go();
            }
        }
        self.period += 1;
        self.awaited.clear();
        self.awaited.extend(0..track.lanes.len());
        self.runs_memory = true;
    }

    /// If memory is back, sends it on to the end of the period behind the one whose requests are awaited, with what has gone through the network before. Returns
    /// whether it is.
    fn send_memory(&mut self, track: &Track) -> bool {
        if !self.take_memory_back(track) {
            return false;
        }
        let ahead = self.memory.send_on(track.end_of(self.period));
        track.send_memory(ahead, self.memory.lend_far_sides(), self.period + 1);
        self.runs_memory = false;
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
