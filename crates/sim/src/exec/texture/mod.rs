//! Texture fetches.

pub(crate) mod fetch;
mod filter;
mod weigh;
