//! Broken variants of the corpus: nothing may panic or hang, errors must render and point
//! into the file, and what still parses must print back to itself.

use proptest::prelude::*;
use std::sync::LazyLock;
use warpsim_ptx::{parse, print};

static CORPUS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus folder")
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "ptx"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("readable PTX"))
        .collect()
});

/// Pieces that are likely to confuse.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "|",
    "@",
    "!",
    "-",
    "+",
    ".",
    ":",
    "=",
    "<",
    ">",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    " ",
    "_",
    "%",
    "0f",
    "0x",
    "1e",
    ".reg",
    ".entry",
    ".func",
    ".param",
    ".section",
    ".align",
    ".ptr",
    ".version",
    "call",
    "ret",
    "generic(",
    "é",
    "\u{0}",
    "99999999999999999999",
    ".callprototype",
    ".branchtargets",
    ".attribute(",
    "@@DWARF",
    "#",
    "\\",
    ".loc",
    ".file",
    ".extern",
    ".v4",
    "~",
    "<<",
    "%tid.x",
    "p|q",
];

/// One change; places are fractions of the text so that shrinking keeps them sensible.
#[derive(Clone, Debug)]
enum Change {
    DeleteBytes { at: f64, len: usize },
    DeleteToken { at: f64 },
    DuplicateToken { at: f64 },
    SwapTokens { at: f64, with: f64 },
    Insert { at: f64, piece: &'static str },
    Replace { at: f64, byte: u8 },
    Truncate { at: f64 },
}

fn change() -> impl Strategy<Value = Change> {
    let place = || 0.0..1.0f64;
    prop_oneof![
        (place(), 1usize..200).prop_map(|(at, len)| Change::DeleteBytes { at, len }),
        place().prop_map(|at| Change::DeleteToken { at }),
        place().prop_map(|at| Change::DuplicateToken { at }),
        (place(), place()).prop_map(|(at, with)| Change::SwapTokens { at, with }),
        (place(), prop::sample::select(PIECES))
            .prop_map(|(at, piece)| Change::Insert { at, piece }),
        (place(), any::<u8>()).prop_map(|(at, byte)| Change::Replace { at, byte }),
        place().prop_map(|at| Change::Truncate { at }),
    ]
}

/// Rough tokens: runs of word characters, or single other bytes.
fn tokens(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'%' | b'$' | b'.');
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at;
        at += 1;
        while word(text[start]) && at < text.len() && word(text[at]) {
            at += 1;
        }
        ranges.push(start..at);
    }
    ranges
}

fn apply(text: &mut Vec<u8>, change: &Change) {
    if text.is_empty() {
        return;
    }
    let byte = |at: f64| ((at * text.len() as f64) as usize).min(text.len() - 1);
    let token = |at: f64| {
        let all = tokens(text);
        all[((at * all.len() as f64) as usize).min(all.len() - 1)].clone()
    };
    match change {
        Change::DeleteBytes { at, len } => {
            let at = byte(*at);
            text.drain(at..(at + len).min(text.len()));
        }
        Change::DeleteToken { at } => drop(text.drain(token(*at))),
        Change::DuplicateToken { at } => {
            let range = token(*at);
            let copy = text[range.clone()].to_vec();
            text.splice(range.end..range.end, copy);
        }
        Change::SwapTokens { at, with } => {
            let (a, b) = (token(*at), token(*with));
            let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
            if first.end <= second.start {
                let (x, y) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
                text.splice(second, x);
                text.splice(first, y);
            }
        }
        Change::Insert { at, piece } => {
            let at = byte(*at);
            text.splice(at..at, piece.bytes());
        }
        Change::Replace { at, byte: value } => {
            let at = byte(*at);
            text[at] = *value;
        }
        Change::Truncate { at } => {
            let at = byte(*at);
            text.truncate(at);
        }
    }
}

/// The promises that hold for any text.
fn check(text: &str) -> Result<(), TestCaseError> {
    match parse(text) {
        Ok(module) => {
            let printed = print(&module);
            match parse(&printed) {
                Ok(again) => prop_assert_eq!(module, again),
                Err(errors) => prop_assert!(
                    false,
                    "{}\nin\n{printed}",
                    errors[0].render("printed", &printed)
                ),
            }
        }
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.span.start as usize <= text.len());
                prop_assert!(error.span.line >= 1 && error.span.column >= 1);
                prop_assert!(error.render("f", text).contains('^'));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_never_panic(file in 0usize..1000, changes in prop::collection::vec(change(), 1..8)) {
        let mut text = CORPUS[file % CORPUS.len()].clone().into_bytes();
        for change in &changes {
            apply(&mut text, change);
        }
        check(&String::from_utf8_lossy(&text))?;
    }

    #[test]
    fn piles_of_pieces_never_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60), spaced: bool) {
        let text = format!(".version 8.0\n.target sm_80\n{}", pieces.join(if spaced { " " } else { "" }));
        check(&text)?;
    }
}
