//! clang, which compiles CUDA C without a CUDA installation when it is given our headers.

use super::headers;
use crate::host::device::DeviceError;
use std::ffi::OsString;
use std::path::Path;

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
    let mut arguments: Vec<OsString> = FLAGS.iter().map(Into::into).collect();
    arguments.extend(["-isystem".into(), scratch.path().into()]);
    arguments.extend(["-include", "warpsim_cuda.h"].map(Into::into));
    arguments.extend(flags.iter().map(Into::into));
    super::run(program, arguments, source, &output, hint)
}

/// What helps, for the mistakes that are not the kernel's.
fn hint(said: &str) -> Option<String> {
    let quoted = |before: &str| {
        let rest = said.split_once(before)?.1;
        rest.split_once('\'').map(|(name, _)| name.to_string())
    };
    if let Some(name) = quoted("fatal error: '").filter(|name| cudas(name)) {
        return Some(format!(
            "`{name}` is CUDA's, and warpsim's headers for clang lack it: NVRTC has it with \
             `pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12`, then \
             --cuda-compiler nvrtc; so has nvcc"
        ));
    }
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

/// Whether a header is one of those that come with CUDA.
fn cudas(name: &str) -> bool {
    let folder = name.split_once('/').map_or("", |(folder, _)| folder);
    let file = [
        "mma.h",
        "cuda_bf16.h",
        "cuda_fp8.h",
        "cuda_fp4.h",
        "cuda_fp6.h",
        "cuda_pipeline.h",
        "curand_kernel.h",
    ];
    file.contains(&name) || ["cub", "thrust", "cuda", "cooperative_groups", "nv"].contains(&folder)
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn hints_name_what_is_missing() {
        let missing = hint("x.cu:1:10: fatal error: 'thrust/sort.h' file not found");
        assert!(missing.is_some_and(|h| h.contains("`thrust/sort.h`") && h.contains("cccl")));
        let matrix = hint("x.cu:1:10: fatal error: 'mma.h' file not found");
        assert!(matrix.is_some_and(|h| h.contains("--cuda-compiler nvrtc")));
        let own = hint("x.cu:1:10: fatal error: 'own.h' file not found");
        assert!(own.is_some_and(|h| h.contains("-IDIR")));
        let unknown = hint("x.cu:3:5: error: use of undeclared identifier '__vadd4'");
        assert!(unknown.is_some_and(|h| h.contains("`__vadd4`") && h.contains("nvrtc")));
        assert_eq!(hint("x.cu:3:5: error: expected ';'"), None);
    }
}
