//! What a launch has under way between windows.

use super::blocks::Blocks;
use super::dispatch::{Dispatcher, Numbers};
use super::hot::HotSpots;
use crate::gpu::Gpu;
use crate::gpu::unseen::PERIODS_UNSEEN;
use crate::memory::system::period;
use crate::sm::Launched;
use crate::time::Cycle;
use warpsim_ptx::kernel::{Intrinsic, Kernel};

/// Cycles before its limit for which a launch is looked at, so that a spinning warp's loop is known when it is given up.
const LAST_LOOK: u64 = 4000;

/// Cycles per quantum and per period.
#[derive(Clone, Copy)]
pub(super) struct Clocking {
    pub quantum: u64,
    pub period: u64,
}

/// A launch under way.
pub(super) struct Course<'a> {
    pub launched: &'a Launched,
    pub clocking: Clocking,
    pub blocks: Blocks,
    /// Where spinning warps are looked at.
    pub hot: Option<HotSpots>,
    /// The SMs' policies want to hear when nothing is left to be handed out.
    last_block_is_heard: bool,
    /// An observer, a policy or the printer has to know of every quantum.
    in_step: bool,
    /// An observer has to know of every period.
    sampled: bool,
    /// When the launch began, and how many spans have passed since after which stores are shown that no SM looks for.
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
    fn span(&self) -> u64 {
        PERIODS_UNSEEN * self.clocking.period
    }

    /// A period begins with cycle `now`. Whether it is time to show stores that no SM looks for.
    pub fn begins_span(&mut self, now: Cycle) -> bool {
        let spans = (now - self.start) / self.span();
        std::mem::replace(&mut self.shown, spans) != spans
    }

    /// The end of a window that begins with cycle `now`, where nothing has to be looked at before stores are shown that no SM looks for.
    pub fn unseen_until(&self, now: Cycle) -> Option<Cycle> {
        let may = self.launched.reads_no_stores && !self.meets_each_quantum() && !self.sampled;
        let shown = self.start + (self.shown + 1) * self.span();
        let limit = self.limit.as_ref();
        let until = limit.map_or(shown, |limit| limit.looked_at_from.min(shown));
        let periods = until.since(now) / self.clocking.period;
        (may && periods > 1).then(|| now + periods * self.clocking.period)
    }

    /// Whether all components have to come to the end of every quantum together.
    pub fn meets_each_quantum(&self) -> bool {
        let waits = self.blocks.left && self.last_block_is_heard;
        self.in_step || waits || self.hot.is_some()
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
        let dispatcher = Dispatcher::new(total, launched.blocks_per_sm, sms, self.last_sm);
        for site in &mut self.sms {
            site.begin(start, launched.blocks_per_sm);
        }
        Course {
            launched,
            clocking: Clocking {
                quantum,
                period: period(&self.machine) * quantum,
            },
            in_step: !self.options.skip
                || self.options.observer.is_some()
                || numbers.is_some()
                || prints(&launched.kernel),
            blocks: Blocks::new(dispatcher, numbers, start, quantum, &self.board),
            sampled,
            start,
            shown: 0,
            limit: self.options.max_cycles.map(|n| Limit::new(start, n)),
            hot: None,
            last_block_is_heard: self.sms.iter().any(|site| site.sm.hears_of_last_block()),
        }
    }
}

/// Whether a kernel can print: what several SMs print is put together quantum by quantum.
fn prints(kernel: &Kernel) -> bool {
    let mut intrinsics = kernel.code.iter().filter_map(|i| i.intrinsic);
    intrinsics.any(|intrinsic| intrinsic == Intrinsic::Vprintf)
}
