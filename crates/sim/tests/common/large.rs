//! Kernels that are large in one way each: what once took minutes to analyse.

use std::fmt::Write;

/// A kernel with this body, which has written `%r1`, and as many registers as it says.
fn kernel(registers: usize, body: &str) -> String {
    format!(
        ".version 6.0\n.target sm_35\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<{registers}>;\n.reg .b64 %rd<4>;\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n{body}\
         st.global.u32 [%rd1], %r2;\nret;\n}}\n"
    )
}

/// So many instructions, each with a number of its own.
pub fn immediates(count: usize) -> String {
    let mut body = String::new();
    for n in 0..count {
        let _ = writeln!(body, "add.u32 %r2, %r2, {};", 7 * n + 1);
    }
    kernel(8, &body)
}

/// So many kernels of a thousand instructions, 25 KB each.
pub fn kernels(count: usize) -> String {
    let one = immediates(1000);
    let rest = &one[one.find(".visible").unwrap_or(0)..];
    let named = |n: usize| rest.replacen("entry k(", &format!("entry k{n}("), 1);
    let mut all = one.clone();
    (1..count).for_each(|n| all.push_str(&named(n)));
    all
}

/// So many branches in a loop, each over an instruction.
pub fn branches(count: usize) -> String {
    let mut body = String::from("setp.eq.u32 %p2, %r1, 5000;\nTOP:\n");
    for n in 0..count {
        let _ = writeln!(
            body,
            "setp.gt.u32 %p1, %r1, {n};\n@%p1 bra L{n};\nadd.u32 %r2, %r2, 1;\nL{n}:"
        );
    }
    body.push_str("@%p2 bra TOP;\n");
    kernel(8, &body)
}

/// The same, each out of the loop, or back to its start.
pub fn breaks(count: usize) -> String {
    let mut body = String::from("TOP:\n");
    for n in 0..count {
        let to = ["OUT", "TOP"][n % 2];
        let _ = writeln!(
            body,
            "setp.eq.u32 %p1, %r1, {};\n@%p1 bra {to};\nadd.u32 %r2, %r2, 1;",
            n + 5000
        );
    }
    body.push_str("setp.eq.u32 %p1, %r1, 5000;\n@%p1 bra TOP;\nOUT:\n");
    kernel(8, &body)
}

/// Loops in each other, each left at its first test.
pub fn nested_loops(count: usize) -> String {
    let mut body = String::new();
    for n in 0..count {
        let _ = writeln!(body, "T{n}:\nadd.u32 %r2, %r2, 1;");
    }
    for n in (0..count).rev() {
        let _ = writeln!(body, "setp.gt.u32 %p1, %r1, 5000;\n@%p1 bra T{n};");
    }
    kernel(8, &body)
}

/// So many registers that are live at once.
pub fn live_registers(count: usize) -> String {
    let mut body = String::new();
    for n in 0..count {
        let _ = writeln!(body, "add.u32 %r{}, %r1, {};", n + 3, n % 50);
    }
    for n in 0..count {
        let _ = writeln!(body, "add.u32 %r2, %r2, %r{};", n + 3);
    }
    kernel(count + 3, &body)
}

/// So many places at which the kernel ends.
pub fn exits(count: usize) -> String {
    let mut body = String::new();
    for n in 0..count {
        let _ = writeln!(
            body,
            "setp.ne.u32 %p1, %r1, {};\n@%p1 bra L{n};\nret;\nL{n}:\nadd.u32 %r2, %r2, 1;",
            n + 5000
        );
    }
    kernel(8, &body)
}

/// Functions that each call the one before twice.
pub fn calls(count: usize) -> String {
    let mut text =
        String::from(".version 6.0\n.target sm_35\n.address_size 64\n.func f0()\n{\nret;\n}\n");
    for n in 1..count {
        let _ = writeln!(
            text,
            ".func f{n}()\n{{\ncall f{0};\ncall f{0};\nret;\n}}",
            n - 1
        );
    }
    let _ = writeln!(
        text,
        ".visible .entry k()\n{{\ncall f{};\nret;\n}}",
        count - 1
    );
    text
}
