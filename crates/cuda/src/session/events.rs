//! Events: their times are the simulated machine's, so that they are the same every time.

use super::{Reply, Session};
use crate::refused::Answer;
use warpsim_doors::wire::status;
use warpsim_sim::time::Cycle;

/// An event.
#[derive(Clone, Debug, Default)]
pub struct Event {
    flags: u32,
    /// When it was recorded.
    pub recorded: Option<Cycle>,
    /// The capture in which it was, and after which nodes.
    pub captured: Option<(u64, Vec<u64>)>,
}

const WITHOUT_TIMING: u32 = 2;

impl Session {
    pub(super) fn create_event(&mut self, flags: u32) -> u64 {
        let event = self.handle();
        self.events.insert(
            event,
            Event {
                flags,
                ..Event::default()
            },
        );
        event
    }

    pub(super) fn event(&self, event: u64) -> Answer<&Event> {
        self.events.get(&event).ok_or(status::INVALID_HANDLE.into())
    }

    pub(super) fn destroy_event(&mut self, event: u64) -> Answer<Reply> {
        self.events.remove(&event).ok_or(status::INVALID_HANDLE)?;
        Ok(Reply::default())
    }

    pub(super) fn record_event(&mut self, event: u64, stream: u64) -> Answer<Reply> {
        self.event(event)?;
        // In a capture it is no node: it stands for the nodes before it.
        self.capturing(stream)?;
        let captured = self.stream(stream)?.capture.clone();
        let now = self.device.gpu.time();
        let found = self.events.get_mut(&event).ok_or(status::INVALID_HANDLE)?;
        if captured.is_none() {
            found.recorded = Some(now);
        }
        found.captured = captured;
        Ok(Reply::default())
    }

    /// From now on a stream depends on an event: what it was recorded after is done, or is in the same graph.
    pub(super) fn wait_event(&mut self, stream: u64, event: u64) -> Answer<Reply> {
        let captured = self.event(event)?.captured.clone();
        self.stream(stream)?;
        if let Some((capture, nodes)) = captured
            && self.captures.contains_key(&capture)
        {
            self.join(stream, capture, &nodes)?;
        }
        Ok(Reply::default())
    }

    /// Milliseconds between two events.
    pub(super) fn elapsed(&self, start: u64, end: u64) -> Answer<Reply> {
        let (start, end) = (self.event(start)?, self.event(end)?);
        if (start.flags | end.flags) & WITHOUT_TIMING != 0 {
            return Err(status::INVALID_HANDLE.into());
        }
        let (Some(from), Some(to)) = (start.recorded, end.recorded) else {
            return Err(status::INVALID_HANDLE.into());
        };
        let cycles = match to >= from {
            true => (to - from) as f64,
            false => -((from - to) as f64),
        };
        let milliseconds =
            cycles / f64::from(self.device.gpu.machine().gpu.core_mhz.max(1)) / 1000.0;
        Ok(u64::from((milliseconds as f32).to_bits()).into())
    }
}
