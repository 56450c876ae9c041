//! Floating-point arithmetic.

pub(crate) mod float16;
pub(crate) mod float32;
pub(crate) mod float64;
pub(crate) mod pairs;
pub(crate) mod rounding;
pub(crate) mod softfloat;
pub(crate) mod transcendental;
