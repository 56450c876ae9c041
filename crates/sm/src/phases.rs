//! The phase timeline of blocks (barrier-aware scheduling, figures 3, 4 and 6): for each warp,
//! when each of its phases began, when it came to the barrier that ended it, and when that opened.
//! The last phase ends with the warp's exit.

use crate::observe::{Observer, WarpEvent};
use crate::time::Cycle;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use warpsim_ptx::kernel::Kernel;

/// Which blocks to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// The first ones that come to an SM.
    FirstOf {
        /// The SM.
        sm: u16,
        /// How many.
        count: usize,
    },
    /// These, by number in the grid, wherever they run.
    Numbers(Vec<u64>),
}

/// Blocks of a launch with their phases. Cycles count from the launch's begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Kernel.
    pub kernel: String,
    /// Number of the launch, from 0.
    pub launch: u64,
    /// How long it took.
    pub cycles: u64,
    /// Blocks in the order in which they came.
    pub blocks: Vec<Block>,
}

/// A block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Number in the grid.
    pub number: u64,
    /// Where it ran.
    pub sm: u16,
    /// When it came.
    pub came: u64,
    /// The first cycle in which it was gone.
    pub left: u64,
    /// Its warps, by number.
    pub warps: Vec<Warp>,
}

/// A warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warp {
    /// Number in the block.
    pub number: u16,
    /// Its phases, one after the other.
    pub phases: Vec<Phase>,
}

/// A phase of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// When it began: the block came, or the last barrier opened.
    pub began: u64,
    /// When the warp came to the barrier, or issued its last instruction.
    pub ended: u64,
    /// When the barrier opened, or the block left.
    pub released: u64,
    /// The barrier; `None` if the warp exited, or went on to its next logical block.
    pub barrier: Option<u8>,
    /// That block, of warps of virtual blocks.
    pub next_block: Option<u64>,
}

impl Timeline {
    /// As data.
    pub fn to_json(&self) -> Value {
        let phase = |p: &Phase| {
            let mut all = json!({
                "began": p.began,
                "arrived": p.ended,
                "released": p.released,
                "barrier": p.barrier,
            });
            if let Some(block) = p.next_block {
                all["next_block"] = json!(block);
            }
            all
        };
        let warp = |w: &Warp| {
            let phases: Vec<Value> = w.phases.iter().map(phase).collect();
            json!({ "warp": w.number, "phases": phases })
        };
        let block = |b: &Block| {
            let warps: Vec<Value> = b.warps.iter().map(warp).collect();
            json!({ "block": b.number, "sm": b.sm, "came": b.came, "left": b.left, "warps": warps })
        };
        let blocks: Vec<Value> = self.blocks.iter().map(block).collect();
        json!({
            "schema": 1,
            "kernel": self.kernel,
            "launch": self.launch,
            "cycles": self.cycles,
            "blocks": blocks,
        })
    }
}

/// An observer that records the phases of some blocks of a launch.
#[derive(Debug)]
pub struct Recorder {
    wanted: Blocks,
    launch: u64,
    /// Launches that have begun.
    launches: u64,
    /// When the recorded one began.
    began: Cycle,
    timeline: Timeline,
    /// Warps of recorded blocks that are there: block and warp in the timeline, and what the warp
    /// is at.
    warps: BTreeMap<(u16, u16), Track>,
}

#[derive(Debug)]
struct Track {
    block: usize,
    warp: usize,
    phase_began: u64,
    /// Barrier at which it waits, and since when.
    waits: Option<(u8, u64)>,
    last_issue: u64,
}

impl Recorder {
    /// Records `wanted` of launch number `launch`, from 0.
    pub fn new(wanted: Blocks, launch: u64) -> Recorder {
        Recorder {
            wanted,
            launch,
            launches: 0,
            began: Cycle::ZERO,
            timeline: Timeline::default(),
            warps: BTreeMap::new(),
        }
    }

