//! How much the steps of a launch file may do. What kernels do has limits of its own; steps that only
//! move bytes would otherwise go on for as long as a file says.

use super::model::{Place, Step, StepKind};
use crate::host::device::DeviceError;
use warpsim_present::{Source, SourceError};

/// Steps, each as often as it is repeated.
pub(super) const MOST_STEPS: u64 = 10_000_000;

/// Bytes that fills, copies and writes move.
pub(super) const MOST_BYTES: u64 = 256 << 30;

/// Refuses repetitions that are too many whatever the kernels do.
pub(super) fn check(source: &Source, steps: &[Step]) -> Result<(), SourceError> {
    let mut total = 0u64;
    for step in steps {
        total = total.saturating_add(passes(step));
        if total > MOST_STEPS {
            let message = format!("the steps up to this one are more than {MOST_STEPS}");
            let error = source.error(beginning(source, &step.place), message);
            return Err(error.with_help("a repetition counts its steps once for each pass"));
        }
    }
    Ok(())
}

/// The step's first line.
fn beginning(source: &Source, place: &Place) -> Place {
    let text = &source.text[place.clone()];
    place.start..place.start + text.lines().next().map_or(0, str::len)
}

/// How many steps it is at least. A pass without a step is one.
fn passes(step: &Step) -> u64 {
    match &step.kind {
        StepKind::Repeat { times, steps } => {
            let inner = steps.iter().map(passes);
            let inner = inner.fold(0, u64::saturating_add);
            times.saturating_mul(inner.max(1))
        }
        _ => 1,
    }
}

/// What has been done so far.
#[derive(Default)]
pub(super) struct Done {
    steps: u64,
    bytes: u64,
}

impl Done {
    /// One more step, or a pass without one, that moves so many bytes.
    pub fn count(&mut self, source: &Source, bytes: u64) -> Result<(), DeviceError> {
        self.steps += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let most = match () {
            () if self.steps > MOST_STEPS => format!("do more than {MOST_STEPS} steps"),
            () if self.bytes > MOST_BYTES => format!("move more than {MOST_BYTES} bytes"),
            () => return Ok(()),
        };
        Err(DeviceError::program_failed(format!(
            "{}: its repetitions {most}, which is the limit",
            source.name
        )))
    }
}
