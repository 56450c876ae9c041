//! Several files as one: what is kept, renamed and refused.

use super::{Clash, link, link_texts};
use crate::{lower, parse, print};

const HEAD: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

fn module(text: &str) -> crate::ast::Module {
    parse(&format!("{HEAD}{text}")).expect("valid")
}

#[test]
fn what_one_declares_another_defines_and_own_names_do_not_meet() {
    let first = module(
        ".extern .func (.param .b32 r) twice(.param .b32 x);\n.extern .global .u32 shared_by_all;\n\
         .global .u32 own = 1;\n.file 1 \"a.cu\"\n\
         .visible .entry k()\n{\n.reg .b32 %r<3>;\n.loc 1 7 0\nld.global.u32 %r0, [own];\n{\n\
         .param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r0;\ncall.uni (b), twice, (a);\n\
         ld.param.b32 %r1, [b];\n}\nst.global.u32 [shared_by_all], %r1;\nret;\n}\n",
    );
    let second = module(
        ".visible .global .u32 shared_by_all;\n.global .u32 own = 2;\n.file 1 \"b.cu\"\n\
         .visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n.loc 1 9 0\n\
         ld.param.b32 %r0, [x];\nld.global.u32 %r1, [own];\nmul.lo.u32 %r0, %r0, %r1;\n\
         st.param.b32 [r], %r0;\nret;\n}\n",
    );
    let apart = lower(&first).expect("valid");
    assert_eq!(apart.kernels[0].undefined[0].0, "twice");
    let both = link(vec![first, second]).expect("they go together");
    let program = lower(&both).expect("valid");
    assert!(program.kernels[0].undefined.is_empty());
    assert!(program.symbols.iter().all(|s| !s.external));
    let names: Vec<&str> = program.symbols.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["shared_by_all", "own", "own$1"]);
    let files: Vec<_> = program.files.iter().map(|(n, _)| *n).collect();
    assert_eq!(files, [1, 2]);
    let from_second = program.kernels[0]
        .code
        .iter()
        .any(|i| i.source == Some((2, 9)));
    assert!(from_second, "lines are those of their own file");
    assert_eq!(
        parse(&print(&both)).as_ref(),
        Ok(&both),
        "it can be written down"
    );
}

/// Names and sizes of what is left in global memory.
fn symbols(texts: &[&str]) -> Vec<(String, u64)> {
    let modules = texts.iter().map(|text| module(text)).collect();
    let linked = link(modules).expect("they go together");
    let program = lower(&linked).expect("valid");
    let known = program.symbols.iter();
    known.map(|s| (s.name.clone(), s.size)).collect()
}

#[test]
fn of_weak_and_common_definitions_one_is_kept() {
    let one = |name: &str, size| (name.to_string(), size);
    let (weak, strong) = (".weak .global .u32 x = 1;", ".visible .global .u64 x = 2;");
    assert_eq!(symbols(&[weak, weak]), [one("x", 4)]);
    assert_eq!(symbols(&[weak, strong, weak]), [one("x", 8)]);
    assert_eq!(symbols(&[strong, weak]), [one("x", 8)]);
    let common = |n| format!(".common .global .b8 x[{n}];");
    assert_eq!(
        symbols(&[&common(8), &common(24), &common(16)]),
        [one("x", 24)]
    );
    assert_eq!(symbols(&[&common(24), weak]), [one("x", 4)]);
}

#[test]
fn of_weak_functions_and_kernels_one_is_kept() {
    let function = |number| {
        format!(
            ".weak .func (.param .b32 r) f()\n{{\n.reg .b32 %r<2>;\nmov.u32 %r1, {number};\n\
             st.param.b32 [r], %r1;\nret;\n}}\n.weak .entry k()\n{{\nret;\n}}\n"
        )
    };
    let strong = ".visible .func (.param .b32 r) f()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 3;\n\
        st.param.b32 [r], %r1;\nret;\n}\n";
    let modules = vec![module(&function(1)), module(&function(2)), module(strong)];
    let linked = link(modules).expect("they go together");
    let program = lower(&linked).expect("valid");
    assert_eq!(program.kernels.len(), 1);
    let text = print(&linked);
    assert!(
        text.contains("mov.u32 %r1, 3") && !text.contains("mov.u32 %r1, 1"),
        "{text}"
    );
}

#[test]
fn a_name_of_one_file_gives_way_to_that_of_all() {
    let own = ".global .u32 x = 1;\n.visible .entry k()\n{\n.reg .b32 %r<2>;\nld.global.u32 %r1, [x];\n\
        st.global.u32 [x], %r1;\nret;\n}\n";
    let all = ".visible .global .u64 x = 2;\n.global .u16 x$0 = 3;\n";
    let both = symbols(&[own, all]);
    let expected = [("x$1", 4), ("x", 8), ("x$0", 2)];
    let expected = expected.map(|(name, size)| (name.to_string(), size));
    assert_eq!(both, expected);
}

#[test]
fn what_two_files_define_for_all_is_refused() {
    let variable = ".visible .global .u32 x = 1;\n";
    let function = ".visible .func x()\n{\nret;\n}\n";
    let clash =
        |first: &str, second: &str| link(vec![module(first), module(second)]).expect_err("a clash");
    let twice = |kinds| Clash {
        name: "x".into(),
        files: (0, 1),
        kinds,
    };
    assert_eq!(clash(variable, variable), twice(false));
    assert_eq!(clash(function, function), twice(false));
    assert_eq!(clash(function, variable), twice(true));
    let [variable, function] = [variable, function].map(|text| format!("{HEAD}{text}"));
    let said = |first: &str, second: &str| {
        link_texts(&[("a.ptx", first), ("b.ptx", second)]).expect_err("a clash")
    };
    assert_eq!(
        said(&variable, &variable),
        "`x` is defined twice, in a.ptx and b.ptx"
    );
    assert!(said(&function, &variable).ends_with("a variable in the other"));
    assert!(said(&variable, "nonsense").contains("--> b.ptx"));
}
