//! CUDA C to PTX with the user's clang and our header: no CUDA installation.

use crate::device::DeviceError;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const HEADER: &str = include_str!("../kernels/warpsim.cuh");

/// What our own kernels are compiled with too (`kernels/build.sh`).
const FLAGS: &[&str] = &[
    "-x",
    "cuda",
    "--cuda-device-only",
    "-S",
    "-O3",
    "--cuda-gpu-arch=sm_35",
    "-nocudainc",
    "-nocudalib",
    "-fno-exceptions",
    "-fdeclspec",
    "-Wno-unknown-cuda-version",
];

/// Compiles a `.cu` file that includes `warpsim.cuh`. The compiler is `clang`, or what the
/// environment variable `CLANG` names.
pub fn compile(source: &Path) -> Result<String, DeviceError> {
    let compiler = std::env::var_os("CLANG").unwrap_or_else(|| OsString::from("clang"));
    compile_with(&compiler, source)
}

fn compile_with(compiler: &OsString, source: &Path) -> Result<String, DeviceError> {
    let name = source.display();
    let failed = |e: std::io::Error| DeviceError::bad_input(format!("compiling {name}: {e}"));
    let scratch = tempfile::tempdir().map_err(failed)?;
    std::fs::write(scratch.path().join("warpsim.cuh"), HEADER).map_err(failed)?;
    let output = Command::new(compiler)
        .args(FLAGS)
        .arg("-I")
        .arg(scratch.path())
        .args(["-o", "-"])
        .arg(source)
        .output()
        .map_err(|e| {
            DeviceError::bad_input(format!(
                "cannot compile {name}: {} does not run ({e})\ninstall clang 14 or later (or name \
                 it in the environment variable CLANG), or compile the file yourself and let the \
                 launch file name the .ptx",
                compiler.display()
            ))
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(DeviceError::bad_input(format!(
            "{} cannot compile {name}:\n{}",
            compiler.display(),
            said.trim_end()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_compiler_is_a_clear_error() {
        let error = compile_with(&"no-such-clang".into(), Path::new("x.cu")).unwrap_err();
        assert!(error.text.contains("cannot compile x.cu"), "{error}");
        assert!(error.text.contains("install clang"), "{error}");
    }

    #[test]
    fn the_compilers_message_is_shown() {
        // `false` is a compiler that always fails.
        let error = compile_with(&"false".into(), Path::new("x.cu")).unwrap_err();
        assert!(
            error.text.starts_with("false cannot compile x.cu"),
            "{error}"
        );
    }
}
