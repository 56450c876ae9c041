//! Reading what people write and showing them what they asked for.
//!
//! Texts with the places of their parts: [`Source`], [`SourceError`], TOML as a tree of
//! [`Node`]s. Errors that show a place ([`Excerpt`]) and name what was probably meant
//! ([`nearest`], [`misspelt`], [`listed`]). Names of C++ functions ([`mangled`]). Pictures ([`svg`]) and their colours ([`palette`]). Knows nothing of
//! GPUs.

mod document;
mod excerpt;
pub mod mangled;
pub mod memory;
pub mod palette;
mod source;
mod spelling;
pub mod svg;
mod wrap;

pub use document::{Entry, Node, Value};
pub use excerpt::Excerpt;
pub use source::{Source, SourceError};
pub use spelling::{listed, misspelt, nearest};
pub use wrap::wrapped;
