//! What is asked of a stream: done at once, or a node of the graph into which the stream is being captured.

use super::copy::{Copy, Fill};
use super::launch::Call;
use super::{Program, Reply, Session};
use crate::refused::Answer;
use warpsim_doors::wire::Question;

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// A launch.
    Kernel(Call),
    /// A copy.
    Transfer(Copy),
    /// Memory is set.
    Fill(Fill),
    /// A function of the program.
    Host {
        function: u64,
        data: u64,
        kind: u32,
        stream: u64,
    },
    /// An event is recorded.
    Record(u64),
    /// Operations of another graph, in their order.
    Child(Vec<Operation>),
    /// Nothing.
    Empty,
}

impl Operation {
    /// CUDA's number of a node of this kind.
    pub fn kind(&self) -> u64 {
        match self {
            Operation::Kernel(_) => 0,
            Operation::Transfer(_) => 1,
            Operation::Fill(_) => 2,
            Operation::Host { .. } => 3,
            Operation::Child(_) => 4,
            Operation::Empty => 5,
            Operation::Record(_) => 7,
        }
    }
}

impl Session {
    /// Does what is asked of a stream, or notes it where the stream is being captured: then the answer is 1.
    pub(super) fn submit(
        &mut self,
        stream: u64,
        operation: Operation,
        program: &mut dyn Program,
    ) -> Answer<Reply> {
        if self.capturing(stream)? {
            self.captured(stream, operation)?;
            return Ok(1.into());
        }
        self.perform(&operation, program)?;
        Ok(Reply::default())
    }

    /// Does it now.
    pub(super) fn perform(
        &mut self,
        operation: &Operation,
        program: &mut dyn Program,
    ) -> Answer<()> {
        match operation {
            Operation::Kernel(call) => self.launch(call, program),
            Operation::Transfer(copy) => self.transfer_now(copy, program),
            Operation::Fill(fill) => self.fill(fill),
            Operation::Host {
                function,
                data,
                kind,
                stream,
            } => {
                let (function, data, kind, stream) = (*function, *data, *kind, *stream);
                let call = Question::Call {
                    function,
                    data,
                    kind,
                    stream,
                    status: 0,
                };
                program.ask(&call, &[]).map(drop)
            }
            Operation::Record(event) => {
                let now = self.device.gpu.time();
                if let Some(event) = self.events.get_mut(event) {
                    event.recorded = Some(now);
                }
                Ok(())
            }
            Operation::Child(operations) => {
                operations.iter().try_for_each(|o| self.perform(o, program))
            }
            Operation::Empty => Ok(()),
        }
    }
}
