//! Why a run without timing ended early.

use crate::fault::FaultReport;
use std::fmt;
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::Pc;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq)]
pub enum SimFault {
    /// A thread did something impossible.
    Thread(Box<FaultReport>),
    /// Every warp waits and none can go on.
    Deadlock {
        /// Kernel.
        kernel: String,
        /// The waiting warps.
        warps: Vec<StuckWarp>,
    },
    /// The instruction limit was reached.
    Limit {
        /// Kernel.
        kernel: String,
        /// The limit.
        instructions: u64,
    },
    /// The launch itself is impossible.
    Launch(String),
    /// The run was asked to stop.
    Stopped {
        /// Kernel.
        kernel: String,
        /// Warp instructions up to then.
        instructions: u64,
    },
}

/// A warp in a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckWarp {
    /// Block in the grid.
    pub block: [u32; 3],
    /// Warp in the block.
    pub warp: u16,
    /// Instruction it waits at.
    pub pc: Pc,
    /// Where that stands.
    pub place: String,
    /// What it waits for.
    pub waiting: String,
}

impl fmt::Display for SimFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimFault::Thread(report) => report.fmt(f),
            SimFault::Deadlock { kernel, warps } => {
                write!(f, "deadlock in kernel {}: every warp waits", shown(kernel))?;
                for w in warps {
                    let [x, y, z] = w.block;
                    write!(
                        f,
                        "\n  block ({x},{y},{z}) warp {}: pc {}, {}: {}",
                        w.warp, w.pc, w.place, w.waiting
                    )?;
                }
                Ok(())
            }
            SimFault::Limit {
                kernel,
                instructions,
            } => write!(
                f,
                "kernel {} has not ended after {instructions} warp instructions",
                shown(kernel)
            ),
            SimFault::Launch(text) => f.write_str(text),
            SimFault::Stopped {
                kernel,
                instructions,
            } => write!(
                f,
                "kernel {} was stopped after {instructions} warp instructions",
                shown(kernel)
            ),
        }
    }
}

impl std::error::Error for SimFault {}
