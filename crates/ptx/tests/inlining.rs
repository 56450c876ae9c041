//! Device functions, their parameters, and what is refused.

use crate::common;
use common::{errors, listing, module, only, program};
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{Intrinsic, NO_PC, Operand};

const TWICE: &str = ".func (.param .b32 out) twice(.param .b32 x)\n{ .reg .b32 %r<3>; .reg .pred %p;\n\
    ld.param.b32 %r1, [x]; setp.eq.s32 %p, %r1, 0; @%p bra ZERO;\n\
    add.s32 %r2, %r1, %r1; st.param.b32 [out], %r2; ret;\n\
    ZERO: st.param.b32 [out], -1; ret; }\n";

fn call(function: &str, from: &str, to: &str) -> String {
    format!(
        "{{ .param .b32 p0; st.param.b32 [p0], {from}; .param .b32 q0;\n\
         call.uni (q0), {function}, (p0); ld.param.b32 {to}, [q0]; }}\n"
    )
}

#[test]
fn scalars_are_passed_in_registers() {
    let k = only(&module(&format!(
        "{TWICE}.entry k() {{ .reg .b32 %r<4>; mov.u32 %r1, 7; {} {} ret; }}",
        call("twice", "%r1", "%r2"),
        call("twice", "%r2", "%r3")
    )));
    assert_eq!(
        listing(&k)[..10],
        [
            "mov.u32 %r1, 7",
            "mov.u32 p0, %r1",
            "mov.u32 %r1@twice.1, p0",
            "setp.eq.s32 %p@twice.1, %r1@twice.1, 0",
            "@%p@twice.1 bra 8 (ZERO@twice.1)  // meets at 9, uniform",
            "add.s32 %r2@twice.1, %r1@twice.1, %r1@twice.1",
            "mov.u32 q0, %r2@twice.1",
            "bra 9",
            "mov.u32 q0, -1",
            "mov.u32 %r2, q0",
        ]
    );
    assert_eq!(k.local_bytes, 0);
    assert!(k.code.iter().all(|i| i.op != Op::Call));
    // The second copy has registers of its own, with the same numbers.
    let copies: Vec<u32> = k
        .registers
        .iter()
        .filter(|r| r.name.starts_with("%r1@"))
        .map(|r| r.number)
        .collect();
    assert_eq!(copies, [1, 1]);
}

/// The same kernel with functions of more instructions than this left as they are.
fn with_limit(text: &str, limit: usize) -> warpsim_ptx::kernel::Kernel {
    let module = warpsim_ptx::parse(text).expect("valid");
    let options = warpsim_ptx::lower::Options {
        inline_limit: Some(limit),
    };
    let mut program = warpsim_ptx::lower::lower_with(&module, options).expect("valid");
    program.kernels.remove(0).into_kernel()
}

#[test]
fn a_large_function_keeps_one_body_that_all_calls_share() {
    let text = module(&format!(
        "{TWICE}.entry k() {{ .reg .b32 %r<4>; .reg .pred %p; mov.u32 %r1, %tid.x; setp.eq.s32 %p, %r1, 3;\n\
         @%p bra OTHER; {} bra MEET; OTHER: {} MEET: {} ret; }}",
        call("twice", "%r1", "%r2"),
        call("twice", "%r1", "%r2"),
        call("twice", "%r2", "%r3")
    ));
    let inlined = with_limit(&text, 8);
    let shared = with_limit(&text, 7);
    let bodies = |k: &warpsim_ptx::kernel::Kernel| {
        let doubles = |i: &&warpsim_ptx::kernel::Instr| i.op == Op::Add;
        k.code.iter().filter(doubles).count()
    };
    assert_eq!((bodies(&inlined), bodies(&shared)), (3, 1));
    // No stack, where no function keeps anything there.
    assert_eq!(shared.local_bytes, 0);
    // The sides of the kernel's branch meet behind the calls, not where the body returns to some other.
    let listing = listing(&shared);
    let branch = shared.code.iter().position(|i| i.guard.is_some());
    let branch = branch.expect("the first branch is the kernel's");
    let meet = shared.code[branch].reconverge as usize;
    let label = shared.blocks.iter().find(|b| b.start as usize == meet);
    let label = label.and_then(|b| b.label.clone());
    assert_eq!(label.as_deref(), Some("MEET"), "{listing:#?}");
    // And those of the function's before it returns.
    let inside = shared
        .code
        .iter()
        .rposition(|i| i.op == Op::Bra && i.guard.is_some() && i.reconverge != NO_PC);
    let inside = &shared.code[inside.expect("the function's branch")];
    assert!(inside.reconverge > inside.target, "{listing:#?}");
}

