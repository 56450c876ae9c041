//! Where spinning warps spend their time: a short look at what each issues.

use crate::gpu::error::HotLoop;
use crate::observe::{Detail, Gate, Observer, WarpEvent};
use crate::sm::{Launched, StuckWarp};
use crate::time::Cycle;
use std::collections::BTreeMap;
use warpsim_ptx::kernel::Pc;

/// Counts the instructions of each warp by PC.
#[derive(Default)]
pub struct HotSpots {
    counts: BTreeMap<(u16, u16), BTreeMap<Pc, u64>>,
}

impl Observer for HotSpots {
    fn warp(&mut self, _: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        if let WarpEvent::Issued { pc, .. } = event {
            *self
                .counts
                .entry((sm, slot))
                .or_default()
                .entry(pc)
                .or_default() += 1;
        }
    }
}

/// Tells two observers what warps do.
pub struct Both<'a>(pub &'a mut dyn Observer, pub &'a mut dyn Observer);

impl Observer for Both<'_> {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        self.0.warp(cycle, sm, slot, event);
        self.1.warp(cycle, sm, slot, event);
    }

    fn detail(&mut self, cycle: Cycle, sm: u16, slot: u16, detail: Detail) {
        self.0.detail(cycle, sm, slot, detail);
        self.1.detail(cycle, sm, slot, detail);
    }

    fn lanes(&mut self, cycle: Cycle, sm: u16, pipe: u16, number: u16, gate: Gate) {
        self.0.lanes(cycle, sm, pipe, number, gate);
        self.1.lanes(cycle, sm, pipe, number, gate);
    }
}

impl HotSpots {
    /// The loop of each stuck warp that issued anything.
    pub fn loops(&self, stuck: &[StuckWarp], launched: &Launched) -> Vec<HotLoop> {
        let mut loops = Vec::new();
        for warp in stuck {
            let Some(counts) = self.counts.get(&(warp.sm, warp.slot)) else {
                continue;
            };
            // An outer loop's instructions are seen now and then; the hottest loop is what
            // is seen about as often as the instruction seen most.
            let most = counts.values().copied().max().unwrap_or(0);
            if most < 2 {
                continue; // it has come by everything once
            }
            let mut hot = counts.iter().filter(|(_, n)| **n * 2 >= most);
            let Some((&first, _)) = hot.next() else {
                continue;
            };
            let last = hot.next_back().map_or(first, |(&pc, _)| pc);
            let line = |pc: Pc| launched.kernel.code.get(pc as usize).map_or(0, |i| i.line);
            loops.push(HotLoop {
                sm: warp.sm,
                block: warp.block,
                warp: warp.warp,
                first_line: line(first),
                last_line: line(last),
                place: launched.kernel.origins(first, last),
                instructions: counts.values().sum(),
            });
        }
        loops
    }
}
