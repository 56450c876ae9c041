//! The program's end of the wire: one connection for a process, and what the simulator asks before it answers.

mod mapped;
pub mod posix;
pub mod process;
mod questions;

use crate::wire::frame::{self, QUESTION};
use crate::wire::{Frame, Question, Request, SOCKET, VERSION, status};
use std::cell::Cell;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};

/// What a call of the API comes to: its value, or CUDA's number of what is wrong.
pub type Result<T> = std::result::Result<T, u32>;

/// A process's connection.
enum Connection {
    /// Nothing has been asked yet.
    None,
    /// Of this process, with its number.
    Open(u32, UnixStream),
    /// The simulator is not there, or no longer.
    Gone,
}

static CONNECTION: Mutex<Connection> = Mutex::new(Connection::None);

thread_local! {
    /// This thread executes a function of the program that the simulator has called: such a function may not call the API.
    static CALLED: Cell<bool> = const { Cell::new(false) };
}

/// Asks the simulator. The status of the answer is the error.
pub fn ask(request: &Request, payload: &[u8]) -> Result<Frame> {
    if CALLED.get() {
        return Err(status::NOT_PERMITTED);
    }
    let mut connection = CONNECTION.lock().unwrap_or_else(PoisonError::into_inner);
    let stream = opened(&mut connection)?;
    match exchange(stream, request, payload) {
        Ok(answer) if answer.code == status::SUCCESS => Ok(answer),
        Ok(answer) => Err(answer.code),
        Err(e) => {
            tell(&format!("warpsim: the simulator is gone: {e}"));
            *connection = Connection::Gone;
            Err(status::UNKNOWN)
        }
    }
}

/// The first word of an answer.
pub fn number(request: &Request, payload: &[u8]) -> Result<u64> {
    let answer = ask(request, payload)?;
    answer.words.first().copied().ok_or(status::UNKNOWN)
}

/// A line on standard error.
pub fn tell(line: &str) {
    posix::print(2, format!("{line}\n").as_bytes());
}

/// Says once that a function of the API is not there; the simulator's report counts it.
pub fn lacking(name: &str) -> u32 {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.iter().any(|t| t == name) {
        told.push(name.to_string());
        drop(told);
        if ask(&Request::Lacking {}, name.as_bytes()).is_err() {
            tell(&format!("warpsim: {name} is not supported"));
        }
    }
    status::NOT_SUPPORTED
}

/// This process's connection; a child of a process that has one may not use it, as with CUDA's own libraries.
fn opened(connection: &mut Connection) -> Result<&mut UnixStream> {
    if matches!(connection, Connection::None) {
        *connection = match open() {
            Ok(stream) => Connection::Open(std::process::id(), stream),
            Err(why) => {
                tell(&format!("warpsim: {why}"));
                Connection::Gone
            }
        };
    }
    match connection {
        Connection::Open(process, stream) if *process == std::process::id() => Ok(stream),
        Connection::Open(..) => Err(status::NOT_INITIALIZED),
        _ => Err(status::NO_DEVICE),
    }
}

fn open() -> std::result::Result<UnixStream, String> {
    let path = std::env::var_os(SOCKET)
        .ok_or("this library is for programs that `warpsim exec` starts")?;
    let mut stream = UnixStream::connect(path).map_err(|e| format!("no simulator: {e}"))?;
    let hello = Request::Hello {
        version: VERSION,
        process: std::process::id(),
    };
    match exchange(&mut stream, &hello, &[]) {
        Ok(answer) if answer.code == status::SUCCESS => Ok(stream),
        Ok(_) => Err("the simulator is of another version".into()),
        Err(e) => Err(format!("the simulator does not answer: {e}")),
    }
}

/// Sends a request without a connection of the process.
pub fn send_once(request: &Request, payload: &[u8]) -> Option<Frame> {
    let path = std::env::var_os(SOCKET)?;
    let mut stream = UnixStream::connect(path).ok()?;
    exchange(&mut stream, request, payload).ok()
}

/// Sends a request and answers questions until its answer comes.
fn exchange(stream: &mut UnixStream, request: &Request, payload: &[u8]) -> std::io::Result<Frame> {
    frame::write(stream, request.code(), &request.words(), payload)?;
    loop {
        let got = frame::read(stream)?.ok_or(std::io::ErrorKind::UnexpectedEof)?;
        if got.code & QUESTION == 0 {
            return Ok(got);
        }
        let question = Question::read(got.code & !QUESTION, &got.words);
        let question = question.ok_or(std::io::ErrorKind::InvalidData)?;
        let (status, bytes) = questions::answer(&question, &got.payload);
        frame::write(stream, status, &[], &bytes)?;
    }
}
