//! Reading what people write and showing them what they asked for.
//!
//! Texts with the places of their parts: [`Source`], [`SourceError`], TOML as a tree of
//! [`Node`]s. Errors that show a place ([`Excerpt`]) and name what was probably meant
//! ([`nearest`], [`misspelt`], [`listed`]). Names of C++ functions ([`mangled`]). Files that they name
//! ([`reading`]), and texts of others on a terminal ([`visible()`]). Pictures ([`svg`]) and their colours
//! ([`palette`]). Knows nothing of GPUs.

mod document;
mod excerpt;
pub mod mangled;
pub mod memory;
pub mod palette;
pub mod reading;
mod source;
mod spelling;
pub mod svg;
mod visible;
mod wrap;

pub use document::{Entry, Node, Value};
pub use excerpt::Excerpt;
pub use source::{Source, SourceError};
pub use spelling::{likeness, listed, misspelt, nearest};
pub use visible::{visible, visible_but};
pub use wrap::{folded, wrapped};
