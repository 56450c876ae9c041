//! Everything that can go wrong, as a user meets it: a clear message, the right exit code, no
//! half-written file.

use crate::common;

use common::{Scratch, data, fails, succeeds, warpsim};
use std::io::Read;
use std::process::{Command, Stdio};

/// Asserts that `text` contains each of `parts`.
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn a_program_that_fails_leaves_no_files() {
    let scratch = Scratch::new("failing");
    let (stats, trace) = (scratch.path("s.json"), scratch.path("t.json"));
    let file = data("out-of-bounds.toml");
    let text = fails(3, &["run", &file, "--stats", &stats, "--trace", &trace]);
    says(
        &text,
        &[
            "out-of-bounds.toml:9: past_the_end",
            "invalid global write of 4 bytes",
            "past the end of \"out\"",
            "block (0,0,0), thread (7,0,0)",
            "PTX line 17",
        ],
    );
    assert_eq!(scratch.names(), [] as [&str; 0]);
    let text = fails(3, &["run", &file, "--functional"]);
    says(&text, &["thread (7,0,0)", "PTX line 17"]);
    let output = std::path::PathBuf::from(data("never-written.npy"));
    assert!(!output.exists());
}

#[test]
fn a_deadlock_names_every_warp_and_what_it_waits_for() {
    let file = data("deadlock.toml");
    for how in [&["run", &file][..], &["run", &file, "--no-skip"]] {
        let text = fails(3, how);
        says(
            &text,
            &[
                "deadlock in kernel two_barriers",
                "warp 0: pc 5, PTX line 16, waits for barrier 1: 32 of 64 threads",
                "warp 1: pc 3, PTX line 13, waits for barrier 2: 32 of 64 threads",
            ],
        );
    }
    let text = fails(3, &["run", &file, "--functional"]);
    says(&text, &["deadlock", "PTX line 16", "PTX line 13"]);
}

#[test]
fn a_deadlock_under_compaction_names_threads_that_are_in_no_warp() {
    // Both halves of the block meet at a barrier for all 64 threads, but in different places: the
    // second half is on the block's stack, behind the first.
    let scratch = Scratch::new("compacted");
    let ptx = std::fs::read_to_string(data("deadlock.ptx")).expect("there");
    let ptx = ptx.replace("bar.sync 1;", "bar.sync 1, 64;");
    let ptx = ptx.replace("bar.sync 2;", "bar.sync 2, 64;");
    std::fs::write(scratch.path("deadlock.ptx"), ptx).expect("written");
    let file = scratch.path("deadlock.toml");
    std::fs::copy(data("deadlock.toml"), &file).expect("copied");
    for model in ["pdom", "pdom-lcp", "tbc", "tbc-lcp", "dwf", "dwf-wb"] {
        let text = fails(3, &["run", &file, "--divergence", model]);
        let waits = ["warp 0: pc 5, PTX line 16, waits for barrier 1: 32 of 64"];
        says(&text, &waits);
        let second = match model {
            "tbc" | "tbc-lcp" => "waits for threads of its block on another path, which go first",
            _ => "waits for barrier 2: 32 of 64",
        };
        says(&text, &["warp 1: pc 3, PTX line 13, ", second]);
    }
}

#[test]
fn a_kernel_that_does_not_end_is_given_up_with_its_hottest_loop() {
    let file = data("endless.toml");
    let text = fails(3, &["run", &file, "--max-cycles", "20000"]);
    says(
        &text,
        &[
            "did not end within 20000 cycles",
            "warp 0: hottest loop is PTX lines 18 to 20",
            "warp 1: hottest loop is PTX lines 18 to 20",
        ],
    );
    let arguments = ["run", &file, "--max-cycles", "20000", "--functional"];
    says(&fails(3, &arguments), &["20000 warp instructions"]);
}

#[test]
fn wrong_input_is_shown_where_it_stands() {
    let text = fails(2, &["run", &data("mistakes.toml")]);
    says(&text, &["mistakes.ptx:11:5", "did you mean `add`?"]);
    assert_eq!(text.matches("error:").count(), 1, "{text}");
    let text = fails(2, &["run", &data("arguments.toml")]);
    says(
        &text,
        &["arguments.toml:12:8", "takes 1 arguments and got 2"],
    );
    let text = fails(2, &["inspect", &data("mistakes.ptx")]);
    says(&text, &["unknown instruction `ad`"]);
}

