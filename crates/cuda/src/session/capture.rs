//! Streams that are captured into graphs: what is asked of them becomes nodes.

use super::operation::Operation;
use super::{Reply, Session};
use crate::refused::Answer;
use warpsim_doors::wire::status;

/// A capture under way.
#[derive(Clone, Debug)]
pub struct Capture {
    graph: u64,
    /// The stream where it began, and where it has to end.
    origin: u64,
    /// Something that cannot be in a graph was done.
    is_invalid: bool,
}

impl Session {
    /// Whether a stream is being captured.
    pub(super) fn capturing(&mut self, stream: u64) -> Answer<bool> {
        let Some((capture, _)) = self.stream(stream)?.capture else {
            return Ok(false);
        };
        match self.captures.get(&capture) {
            Some(capture) if capture.is_invalid => Err(status::CAPTURE_INVALIDATED.into()),
            found => Ok(found.is_some()),
        }
    }

    pub(super) fn invalidate(&mut self, capture: u64) {
        if let Some(capture) = self.captures.get_mut(&capture) {
            capture.is_invalid = true;
        }
    }

    /// A node for what is asked of a stream that is being captured.
    pub(super) fn captured(&mut self, stream: u64, operation: Operation) -> Answer<u64> {
        let (capture, before) = self
            .stream(stream)?
            .capture
            .clone()
            .ok_or(status::ILLEGAL_STATE)?;
        let graph = self
            .captures
            .get(&capture)
            .ok_or(status::ILLEGAL_STATE)?
            .graph;
        let node = self.add(graph, operation, &before)?;
        self.stream(stream)?.capture = Some((capture, vec![node]));
        Ok(node)
    }

    /// A stream takes part in a capture from now on, after these nodes.
    pub(super) fn join(&mut self, stream: u64, capture: u64, nodes: &[u64]) -> Answer<()> {
        let joined = &mut self.stream(stream)?.capture;
        match joined {
            None => *joined = Some((capture, nodes.to_vec())),
            Some((same, after)) if *same == capture => {
                for node in nodes {
                    if !after.contains(node) {
                        after.push(*node);
                    }
                }
            }
            Some(_) => return Err(status::CAPTURE_ISOLATION.into()),
        }
        Ok(())
    }

    pub(super) fn begin_capture(&mut self, stream: u64, graph: u64) -> Answer<Reply> {
        if stream < super::streams::OF_THREAD {
            return Err(status::CAPTURE_UNSUPPORTED.into());
        }
        if self.stream(stream)?.capture.is_some() {
            return Err(status::ILLEGAL_STATE.into());
        }
        let graph = match graph {
            0 => self.create_graph(),
            graph if self.graphs.contains_key(&graph) => graph,
            _ => return Err(status::INVALID_HANDLE.into()),
        };
        let number = self.handle();
        self.captures.insert(
            number,
            Capture {
                graph,
                origin: stream,
                is_invalid: false,
            },
        );
        self.stream(stream)?.capture = Some((number, Vec::new()));
        Ok(Reply::default())
    }

    pub(super) fn end_capture(&mut self, stream: u64) -> Answer<u64> {
        let (number, last) = self
            .stream(stream)?
            .capture
            .clone()
            .ok_or(status::ILLEGAL_STATE)?;
        let capture = self
            .captures
            .get(&number)
            .cloned()
            .ok_or(status::ILLEGAL_STATE)?;
        if capture.origin != stream {
            return Err(status::ILLEGAL_STATE.into());
        }
        // What other streams did last has to be something that this stream has waited for.
        let others = self.streams.iter().filter(|(other, _)| **other != stream);
        let others = others.filter_map(|(_, s)| s.capture.as_ref().filter(|c| c.0 == number));
        let ends: Vec<u64> = others
            .flat_map(|(_, nodes)| nodes.iter().copied())
            .collect();
        let before = self.all_before(capture.graph, &last);
        let unjoined = ends.iter().any(|node| !before.contains(node));
        self.captures.remove(&number);
        for stream in self.streams.values_mut() {
            stream.capture.take_if(|c| c.0 == number);
        }
        for event in self.events.values_mut() {
            event.captured.take_if(|c| c.0 == number);
        }
        match (capture.is_invalid, unjoined) {
            (true, _) => Err(status::CAPTURE_INVALIDATED.into()),
            (_, true) => Err(status::CAPTURE_UNJOINED.into()),
            _ => Ok(capture.graph),
        }
    }

    /// Status, number, graph, and the nodes that the next one depends on.
    pub(super) fn capture_info(&mut self, stream: u64) -> Answer<Reply> {
        let Some((number, nodes)) = self.stream(stream)?.capture.clone() else {
            return Ok(Reply::words(vec![0, 0, 0]));
        };
        let capture = self.captures.get(&number).ok_or(status::ILLEGAL_STATE)?;
        let mut words = vec![1 + u64::from(capture.is_invalid), number, capture.graph];
        words.extend(nodes);
        Ok(Reply::words(words))
    }
}
