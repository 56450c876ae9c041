//! Errors with the exit code they end the program with.

use crate::summary::COLOURS;
use std::io::{self, IsTerminal, Write};
use warpsim_present::{SourceError, visible, visible_but};
use warpsim_workloads::{Category, DeviceError};

/// The result is wrong.
pub const WRONG_RESULT: u8 = 1;
/// The input makes no sense.
pub const BAD_INPUT: u8 = 2;
/// The simulated program failed.
pub const PROGRAM_FAILED: u8 = 3;
/// A file has kernels that cannot be run.
pub const REFUSED_KERNELS: u8 = 4;

/// Why the program ends.
#[derive(Debug)]
pub struct Failure {
    /// Exit code.
    pub code: u8,
    /// Everything there is to say.
    pub text: String,
}

impl Failure {
    /// An input that makes no sense.
    pub fn bad_input(text: impl Into<String>) -> Failure {
        Failure {
            code: BAD_INPUT,
            text: text.into(),
        }
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Failure {
        Failure {
            code: match error.category {
                Category::BadInput => BAD_INPUT,
                Category::ProgramFailed => PROGRAM_FAILED,
            },
            text: error.text,
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Failure {
        Failure::bad_input(error.to_string())
    }
}

/// Prints a text for people to standard output. What names and texts of others hold that a terminal
/// would obey is shown; colours are ours.
pub fn print(text: &str) -> Result<(), Failure> {
    write_out(&visible_but(text, &COLOURS))
}

/// Prints data to standard output, as it is: programs read it. Where people do, on a terminal, it is as
/// [`print`] has it.
pub fn print_data(data: &str) -> Result<(), Failure> {
    match io::stdout().is_terminal() {
        true => print(data),
        false => write_out(data),
    }
}

/// A reader that has gone away (`| head`) is no error.
fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of writing to standard output.
pub fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::bad_input(format!(
            "cannot write to standard output: {e}"
        ))),
        _ => Ok(()),
    }
}

/// Prints to standard error, names and texts of others as [`print`] does. Where the reader has gone
/// (`2>&1 | head`) the text is lost, and the program goes on: what it does and its exit code do not depend on
/// who listens.
pub fn say(text: &str) {
    let _ = io::stderr().lock().write_all(visible(text).as_bytes());
}

/// A line, formatted as by `println!`, to [`say`].
macro_rules! tell {
    ($($part:tt)*) => {
        $crate::console::failure::say(&format!("{}\n", format_args!($($part)*)))
    };
}
pub(crate) use tell;
