//! A period of a launch, in [rounds](super::round), and between those blocks for SMs that have room,
//! always in SM order.

use super::blocks::Blocks;
use super::dispatch::{Dispatcher, Numbers};
use super::hot::HotSpots;
use super::pace::Pace;
use super::round::Failed;
use super::stretch::Stretch;
use super::timed::LAST_LOOK;
use crate::gpu::unseen::PERIODS_UNSEEN;
use crate::gpu::{Gpu, SimError};
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
    pub clocking: Clocking,
    pub pace: Pace,
    pub blocks: Blocks,
    /// Where spinning warps are looked at.
    pub hot: Option<HotSpots>,
    /// The SMs' policies want to hear when nothing is left to be handed out.
    last_block_is_heard: bool,
    /// An observer or a policy has to know of every quantum.
    in_step: bool,
    /// An observer has to know of every period.
    sampled: bool,
    /// A thread of the program has failed; a thread on an SM that is not as far may have failed before it.
    pub failed: Failed,
    /// When the launch began, and how many windows have passed since after which stores are shown that no SM looks for.
    pub start: Cycle,
    shown: u64,
    pub limit: Option<Limit>,
}

/// When a launch is given up.
pub(super) struct Limit {
    /// The first cycle that it must not need.
    pub at: Cycle,
    /// From this one on it is looked at what its warps do.
    pub looked_at_from: Cycle,
}

impl Limit {
    /// Of a launch that begins with cycle `start` and may take so many.
    fn new(start: Cycle, cycles: u64) -> Limit {
        Limit {
            at: start.saturating_add(cycles),
            looked_at_from: start.saturating_add(cycles.saturating_sub(LAST_LOOK)),
        }
    }
}

impl Course<'_> {
    /// Cycles after which stores are shown that no SM looks for.
    fn window(&self) -> u64 {
        PERIODS_UNSEEN * self.clocking.period
    }

    /// Periods from cycle `now` on before stores are shown that no SM looks for, or a look at the warps is due.
    pub fn periods_unseen(&self, now: Cycle) -> u64 {
        let shown = self.start + (self.shown + 1) * self.window();
        let limit = self.limit.as_ref();
        let until = limit.map_or(shown, |limit| limit.looked_at_from.min(shown));
        until.since(now) / self.clocking.period
    }

    /// Whether SMs need not be in step from cycle `now` on.
    pub fn may_drift(&self, now: Cycle) -> bool {
        self.launched.reads_no_stores
            && self.clocking.period > self.clocking.quantum
            && !self.in_step
            && !self.sampled
            && self.hot.is_none()
            && self.failed.is_none()
            && !(self.blocks.left && self.last_block_is_heard)
            && self.blocks.may_go_on()
            && self.pace.is_together(now)
    }
}

