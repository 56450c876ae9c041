//! Errors with the exit code they end the program with.

use std::io::{self, Write};
use warpsim_present::SourceError;
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

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::bad_input(format!(
            "cannot write to standard output: {e}"
        ))),
        _ => Ok(()),
    }
}

/// Prints to standard error. Whoever does not read it (`2>&1 | head`) misses it, and the program
/// goes on: what it does and its exit code do not depend on who listens.
pub fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A line, formatted as by `println!`, to [`say`].
macro_rules! tell {
    ($($part:tt)*) => {
        $crate::console::failure::say(&format!("{}\n", format_args!($($part)*)))
    };
}
pub(crate) use tell;
