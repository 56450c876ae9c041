//! Every file of `tests/corpus` parses, and printing it and parsing the result gives the
//! same tree.

use std::collections::HashSet;
use std::path::PathBuf;
use warpsim_ptx::ast::{Item, Module, Statement};
use warpsim_ptx::isa::Op;
use warpsim_ptx::{diagnostic, parse, print};

fn corpus() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the corpus folder") {
        let path = entry.expect("a folder entry").path();
        if path.extension().is_some_and(|ext| ext == "ptx") {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            files.push((name, std::fs::read_to_string(&path).expect("readable PTX")));
        }
    }
    files.sort();
    files
}

fn parsed(name: &str, text: &str) -> Module {
    parse(text).unwrap_or_else(|errors| panic!("{}", diagnostic::render_all(&errors, name, text)))
}

#[test]
fn printing_and_parsing_again_gives_the_same_tree() {
    let files = corpus();
    assert!(
        files.len() >= 15,
        "the corpus is incomplete: {} files",
        files.len()
    );
    for (name, text) in files {
        let first = parsed(&name, &text);
        let printed = print(&first);
        let second = parsed(&format!("{name} (printed)"), &printed);
        assert_eq!(first, second, "{name}");
        assert_eq!(printed, print(&second), "{name}: printing is not stable");
    }
}

fn instructions(statements: &[Statement]) -> usize {
    let count = |statement: &Statement| match statement {
        Statement::Instruction(_) => 1,
        Statement::Block(inner) => instructions(inner),
        _ => 0,
    };
    statements.iter().map(count).sum()
}

/// An independent count: lines and what follows a `;`, if the first word (after a guard) is an opcode.
/// Guards against a parser that silently skips.
#[test]
fn no_instruction_is_lost() {
    let opcodes: HashSet<&str> = Op::ALL
        .iter()
        .filter_map(|op| op.text().split('.').next())
        .collect();
    let begins_instruction = |line: &&str| {
        let line = line.trim_start_matches(['{', '}', ' ', '\t']);
        let line = if line.starts_with('@') {
            line.split_once([' ', '\t']).map_or("", |(_, rest)| rest)
        } else {
            line
        };
        let word = line
            .trim_start()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next();
        word.is_some_and(|word| opcodes.contains(word))
    };
    for (name, text) in corpus() {
        let found: usize = parsed(&name, &text)
            .items
            .iter()
            .map(|item| match item {
                Item::Function(function) => instructions(function.body.as_deref().unwrap_or(&[])),
                _ => 0,
            })
            .sum();
        assert!(found > 0, "{name}: no instructions");
        assert_eq!(
            found,
            text.split(['\n', ';']).filter(begins_instruction).count(),
            "{name}"
        );
    }
}

/// A file of the size of the largest real ones: well under the seconds a quadratic parser
/// would take, with room for slow machines.
#[test]
fn ten_megabytes_are_read_in_about_a_second() {
    let (_, text) = corpus()
        .into_iter()
        .find(|(name, _)| name == "branch_nested.ptx")
        .expect("the file");
    let (head, kernel) = text.split_at(
        text.find(".visible")
            .or(text.find(".entry"))
            .expect("a kernel"),
    );
    let mut large = head.to_string();
    while large.len() < 10 << 20 {
        large.push_str(kernel);
        large.push('\n');
    }
    let start = std::time::Instant::now();
    let module = parsed("large", &large);
    let elapsed = start.elapsed();
    println!(
        "{} items, {} bytes in {elapsed:?}",
        module.items.len(),
        large.len()
    );
    assert!(module.items.len() > 1000);
    assert!(elapsed.as_secs() < 10, "{elapsed:?}");
}
