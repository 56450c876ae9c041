//! The API by itself.
