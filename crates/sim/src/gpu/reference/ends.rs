//! What ends a launch on reference SMs other than its completion.

use super::Course;
use crate::gpu::{Gpu, SimError, Stuck};
use crate::time::Cycle;

impl Gpu {
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
            not_started: launched.grid.blocks() - course.dispatcher.sent,
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
}
