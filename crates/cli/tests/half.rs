//! Half precision in launch files: buffers, arguments, NumPy files.

use crate::common;

use common::{Scratch, fails, succeeds};

/// `a[i] *= s` of half precision; `b[i] = t`, whatever its bits are.
const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry h(.param .u64 a, .param .u64 b, .param .b16 s, .param .b16 t)\n{\n\
    .reg .b16 %h<6>;\n.reg .b32 %r<3>;\n.reg .b64 %rd<5>;\n\
    ld.param.u64 %rd1, [a];\nld.param.u64 %rd3, [b];\nld.param.b16 %h1, [s];\nld.param.b16 %h2, [t];\n\
    mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 2;\nadd.u64 %rd1, %rd1, %rd2;\nadd.u64 %rd3, %rd3, %rd2;\n\
    ld.global.b16 %h3, [%rd1];\nmul.f16 %h4, %h3, %h1;\nst.global.b16 [%rd1], %h4;\nst.global.b16 [%rd3], %h2;\n\
    ret;\n}\n";

/// A NumPy file of these halves.
fn npy(bits: &[u16]) -> Vec<u8> {
    let head = format!(
        "{{'descr': '<f2', 'fortran_order': False, 'shape': ({},), }}",
        bits.len()
    );
    let head = format!("{head:117}\n");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(head.as_bytes());
    file.extend(bits.iter().flat_map(|half| half.to_le_bytes()));
    file
}

#[test]
fn halves_are_arguments_buffers_and_files() {
    let scratch = Scratch::new("half");
    std::fs::write(scratch.path("h.ptx"), PTX).expect("written");
    // 1, 2, -3 and 0.25.
    std::fs::write(
        scratch.path("a.npy"),
        npy(&[0x3c00, 0x4000, 0xc200, 0x3400]),
    )
    .expect("written");
    let text = |s: &str| {
        format!(
            "schema = 1\nptx = \"h.ptx\"\n[buffers.a]\nfile = \"a.npy\"\n[buffers.b]\ntype = \"bf16\"\ncount = 4\n\
             [[steps]]\nlaunch = \"h\"\ngrid = 1\nblock = 4\nargs = [\"a\", \"b\", {s}, {{ bf16 = 2.5 }}]\n\
             [[outputs]]\nbuffer = \"a\"\nexpect = [1.5, 3, -4.5, 0.375]\nwrite = \"out.npy\"\n\
             [[outputs]]\nbuffer = \"b\"\nexpect = 2.5\n"
        )
    };
    let file = scratch.path("h.toml");
    std::fs::write(&file, text("{ f16 = 1.5 }")).expect("written");
    let shown = succeeds(&["run", &file]);
    assert!(shown.contains("correct (8 values"), "{shown}");
    // The same type in the file that is written: 1.5, 3, -4.5, 0.375.
    let written = std::fs::read(scratch.path("out.npy")).expect("written");
    assert_eq!(written, npy(&[0x3e00, 0x4200, 0xc480, 0x3600]));
    std::fs::write(&file, text("{ f32 = 1.5 }")).expect("written");
    let shown = fails(2, &["run", &file]);
    assert!(
        shown.contains("argument 3 is f32 (4 bytes), but `s` takes 2 bytes"),
        "{shown}"
    );
}
