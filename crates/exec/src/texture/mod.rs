//! Texture fetches.

mod bound;
pub(crate) mod fetch;
mod filter;
mod formatted;
mod linear;
mod plain;
pub(crate) mod surface;
mod weigh;

pub use linear::linear_texel;
