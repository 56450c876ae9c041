//! Files that are none, texts that command terminals, programs in the current folder: none of them makes
//! warpsim wait, obey or run something.
#![cfg(unix)]

use crate::common;

use common::{Scratch, data, fails, root, succeeds};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

fn write(scratch: &Scratch, name: &str, text: &str) -> String {
    let file = scratch.path(name);
    std::fs::write(&file, text).expect("written");
    file
}

/// A launch file of `thread_number` with further lines at its top and at its end.
fn launch(scratch: &Scratch, name: &str, top: &str, end: &str) -> String {
    std::fs::copy(data("thread-number.ptx"), scratch.path("k.ptx")).expect("copied");
    let text = format!(
        "schema = 1\n{top}\n[buffers.a]\ntype = \"u32\"\ncount = 32\n{end}\n\
         [[steps]]\nlaunch = \"thread_number\"\ngrid = 1\nblock = 32\nargs = [\"a\"]\n"
    );
    write(scratch, name, &text)
}

#[test]
fn devices_pipes_and_folders_are_no_input() {
    let scratch = Scratch::new("special");
    let pipe = scratch.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    for (file, what) in [
        ("/dev/zero", "a pipe or a device"),
        (pipe.as_str(), "a pipe or a device"),
        ("/", "a folder"),
    ] {
        let ptx = launch(&scratch, "ptx.toml", &format!("ptx = \"{file}\""), "");
        let input = format!("file = \"{file}\"");
        let input = launch(&scratch, "in.toml", "ptx = \"k.ptx\"", &input);
        let machine = format!("schema = 1\nextends = \"{file}\"\n");
        let machine = write(&scratch, "machine.toml", &machine);
        for arguments in [
            &["run", &ptx][..],
            &["run", &input],
            &["inspect", file],
            &["import", file],
            &["transform", "vtw", file],
            &["compare", file, file],
            &["sweep", file, "--out", &scratch.path("out")],
        ] {
            let text = fails(2, arguments);
            assert!(text.contains(what) || file == "/", "{arguments:?}: {text}");
        }
        let text = fails(
            2,
            &["run", "vecadd", "--size", "tiny", "--machine", &machine],
        );
        let presets = text.contains("no preset is called");
        assert!(presets || text.contains(what), "{text}");
    }
    let text = fails(2, &["run", "/dev/zero"]);
    says(&text, &["cannot read /dev/zero", "a device"]);
}

#[test]
fn a_machine_file_that_extends_a_device_is_refused() {
    let scratch = Scratch::new("extends");
    std::os::unix::fs::symlink("/dev/zero", scratch.path("zero.toml")).expect("linked");
    let machine = write(&scratch, "m.toml", "schema = 1\nextends = \"zero.toml\"\n");
    let text = fails(
        2,
        &["run", "vecadd", "--size", "tiny", "--machine", &machine],
    );
    says(&text, &["m.toml:2:11", "a device"]);
}

#[test]
fn machine_code_is_called_by_its_name() {
    let scratch = Scratch::new("cubin");
    let bytes = b"\x7fELF\x02\x01\x01\x33\x07\0\0\0";
    // By its name a cubin is known to be one, and shown.
    for name in ["k.cubin", "k.ptx"] {
        std::fs::write(scratch.path(name), bytes).expect("written");
    }
    let text = fails(2, &["inspect", &scratch.path("k.ptx")]);
    says(
        &text,
        &["machine code (a cubin", "nvcc -ptx", "cuobjdump -ptx"],
    );
    let file = launch(&scratch, "l.toml", "ptx = \"k.cubin\"", "");
    says(
        &fails(2, &["run", &file]),
        &["machine code (a cubin", "l.toml:2:7"],
    );
}

#[test]
fn repetitions_have_an_end() {
    let scratch = Scratch::new("repeated");
    let many = "repeat = 4294967295\nsteps = [{ repeat = 4294967295, steps = [{ fill = \"a\", value = 0 }] }]";
    let file = launch(
        &scratch,
        "l.toml",
        "ptx = \"k.ptx\"",
        &format!("[[steps]]\n{many}"),
    );
    says(
        &fails(2, &["run", &file]),
        &["l.toml:6:1", "more than 10000000"],
    );
    // A loop that a kernel would have to end has a limit of passes, and its steps one of their own.
    let looped = "[[steps]]\nfill = \"a\"\nvalue = 1\n[[steps]]\nwhile = \"a\"\nlimit = 99999999999\n\
        steps = [{ repeat = 1000000, steps = [] }]";
    let file = launch(&scratch, "w.toml", "ptx = \"k.ptx\"", looped);
    says(&fails(3, &["run", &file]), &["do more than 10000000 steps"]);
}

