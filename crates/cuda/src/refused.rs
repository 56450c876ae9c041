//! Why a call cannot be: CUDA's number, and what explains it.

use warpsim_doors::wire::status;
use warpsim_sim::exec::fault::{FaultKind, FaultReport};
use warpsim_sim::exec::functional::SimFault;
use warpsim_sim::exec::memory::image::AccessError;
use warpsim_sim::gpu::SimError;

/// A call that is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// CUDA's number.
    pub status: u32,
    /// What a person is told, where there is more to say than the number does.
    pub text: Option<String>,
}

/// What a call comes to.
pub type Answer<T> = Result<T, Refused>;

impl From<u32> for Refused {
    fn from(status: u32) -> Refused {
        Refused { status, text: None }
    }
}

impl Refused {
    /// A number with what explains it.
    pub fn told(status: u32, text: impl Into<String>) -> Refused {
        Refused {
            status,
            text: Some(text.into()),
        }
    }
}

/// CUDA's number for the end of a launch.
pub fn status_of(error: &SimError) -> u32 {
    match error {
        SimError::BadLaunch(_) => status::OUT_OF_RESOURCES,
        SimError::Fault(report) => of_thread(report),
        SimError::Functional(fault) => match &**fault {
            SimFault::Thread(report) => of_thread(report),
            SimFault::Launch(_) => status::INVALID_CONFIGURATION,
            SimFault::Deadlock { .. } | SimFault::Limit { .. } | SimFault::Stopped { .. } => {
                status::LAUNCH_TIMEOUT
            }
        },
        SimError::Deadlock(_) | SimError::CycleLimit { .. } | SimError::Stopped { .. } => {
            status::LAUNCH_TIMEOUT
        }
    }
}

fn of_thread(report: &FaultReport) -> u32 {
    match &report.kind {
        FaultKind::Memory {
            cause: AccessError::Misaligned,
            ..
        } => status::MISALIGNED,
        FaultKind::Memory { .. } => status::ILLEGAL_ADDRESS,
        FaultKind::Assert { .. } => status::ASSERT,
        FaultKind::Trap
        | FaultKind::Breakpoint
        | FaultKind::MissingMembers { .. }
        | FaultKind::Other(_) => status::LAUNCH_FAILURE,
    }
}
