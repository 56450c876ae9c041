//! One connection of a program.

use crate::refused::{Answer, Refused};
use crate::session::{Program, Reply};
use std::io;
use std::os::unix::net::UnixStream;
use warpsim_doors::wire::frame::{self, QUESTION};
use warpsim_doors::wire::{Frame, Question, status};

/// A connection.
pub struct Connection {
    pub stream: UnixStream,
    /// The process at its other end, once it has said so.
    pub process: Option<u32>,
}

impl Connection {
    pub fn new(stream: UnixStream) -> Connection {
        Connection {
            stream,
            process: None,
        }
    }

    pub fn read(&mut self) -> io::Result<Option<Frame>> {
        frame::read(&mut self.stream)
    }

    /// Sends an answer; whether that could be done.
    pub fn answer(&mut self, answer: Result<Reply, u32>) -> bool {
        let sent = match answer {
            Ok(reply) => frame::write(
                &mut self.stream,
                status::SUCCESS,
                &reply.words,
                &reply.bytes,
            ),
            Err(code) => frame::write(&mut self.stream, code, &[], &[]),
        };
        sent.is_ok()
    }
}

impl Program for Connection {
    fn ask(&mut self, question: &Question, bytes: &[u8]) -> Answer<Vec<u8>> {
        let gone = |_| Refused::from(status::UNKNOWN);
        frame::write(
            &mut self.stream,
            question.code() | QUESTION,
            &question.words(),
            bytes,
        )
        .map_err(gone)?;
        match frame::read(&mut self.stream).map_err(gone)? {
            Some(answer) if answer.code == status::SUCCESS => Ok(answer.payload),
            Some(answer) => Err(answer.code.into()),
            None => Err(status::UNKNOWN.into()),
        }
    }
}
