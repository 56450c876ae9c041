//! The rewrite to virtual thread blocks: what it makes of kernels, and what it refuses.

use std::path::Path;
use warpsim_ptx::ast::{Item, Module, Statement};
use warpsim_ptx::kernel::{Program, Virtualised};
use warpsim_ptx::rewrite::vtw::{Outcome, Variant, mark, rewrite};
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
