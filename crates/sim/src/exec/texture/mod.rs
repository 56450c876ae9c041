//! Texture fetches.

pub(crate) mod fetch;
mod filter;
pub(crate) mod surface;
mod weigh;
