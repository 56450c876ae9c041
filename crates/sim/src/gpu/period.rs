//! A period of a launch, in [rounds](super::round), and between those blocks for SMs that have room,
//! always in SM order.

use super::dispatch::{Dispatcher, Numbers};
use super::hot::HotSpots;
use super::pace::Pace;
use super::stretch::Stretch;
use super::{Gpu, SimError};
use crate::memory::system::period;
use crate::sm::Launched;
use crate::time::Cycle;
use warpsim_ptx::kernel::{Intrinsic, Kernel};

/// Cycles per quantum and per period.
#[derive(Clone, Copy)]
pub(super) struct Clocking {
    pub quantum: u64,
    pub period: u64,
}

/// What a launch has under way between rounds.
pub(super) struct Course<'a> {
    pub launched: &'a Launched,
    pub files: &'a [(u32, String)],
    pub clocking: Clocking,
    pub pace: Pace,
    pub dispatcher: Dispatcher,
    /// Who hands out logical blocks, where virtual ones ask for them.
    numbers: Option<Numbers>,
    /// Where spinning warps are looked at.
    pub hot: Option<HotSpots>,
    /// Blocks of the launch, and how many of them have ended.
    pub total: u64,
    pub completed: u64,
    /// There may be room for blocks that have not been handed out.
    room: bool,
    /// Something is left to be handed out, and whether the SMs' policies want to hear when it is not.
    left: bool,
    last_block_is_heard: bool,
    /// Somebody has to know of every quantum.
    in_step: bool,
}

impl Gpu {
    /// A launch that begins with cycle `start`, its first blocks on their way.
    pub(super) fn set_out<'a>(
        &mut self,
        launched: &'a Launched,
        files: &'a [(u32, String)],
        start: Cycle,
    ) -> Course<'a> {
        let quantum = u64::from(self.machine.gpu.quantum.max(1));
        let (sms, total) = (self.sms.len(), launched.grid.blocks());
        let numbers = Numbers::new(launched, self.machine.virtual_blocks.latency);
        let mut dispatcher = Dispatcher::new(total, launched.blocks_per_sm, sms, self.last_sm);
        // A block dispatched in a cycle is first fetched for in the next.
        let room = dispatcher.dispatch(start + 1, start + 1 + quantum, &mut self.sms);
        Course {
            launched,
            files,
            clocking: Clocking {
                quantum,
                period: period(&self.machine) * quantum,
            },
            pace: Pace::new(sms, start),
            dispatcher,
            in_step: !self.options.skip
                || self.options.observer.is_some()
                || numbers.is_some()
                || prints(&launched.kernel),
            numbers,
            hot: None,
            total,
            completed: 0,
            room,
            left: true,
            last_block_is_heard: self.sms.iter().any(|sm| sm.hears_of_last_block()),
        }
    }

    /// Runs the period that begins with cycle `now`. Returns the launch's end if it turns out to
    /// have been over before the period's.
    pub(super) fn run_period(
        &mut self,
        now: Cycle,
        course: &mut Course,
    ) -> Result<Option<Cycle>, SimError> {
        let Clocking { quantum, period } = course.clocking;
        let end = now + period;
        if period > quantum {
            self.begin_period(end, course)?;
        }
        self.set_partitions_off(end, course);
        let over = self.run_rounds(now, end, course);
        self.take_partitions_back(); // if something failed
        over
    }

    /// Runs the rounds of a period, and ends it.
    fn run_rounds(
        &mut self,
        now: Cycle,
        end: Cycle,
        course: &mut Course,
    ) -> Result<Option<Cycle>, SimError> {
        let quantum = course.clocking.quantum;
        let mut at = now;
        while at < end {
            let stretch = Stretch {
                span: at..self.round_end(at, end, course),
                quantum,
                launched: course.launched,
                observed: course.hot.is_some() || self.options.observer.is_some(),
                skip: self.options.skip,
                blocks_wait: course.dispatcher.has_more(),
            };
            at = self.run_round(&stretch, course)?;
            self.hand_out_blocks(at, course);
            if at == end {
                break;
            }
            if let Some(over) = self.over(course)
                && over <= at
            {
                self.end_period(at, course)?;
                return Ok(Some(over));
            }
            if self.options.skip {
                let next = self.next(at, &course.pace).min(end);
                at = next.round_down(quantum).max(at);
                self.memory.catch_up(at);
            }
        }
        self.end_period(end, course)?;
        Ok(None)
    }

    /// Where a round ends at the latest that begins with cycle `at`, in a period that ends with cycle `end`.
    fn round_end(&self, at: Cycle, end: Cycle, course: &Course) -> Cycle {
        let waits = course.room || course.left && course.last_block_is_heard;
        match course.in_step || waits || course.hot.is_some() {
            true => at + course.clocking.quantum,
            false => end,
        }
    }

    /// All SMs have come to cycle `at`: blocks go to where others have ended.
    fn hand_out_blocks(&mut self, at: Cycle, course: &mut Course) {
        let (pace, dispatcher) = (&mut course.pace, &mut course.dispatcher);
        let done = dispatcher.take_ended(at);
        course.completed += done;
        if dispatcher.has_more() && (course.room || done != 0) {
            let to = at + course.clocking.quantum;
            course.room = dispatcher.dispatch(at, to, &mut self.sms);
            pace.look_again(&self.sms);
        }
        if let Some(numbers) = &mut course.numbers
            && numbers.hand_out(at, &mut self.sms)
        {
            pace.look_again(&self.sms);
        }
        let numbers_are_out = course.numbers.as_ref().is_none_or(Numbers::are_out);
        if course.left && !dispatcher.has_more() && numbers_are_out {
            (course.left, course.room) = (false, false);
            self.sms.iter_mut().for_each(|sm| sm.expect_no_more(at));
            pace.look_again(&self.sms);
        }
    }

    /// If nothing is left of a launch: the end of the last quantum in which there was.
    pub(super) fn over(&self, course: &Course) -> Option<Cycle> {
        if course.completed < course.total {
            return None;
        }
        let idle_since = course.pace.idle_since().filter(|_| self.memory.idle())?;
        let quantum = course.clocking.quantum;
        Some(idle_since.max(self.memory.idle_since().round_down(quantum) + quantum))
    }
}

/// Whether a kernel can print: what several SMs print is put together quantum by quantum.
fn prints(kernel: &Kernel) -> bool {
    let mut intrinsics = kernel.code.iter().filter_map(|i| i.intrinsic);
    intrinsics.any(|intrinsic| intrinsic == Intrinsic::Vprintf)
}
