//! NVIDIA's compiler, where a toolkit is installed.

use crate::host::device::DeviceError;
use std::ffi::OsString;
use std::path::Path;

/// Compiles a file.
pub(super) fn compile(
    program: &Path,
    source: &Path,
    flags: &[String],
) -> Result<String, DeviceError> {
    let scratch = super::scratch(source)?;
    let output = scratch.path().join("output.ptx");
    let ours = ["-ptx", "-lineinfo", "-std=c++17"];
    let mut arguments: Vec<OsString> = ours.map(Into::into).into();
    // `compute_75` is what toolkits from 10 to 13 have in common.
    if !flags.iter().any(|flag| super::names_architecture(flag)) {
        arguments.push("-arch=compute_75".into());
    }
    arguments.extend(flags.iter().map(Into::into));
    super::run(program, arguments, source, &output, hint)
}

/// What helps, for the mistakes that are not the kernel's.
fn hint(said: &str) -> Option<String> {
    let without = "NVRTC does without: --cuda-compiler nvrtc (`pip install nvidia-cuda-nvrtc`)";
    if said.contains("host compiler") || said.contains("gcc: No such file") {
        return Some(format!(
            "nvcc needs a C++ compiler that it knows, such as g++; {without}"
        ));
    }
    if said.contains("cicc: not found") || said.contains("crt/host_config.h") {
        return Some(format!(
            "this nvcc is not complete: `pip install nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime` \
             brings all of its parts; {without}"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn hints_are_about_what_nvcc_lacks() {
        let without_host = "gcc: No such file or directory\n\
            nvcc fatal   : Failed to preprocess host compiler properties.";
        assert!(hint(without_host).is_some_and(|h| h.contains("g++")));
        let without_parts = "sh: 1: nvidia/cu13/bin/../nvvm/bin/cicc: not found";
        assert!(hint(without_parts).is_some_and(|h| h.contains("nvidia-nvvm")));
        assert_eq!(hint("x.cu(2): error: expected a \";\""), None);
    }
}
