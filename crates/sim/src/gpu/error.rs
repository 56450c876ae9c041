//! What can end a launch other than its completion.

use crate::exec::fault::FaultReport;
use crate::exec::functional::SimFault;
use crate::sm::StuckWarp;
use std::fmt;

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
    /// The cycle limit was reached.
    CycleLimit {
        /// The limit.
        limit: u64,
        /// Who was still running.
        stuck: Box<Stuck>,
        /// The loop each warp spends its time in: SM, block, warp, first and last PTX line,
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
    pub instructions: u64,
}

/// Who is stuck and where.
#[derive(Debug)]
pub struct Stuck {
    /// Kernel.
    pub kernel: String,
    /// Cycle since the launch.
    pub cycle: u64,
    /// Warps that have not finished.
    pub warps: Vec<StuckWarp>,
    /// Source files by number.
    pub files: Vec<(u32, String)>,
    /// What memory still had to do.
    pub memory: Vec<String>,
}

/// Warps listed one by one in a message; more are counted.
const LISTED: usize = 24;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for w in self.warps.iter().take(LISTED) {
            let [x, y, z] = w.block;
            write!(
                f,
                "\n  SM {} block ({x},{y},{z}) warp {}: pc {}, PTX line {}",
                w.sm, w.warp, w.pc, w.line
            )?;
            if let Some((file, line)) = w.source {
                let name = self.files.iter().find(|(n, _)| *n == file);
                write!(f, ", {}:{line}", name.map_or("source", |(_, name)| name))?;
            }
            write!(f, ", waits for {}", w.waits_for)?;
        }
        if self.warps.len() > LISTED {
            write!(f, "\n  and {} more warps", self.warps.len() - LISTED)?;
        }
        for line in self.memory.iter().take(LISTED) {
            write!(f, "\n  memory: {line}")?;
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
                "deadlock in kernel {} at cycle {}: no warp can go on and nothing is under way{stuck}",
                stuck.kernel, stuck.cycle
            ),
            SimError::CycleLimit {
                limit,
                stuck,
                loops,
            } => {
                write!(
                    f,
                    "kernel {} did not end within {limit} cycles (--max-cycles){stuck}",
                    stuck.kernel
                )?;
                for l in loops.iter().take(LISTED) {
                    let [x, y, z] = l.block;
                    write!(
                        f,
                        "\n  SM {} block ({x},{y},{z}) warp {}: hottest loop is PTX lines {} to {} ({} instructions in the last look)",
                        l.sm, l.warp, l.first_line, l.last_line, l.instructions
                    )?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for SimError {}
