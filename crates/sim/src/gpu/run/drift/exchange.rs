//! What one thread at a time does for all SMs that drift apart: their requests go through the network, blocks go to where others have ended, and
//! memory is sent ahead of them.

use super::super::period::Course;
use super::super::round::note;
use super::lane::{Lane, Told};
use super::track::Track;
use crate::memory::system::MemorySystem;
use crate::time::Cycle;

/// The exchange.
pub struct Exchange<'a, 'b> {
    memory: &'a mut MemorySystem,
    course: &'a mut Course<'b>,
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

impl<'a, 'b> Exchange<'a, 'b> {
    pub fn new(
        memory: &'a mut MemorySystem,
        course: &'a mut Course<'b>,
        sms: usize,
    ) -> Exchange<'a, 'b> {
        Exchange {
            memory,
            course,
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
        let goes_on = !self.course.has_failed(reached) && self.hand_out_blocks(reached, track);
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
        let (course, news) = (&mut *self.course, &told.news);
        told.is_new = false;
        course.pace.hear(number, news);
        if news.completed != 0 {
            course
                .dispatcher
                .ended(news.came_to, number, news.completed);
        }
        let result = std::mem::replace(&mut told.result, Ok(()));
        note(&mut course.failed, number, news.came_to, result);
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

    /// All have come to cycle `at`: blocks go to where others have ended. Returns whether all can go on from there by themselves.
    fn hand_out_blocks(&mut self, at: Cycle, track: &Track) -> bool {
        let course = &mut *self.course;
        course.hand_out(at, |sm, cycle, block| {
            track.lanes[sm].letter().blocks.push((cycle, block));
        });
        if course.has_handed_out_all() {
            track.no_block_waits();
        }
        course.may_go_on()
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
