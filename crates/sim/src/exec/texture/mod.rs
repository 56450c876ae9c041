//! Texture fetches.

pub(crate) mod fetch;
mod filter;
mod formatted;
pub(crate) mod surface;
mod weigh;
