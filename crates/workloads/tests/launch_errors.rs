//! Mistakes in launch files, as people will see them.

use crate::common;

use common::{compile, mock};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use warpsim_present::Source;
use warpsim_workloads::launchfile;
use warpsim_workloads::{Category, Session};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

const GOOD: &str = r#"schema = 1
ptx = "bfs/bfs.ptx"
[buffers.a]
type = "u32"
count = 8
[buffers.again]
type = "u32"
values = [1]
[[steps]]
launch = "advance"
grid = 1
block = 32
args = ["a", "a", "a", "again", { u32 = 8 }]
[[outputs]]
buffer = "a"
expect = 0
"#;

/// The error of `GOOD` with one piece of text replaced.
fn error(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    let source = Source::new("bad.toml", &GOOD.replacen(old, new, 1));
    let mut device = mock();
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let result = launchfile::parse(&source)
        .map_err(Into::into)
        .and_then(|file| launchfile::run(&file, &examples(), None, &mut session));
    let error = result.expect_err("a mistake");
    assert_eq!(error.category, Category::BadInput, "{error}");
    error
        .text
        .replace(&examples().display().to_string(), "EXAMPLES")
}

#[test]
fn the_unchanged_file_is_good() {
    let mut device = mock();
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let file = launchfile::parse(&Source::new("good.toml", GOOD)).unwrap();
    launchfile::run(&file, &examples(), None, &mut session).unwrap();
}

