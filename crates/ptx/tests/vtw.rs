//! The rewrite to virtual thread blocks: what it makes of kernels, and what it refuses.

use std::path::Path;
use warpsim_ptx::ast::{Item, Module, Statement};
use warpsim_ptx::kernel::{Program, Virtualised};
use warpsim_ptx::rewrite::vtw::{Outcome, Variant, mark, rewrite, rewrite_within};
use warpsim_ptx::{lower, parse, print};

const BOTH: [Variant; 2] = [Variant::Hardware, Variant::Software];

fn parsed(text: &str) -> Module {
    parse(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// The rewritten text, what became of its kernels, and the text lowered again.
fn rewritten(text: &str, variant: Variant) -> (String, Vec<Outcome>, Program) {
    let done = rewrite(&parsed(text), variant).unwrap_or_else(|e| panic!("{e:?}"));
    let text = print(&done.module);
    let mut program = lower(&parsed(&text)).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    mark(&mut program, &done.outcomes, variant);
    (text, done.outcomes, program)
}

fn kernel(body: &str) -> String {
    format!(
        ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 k_0, .param .u32 k_1)\n\
         {{\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .b16 %rs<4>;\n.reg .pred %p<8>;\n{body}\n}}\n"
    )
}

fn without_comments(body: &mut Vec<Statement>) {
    body.retain_mut(|s| match s {
        Statement::Comment(_) => false,
        Statement::Block(inner) => {
            without_comments(inner);
            true
        }
        _ => true,
    });
}

#[test]
fn what_is_printed_parses_to_the_same_tree() {
    for (name, text) in workload_kernels() {
        for variant in BOTH {
            let mut done = rewrite(&parsed(&text), variant).expect("it lowers");
            let again = parsed(&print(&done.module));
            for item in &mut done.module.items {
                if let Item::Function(function) = item
                    && let Some(body) = &mut function.body
                {
                    without_comments(body);
                }
            }
            assert_eq!(done.module, again, "{name} {variant:?}");
        }
    }
}

fn workload_kernels() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/kernels");
    let files = std::fs::read_dir(folder).expect("the kernels of the workloads");
    let mut all: Vec<(String, String)> = files
        .flatten()
        .filter(|f| f.path().extension().is_some_and(|e| e == "ptx"))
        .map(|f| {
            let text = std::fs::read_to_string(f.path()).expect("text");
            (f.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn every_kernel_of_the_workloads_can_be_rewritten() {
    for (name, text) in workload_kernels() {
        for variant in BOTH {
            let (_, outcomes, program) = rewritten(&text, variant);
            for outcome in outcomes {
                let kernel = &outcome.kernel;
                assert!(outcome.result.is_ok(), "{name} {kernel}: {outcome:?}");
                let form = outcome.result.expect("just looked");
                let lowered = program.kernels.iter().find(|k| k.name == *kernel);
                let lowered = lowered.expect("it is still there");
                assert!(matches!(lowered.virtualised, Virtualised::Form(_)));
                println!(
                    "{name} {kernel} {variant:?}: hoisted {}, barrier {}, {} registers",
                    form.hoisted, form.barrier, lowered.register_demand
                );
            }
        }
    }
}

#[test]
fn a_simple_kernel_becomes_a_loop() {
    let text = kernel(
        "ld.param.u64 %rd1, [k_0];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n\
         mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
         st.global.u32 [%rd3], %r4;\nret;",
    );
    let (text, ..) = rewritten(&text, Variant::Hardware);
    insta::assert_snapshot!("simple_hardware", text);
    let (text, ..) = rewritten(&kernel_2d(), Variant::Software);
    insta::assert_snapshot!("two_dimensions_software", text);
    let (text, ..) = rewritten(&kernel_2d(), Variant::Hardware);
    insta::assert_snapshot!("two_dimensions_hardware", text);
}

fn kernel_2d() -> String {
    kernel(
        ".shared .b32 tile[64];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %tid.x;\n\
         mov.u32 %r4, %tid.y;\nld.param.u32 %r5, [k_1];\nsetp.ge.u32 %p1, %r1, %r5;\n@%p1 ret;\n\
         shl.b32 %r6, %r3, 2;\nmov.u32 %r7, tile;\nadd.u32 %r8, %r7, %r6;\nst.shared.u32 [%r8], %r2;\n\
         bar.sync 0;\nld.shared.u32 %r9, [tile+4];\nld.param.u64 %rd1, [k_0];\nst.global.u32 [%rd1], %r9;\nret;",
    )
}

/// What became of the only kernel.
fn only(body: &str, variant: Variant) -> Result<(String, warpsim_ptx::rewrite::vtw::Form), String> {
    let (text, mut outcomes, _) = rewritten(&kernel(body), variant);
    let outcome = outcomes.remove(0);
    outcome.result.map(|form| (text, form))
}

/// The lines before the loop.
fn before_loop(text: &str) -> &str {
    text.split("$VTW_HEAD:").next().unwrap_or_default()
}

#[test]
fn indices_are_taken_apart_without_a_division_in_the_loop() {
    let body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %ctaid.z;\nmov.u32 %r4, %tid.x;\nmov.u32 %r5, %tid.y;\n\
        mov.u32 %r6, %tid.z;\nld.param.u64 %rd1, [k_0];\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r2;\n\
        st.global.u32 [%rd1+8], %r3;\nst.global.u32 [%rd1+12], %r4;\nst.global.u32 [%rd1+16], %r5;\nst.global.u32 [%rd1+20], %r6;\nret;";
    let without_z = body
        .replace("%ctaid.z", "%ctaid.y")
        .replace("%tid.z", "%tid.y");
    for (body, dimensions) in [(body, 3), (&without_z, 2)] {
        for variant in BOTH {
            let (text, form) = only(body, variant).expect("it can be");
            assert_eq!(form.grid_dimensions, dimensions);
            let (before, in_loop) = text.split_once("$VTW_HEAD:").expect("a loop");
            assert!(
                !in_loop.contains("div.") && !in_loop.contains("rem."),
                "{text}"
            );
            // One for each size that is divided by, once.
            let numbers = if variant == Variant::Hardware { 2 } else { 1 };
            assert_eq!(
                before.matches("div.u32").count(),
                numbers * (usize::from(dimensions) - 1)
            );
        }
    }
}

#[test]
fn only_what_depends_on_no_index_and_has_one_value_is_hoisted() {
    let body = "ld.param.u32 %r1, [k_1];\nadd.u32 %r2, %r1, 5;\nmov.u32 %r3, %ntid.x;\nmul.lo.u32 %r4, %r2, %r3;\n\
        mov.u32 %r5, %tid.x;\nadd.u32 %r6, %r5, %r4;\nmov.u32 %r7, 0;\nadd.u32 %r7, %r7, %r1;\nsetp.eq.u32 %p1, %r1, 3;\n\
        @%p1 mov.u32 %r8, 4;\nld.param.u64 %rd1, [k_0];\nld.global.u32 %r9, [%rd1];\nmov.u32 %r10, %nctaid.x;\n\
        mov.u32 %r11, %laneid;\nst.global.u32 [%rd1], %r6;\nst.global.u32 [%rd1], %r8;\nst.global.u32 [%rd1], %r9;\nret;";
    for variant in BOTH {
        let (text, form) = only(body, variant).expect("it can be");
        let first = before_loop(&text);
        for hoisted in [
            "ld.param.u32 %r1, [k_1]",
            "add.u32 %r2",
            "mov.u32 %r3, %ntid.x",
            "mul.lo.u32 %r4",
            "setp.eq.u32 %p1",
            "ld.param.u64 %rd1",
            "ld.param.u32 %r10, [k_vtw_nctaid_x]",
        ] {
            assert!(first.contains(hoisted), "{hoisted}\n{text}");
        }
        for stays in ["%r6,", "%r7,", "%r8, 4", "%r9,", "%laneid"] {
            assert!(!first.contains(stays), "{stays}\n{text}");
        }
        assert_eq!(form.hoisted, 6);
    }
}

#[test]
fn what_would_be_spilled_is_not_hoisted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/kernels");
    let text = std::fs::read_to_string(folder.join("lbm.ptx")).expect("text");
    let module = parsed(&text);
    let floor_and_hoisted = |limit: u32| {
        let done = rewrite_within(&module, Variant::Hardware, &|_| limit).expect("it lowers");
        let program = lower(&parsed(&print(&done.module))).expect("it lowers");
        let hoisted = done.outcomes[0].result.as_ref().expect("it can be").hoisted;
        (program.kernels[0].register_floor, hoisted)
    };
    let (floor, all) = floor_and_hoisted(u32::MAX);
    let limit = floor - 20;
    let (within, some) = floor_and_hoisted(limit);
    assert!(within <= limit, "{within} of {limit}");
    assert!(0 < some && some < all, "{some} of {all}");
    // As many as fit: the limit of what they take is enough for them, one less is not.
    assert_eq!(floor_and_hoisted(within), (within, some));
    assert!(floor_and_hoisted(within - 1).1 < some);
    // It takes more than this in any case.
    assert_eq!(floor_and_hoisted(2).1, 0);
}

#[test]
fn every_return_becomes_a_jump_to_the_tail() {
    let body = "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 ret;\nsetp.eq.u32 %p2, %r1, 4;\n@!%p2 bra L;\n\
        exit;\nL: setp.eq.u32 %p3, %r1, 5;\n@%p3 exit;\nret.uni;";
    for variant in BOTH {
        let (text, _) = only(body, variant).expect("it can be");
        assert_eq!(text.matches("bra $VTW_TAIL").count(), 3, "{text}");
        assert_eq!(
            text.matches("ret;").count() + text.matches("exit;").count(),
            1
        );
    }
}

#[test]
fn the_added_barrier_goes_where_all_threads_pass() {
    let store = "st.shared.u32 [tile], %r1;\n";
    let tid = ".shared .b32 tile[64];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n";
    let before = "before the first access to shared memory";
    let head = "at the head of the loop";
    let tail = "at the tail, where threads that returned early wait";
    for (body, barrier) in [
        (format!("{tid} ret;"), "none"),
        (format!("{tid} {store} bar.sync 0;\n{store} ret;"), before),
        // Only some come by the first access.
        (
            format!("{tid} setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n{store} L: bar.sync 0;\nret;"),
            head,
        ),
        // It would run with every round.
        (
            format!(
                "{tid} L: {store} add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\nret;"
            ),
            head,
        ),
        // Some never come to the barrier, by a return or by a branch to the end.
        (
            format!("{tid} setp.eq.u32 %p1, %r1, 0;\n@%p1 ret;\n{store} bar.sync 0;\nret;"),
            tail,
        ),
        (
            format!("{tid} setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n{store} bar.sync 0;\nL: ret;"),
            tail,
        ),
        // All or none.
        (
            format!("{tid} setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n{store} bar.sync 0;\nL: ret;"),
            head,
        ),
    ] {
        let (text, form) = only(&body, Variant::Software).expect("it can be");
        assert_eq!(form.barrier, barrier, "{text}");
        let votes = text.contains("barrier.red.and.pred");
        assert_eq!(votes, barrier == tail, "{text}");
        assert_eq!(text.contains(".target sm_70"), votes);
        let (_, form) = only(&body, Variant::Hardware).expect("it can be");
        assert_eq!(form.barrier, "none", "the hardware needs none");
    }
}

#[test]
fn what_cannot_be_rewritten_says_why_and_stays_as_it_is() {
    for (body, why) in [
        ("mov.u32 %r1, %warpid;\nret;", "%warpid"),
        ("mov.u32 %r1, %smid;\nret;", "%smid"),
        ("mov.u32 %r1, %envreg2;\nret;", "grid-wide"),
        ("vtw.next_tid.u32 %r1;\nret;", "already"),
    ] {
        for variant in BOTH {
            let text = kernel(body);
            let (after, outcomes, program) = rewritten(&text, variant);
            let reason = outcomes[0].result.as_ref().expect_err("refused");
            assert!(reason.contains(why), "{reason}");
            assert_eq!(parsed(&after), parsed(&text));
            let kept = &program.kernels[0].virtualised;
            assert_eq!(*kept, Virtualised::Refused(reason.clone()));
        }
    }
    let body = "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 ret;\nbar.sync 1, 64;\nret;";
    let reason = only(body, Variant::Software).expect_err("refused");
    assert!(reason.contains("plain `bar.sync 0`"), "{reason}");
    assert!(only(body, Variant::Hardware).is_ok());
}

#[test]
fn indices_of_16_bits_are_converted() {
    let body = "mov.u16 %rs1, %ctaid.x;\ncvt.u32.u16 %r1, %tid.x;\nret;";
    let (text, form) = only(body, Variant::Hardware).expect("it can be");
    assert!(text.contains("cvt.u16.u32 %rs1, %vtw_ctaid_x;"), "{text}");
    assert!(text.contains("cvt.u32.u16 %r1, %vtw_tid_x;"), "{text}");
    assert_eq!((form.grid_dimensions, form.block_dimensions), (1, 1));
}

#[test]
fn returns_that_would_keep_parts_of_a_warp_from_meeting_are_refused() {
    let part = |inside: &str, behind: &str| {
        format!(
            "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 9;\n@%p1 bra OTHER;\n{inside}\n\
             add.u32 %r2, %r1, 1;\nbra MEET;\nOTHER: add.u32 %r2, %r1, 2;\nMEET: {behind}\nret;"
        )
    };
    for variant in BOTH {
        let reason = only(
            &part("@%p2 bra STAY;\nexit;\nSTAY:", "bar.sync 0;"),
            variant,
        );
        let reason = reason.expect_err("refused");
        assert!(reason.contains("in parts"), "{reason}");
        // Nothing behind needs them together, or no thread leaves.
        assert!(only(&part("@%p2 bra STAY;\nexit;\nSTAY:", ""), variant).is_ok());
        assert!(only(&part("", "bar.sync 0;"), variant).is_ok());
        // Who returns outside of a branch leaves the others together.
        let outside = "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra STAY;\nexit;\nSTAY: bar.sync 0;\nret;";
        let (_, form) = only(outside, variant).expect("it can be");
        assert_eq!(form.barrier != "none", variant == Variant::Software);
    }
}
