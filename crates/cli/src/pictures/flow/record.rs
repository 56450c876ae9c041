//! What a block's lanes did, issue by issue.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use warpsim_ptx::kernel::{Kernel, Pc};
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::time::Cycle;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// Issues that are kept one by one; all are counted by instruction.
pub const MOST: usize = 2000;

/// Lanes at work are counted in so many steps, from few to all.
pub const STEPS: usize = 8;

/// What a lane does in an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Nothing.
    Idle,
    /// Works for this thread of the block.
    Thread(u32),
    /// Works for a thread of another block.
    Other,
}

/// A warp instruction, or a gang's, of which some lanes work for the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Cycle, counted from the block's first.
    pub cycle: u64,
    /// Instruction.
    pub pc: Pc,
    /// Lane by lane.
    pub lanes: [Lane; LANES],
    /// The gang that issued it, if one did.
    gang: Option<Gang>,
}

/// A gang: the block and static warp of its threads, and its slices.
type Gang = (u64, u16, u8);

/// The flow of one block of one launch.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The launch's kernel.
    pub kernel: Option<Kernel>,
    /// In order, the first [`MOST`].
    pub issues: Vec<Issue>,
    /// All of them, by instruction.
    pub counts: BTreeMap<Pc, Count>,
    /// The last one: further warps of its gang may join it.
    last: Option<Issue>,
    /// Warps were in gangs.
    pub has_gangs: bool,
    /// There was more than [`MOST`].
    pub too_long: bool,
    /// Launches seen.
    pub launches: u64,
}

impl Flow {
    /// Nothing joins the last issue any more.
    fn settle(&mut self) {
        let Some(last) = self.last.take() else {
            return;
        };
        self.counts.entry(last.pc).or_default().add(&last);
        match self.issues.len() == MOST {
            true => self.too_long = true,
            false => self.issues.push(last),
        }
    }

    /// The flow, with nothing more to come.
    pub fn settled(mut self) -> Flow {
        self.settle();
        self
    }

    /// Warp instructions, or those of gangs, of some instructions of the kernel.
    pub fn count(&self, mut of: impl FnMut(Pc) -> bool) -> Count {
        let mut sum = Count::default();
        let those = self.counts.iter().filter(|(pc, _)| of(**pc));
        those.for_each(|(_, count)| sum.merge(count));
        sum
    }

    /// Lanes that work in the issues, over all that could.
    pub fn efficiency(&self, lanes: &[usize]) -> f64 {
        let works = |i: &Issue| lanes.iter().filter(|l| i.lanes[**l] != Lane::Idle).count();
        let all = self.issues.len() * lanes.len();
        self.issues.iter().map(works).sum::<usize>() as f64 / all.max(1) as f64
    }
}

/// How often some instructions were issued, and with how many lanes at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Issues.
    pub issued: u64,
    /// Lanes at work in all of them together.
    pub lanes: u64,
    /// Issues by lanes at work: 1 to 4, 5 to 8, up to 29 to 32.
    pub steps: [u64; STEPS],
    /// Cycles of the first and of the last.
    span: Option<(u64, u64)>,
}

impl Count {
    fn add(&mut self, issue: &Issue) {
        let works = issue.lanes.iter().filter(|l| **l != Lane::Idle).count();
        self.issued += 1;
        self.lanes += works as u64;
        self.steps[works.saturating_sub(1) * STEPS / LANES] += 1;
        self.extend(issue.cycle, issue.cycle);
    }

    fn merge(&mut self, other: &Count) {
        self.issued += other.issued;
        self.lanes += other.lanes;
        for (sum, more) in self.steps.iter_mut().zip(other.steps) {
            *sum += more;
        }
        if let Some((first, last)) = other.span {
            self.extend(first, last);
        }
    }

    fn extend(&mut self, first: u64, last: u64) {
        let (from, to) = self.span.unwrap_or((first, last));
        self.span = Some((from.min(first), to.max(last)));
    }

