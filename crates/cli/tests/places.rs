//! Whatever names a place names the line of the source that the PTX gives it.

use crate::common;

use common::{Scratch, fails, succeeds, warpsim};

/// Threads 1 to 31 read what thread 0 of another warp writes (a race); with `far` not zero thread 0 writes outside;
/// with `stuck` not zero the two warps wait at different barriers, with 2 for `stuck` warps spin.
const PTX: &str = r#"
.version 7.0
.target sm_50
.address_size 64
.visible .entry _Z5placePfS_jj(.param .u64 _Z5placePfS_jj_param_0, .param .u64 _Z5placePfS_jj_param_1,
  .param .u32 far, .param .u32 stuck)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .loc 1 3 1
    ld.param.u64 %rd1, [_Z5placePfS_jj_param_1];
    ld.param.u32 %r1, [far];
    ld.param.u32 %r2, [stuck];
    mov.u32 %r3, %tid.x;
    .loc 1 5 1
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    .loc 1 7 1
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra END;
    setp.eq.u32 %p3, %r2, 2;
    @%p3 bra SPIN;
    setp.lt.u32 %p2, %r3, 32;
    @%p2 bra FIRST;
    .loc 1 8 1
    bar.sync 2;
    bra END;
FIRST:
    .loc 1 9 1
    bar.sync 1;
    bra END;
SPIN:
    .loc 1 11 1
    add.u32 %r4, %r4, 1;
    .loc 1 12 1
    setp.ne.u32 %p2, %r4, 0;
    @%p2 bra SPIN;
    bra SPIN;
END:
    .loc 1 14 1
    ret;
}
.file 1 "/home/me/place.cu"
"#;

/// A launch file with these values for `far` and `stuck`.
fn launch(scratch: &Scratch, far: u32, stuck: u32) -> String {
    std::fs::write(scratch.path("place.ptx"), PTX).expect("written");
    let text = format!(
        "schema = 1\nptx = \"place.ptx\"\n[buffers.in]\ntype = \"f32\"\ncount = 64\n[buffers.result]\n\
         type = \"f32\"\ncount = 64\n[[steps]]\nlaunch = \"place\"\ngrid = 1\nblock = 64\n\
         args = [\"in\", \"result\", {{ u32 = {far} }}, {{ u32 = {stuck} }}]\n"
    );
    let file = scratch.path("place.toml");
    std::fs::write(&file, text).expect("written");
    file
}

fn says(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in:\n{text}");
}

#[test]
fn faults_name_the_source_and_the_argument() {
    let scratch = Scratch::new("places-fault");
    let file = launch(&scratch, 64, 0);
    for how in [&["run", &file][..], &["run", &file, "--functional"]] {
        let text = fails(3, how);
        says(&text, "past the end of \"result\"");
        says(&text, "pc 6, /home/me/place.cu:5 (PTX line 19)");
        says(
            &text,
            "the pointer came from argument 2 (float*), which is \"result\"",
        );
    }
}

#[test]
fn deadlocks_and_loops_name_the_source() {
    let scratch = Scratch::new("places-stuck");
    let file = launch(&scratch, 0, 1);
    for how in [&["run", &file][..], &["run", &file, "--functional"]] {
        let text = fails(3, how);
        says(&text, "/home/me/place.cu:8 (PTX line 28)");
        says(&text, "/home/me/place.cu:9 (PTX line 32)");
    }
    let file = launch(&scratch, 0, 2);
    let text = fails(3, &["run", &file, "--max-cycles", "20000"]);
    says(
        &text,
        "hottest loop is /home/me/place.cu:11 to 12 (PTX lines 36 to 39)",
    );
}

#[test]
fn races_inspect_flow_and_profile_name_the_source() {
    let scratch = Scratch::new("places-others");
    let file = launch(&scratch, 0, 0);
    let output = warpsim(&["run", &file, "--check", "races"]);
    let text = String::from_utf8(output.stderr).expect("text");
    says(
        &text,
        "by warp 1 of block 0 at /home/me/place.cu:5 (PTX line 19)",
    );
    let shown = succeeds(&["inspect", &scratch.path("place.ptx")]);
    says(&shown, "/home/me/place.cu:7 (PTX line 22): uniform");
    let shown = succeeds(&["flow", &file]);
    says(&shown, "/home/me/place.cu:3 to 7 (PTX lines 12 to 22)");
    let shown = succeeds(&["run", &file, "--profile"]);
    says(&shown, "/home/me/place.cu:5");
}

#[test]
fn a_thread_that_has_returned_is_named_where_blocks_are_virtual() {
    let scratch = Scratch::new("places-returned");
    // Half of a warp returns; the others vote with all.
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
        .reg .pred %p<3>;\n.reg .b32 %r<3>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n\
        setp.lt.u32 %p1, %r1, 16;\n@%p1 bra DONE;\nvote.sync.any.pred %p2, %p1, 0xffffffff;\n\
        selp.u32 %r2, 1, 0, %p2;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r2;\n\
        DONE:\nret;\n}\n";
    std::fs::write(scratch.path("k.ptx"), ptx).expect("written");
    let file = scratch.path("k.toml");
    let text = "schema = 1\nptx = \"k.ptx\"\n[buffers.out]\ntype = \"u32\"\ncount = 32\n[[steps]]\nlaunch = \"k\"\n\
        grid = 2\nblock = 32\nargs = [\"out\"]\n";
    std::fs::write(&file, text).expect("written");
    let text = fails(3, &["run", &file, "--virtualize", "software"]);
    says(&text, "--virtualize hardware lets it go");
    succeeds(&["run", &file, "--virtualize", "hardware"]);
}
