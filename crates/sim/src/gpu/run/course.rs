//! What a launch has under way between windows.

use super::blocks::Blocks;
use super::dispatch::{Dispatcher, Numbers};
use super::hot::HotSpots;
use crate::gpu::Gpu;
use crate::memory::system::period;
use crate::sm::Launched;
use crate::time::Cycle;
use warpsim_ptx::kernel::{Intrinsic, Kernel};

/// Cycles before its limit for which a launch is looked at, so that a spinning warp's loop is known when it is given up.
const LAST_LOOK: u64 = 4000;

/// A launch under way.
pub(super) struct Course<'a> {
    pub launched: &'a Launched,
    /// Cycles per quantum, and per period.
    pub quantum: u64,
    pub period: u64,
    pub blocks: Blocks,
    /// Where spinning warps are looked at.
    pub hot: Option<HotSpots>,
    /// An observer, a policy or the printer has to know of every quantum.
    in_step: bool,
    /// The SMs' policies want to hear when nothing is left to be handed out.
    last_block_is_heard: bool,
    /// An observer wants samples.
    pub sampled: bool,
    /// When the launch began.
    pub start: Cycle,
    /// The first cycle that it must not need.
    pub limit: Option<Cycle>,
}

impl Course<'_> {
    /// Whether windows are quanta.
    pub fn meets_each_quantum(&self) -> bool {
        let waits = self.blocks.left && self.last_block_is_heard;
        self.in_step || waits || self.hot.is_some()
    }

    /// Whether the launch comes to its limit soon: what its warps do is looked at.
    pub fn is_near_limit(&self, now: Cycle) -> bool {
        self.limit.is_some_and(|limit| now + LAST_LOOK >= limit)
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
            quantum,
            period: period(&self.machine) * quantum,
            in_step: !self.options.skip
                || self.options.observer.is_some()
                || numbers.is_some()
                || prints(&launched.kernel),
            blocks: Blocks::new(dispatcher, numbers, start, quantum, &self.board),
            sampled,
            start,
            limit: self.options.max_cycles.map(|n| start.saturating_add(n)),
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
