//! NVIDIA's compiler, where a toolkit is installed.

use crate::device::DeviceError;
use std::path::Path;
use std::process::Command;

/// Compiles a file.
pub(super) fn compile(
    program: &Path,
    source: &Path,
    flags: &[String],
) -> Result<String, DeviceError> {
    let scratch = super::scratch(source)?;
    let output = scratch.path().join("output.ptx");
    let mut command = Command::new(program);
    // `compute_75` is what toolkits from 10 to 13 have in common.
    command
        .args(["-ptx", "-lineinfo", "-std=c++17", "-arch=compute_75"])
        .args(flags)
        .arg("-o")
        .arg(&output)
        .arg(source);
    super::run(&mut command, source, &output, |_| None)
}
