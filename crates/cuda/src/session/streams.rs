//! Streams. All that is asked for is done at once, in the order in which it is asked for.

use super::{Reply, Session};
use crate::refused::Answer;
use warpsim_doors::wire::status;

/// A stream.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    flags: u32,
    priority: i32,
    id: u64,
    /// The capture that it takes part in, and the nodes that its next one depends on.
    pub capture: Option<(u64, Vec<u64>)>,
}

/// The default stream's other names: the one of the process, and that of a thread.
const LEGACY: u64 = 1;
pub const OF_THREAD: u64 = 2;

impl Session {
    pub(super) fn create_stream(&mut self, flags: u32, priority: i32) -> u64 {
        let stream = self.handle();
        let created = Stream {
            flags,
            priority: priority.clamp(0, 0),
            id: stream,
            capture: None,
        };
        self.streams.insert(stream, created);
        stream
    }

    /// A stream by its handle. That of a thread is there when it is asked for.
    pub(super) fn stream(&mut self, stream: u64) -> Answer<&mut Stream> {
        if [0, LEGACY, OF_THREAD].contains(&stream) {
            self.streams.entry(stream).or_default();
        }
        self.streams
            .get_mut(&stream)
            .ok_or(status::INVALID_HANDLE.into())
    }

    pub(super) fn destroy_stream(&mut self, stream: u64) -> Answer<Reply> {
        if [0, LEGACY, OF_THREAD].contains(&stream) {
            return Err(status::INVALID_HANDLE.into());
        }
        let gone = self.streams.remove(&stream).ok_or(status::INVALID_HANDLE)?;
        if let Some((capture, _)) = gone.capture {
            self.invalidate(capture);
        }
        Ok(Reply::default())
    }

    /// Waiting for a stream: everything is done already, but not while it is being captured.
    pub(super) fn synchronize(&mut self, stream: u64) -> Answer<Reply> {
        if let Some((capture, _)) = self.stream(stream)?.capture {
            self.invalidate(capture);
            return Err(status::CAPTURE_UNSUPPORTED.into());
        }
        Ok(Reply::default())
    }

    /// Waiting for everything is not possible during a capture.
    pub(super) fn check_all_uncaptured(&mut self) -> Answer<()> {
        let capturing = self
            .streams
            .values()
            .find_map(|s| s.capture.as_ref().map(|c| c.0));
        match capturing {
            Some(capture) => {
                self.invalidate(capture);
                Err(status::CAPTURE_UNSUPPORTED.into())
            }
            None => Ok(()),
        }
    }

    /// Flags, priority, number.
    pub(super) fn stream_info(&mut self, stream: u64) -> Answer<Reply> {
        let found = self.stream(stream)?;
        Ok(Reply::words(vec![
            found.flags.into(),
            found.priority as u32 as u64,
            found.id,
        ]))
    }
}
