//! What several tests use: a device without timing, random programs.

#![allow(dead_code, reason = "crates above use the rest")]

pub mod bare;
pub mod generate;
