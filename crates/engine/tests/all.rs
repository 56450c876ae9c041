//! All tests but those of interleavings, as one program.
#![cfg(not(feature = "loom"))]

mod crew;
mod toys;
