//! What ends a launch on reference SMs other than its completion, and how far it is.

use super::Course;
use crate::gpu::{Gpu, SimError, Stuck};
use crate::sm::{Launched, SmFault};
use crate::time::Cycle;

impl Gpu {
    pub(super) fn fault_on_reference(
        &self,
        sm: usize,
        fault: SmFault,
        launched: &Launched,
    ) -> SimError {
        let kernel = &launched.kernel;
        let mut report = fault
            .fault
            .report(kernel, fault.pc, self.reference[sm].threads());
        report.name_argument(kernel, &launched.grid.params, &self.image);
        SimError::Fault(Box::new(report))
    }

    /// A launch that has come to its limit of cycles is given up.
    pub(super) fn heed_limit_on_reference(
        &self,
        now: Cycle,
        course: &Course,
    ) -> Result<(), SimError> {
        match self.options.max_cycles {
            Some(limit) if now - course.start >= limit => {
                Err(self.over_limit_on_reference(limit, course))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn over_limit_on_reference(&self, limit: u64, course: &Course) -> SimError {
        SimError::CycleLimit {
            limit,
            ended: None,
            stuck: self.stuck_on_reference(course.start + limit, course),
            loops: Vec::new(),
        }
    }

    pub(super) fn stuck_on_reference(&self, at: Cycle, course: &Course) -> Box<Stuck> {
        let launched = course.launched;
        Box::new(Stuck {
            not_started: launched.grid.blocks() - course.dispatcher.sent(),
            places: u64::from(launched.blocks_per_sm) * self.reference.len() as u64,
            kernel: launched.kernel.name.clone(),
            cycle: at - course.start,
            warps: self
                .reference
                .iter()
                .flat_map(|sm| sm.stuck(launched))
                .collect(),
            memory: self.memory.describe_pending(),
        })
    }

    pub(super) fn tell_progress_on_reference(
        &mut self,
        cycles: u64,
        course: &Course,
    ) -> Result<(), SimError> {
        let mut snapshot = self.snapshot(course.completed, course.launched.grid.blocks());
        let issued = self
            .reference
            .iter()
            .map(|sm| sm.stats().counters.warp_instructions);
        snapshot.warp_instructions += issued.sum::<u64>();
        snapshot.cycles += cycles;
        self.options.progress.update(snapshot);
        match self.options.progress.stops() {
            true => Err(SimError::Stopped {
                kernel: course.launched.kernel.name.clone(),
                cycle: cycles,
            }),
            false => Ok(()),
        }
    }
}