#[test]
fn a_full_disk_leaves_nothing_of_an_export() {
    let scratch = Scratch::new("disk-full");
    let folder = scratch.path("deep/exported");
    // Files may have a few kilobytes, the PTX has more.
    let limited = "trap '' XFSZ; ulimit -f 4; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_warpsim")])
        .args(["export", "matmul", "--size", "tiny", "-o", &folder])
        .output()
        .expect("the command runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("cannot write"), "{errors}");
    assert_eq!(scratch.names(), [] as [&str; 0]);
}

#[test]
fn help_that_cannot_be_shown_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    for arguments in [
        &["help"][..],
        &["--version"],
        &["run", "--help"],
        &["list", "stats"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = Command::new(env!("CARGO_BIN_EXE_warpsim"))
            .args(arguments)
            .stdout(full.expect("opened"))
            .output()
            .expect("the command runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        says(&errors, &["cannot write to standard output"]);
    }
}

#[test]
fn texts_of_others_do_not_command_the_terminal() {
    let scratch = Scratch::new("escapes");
    let file = launch(&scratch, "\u{1b}[31mred.toml", "ptx = \"k.ptx\"", "");
    let text = succeeds(&["run", &file]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    says(&text, &["\\u{1b}[31mred.toml"]);
    let nonsense = "\"\\u001b[2Jkey\\u202e\" = 1";
    let file = launch(&scratch, "key.toml", nonsense, "");
    let text = fails(2, &["run", &file]);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    says(&text, &["\\u{1b}[2Jkey\\u{202e}"]);
    // The line itself is shown, too.
    let file = launch(&scratch, "line.toml", "ptx = 1 # \u{202e}", "");
    let text = fails(2, &["run", &file]);
    assert!(!text.contains('\u{202e}'), "{text:?}");
    says(&text, &["ptx = 1 # \\u{202e}"]);
}

/// The command in `folder`, with these variables and arguments.
fn within(folder: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("WARPSIM_PTXAS")
        .env_remove("WARPSIM_CUDA_COMPILER")
        .env_remove("CLANG")
        .envs(variables.iter().copied())
        .output()
        .expect("the command runs")
}

#[test]
fn nothing_comes_from_the_current_folder_by_an_empty_variable() {
    let scratch = Scratch::new("planted");
    let folder = scratch.path(".");
    std::fs::create_dir_all(scratch.path("bin")).expect("made");
    let planted = "#!/bin/sh\necho ran >> \"$PLANTED\"\nexit 1\n";
    let names = [
        "bin/nvcc",
        "bin/ptxas",
        "nvcc",
        "ptxas",
        "clang",
        "python3",
        "cicc",
    ];
    for name in names {
        let file = write(&scratch, name, planted);
        let all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(file, all).expect("may be run");
    }
    for library in ["libnvrtc.so", "libnvrtc.so.12", "libcuda.so.1"] {
        write(&scratch, library, "no library");
    }
    write(
        &scratch,
        "k.cu",
        "__global__ void k(float *a) { *a = 1; }\n",
    );
    let ptx = std::fs::copy(data("thread-number.ptx"), scratch.path("k.ptx"));
    ptx.expect("copied");
    let ran = scratch.path("ran.txt");
    for variables in [
        [
            ("CUDA_HOME", ""),
            ("CUDA_PATH", ""),
            ("PATH", ""),
            ("LD_LIBRARY_PATH", ""),
        ],
        [
            ("CUDA_HOME", ""),
            ("CUDA_PATH", ""),
            ("PATH", ":/nowhere:"),
            ("LD_LIBRARY_PATH", "::"),
        ],
    ] {
        for arguments in [
            &["inspect", "k.cu"][..],
            &["inspect", "k.cu", "--cuda-compiler", "nvcc"],
            &["inspect", "k.cu", "--cuda-compiler", "nvrtc"],
            &["inspect", "k.cu", "--cuda-compiler", "clang"],
            &["inspect", "k.cu", "--cuda-compiler", "libnvrtc.so"],
            &["inspect", "k.ptx", "--registers", "ptxas"],
            &["verify-on-gpu"],
        ] {
            let variables = [&variables[..], &[("PLANTED", &ran)]].concat();
            let output = within(&folder, &variables, arguments);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                !Path::new(&ran).exists(),
                "{variables:?} {arguments:?}: {errors}"
            );
            for taken in ["file too short", "invalid ELF"] {
                assert!(
                    !errors.contains(taken),
                    "{variables:?} {arguments:?}: {errors}"
                );
            }
        }
    }
}

#[test]
fn what_is_run_is_said_when_asked() {
    let scratch = Scratch::new("verbose");
    let ptxas = write(&scratch, "ptxas", "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(&ptxas, std::fs::Permissions::from_mode(0o755)).expect("may be run");
    let arguments = [
        "-v",
        "inspect",
        &data("thread-number.ptx"),
        "--registers",
        "ptxas",
    ];
    let output = Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(arguments)
        .env("WARPSIM_PTXAS", &ptxas)
        .current_dir(root())
        .output()
        .expect("the command runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    says(&errors, &[&format!("runs {ptxas} --version")]);
}
