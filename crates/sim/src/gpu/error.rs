//! What can end a launch other than its completion.

use crate::exec::fault::FaultReport;
use crate::exec::functional::SimFault;
use crate::sm::StuckWarp;
use std::collections::HashMap;
use std::fmt;
use warpsim_present::mangled::shown;

/// Why a launch did not complete.
#[derive(Debug)]
pub enum SimError {
    /// The launch makes no sense (too many threads, wrong parameters, unbound texture).
    BadLaunch(String),
    /// A thread did something wrong.
    Fault(Box<FaultReport>),
    /// A functional run ended early.
    Functional(Box<SimFault>),
    /// No warp can go on and nothing is under way.
    Deadlock(Box<Stuck>),
    /// The run was asked to stop ([`Progress::stops`](crate::progress::Progress::stops)).
    Stopped {
        /// Kernel.
        kernel: String,
        /// Cycles up to then.
        cycle: u64,
    },
    /// The launch takes more cycles than it may.
    CycleLimit {
        /// The limit.
        limit: u64,
        /// The cycles that it took, if it ended while all came to the same cycle behind the limit.
        ended: Option<u64>,
        /// The warps that were still running.
        stuck: Box<Stuck>,
        /// The loop each warp spends its time in: SM, block, warp, first and last PTX line, the same in words,
        /// and how many of its instructions were seen there.
        loops: Vec<HotLoop>,
    },
}

/// Where a spinning warp spends its time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct HotLoop {
    pub sm: u16,
    pub block: [u32; 3],
    pub warp: u16,
    pub first_line: u32,
    pub last_line: u32,
    pub place: String,
    pub instructions: u64,
}

/// What is stuck, and where.
#[derive(Debug)]
pub struct Stuck {
    /// Kernel.
    pub kernel: String,
    /// Cycle since the launch.
    pub cycle: u64,
    /// Warps that have not finished.
    pub warps: Vec<StuckWarp>,
    /// What SMs have under way in memory and, in a deadlock, what the memory system still had to do.
    pub memory: Vec<String>,
    /// Blocks that have not started because there is no room for them.
    pub not_started: u64,
    /// Blocks that all SMs hold at once.
    pub places: u64,
}

/// Lines in a message for each kind of thing; more are counted.
const LISTED: usize = 24;

/// Warps that wait for the same thing at the same place.
struct Alike<'a> {
    first: &'a StuckWarp,
    /// How many more there are.
    others: usize,
}

impl Stuck {
    /// The warps by where they are and what they wait for, in the order of the first of each.
    fn alike(&self) -> Vec<Alike<'_>> {
        let mut groups: Vec<Alike<'_>> = Vec::new();
        let mut known = HashMap::new();
        for warp in &self.warps {
            let place = (warp.pc, &warp.place, &warp.waits_for);
            let at = *known.entry(place).or_insert(groups.len());
            match groups.get_mut(at) {
                Some(group) => group.others += 1,
                None => groups.push(Alike {
                    first: warp,
                    others: 0,
                }),
            }
        }
        groups
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A few are listed one by one; more, one for each place.
        let groups = match self.warps.len() {
            0..=LISTED => self
                .warps
                .iter()
                .map(|first| Alike { first, others: 0 })
                .collect(),
            _ => self.alike(),
        };
        for Alike { first: w, others } in groups.iter().take(LISTED) {
            let [x, y, z] = w.block;
            write!(f, "\n  SM {} block ({x},{y},{z}) warp {}", w.sm, w.warp)?;
            if *others > 0 {
                write!(f, " and {others} other warps")?;
            }
            write!(f, ": pc {}, {}, waits for {}", w.pc, w.place, w.waits_for)?;
        }
        if groups.len() > LISTED {
            let more = groups[LISTED..].iter().map(|g| g.others + 1).sum::<usize>();
            write!(f, "\n  and {more} more warps")?;
        }
        if self.not_started > 0 {
            write!(
                f,
                "\n  {} blocks have not started and cannot until one ends: {} fit on the GPU at once, and \
                 a kernel whose blocks wait for each other must not have more",
                self.not_started, self.places
            )?;
        }
        for line in self.memory.iter().take(LISTED) {
            write!(f, "\n  memory: {line}")?;
        }
        if self.memory.len() > LISTED {
            write!(
                f,
                "\n  memory: and {} more parts",
                self.memory.len() - LISTED
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::BadLaunch(text) => f.write_str(text),
            SimError::Fault(report) => write!(f, "{report}"),
            SimError::Functional(fault) => write!(f, "{fault}"),
            SimError::Deadlock(stuck) => write!(
                f,
                "deadlock in kernel {} at cycle {}: {}{stuck}",
                shown(&stuck.kernel),
                stuck.cycle,
                match stuck.memory.is_empty() {
                    true => "no warp can go on and nothing is under way",
                    // Not the program's doing: what is under way in memory always comes to an end.
                    false =>
                        "no warp can go on, and what memory has under way does not end: a mistake \
                              in the simulated machine",
                }
            ),
            SimError::Stopped { kernel, cycle } => {
                write!(
                    f,
                    "kernel {} was stopped after {cycle} cycles",
                    shown(kernel)
                )
            }
            SimError::CycleLimit {
                limit,
                ended,
                stuck,
                loops,
            } => {
                let kernel = shown(&stuck.kernel);
                write!(
                    f,
                    "kernel {kernel} did not end within {limit} cycles (--max-cycles)"
                )?;
                if let Some(cycles) = ended {
                    write!(f, ": it takes {cycles}")?;
                }
                write!(f, "{stuck}")?;
                write_loops(f, loops)
            }
        }
    }
}

/// The loops, those of the same lines together.
fn write_loops(f: &mut fmt::Formatter<'_>, loops: &[HotLoop]) -> fmt::Result {
    let mut groups: Vec<(&HotLoop, usize, u64)> = Vec::new();
    for l in loops {
        let same = |g: &&mut (&HotLoop, usize, u64)| {
            (g.0.first_line, g.0.last_line) == (l.first_line, l.last_line)
        };
        match groups.iter_mut().find(same) {
            Some(group) if loops.len() > LISTED => {
                group.1 += 1;
                group.2 += l.instructions;
            }
            _ => groups.push((l, 0, l.instructions)),
        }
    }
    for (l, others, instructions) in groups.iter().take(LISTED) {
        let [x, y, z] = l.block;
        write!(f, "\n  SM {} block ({x},{y},{z}) warp {}", l.sm, l.warp)?;
        if *others > 0 {
            write!(f, " and {others} other warps")?;
        }
        write!(
            f,
            ": hottest loop is {} ({instructions} instructions in the last look)",
            l.place
        )?;
    }
    Ok(())
}

impl std::error::Error for SimError {}
