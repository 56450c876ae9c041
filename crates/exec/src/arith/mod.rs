//! Integer arithmetic, bits, comparisons, conversions and moves.

pub(crate) mod bits;
pub(crate) mod carry;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod integer;
pub(crate) mod mov;
pub(crate) mod video;
