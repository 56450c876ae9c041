//! What the library inside of a program and the simulator say to each other: requests, and, before the answer, questions.
//!
//! A message is a [frame](frame). What a request's fields are is said once, in the table of [`request`], from which both ends
//! are made.

pub mod facts;
pub mod frame;
pub mod place;
pub mod request;
pub mod status;
#[cfg(test)]
mod tests;
mod words;

pub use frame::{Frame, MOST_PAYLOAD};
pub use place::{Place, PlaceKind};
pub use request::{Question, Request};
pub use words::Words;

/// Addresses that the simulated GPU hands out: nothing else of a program lies there. Programs that are loaded at fixed addresses
/// and their heaps lie below, all others (0x55..., 0x7f..., 0xaa..., 0xff...) above.
pub const WINDOW: std::ops::Range<u64> = 0x7_0000_0000..0x2000_0000_0000;

/// What both ends must be made of: the program's end says it first.
pub const VERSION: u32 = 1;

/// The environment variable that names the simulator's socket.
pub const SOCKET: &str = "WARPSIM_EXEC_SOCKET";

/// The environment variable that names the folder of the libraries.
pub const FOLDER: &str = "WARPSIM_EXEC_FOLDER";