impl Gpu {
    /// A launch that begins with cycle `start`, its first blocks on their way.
    pub(super) fn set_out<'a>(
        &mut self,
        launched: &'a Launched,
        start: Cycle,
        sampled: bool,
    ) -> Course<'a> {
        let quantum = u64::from(self.machine.gpu.quantum.max(1));
        let (sms, total) = (self.sms.len(), launched.grid.blocks());
        let numbers = Numbers::new(launched, self.machine.virtual_blocks.latency);
        let mut dispatcher = Dispatcher::new(total, launched.blocks_per_sm, sms, self.last_sm);
        // A block dispatched in a cycle is first fetched for in the next.
        let room = dispatcher.dispatch(start + 1, start + 1 + quantum, |sm, at, block| {
            self.sms[sm].expect_block(at, block);
        });
        Course {
            launched,
            clocking: Clocking {
                quantum,
                period: period(&self.machine) * quantum,
            },
            pace: Pace::new(sms, start),
            in_step: !self.options.skip
                || self.options.observer.is_some()
                || numbers.is_some()
                || prints(&launched.kernel),
            blocks: Blocks::new(dispatcher, numbers, total, room, quantum),
            failed: None,
            sampled,
            start,
            shown: 0,
            limit: self.options.max_cycles.map(|n| Limit::new(start, n)),
            hot: None,
            last_block_is_heard: self.sms.iter().any(|sm| sm.hears_of_last_block()),
        }
    }

    /// A period begins with cycle `now`: stores that no SM looks for are shown, if it is time.
    pub(super) fn begin_window(&mut self, now: Cycle, course: &mut Course) {
        let window = (now - course.start) / course.window();
        if std::mem::replace(&mut course.shown, window) != window {
            self.show_stores(course);
        }
    }

    /// Runs the period that begins with cycle `now`, and as many behind it as SMs need not be in step for. Returns the end of the last of them, and that of
    /// the launch if it turns out to have been over before.
    pub(super) fn run_periods(
        &mut self,
        now: Cycle,
        course: &mut Course,
    ) -> Result<(Cycle, Option<Cycle>), SimError> {
        let Clocking { quantum, period } = course.clocking;
        let end = now + period;
        if period > quantum {
            self.begin_period(end, course)?;
        }
        let periods = self.periods_apart(now, course);
        if periods > 1
            && let Some((at, end)) = self.drift(now, periods, course)
        {
            self.report_fault(at, course)?;
            // An idle SM that waits for the others may wait for the end.
            let over = self.over(course).filter(|&over| at < end && over <= at);
            if over.is_some() {
                self.end_period(at, course)?;
                return Ok((end, over));
            }
            return Ok((end, self.run_rounds(at, end, course)?));
        }
        self.set_partitions_off(end, course);
        let over = self.run_rounds(now, end, course);
        self.take_partitions_back(); // if something failed
        Ok((end, over?))
    }

    /// Runs the rounds of a period from cycle `now` on, and ends it.
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
                blocks_wait: course.blocks.dispatcher.has_more(),
                heard_by: None,
            };
            at = self.run_round(&stretch, course);
            self.report_fault(at, course)?;
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
                let before = at;
                at = next.round_down(quantum).max(before);
                self.memory.catch_up(at);
                self.report_fault(at, course)?;
                if at > before {
                    self.hand_out_blocks(at, course); // some may have waited here for the others
                }
            }
        }
        self.end_period(end, course)?;
        Ok(None)
    }

    /// All SMs have come to cycle `at`: if a thread has failed by then, no other can have before it.
    fn report_fault(&self, at: Cycle, course: &mut Course) -> Result<(), SimError> {
        match course.failed.take_if(|(before, ..)| *before <= at) {
            Some((_, sm, e)) => Err(self.fault(sm, e, course.launched)),
            None => Ok(()),
        }
    }

    /// Where a round ends at the latest that begins with cycle `at`, in a period that ends with cycle `end`.
    fn round_end(&self, at: Cycle, end: Cycle, course: &Course) -> Cycle {
        let waits = course.blocks.room || course.blocks.left && course.last_block_is_heard;
        match course.in_step || waits || course.hot.is_some() {
            true => at + course.clocking.quantum,
            false => end,
        }
    }

    /// All SMs have come to cycle `at`: blocks go to where others have ended.
    pub(super) fn hand_out_blocks(&mut self, at: Cycle, course: &mut Course) {
        let Course { blocks, pace, .. } = course;
        let sms = &mut self.sms;
        let any = blocks.hand_out(at, |sm, at, block| sms[sm].expect_block(at, block));
        if any | blocks.hand_out_numbers(at, sms) {
            pace.look_again(sms);
        }
        if blocks.are_all_out() {
            sms.iter_mut().for_each(|sm| sm.expect_no_more(at));
            pace.look_again(sms);
        }
    }

    /// If nothing is left of a launch: the end of the last quantum in which there was.
    pub(super) fn over(&self, course: &Course) -> Option<Cycle> {
        if course.blocks.completed < course.blocks.total {
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
