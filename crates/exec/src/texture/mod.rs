//! Texture fetches.

mod bound;
pub(crate) mod fetch;
mod filter;
mod formatted;
mod plain;
pub(crate) mod surface;
mod weigh;
