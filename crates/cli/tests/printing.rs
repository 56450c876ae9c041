//! What kernels print is there as it is printed, up to a limit that can be raised.

use crate::common;

use common::{Scratch, warpsim};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A kernel in which every thread prints "thread" and its number, and then the last one of two does
/// not end.
fn chatty(scratch: &Scratch, endless: bool) -> String {
    let text: Vec<String> = b"thread %d\n\0".iter().map(u8::to_string).collect();
    let end = match endless {
        true => "LOOP: bra LOOP;",
        false => "ret;",
    };
    let ptx = format!(
        ".version 6.0\n.target sm_35\n.address_size 64\n\
         .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n\
         .global .align 1 .b8 text[{}] = {{{}}};\n\
         .visible .entry k()\n{{\n.local .align 8 .b8 depot[8];\n.reg .b32 %r<4>;\n.reg .b64 %rd<5>;\n\
         mov.u32 %r1, %tid.x;\nmov.u64 %rd1, depot;\nst.local.u32 [%rd1], %r1;\ncvta.local.u64 %rd2, %rd1;\n\
         mov.u64 %rd3, text;\ncvta.global.u64 %rd4, %rd3;\n\
         {{ .param .b64 p0; st.param.b64 [p0], %rd4; .param .b64 p1; st.param.b64 [p1], %rd2;\n\
         .param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r2, [q]; }}\n{end}\n}}\n",
        text.len(),
        text.join(", ")
    );
    std::fs::write(scratch.path("k.ptx"), ptx).expect("written");
    let file = scratch.path("k.toml");
    let launch =
        "schema = 1\nptx = \"k.ptx\"\n[[steps]]\nlaunch = \"k\"\ngrid = 1\nblock = 64\nargs = []\n";
    std::fs::write(&file, launch).expect("written");
    file
}

#[test]
fn prints_are_there_while_the_kernel_runs() {
    let scratch = Scratch::new("printing");
    let file = chatty(&scratch, true);
    for how in [&[][..], &["--functional"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_warpsim"))
            .args([&["run", &file, "-q"][..], how].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command runs");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        // This would wait for ever if what is printed came at the end.
        let first = lines.next().expect("a line").expect("text");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert_eq!(first, "thread 0", "{how:?}");
    }
}

#[test]
fn prints_have_a_limit_that_can_be_raised() {
    let scratch = Scratch::new("limit");
    let file = chatty(&scratch, false);
    // Ten threads with one digit, 54 with two.
    let all = 10 * 9 + 54 * 10;
    for how in [&[][..], &["--functional"]] {
        for (limit, shown) in [(100, 100), (all, all), (1 << 20, all)] {
            let limit = limit.to_string();
            let arguments = ["run", &file, "-q", "--printf-limit", &limit];
            let output = warpsim(&[&arguments[..], how].concat());
            assert!(output.status.success());
            assert_eq!(output.stdout.len(), shown, "{how:?} {limit}");
            let errors = String::from_utf8(output.stderr).expect("text");
            let said = errors.contains(&format!("kernels printed {} bytes more", all - shown));
            assert_eq!(said, shown < all, "{errors}");
        }
    }
}