#[test]
fn a_wrong_result_is_exit_code_1_even_when_quiet() {
    let output = warpsim(&["run", &data("wrong.toml"), "-q"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).expect("text");
    says(
        &text,
        &["1 of 4 values differ, first at [3]: expected 4, got 3"],
    );
    let output = warpsim(&["run", &data("wrong.toml")]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("text");
    says(&text, &["result            WRONG"]);
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_runs() {
    let scratch = Scratch::new("options");
    let file = scratch.path("t.json");
    for (arguments, expected) in [
        (&["--scheduler", "gt"][..], "did you mean `gto`?"),
        (&["--fetch", "x"], "no fetch policy is called `x`"),
        (&["--divergence", "x"], "no divergence model is called `x`"),
        (&["--machine", "nope"], "no preset is called `nope`"),
        (&["--machine", "nope.toml"], "nope.toml"),
        (&["--set", "x"], "KEY=VALUE"),
        (&["--set", "sm.schedulers=abc"], "takes an integer"),
        (&["--trace-sms", "1"], "--trace"),
        (
            &["--trace", &file, "--trace-sms", "99"],
            "there is no SM 99",
        ),
        (&["--trace", &file, "--trace-cycles", "9..3"], "no cycles"),
        (&["--trace", &file, "--functional"], "cannot be used with"),
        (
            &["--trace", "no/such/t.json"],
            "cannot write no/such/t.json",
        ),
    ] {
        let all = [&["run", "vecadd", "--size", "tiny"], arguments].concat();
        says(&fails(2, &all), &[expected]);
    }
    assert_eq!(scratch.names(), [] as [&str; 0]);
}

#[test]
fn mechanisms_that_do_not_go_together_are_refused_with_the_reason() {
    let with = |options: [&str; 4]| {
        let arguments = [&["run", "vecadd", "--size", "tiny"][..], &options].concat();
        fails(2, &arguments)
    };
    let text = with(["--scheduler", "majority", "--divergence", "pdom"]);
    says(
        &text,
        &["majority looks at a pool of formed warps", "dwf or dwf-wb"],
    );
    let text = with(["--scheduler", "saws", "--divergence", "dwf"]);
    says(&text, &["mix threads of several blocks", "saws"]);
}

#[test]
fn a_kernel_that_cannot_be_run_says_why() {
    let file = data("rejected.ptx");
    let inspected = Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(["inspect", &file])
        .output()
        .expect("the command runs");
    // A code of its own: neither a mistake nor all well.
    assert_eq!(inspected.status.code(), Some(4));
    let shown = String::from_utf8_lossy(&inspected.stdout).into_owned();
    says(
        &shown,
        &[
            "usable(",
            "not_usable: cannot be run",
            "rejected.ptx:17",
            "rejected.ptx:18",
        ],
    );
    succeeds(&["inspect", &file, "--kernel", "usable"]);
    let text = fails(2, &["inspect", &file, "--kernel", "not_usable"]);
    says(&text, &["wgmma", "is not supported"]);
}

#[test]
fn what_another_file_defines_is_linked_or_missed_at_launch() {
    succeeds(&["run", &data("linked.toml")]);
    let text = fails(2, &["run", &data("unlinked.toml")]);
    says(&text, &["calls `scaled`", "no file defines"]);
    let shown = succeeds(&["inspect", &data("linked.ptx")]);
    says(&shown, &["linked("]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["list", "stats"][..], &["run", "vecadd", "--size", "tiny"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_warpsim"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        drop(child.stdout.take());
        let status = child.wait().expect("it ends");
        let mut errors = String::new();
        let mut pipe = child.stderr.take().expect("piped");
        pipe.read_to_string(&mut errors).expect("text");
        assert_eq!(status.code(), Some(0), "{arguments:?}: {errors}");
        assert_eq!(errors, "");
    }
}

/// Standard error that is closed before anything is written to it.
#[test]
fn a_reader_of_errors_that_goes_away_changes_no_exit_code() {
    let scratch = Scratch::new("closed");
    let bad = scratch.path("bad.toml");
    std::fs::write(&bad, "schema = 1\nnonsense = 2\n").expect("written");
    let deadlock = data("deadlock.toml");
    for (arguments, code) in [
        (&["run", &bad][..], 2),
        (&["run", &deadlock], 3),
        (&["run", "no-such-workload"], 2),
        (&["run", "vecadd", "--size", "tiny"], 0),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_warpsim"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        drop(child.stdout.take());
        drop(child.stderr.take());
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_so() {
    let file = data("endless.toml");
    let mut child = Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(["run", &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.expect("kill is there").success());
    let status = child.wait().expect("it ends");
    let mut errors = String::new();
    let mut pipe = child.stderr.take().expect("piped");
    pipe.read_to_string(&mut errors).expect("text");
    assert_eq!(status.code(), Some(130), "{errors}");
    says(&errors, &["interrupted: ", "nothing was written"]);
}

/// Runs the command with so much address space and no more; it ends with `code`.
#[cfg(target_os = "linux")]
fn fails_within(mib: u64, code: i32, arguments: &[&str]) -> String {
    let kib = (mib << 10).to_string();
    let limited = "ulimit -v $1; shift; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limited, "sh", &kib, env!("CARGO_BIN_EXE_warpsim")])
        .args(arguments)
        .output()
        .expect("the command runs");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    for word in ["panicked", "backtrace", "memory allocation of"] {
        assert!(!errors.contains(word), "{arguments:?}: {errors}");
    }
    errors
}

/// A launch file that does `steps` with a buffer of so many bytes.
#[cfg(target_os = "linux")]
fn with_a_buffer(scratch: &Scratch, bytes: u64, how: &str, steps: &str) -> String {
    let file = scratch.path("large.toml");
    std::fs::copy(data("thread-number.ptx"), scratch.path("k.ptx")).expect("copied");
    let text = format!(
        "schema = 1\nptx = \"k.ptx\"\n[buffers.a]\ntype = \"u32\"\ncount = {}\n{how}\n{steps}",
        bytes / 4
    );
    std::fs::write(&file, text).expect("written");
    file
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_host_has_no_memory_for_is_said() {
    // Tables of the caches as large as they may be: just below 2 GiB.
    let tables = ["--set", "l2.sets=65536", "--set", "l2.ways=32"];
    let arguments = [&["run", "vecadd", "--size", "tiny"][..], &tables].concat();
    let text = fails_within(1024, 2, &arguments);
    says(
        &text,
        &["the host has no ", "for the tables of the machine's caches"],
    );
    let scratch = Scratch::new("memory");
    let launch = "[[steps]]\nlaunch = \"thread_number\"\ngrid = 1\nblock = 32\nargs = [\"a\"]\n";
    for how in [&[][..], &["--functional"]] {
        let file = with_a_buffer(&scratch, 4 << 30, "", launch);
        let text = fails_within(1024, 2, &[&["run", &file][..], how].concat());
        says(&text, &["no room for 4294967296 bytes (a)"]);
        // It fits once, but not a second time.
        let outputs = "[[outputs]]\nbuffer = \"a\"\nwrite = \"a.npy\"\n";
        let steps = format!("{launch}{outputs}");
        let file = with_a_buffer(&scratch, 700 << 20, "", &steps);
        let text = fails_within(1024, 2, &[&["run", &file][..], how].concat());
        says(
            &text,
            &["the host has no 700 MiB of memory left for a copy"],
        );
        let steps = "[[steps]]\nfill = \"a\"\nvalue = 1\n";
        let workload = ["run", "matmul", "--param", "n=8192", "-q"];
        let text = fails_within(400, 2, &[&workload[..], how].concat());
        says(
            &text,
            &[
                "the host's memory is used up: ",
                "a smaller size takes less",
            ],
        );
        for (content, steps) in [("fill = 7", launch), ("sequence = {}", launch), ("", steps)] {
            let file = with_a_buffer(&scratch, 700 << 20, content, steps);
            let text = fails_within(1024, 2, &[&["run", &file][..], how].concat());
            says(&text, &["the host"]);
        }
    }
    assert!(!scratch.names().contains(&"a.npy".to_string()));
}

#[test]
fn outputs_of_a_run_are_different_files_and_no_inputs() {
    let scratch = Scratch::new("outputs");
    let (same, other) = (scratch.path("same.svg"), scratch.path("./same.svg"));
    let arguments = ["run", "vecadd", "--size", "tiny"];
    let with = |more: &[&str]| fails(2, &[&arguments[..], more].concat());
    says(
        &with(&["--stats", &same, "--phases", &other]),
        &["another output of this run has the same name"],
    );
    let file = scratch.path("deadlock.toml");
    let ptx = scratch.path("deadlock.ptx");
    std::fs::copy(data("deadlock.toml"), &file).expect("copied");
    std::fs::copy(data("deadlock.ptx"), &ptx).expect("copied");
    for input in [&file, &ptx] {
        let text = fails(2, &["run", &file, "--stats", input]);
        says(&text, &["it is an input of this run"]);
    }
    assert!(scratch.names().iter().all(|n| n.starts_with("deadlock")));
}

#[test]
fn races_are_reported_with_both_lines() {
    let scratch = Scratch::new("races");
    let ptx = ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
               .reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n.shared .align 4 .b8 tile[256];\n\
               ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n\
               mov.u32 %r3, tile;\nadd.u32 %r4, %r3, %r2;\nst.shared.u32 [%r4], %r1;\n\
               sub.u32 %r5, 252, %r2;\nadd.u32 %r5, %r5, %r3;\nld.shared.u32 %r6, [%r5];\n\
               mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r6;\nret;\n}\n";
    std::fs::write(scratch.path("k.ptx"), ptx).expect("written");
    let file = scratch.path("k.toml");
    let text = "schema = 1\nptx = \"k.ptx\"\n[buffers.a]\ntype = \"u32\"\ncount = 64\n\
                [[steps]]\nlaunch = \"k\"\ngrid = 1\nblock = 64\nargs = [\"a\"]\n";
    std::fs::write(&file, text).expect("written");
    assert!(warpsim(&["run", &file]).status.success());
    let output = warpsim(&["run", &file, "--check", "races"]);
    let errors = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    says(
        &errors,
        &[
            "race: kernel k: shared memory",
            "PTX line 14",
            "PTX line 17",
        ],
    );
}

#[test]
fn a_wrong_result_says_that_the_program_counts_on_threads_in_step() {
    let file = data("tagged.toml");
    let lines = ["PTX line 35", "PTX line 36"];
    let run = |more: &[&str]| {
        let output = warpsim(&[&["run", &file], more].concat());
        let errors = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), errors)
    };
    for (machine, set, why) in [
        ("vws", "warps=ws4", "4 threads wide (`sm.warp_width`)."),
        ("vws", "warps=i-vws", "in gangs until their ways part"),
    ] {
        let (code, errors) = run(&["--machine", machine, "--set", set]);
        assert_eq!(code, Some(1), "{errors}");
        says(&errors, &lines);
        says(
            &errors,
            &[
                "counts on the 32 threads of a warp being in step",
                why,
                "What keeps them in step: warps of 32 threads, --warps ws32",
            ],
        );
    }
    let (code, errors) = run(&["--machine", "vws", "--warps", "ws32"]);
    assert_eq!((code, &errors[..]), (Some(0), ""));
    let (code, errors) = run(&["--check", "steps"]);
    assert_eq!(code, Some(1), "{errors}");
    says(&errors, &lines);
    says(&errors, &["in step: kernel tagged: shared memory"]);
    // The result of a program that orders what its threads do is wrong for another reason.
    let (code, errors) = run(&["--check", "races"]);
    assert_eq!((code, &errors[..]), (Some(0), ""), "of warps there is one");
}

#[test]
fn quiet_means_quiet_and_pipes_get_plain_text() {
    assert_eq!(succeeds(&["run", "vecadd", "--size", "tiny", "-q"]), "");
    let shown = succeeds(&["run", "vecadd", "--size", "tiny"]);
    assert!(!shown.contains('\x1b'));
    says(&shown, &["IPC", "L1D loads", "result            correct"]);
}
