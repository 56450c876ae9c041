//! clang, which compiles CUDA C without a CUDA installation when it is given our headers.

use super::{CudaCompiler, headers};
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
    super::run(program, arguments, source, &output, |said| {
        hint(said, nvidias_is_here())
    })
}

/// What helps, for the mistakes that are not the kernel's.
fn hint(said: &str, nvidias: Option<&str>) -> Option<String> {
    let everything = match nvidias {
        Some(name) => format!("{name}, which is installed, has it: --cuda-compiler {name}"),
        None => format!("NVRTC has it (`{NVRTC}`, then --cuda-compiler nvrtc), and so has nvcc"),
    };
    let quoted = |before: &str| {
        let rest = said.split_once(before)?.1;
        rest.split_once('\'').map(|(name, _)| name.to_string())
    };
    if let Some(name) = quoted("fatal error: '").filter(|name| cudas(name)) {
        return Some(format!(
            "`{name}` is CUDA's, and warpsim's headers for clang lack it: {everything}"
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
             {everything}"
        ));
    }
    None
}

/// NVRTC with the headers that it comes without.
const NVRTC: &str = "pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12 \
     nvidia-cuda-nvcc-cu12";

/// A compiler of NVIDIA's that is installed beside the clang that was asked for.
fn nvidias_is_here() -> Option<&'static str> {
    let names = ["nvcc", "nvrtc"];
    names
        .into_iter()
        .find(|name| CudaCompiler::choose(Some(name.as_ref())).is_ok())
}

/// Whether a header is one of those that come with CUDA.
pub(super) fn cudas(name: &str) -> bool {
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
        let hint_of = |said: &str| hint(said, None).unwrap_or_default();
        for name in ["thrust/sort.h", "cub/cub.cuh", "cuda/std/array"] {
            let missing = hint_of(&format!("x.cu:1:10: fatal error: '{name}' file not found"));
            assert!(
                missing.contains(&format!("`{name}`")) && missing.contains("cccl"),
                "{missing}"
            );
        }
        for name in ["mma.h", "cuda_bf16.h"] {
            let said = format!("x.cu:1:10: fatal error: '{name}' file not found");
            assert!(hint_of(&said).contains("--cuda-compiler nvrtc"));
            // What is installed need not be.
            let here = hint(&said, Some("nvcc")).unwrap_or_default();
            assert!(
                here.ends_with("nvcc, which is installed, has it: --cuda-compiler nvcc"),
                "{here}"
            );
            assert!(!here.contains("pip"), "{here}");
        }
        assert!(hint_of("x.cu:1:10: fatal error: 'own.h' file not found").contains("-IDIR"));
        let unknown = hint_of("x.cu:3:5: error: use of undeclared identifier '__vadd4'");
        assert!(unknown.contains("`__vadd4`") && unknown.contains("nvrtc"));
        assert_eq!(hint("x.cu:3:5: error: expected ';'", None), None);
    }
}
