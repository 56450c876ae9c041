//! Reading files that people write: TOML with the place of every value, and errors that show
//! that place. Machine files and launch files share it.

pub mod document;
pub mod source;

pub use document::{Entry, Node, Value};
pub use source::{Source, SourceError, nearest};