#[test]
fn mistakes_point_at_their_place() {
    let cases = [
        ("no schema", "schema = 1\n", ""),
        ("wrong schema", "schema = 1", "schema = 2"),
        ("not toml", "grid = 1", "grid = = 1"),
        ("unknown key", "ptx =", "ptxx ="),
        ("unknown key of a buffer", "count = 8", "cuont = 8"),
        ("unknown type", "\"u32\"", "\"u31\""),
        ("no count", "count = 8\n", ""),
        (
            "two kinds of contents",
            "count = 8",
            "count = 8\nfill = 1\nrandom = [0, 1]",
        ),
        ("value out of range", "values = [1]", "values = [1, -1]"),
        ("random bounds", "count = 8", "count = 8\nrandom = [5, 1]"),
        (
            "float bounds for integers",
            "count = 8",
            "count = 8\nrandom = [0.5, 1.5]",
        ),
        ("too large", "count = 8", "count = 99999999999"),
        ("no such file", "count = 8", "file = \"nowhere.npy\""),
        ("no step", "[[steps]]\nlaunch", "[[outputs]]\nlaunch"),
        ("step without a kind", "launch = \"advance\"\n", ""),
        (
            "step with a slip",
            "launch = \"advance\"",
            "lanch = \"advance\"",
        ),
        ("unknown kernel", "\"advance\"", "\"advacne\""),
        ("ambiguous kernel", "\"advance\"", "\"bfs\""),
        ("grid of zero", "grid = 1", "grid = 0"),
        ("four dimensions", "grid = 1", "grid = [1, 1, 1, 1]"),
        ("too many threads", "block = 32", "block = [64, 32]"),
        ("unknown buffer", "[\"a\", \"a\"", "[\"a\", \"agian\""),
        ("number without a type", "{ u32 = 8 }", "8"),
        ("unknown scalar type", "{ u32 = 8 }", "{ u23 = 8 }"),
        ("scalar does not fit", "{ u32 = 8 }", "{ u8 = 256 }"),
        ("wrong size", "{ u32 = 8 }", "{ u64 = 8 }"),
        ("too few arguments", ", { u32 = 8 }", ""),
        (
            "odd hexadecimal digits",
            "{ u32 = 8 }",
            "{ bytes = \"abc\" }",
        ),
        (
            "offset beyond the buffer",
            "[\"a\",",
            "[{ buffer = \"a\", offset = 9 },",
        ),
        (
            "registers out of range",
            "block = 32",
            "block = 32\nregisters = 0",
        ),
        ("unknown output buffer", "buffer = \"a\"", "buffer = \"b\""),
        ("output with nothing to do", "expect = 0\n", ""),
        ("wrong number of values", "expect = 0", "expect = [0, 0]"),
        (
            "compare and expect",
            "expect = 0",
            "expect = 0\ncompare = \"x.npy\"",
        ),
        (
            "negative tolerance",
            "expect = 0",
            "expect = 0\ntolerance = { absolute = -1 }",
        ),
        (
            "write to nowhere",
            "expect = 0",
            "write = \"no/such/dir/out.npy\"",
        ),
        (
            "unknown symbol",
            "[[steps]]",
            "[symbols.table]\ntype = \"u32\"\n[[steps]]",
        ),
        (
            "texture too small",
            "[[steps]]",
            "[textures.t]\nbuffer = \"a\"\nsize = [3, 3]\n[[steps]]",
        ),
        ("ptx not there", "bfs/bfs.ptx", "bfs/bsf.ptx"),
    ];
    let mut all = String::new();
    for (name, old, new) in cases {
        all += &format!("=== {name}\n{}\n\n", error(old, new));
    }
    insta::assert_snapshot!(all);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Damaged launch files are errors or launch files, never panics.
    #[test]
    fn damaged_files_do_not_panic(
        which in 0..3usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..6, any::<u8>(), any::<prop::sample::Index>()), 1..8),
    ) {
        let text = match which {
            0 => GOOD.to_string(),
            1 => std::fs::read_to_string(examples().join("bfs/bfs.toml")).unwrap(),
            _ => std::fs::read_to_string(examples().join("vector-add/vector-add.toml")).unwrap(),
        };
        let tokens = ["[[steps]]", "[[steps.steps]]", "while = \"a\"", "=", "{", "]", "\"", "-1", "1e999", "nan", "[buffers.a]", "é", "1979-05-27"];
        let mut bytes = text.into_bytes();
        for (at, kind, byte, token) in edits {
            if bytes.is_empty() { break; }
            let i = at.index(bytes.len());
            match kind {
                0 => { bytes.remove(i); }
                1 => bytes.insert(i, byte),
                2 => bytes[i] = byte,
                3 => { let end = (i + usize::from(byte)).min(bytes.len()); bytes.drain(i..end); }
                4 => { bytes.splice(i..i, tokens[token.index(tokens.len())].bytes()); }
                _ => { let tail = bytes[i..].to_vec(); bytes.extend(tail.into_iter().take(64)); }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(e) = launchfile::parse(&Source::new("fuzz.toml", &text)) {
            prop_assert!(!e.to_string().is_empty());
        }
    }
}

#[test]
fn arguments_of_the_wrong_type_are_refused() {
    let shown = error("{ u32 = 8 }", "{ f32 = 8.0 }");
    assert!(shown.contains("argument 5 is f32, but"), "{shown}");
    assert!(
        shown.contains("takes an integer; write `{ u32 = ... }`"),
        "{shown}"
    );
    assert!(shown.contains("bad.toml:13"), "{shown}");
}

#[test]
fn expressions_are_checked_where_they_stand() {
    let shown = error("count = 8", "count = \"n * 2\"");
    assert!(shown.contains("there is no parameter `n`"), "{shown}");
    assert!(shown.contains("bad.toml:5:10"), "{shown}");
    let shown = error("count = 8", "count = \"8 / 0\"");
    assert!(shown.contains("division by zero"), "{shown}");
    let shown = error("schema = 1", "schema = 1\n[param]\nn = \"m\"");
    assert!(shown.contains("there is no parameter `m`"), "{shown}");
    let shown = error("schema = 1", "schema = 1\nparam = 3");
    assert!(shown.contains("`param` is a table"), "{shown}");
    let shown = error("count = 8", "count = \"1.5 * 2\"");
    assert!(shown.contains("takes an integer"), "{shown}");
}

#[test]
fn kernels_and_writes_are_checked() {
    let kernels = "[[steps]]";
    let shown = error(kernels, "[kernels.advacne]\nregisters = 20\n[[steps]]");
    assert!(shown.contains("no kernel is called `advacne`"), "{shown}");
    let shown = error(
        kernels,
        "[[steps]]\nwrite = \"b\"\nfile = \"bfs/bfs.toml\"\n[[steps]]",
    );
    assert!(
        shown.contains("there is no buffer or variable `b`"),
        "{shown}"
    );
    let shown = error(
        kernels,
        "[[steps]]\nwrite = \"a\"\nfile = \"bfs/bfs.toml\"\n[[steps]]",
    );
    assert!(
        shown.contains("do not fit in `a`, which has 32 there"),
        "{shown}"
    );
}