#[test]
fn calls_nest_and_ret_leaves_only_its_own_function() {
    let k = only(&module(&format!(
        "{TWICE}.func (.param .b32 o) outer(.param .b32 i)\n{{ .reg .b32 %r<4>; .reg .pred %q;\n\
         ld.param.b32 %r1, [i]; setp.gt.s32 %q, %r1, 9; st.param.b32 [o], %r1; @%q ret;\n\
         {} st.param.b32 [o], %r2; ret; }}\n\
         .entry k() {{ .reg .b32 %r<4>; {} st.global.u32 [%r2], %r2; ret; }}",
        call("twice", "%r1", "%r2"),
        call("outer", "3", "%r2")
    )));
    let text = listing(&k);
    let early = k
        .code
        .iter()
        .find(|i| i.op == Op::Bra && i.guard.is_some())
        .expect("the early return");
    // The early return joins behind the inlined body, at the load of the result.
    assert_eq!(text[early.target as usize], "mov.u32 %r2, q0");
    assert_eq!(k.code.iter().filter(|i| i.op == Op::Ret).count(), 1);
    assert_eq!(text.last().map(String::as_str), Some("ret"));
}

#[test]
fn arrays_of_bytes_travel_through_local_memory() {
    let k = only(&module(
        ".func (.param .align 8 .b8 out[16]) swap(.param .align 8 .b8 in[16])\n\
         { .reg .b64 %d<3>; ld.param.v2.b64 {%d1, %d2}, [in]; st.param.b64 [out], %d2;\n\
         st.param.b64 [out+8], %d1; ret; }\n\
         .entry k() { .reg .b64 %d<3>; .reg .b32 %r;\n\
         { .param .align 8 .b8 p[16]; st.param.b64 [p+0], 1; st.param.b32 [p+8], 2; st.param.b32 [p+12], 3;\n\
         .param .align 8 .b8 q[16]; call (q), swap, (p); ld.param.b32 %r, [q+4]; } ret; }",
    ));
    assert_eq!(
        listing(&k),
        [
            "st.local.b64 [0], 1",
            "st.local.b32 [8], 2",
            "st.local.b32 [12], 3",
            "ld.local.u64 %copy@swap.1, [0]",
            "st.local.u64 [32], %copy@swap.1",
            "ld.local.u64 %copy@swap.1, [8]",
            "st.local.u64 [40], %copy@swap.1",
            "ld.local.v2.b64 {%d1@swap.1, %d2@swap.1}, [32]",
            "st.local.b64 [48], %d2@swap.1",
            "st.local.b64 [56], %d1@swap.1",
            "ld.local.u64 %copy, [48]",
            "st.local.u64 [16], %copy",
            "ld.local.u64 %copy, [56]",
            "st.local.u64 [24], %copy",
            "ld.local.b32 %r, [20]",
            "ret",
        ]
    );
    assert_eq!(k.local_bytes, 64);
}

#[test]
fn a_scalar_written_in_parts_goes_through_memory_on_that_side_only() {
    let k = only(&module(
        ".func (.param .b64 o) id(.param .b64 i) { .reg .b64 %d; ld.param.b64 %d, [i];\n\
         st.param.b64 [o], %d; ret; }\n\
         .entry k() { .reg .b32 %r; { .param .b64 p; st.param.b32 [p], 1; st.param.b32 [p+4], 2;\n\
         .param .b64 q; call (q), id, (p); ld.param.b32 %r, [q+4]; } ret; }",
    ));
    assert_eq!(
        listing(&k),
        [
            "st.local.b32 [0], 1",
            "st.local.b32 [4], 2",
            "ld.local.u64 i@id.1, [0]",
            "mov.u64 %d@id.1, i@id.1",
            "mov.u64 o@id.1, %d@id.1",
            "st.local.u64 [8], o@id.1",
            "ld.local.b32 %r, [12]",
            "ret",
        ]
    );
}

#[test]
fn narrow_scalars_are_extended_as_loaded() {
    let k = only(&module(
        ".func f(.param .b8 x, .param .b16 y) { .reg .b16 %h; .reg .b32 %r<2>;\n\
         ld.param.s8 %h, [x]; ld.param.u8 %r1, [x]; ld.param.b16 %h, [y]; ret; }\n\
         .entry k() { .reg .b32 %r; .reg .b16 %h;\n\
         { .param .b8 a; .param .b16 b; st.param.b8 [a], %r; st.param.b16 [b], %h; call f, (a, b); } ret; }",
    ));
    assert_eq!(
        listing(&k),
        [
            "cvt.u32.u8 a, %r",
            "cvt.u32.u16 b, %h",
            "cvt.s16.s8 %h@f.1, a",
            "cvt.u32.u8 %r1@f.1, a",
            "cvt.u16.u16 %h@f.1, b",
            "ret",
        ]
    );
}

