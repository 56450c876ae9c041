//! What caches are built from, L2 slices and the SM's own alike: [`tags`] say which lines are
//! there, [`mshr`] which are on their way and which requests wait for them.

pub mod mshr;
pub mod tables;
pub mod tags;
