//! What the host code of many workloads does in the same way.

use crate::host::args::Arg;
use crate::host::compare::{Mismatch, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes, u32_bytes};
use crate::host::session::Session;

/// A single-precision scalar as an argument.
pub(super) fn float(value: f32) -> Arg {
    Arg::Scalar("f32", value.to_le_bytes().to_vec())
}

/// The arguments of a kernel that takes its buffers first and its scalars after them.
pub(super) fn arguments(pointers: &[u64], scalars: &[Arg]) -> Vec<Arg> {
    let pointers = pointers.iter().map(|p| Arg::Pointer(*p));
    pointers.chain(scalars.iter().cloned()).collect()
}

/// The comparison of a buffer of floats with what it should hold.
pub(super) fn check_f32(
    session: &Session<'_>,
    what: &str,
    address: u64,
    expected: &[f32],
    tolerance: &Tolerance,
) -> Result<Result<u64, Mismatch>, DeviceError> {
    let expected = f32_bytes(expected);
    let got = session.device.read(address, expected.len() as u64)?;
    Ok(compare(what, Element::F32, &expected, &got, tolerance))
}

/// The comparison of a buffer of words with what it should hold, exactly.
pub(super) fn check_u32(
    session: &Session<'_>,
    what: &str,
    address: u64,
    expected: &[u32],
) -> Result<Result<u64, Mismatch>, DeviceError> {
    let expected = u32_bytes(expected);
    let got = session.device.read(address, expected.len() as u64)?;
    Ok(compare(
        what,
        Element::U32,
        &expected,
        &got,
        &Tolerance::EXACT,
    ))
}

/// A buffer of floats as the GPU left it.
pub(super) fn read_f32(
    session: &Session<'_>,
    address: u64,
    count: usize,
) -> Result<Vec<f32>, DeviceError> {
    let bytes = session.device.read(address, 4 * count as u64)?;
    let (words, _) = bytes.as_chunks();
    Ok(words.iter().map(|w| f32::from_le_bytes(*w)).collect())
}
