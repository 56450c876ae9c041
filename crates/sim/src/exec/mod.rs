//! What instructions do: functional, warp-wide, no notion of time.

pub mod state;
