//! Files are read in haste and with care: what comes out must be the same.

use super::*;
use std::fs;
use std::path::Path;

/// Without haste, every instruction from its tokens.
fn with_care(text: &str) -> Option<ast::Module> {
    let mut parser = Parser::new(text, false);
    parser.read(Part::whole(text));
    let module = parser.module();
    parser.diagnostics.is_empty().then_some(module)
}

/// Whether both ways of reading say the same about a text, places included, and whether it is PTX.
fn agree(text: &str) -> bool {
    let (careful, hasty) = (with_care(text), parts::module(text));
    // Not by `==`, for which all places are equal.
    let shown = |module: &Option<ast::Module>| format!("{module:?}");
    assert_eq!(shown(&careful), shown(&hasty), "{text}");
    careful.is_some()
}

fn kernels() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/kernels");
    let files = fs::read_dir(folder).expect("a folder");
    let paths = files.map(|file| file.expect("a file").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .collect();
    paths.sort();
    let texts = paths.iter().map(fs::read_to_string);
    texts.map(|text| text.expect("text")).collect()
}

#[test]
fn haste_changes_nothing_about_the_kernels_of_the_suite() {
    let kernels = kernels();
    assert!(kernels.len() > 20);
    assert!(kernels.iter().all(|text| agree(text)));
}

#[test]
fn haste_changes_nothing_about_odd_instructions() {
    let head = ".version 7.8\n.target sm_35\n.address_size 64\n.entry k()\n{\n\
                add.u32 %a, %b, 1;\nld.u32 %a, [%b];\nmov.f32 %a, %b;\nret;\n";
    let valid = [
        "add.u32 %a, %b, -1;",
        "add.u32\t%a ,%b\t, 0x1fU ;",
        "add.u32 %a, %b, 1 + 2;",
        "add.u32 %a, %b, 2*-3;",
        "add.u32 %a,\n%b, 1;",
        "add.u32 _, %b, 1;",
        "add.u32 _x, %b, 1;",
        "add .u32 %a, %b, 1;",
        "/* é */ add.u32 %a, %b, 1; add.u32 %a, %b, 2; // é\nadd.u32 %a, %b, 3;",
        "mov.f32 %a, 0f3F800000;",
        "mov.f32 %a, 1.5e-3;",
        "mov.f32 %a, 1e3;",
        "mov.f32 %a, -0f3F800000;",
        "mov.f32 %a, 2.;",
        "mov.f32 %a, %v.x;",
        "mov.f32 %a, %v .x;",
        "mov.f32 %a, symbol+4;",
        "ld.u32 %a, [%b+4];",
        "ld.u32 %a, [%b+-4];",
        "ld.u32 %a, [ %b - 4 ];",
        "ld.u32 %a, [%b+4*2];",
        "ld.u32 %a, [%v.x+4];",
        "ld.u32 %a, [64];",
        "ld.u32 %a, [%b].unified;",
        "@%p add.u32 %a, %b, 1;",
        "@!%p\tret;",
        "@! %p ret ;",
        "@add ret;",
        "add: ret;",
        "ret;ret;",
        "{ ret; }",
    ];
    for text in valid {
        assert!(agree(&format!("{head}{text}\nret;\n}}\n")), "{text}");
    }
    let broken = [
        "add.u32 %a, %b 1;",
        "add.u32 %a, %b;",
        "add.u32 %a, %b, 1, 2;",
        "add.u32 %a, %b, 09;",
        "add.u32 %a, %b, 1",
        "add.u32 1, %b, %a;",
        "add.u32 %a, %b, ;",
        "ld.u32 %a, [%b 4];",
        "ld.u32 %a, [%b+%c];",
        "ld.u32 %a, [%b",
        "@%p.x ret;",
        "@%pret;",
        "add.u33 %a, %b, 1;",
        "ret",
        "é",
    ];
    for text in broken {
        assert!(!agree(&format!("{head}{text}\nret;\n}}\n")), "{text}");
    }
}

#[test]
fn haste_changes_nothing_about_damaged_files() {
    // A byte of a kernel is replaced by another that PTX is made of.
    let kernels = kernels();
    let bytes = b";,.[]{}()@!%_-+|: \n\t/*x0e\"";
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut valid = 0;
    for _ in 0..600 {
        let text = &kernels[next(kernels.len())];
        let at = next(text.len());
        if !text.is_char_boundary(at) || !text.is_char_boundary(at + 1) || text.len() > 100_000 {
            continue;
        }
        let byte = bytes[next(bytes.len())] as char;
        let damaged = format!("{}{byte}{}", &text[..at], &text[at + 1..]);
        valid += usize::from(agree(&damaged));
    }
    assert!(valid > 20, "{valid}");
}
