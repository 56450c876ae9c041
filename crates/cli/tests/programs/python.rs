//! `examples/programs/python`: Triton, Numba and CuPy, which call the driver. Each is skipped with a message where its package is missing
//! from the Python that `WARPSIM_CUDA_PYTHON` names, else from `python3`.

use crate::common::root;
use std::ffi::OsString;
use std::process::Command;

fn python() -> OsString {
    std::env::var_os("WARPSIM_CUDA_PYTHON").unwrap_or_else(|| "python3".into())
}

/// Whether Python has all of these packages; says so where it has not.
fn has(packages: &[&str]) -> bool {
    let imported = Command::new(python())
        .args(["-c", &format!("import {}", packages.join(", "))])
        .output();
    let found = imported.is_ok_and(|output| output.status.success());
    if !found {
        println!(
            "skipped: this Python has not all of {}",
            packages.join(", ")
        );
    }
    found
}

/// Runs a program of the folder and holds what it prints against what is expected.
fn check(name: &str) {
    let folder = root().join("examples/programs/python");
    let output = Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(["exec", "--quiet", "--"])
        .arg(python())
        .arg(folder.join(format!("{name}.py")))
        .env("CUPY_COMPILE_WITH_PTX", "1")
        .output()
        .expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let expected = std::fs::read_to_string(folder.join(format!("{name}.expected.txt")));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, expected.expect("what it prints"), "{said}");
}

#[test]
#[ignore = "long: .ci/run"]
fn triton() {
    if has(&["triton", "numpy"]) {
        check("triton_kernels");
    }
}

#[test]
#[ignore = "long: .ci/run"]
fn numba() {
    if has(&["numba.cuda", "numpy"]) {
        check("numba_kernels");
    }
}

#[test]
#[ignore = "long: .ci/run"]
fn cupy() {
    if has(&["cupy"]) {
        check("cupy_kernels");
    }
}
