//! clang, which compiles CUDA C without a CUDA installation when it is given our headers.

use super::headers;
use crate::host::device::DeviceError;
use std::path::Path;
use std::process::Command;

/// Architecture 7.0 has every instruction that the headers use; what it would be on another is decided
/// by the machine that is simulated.
const FLAGS: &[&str] = &[
    "-x",
    "cuda",
    "--cuda-device-only",
    "-S",
    "-O3",
    "-std=c++17",
    "--cuda-gpu-arch=sm_70",
    "-Xclang",
    "-target-feature",
    "-Xclang",
    "+ptx63",
    "-nocudainc",
    "-nocudalib",
    "-fno-exceptions",
    "-fdeclspec",
    "-gline-directives-only",
    "-Wno-unknown-cuda-version",
];

/// Compiles a file.
pub(super) fn compile(
    program: &Path,
    source: &Path,
    flags: &[String],
) -> Result<String, DeviceError> {
    let scratch = super::scratch(source)?;
    headers::write(scratch.path())
        .map_err(|e| DeviceError::bad_input(format!("compiling {}: {e}", source.display())))?;
    let output = scratch.path().join("output.ptx");
    let mut command = Command::new(program);
    command
        .args(FLAGS)
        .arg("-isystem")
        .arg(scratch.path())
        .args(["-include", "warpsim_cuda.h"])
        .args(flags)
        .arg("-o")
        .arg(&output)
        .arg(source);
    super::run(&mut command, source, &output, hint)
}

/// What helps, for the mistakes that are not the kernel's.
fn hint(said: &str) -> Option<String> {
    let quoted = |before: &str| {
        let rest = said.split_once(before)?.1;
        rest.split_once('\'').map(|(name, _)| name.to_string())
    };
    if let Some(name) = quoted("fatal error: '") {
        return Some(format!(
            "`{name}` is neither beside the file nor among the headers that warpsim brings; \
             `--cuda-flag -IDIR` names a folder to look in, and host code needs no header here if it is left \
             out with `#ifndef __CUDA_ARCH__`"
        ));
    }
    if let Some(name) = quoted("use of undeclared identifier '") {
        return Some(format!(
            "if `{name}` is CUDA's, warpsim's headers for clang lack it: docs/cuda.md lists what they have; \
             NVRTC (`pip install nvidia-cuda-nvrtc-cu12`, then --cuda-compiler nvrtc) has everything"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn hints_name_what_is_missing() {
        let missing = hint("x.cu:1:10: fatal error: 'thrust/sort.h' file not found");
        assert!(missing.is_some_and(|h| h.contains("`thrust/sort.h`")));
        let unknown = hint("x.cu:3:5: error: use of undeclared identifier '__vadd4'");
        assert!(unknown.is_some_and(|h| h.contains("`__vadd4`") && h.contains("nvrtc")));
        assert_eq!(hint("x.cu:3:5: error: expected ';'"), None);
    }
}
