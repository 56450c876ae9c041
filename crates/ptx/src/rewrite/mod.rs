//! Rewrites of PTX: syntax tree to syntax tree, printed as PTX that other tools accept.

pub mod vtw;
