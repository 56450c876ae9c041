//! Damaged files give errors or lower to something, but never panic.

use crate::common;
use proptest::prelude::*;
use warpsim_ptx::inspect::{cfg_svg, disassemble_all};
use warpsim_ptx::{lower, parse};

const FILES: &[&str] = &[
    include_str!("corpus/reduce.O3.ptx"),
    include_str!("corpus/stencil.O0.ptx"),
    include_str!("corpus/tables.O3.ptx"),
    include_str!("corpus/branch_nested.ptx"),
];

/// Words and what stands between them, so that damage hits whole tokens.
fn tokens(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || "%_$.".contains(c);
    let mut list = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest
            .find(|c: char| word(c) != word(first))
            .unwrap_or(rest.len());
        list.push(&rest[..end]);
        rest = &rest[end..];
    }
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn never_panics(
        file in 0..FILES.len(),
        damage in proptest::collection::vec((any::<u32>(), any::<u32>(), 0u8..4), 1..4),
    ) {
        let mut list = tokens(FILES[file]);
        for (at, other, kind) in damage {
            let at = at as usize % list.len();
            let other = other as usize % list.len();
            match kind {
                0 => list[at] = list[other],
                1 => { list.remove(at); }
                2 => list.swap(at, other),
                _ => list.insert(at, ["-1", "99999999999999", "%r1", "{", ".b8"][other % 5]),
            }
        }
        let text = list.concat();
        if let Ok(module) = parse(&text)
            && let Ok(program) = lower(&module)
        {
            for kernel in &program.kernels {
                prop_assert!(!disassemble_all(kernel).is_empty());
                prop_assert!(cfg_svg(kernel).ends_with("</svg>\n"));
            }
        }
    }
}

#[test]
fn huge_declarations_are_refused() {
    for body in [
        ".shared .b8 s[9223372036854775807]; ld.shared.u8 %r1, [s]; ret;",
        ".local .b8 s[9223372036854775807]; ret;",
        "{ .param .b8 p[9223372036854775807]; st.param.b8 [p], 1; } ret;",
        ".reg .b32 %x<4294967295>; mov.u32 %x1, 1; ret;",
    ] {
        assert_eq!(common::body_errors(body).len(), 1, "{body}");
    }
}