#[test]
fn sibling_calls_share_local_memory_and_guarded_calls_are_skipped() {
    let k = only(&module(
        ".func f() { .local .align 8 .b8 own[24]; .reg .b64 %d; mov.u64 %d, own; ret; }\n\
         .entry k() { .local .u32 mine; .reg .pred %p; .reg .b64 %d; mov.u64 %d, mine;\n\
         call f, (); @%p call f, (); ret; }",
    ));
    assert_eq!(k.local_bytes, 32);
    let text = listing(&k);
    assert_eq!(text[1], "mov.u64 %d@f.1, 8");
    assert!(text[2].starts_with("@!%p bra 4"), "{}", text[2]);
    assert_eq!(text[3], "mov.u64 %d@f.2, 8");
}

#[test]
fn register_parameters_of_old_ptx() {
    let k = only(&module(
        ".func (.reg .u32 %o) inc(.reg .u32 %i) { add.u32 %o, %i, 1; ret; }\n\
         .entry k() { .reg .u32 %a, %b; mov.u32 %a, 4; call (%b), inc, (%a); call (%b), inc, (9); ret; }",
    ));
    assert_eq!(
        listing(&k)[1..4],
        [
            "mov.u32 %i@inc.1, %a",
            "add.u32 %o@inc.1, %i@inc.1, 1",
            "mov.u32 %b, %o@inc.1"
        ]
    );
}

#[test]
fn runtime_functions_stay_calls() {
    let k = only(&module(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
         .entry k() { .reg .b64 %d<3>; .reg .b32 %r; .reg .pred %p;\n\
         { .param .b64 p0; st.param.b64 [p0+0], %d1; .param .b64 p1; st.param.b64 [p1+0], 0;\n\
         .param .b32 q0; @%p call.uni (q0), vprintf, (p0, p1); ld.param.b32 %r, [q0+0]; } ret; }",
    ));
    let call = &k.code[2];
    assert_eq!(
        (call.op, call.intrinsic),
        (Op::Call, Some(Intrinsic::Vprintf))
    );
    assert!(call.guard.is_some());
    assert_eq!((call.src.len(), call.dst.len(), call.target), (2, 1, NO_PC));
    assert_eq!(call.dst[0], k.code[3].src[0]);
    assert!(matches!(call.src[1], Operand::Reg(_)));
}

#[test]
fn only_kernels_that_reach_it_are_refused() {
    let p = program(&module(
        ".func odd(.param .b32 n);\n\
         .func even(.param .b32 n) { { .param .b32 p; st.param.b32 [p], 1; call odd, (p); } ret; }\n\
         .func odd(.param .b32 n) { { .param .b32 p; st.param.b32 [p], 1; call even, (p); } ret; }\n\
         .extern .func outside();\n.extern .func (.param .b64 r) malloc(.param .b64 n);\n\
         .entry good() { ret; }\n\
         .entry loops() { { .param .b32 p; st.param.b32 [p], 1; call even, (p); } ret; }\n\
         .entry misses() { call outside, (); ret; }\n\
         .entry heap() { { .param .b64 n; st.param.b64 [n], 8; .param .b64 r; call (r), malloc, (n); } ret; }\n\
         .entry indirect() { .reg .b64 %d; mov.u64 %d, even; { .param .b32 p; st.param.b32 [p], 1;\n\
         proto: .callprototype _ (.param .b32 _); call %d, (p), proto; } ret; }\n\
         .entry tensor() { wgmma.fence.sync.aligned; ret; }",
    ));
    let kept: Vec<&str> = p.kernels.iter().map(|k| k.name.as_str()).collect();
    assert_eq!(kept, ["good", "loops", "misses", "heap", "indirect"]);
    let missed: Vec<&str> = (p.kernels.iter())
        .flat_map(|k| k.undefined.iter().map(|(name, _)| name.as_str()))
        .collect();
    assert_eq!(missed, ["outside"], "a launch will say so");
    let reasons: Vec<String> = p
        .rejected
        .iter()
        .map(|(name, list)| {
            let messages: Vec<&str> = list.iter().map(|d| d.message.as_str()).collect();
            format!("{name}: {}", messages.join("; "))
        })
        .collect();
    assert_eq!(
        reasons,
        ["tensor: `wgmma.fence.sync.aligned` is not supported yet",]
    );
}

#[test]
fn arguments_must_fit() {
    let text = module(&format!(
        "{TWICE}.entry k() {{ .reg .b32 %r;\n\
         {{ .param .b64 p; st.param.b64 [p], 1; .param .b32 q; call (q), twice, (p); }}\n\
         {{ .param .b32 q; call (q), twice, (); }} ret; }}"
    ));
    let found = errors(&text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("parameter `x` of `twice` does not fit"),
        "{}",
        found[0]
    );
    assert!(found[1].contains("called with 0 arguments"), "{}", found[1]);
}
