//! Where tokens begin and end.

use super::*;

fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer::new(text, Part::whole(text));
    let mut all = vec![lexer.next()];
    while all.last().is_some_and(|t| t.kind != Kind::End) {
        all.push(lexer.next());
    }
    all
}

fn texts(text: &str) -> Vec<&str> {
    let all = tokens(text);
    all.iter()
        .filter(|t| t.kind != Kind::End)
        .map(|t| &text[t.start as usize..t.end() as usize])
        .collect()
}

#[test]
fn mnemonics_split_at_dots() {
    assert_eq!(
        texts("ld.global.L1::no_allocate.v4.f32"),
        ["ld", ".global", ".L1::no_allocate", ".v4", ".f32"]
    );
    assert_eq!(texts("tex.2d.v4"), ["tex", ".2d", ".v4"]);
    assert_eq!(texts("%tid.x"), ["%tid", ".x"]);
}

#[test]
fn numbers_keep_their_suffixes() {
    let source = "0f3F800000 0d3FF0000000000000 0x1fU 017 0b101 1.5e-3 1e+5 7.8 12U -4 3.";
    let expected = [
        "0f3F800000",
        "0d3FF0000000000000",
        "0x1fU",
        "017",
        "0b101",
        "1.5e-3",
        "1e+5",
        "7.8",
        "12U",
        "-",
        "4",
        "3.",
    ];
    assert_eq!(texts(source), expected);
}

#[test]
fn blank_is_passed_and_lines_are_counted() {
    let source = "a // x\n/* b\n c */ d\n# 1 \"f.cu\"\n@@DWARF .byte 1\n  e";
    let all = tokens(source);
    let places: Vec<_> = all.iter().map(|t| (t.line, t.column)).collect();
    assert_eq!(texts(source), ["a", "d", "e"]);
    assert_eq!(places[..3], [(1, 1), (3, 7), (6, 3)]);
}

#[test]
fn byte_order_mark_and_trailing_nul_are_passed() {
    let all = tokens("\u{feff}.version 7.8\0\0");
    assert_eq!((all.len(), all[0].kind, all[0].column), (3, Kind::Dot, 1));
}

#[test]
fn columns_count_characters() {
    let all = tokens("/* é€ */ x");
    assert_eq!((all[0].kind, all[0].column), (Kind::Word, 10));
}

#[test]
fn what_does_not_end_is_marked() {
    assert_eq!(
        tokens("\"abc\n").first().map(|t| t.kind),
        Some(Kind::Unterminated)
    );
    assert_eq!(
        tokens("/* abc").first().map(|t| t.kind),
        Some(Kind::Unterminated)
    );
    assert_eq!(
        tokens("\"abc\\").first().map(|t| t.kind),
        Some(Kind::Unterminated)
    );
}