    /// Cycles from the first issue to the last, both included.
    pub fn cycles(&self) -> u64 {
        self.span.map_or(0, |(first, last)| last - first + 1)
    }

    /// Lanes at work on average.
    pub fn mean(&self) -> f64 {
        self.lanes as f64 / self.issued.max(1) as f64
    }
}

/// Whom a warp holds: block and thread by lane.
type Held = [Option<(u64, u32)>; LANES];

/// Listens for one block of one launch.
pub struct Recorder {
    flow: Rc<RefCell<Flow>>,
    launch: u64,
    block: u64,
    /// By SM and slot.
    holds: HashMap<(u16, u16), Held>,
    /// By SM and slot: the slices of the warp's gang.
    gangs: HashMap<(u16, u16), u8>,
    first: Option<Cycle>,
}

impl Recorder {
    /// A recorder, and where it records.
    pub fn new(launch: u64, block: u64) -> (Recorder, Rc<RefCell<Flow>>) {
        let flow = Rc::new(RefCell::new(Flow::default()));
        let recorder = Recorder {
            flow: flow.clone(),
            launch,
            block,
            holds: HashMap::new(),
            gangs: HashMap::new(),
            first: None,
        };
        (recorder, flow)
    }

    fn issue(&mut self, cycle: Cycle, warp: (u16, u16), pc: Pc, active: u32) {
        let Some(holds) = self.holds.get(&warp) else {
            return;
        };
        let lane = |l: usize| match holds[l] {
            Some((block, thread)) if active >> l & 1 != 0 => match block == self.block {
                true => Lane::Thread(thread),
                false => Lane::Other,
            },
            _ => Lane::Idle,
        };
        let lanes: [Lane; LANES] = std::array::from_fn(lane);
        if !lanes.iter().any(|l| matches!(l, Lane::Thread(_))) {
            return;
        }
        let first = *self.first.get_or_insert(cycle);
        let slices = self.gangs.get(&warp).filter(|s| s.count_ones() > 1);
        let of = holds.iter().flatten().next();
        let gang = slices.zip(of).map(|(slices, (block, thread))| {
            let home = (thread / LANES as u32) as u16;
            (*block, home, *slices)
        });
        let mut flow = self.flow.borrow_mut();
        let cycle = cycle - first;
        // The warps of a gang issue as one.
        let same = |i: &&mut Issue| i.cycle == cycle && i.pc == pc && i.gang == gang;
        if gang.is_some()
            && let Some(issue) = flow.last.as_mut().filter(same)
        {
            for (all, its) in issue.lanes.iter_mut().zip(lanes) {
                if its != Lane::Idle {
                    *all = its;
                }
            }
            return;
        }
        flow.settle();
        flow.last = Some(Issue {
            cycle,
            pc,
            lanes,
            gang,
        });
    }
}

impl Observer for Recorder {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        if self.flow.borrow().launches != self.launch + 1 {
            return;
        }
        match event {
            WarpEvent::Launched { .. } => drop(self.holds.remove(&(sm, slot))),
            WarpEvent::Holds { block, warp, lanes } => {
                let holds = self.holds.entry((sm, slot)).or_insert([None; LANES]);
                for l in (0..LANES).filter(|l| lanes >> l & 1 != 0) {
                    holds[l] = Some((block, u32::from(warp) * LANES as u32 + l as u32));
                }
            }
            WarpEvent::Ganged { slices } => {
                self.gangs.insert((sm, slot), slices);
                self.flow.borrow_mut().has_gangs = true;
            }
            WarpEvent::Issued { pc, lanes } => self.issue(cycle, (sm, slot), pc, lanes),
            _ => {}
        }
    }

    fn launched(&mut self, _: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        let mut flow = self.flow.borrow_mut();
        if flow.launches == self.launch {
            flow.kernel = Some(kernel.clone());
        }
        flow.launches += 1;
    }
}