    /// What has been recorded: complete once the launch has ended.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Launches seen.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    fn records_now(&self) -> bool {
        self.launches == self.launch + 1
    }

    /// The place of a block in the timeline, if it is to be recorded.
    fn block(&mut self, sm: u16, number: u64, came: u64) -> Option<usize> {
        let blocks = &mut self.timeline.blocks;
        if let Some(at) = blocks.iter().position(|b| b.number == number) {
            return Some(at);
        }
        let wanted = match &self.wanted {
            Blocks::FirstOf { sm: only, count } => sm == *only && blocks.len() < *count,
            Blocks::Numbers(list) => list.contains(&number),
        };
        wanted.then(|| {
            blocks.push(Block {
                number,
                sm,
                came,
                ..Block::default()
            });
            blocks.len() - 1
        })
    }

    fn came(&mut self, cycle: u64, sm: u16, slot: u16, number: u64, warp: u16) {
        let Some(block) = self.block(sm, number, cycle) else {
            return;
        };
        let warps = &mut self.timeline.blocks[block].warps;
        warps.push(Warp {
            number: warp,
            phases: Vec::new(),
        });
        let track = Track {
            block,
            warp: warps.len() - 1,
            phase_began: cycle,
            waits: None,
            last_issue: cycle,
        };
        self.warps.insert((sm, slot), track);
    }

    fn left(&mut self, cycle: u64, at: (u16, u16)) {
        let Some(track) = self.warps.remove(&at) else {
            return;
        };
        let block = &mut self.timeline.blocks[track.block];
        block.left = cycle + 1;
        block.warps[track.warp].phases.push(Phase {
            began: track.phase_began,
            ended: track.last_issue,
            released: cycle + 1,
            barrier: None,
            next_block: None,
        });
    }

    /// A warp of a virtual block goes on to logical block `next`.
    fn goes_on(&mut self, cycle: u64, at: (u16, u16), next: u64) {
        let Some(track) = self.warps.get_mut(&at) else {
            return;
        };
        let warp = &mut self.timeline.blocks[track.block].warps[track.warp];
        warp.phases.push(Phase {
            began: track.phase_began,
            ended: track.last_issue,
            released: cycle,
            barrier: None,
            next_block: Some(next),
        });
        track.phase_began = cycle;
    }

    fn released(&mut self, cycle: u64, at: (u16, u16)) {
        let Some(track) = self.warps.get_mut(&at) else {
            return;
        };
        if let Some((barrier, ended)) = track.waits.take() {
            let warp = &mut self.timeline.blocks[track.block].warps[track.warp];
            warp.phases.push(Phase {
                began: track.phase_began,
                ended,
                released: cycle,
                barrier: Some(barrier),
                next_block: None,
            });
            track.phase_began = cycle;
        }
    }
}

impl Observer for Recorder {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        if !self.records_now() {
            return;
        }
        let cycle = cycle - self.began;
        let at = (sm, slot);
        match event {
            WarpEvent::Launched { block, warp } => self.came(cycle, sm, slot, block, warp),
            WarpEvent::Issued { .. } => {
                if let Some(track) = self.warps.get_mut(&at) {
                    track.last_issue = cycle;
                }
            }
            WarpEvent::Barrier { id, waits: true } => {
                if let Some(track) = self.warps.get_mut(&at) {
                    track.waits = Some((id, cycle));
                }
            }
            WarpEvent::Released => self.released(cycle, at),
            WarpEvent::NextBlock { block, .. } => self.goes_on(cycle, at, block),
            WarpEvent::Left => self.left(cycle, at),
            _ => {}
        }
    }

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        self.launches += 1;
        if self.records_now() {
            self.began = cycle;
            self.timeline.kernel = kernel.name.clone();
            self.timeline.launch = self.launch;
        }
    }

    fn ended(&mut self, cycle: Cycle) {
        if self.records_now() {
            self.timeline.cycles = cycle - self.began;
        }
    }
}
