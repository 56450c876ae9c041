//! Every instruction form of the survey has a file test.
//!
//! The list of forms is the one the parser is tested with. Forms without a file test stand in
//! `untested.txt` with the reason.

use super::directive::Plan;
use super::files::{files, root};
use super::table;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use warpsim_ptx::ast::{Item, Statement};

fn collect(statements: &[Statement], into: &mut BTreeSet<String>) {
    for statement in statements {
        match statement {
            Statement::Instruction(i) => {
                into.insert(i.text.to_string());
            }
            Statement::Block(inner) => collect(inner, into),
            _ => {}
        }
    }
}

/// Opcode and modifiers of every instruction in a PTX text; nothing of a text that is not PTX.
fn mnemonics(text: &str, into: &mut BTreeSet<String>) {
    let Ok(module) = warpsim_ptx::parse(text) else {
        return;
    };
    for item in &module.items {
        if let Item::Function(function) = item {
            collect(function.body.as_deref().unwrap_or(&[]), into);
        }
    }
}

/// Everything the file tests execute.
fn tested() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(&root(), "ptx") {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // What a refused file holds is not executed.
        let executed = |plan: Plan| {
            let refused = |text: &String| text.contains("not supported");
            plan.errors.is_empty() && !plan.faults.iter().any(refused)
        };
        if Plan::parse(&text).is_ok_and(executed) {
            mnemonics(&text, &mut found);
        }
    }
    for path in files(&root(), "table") {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for case in table::parse(&text).iter().flatten() {
            mnemonics(&case.ptx(), &mut found);
        }
    }
    found
}

/// `form  reason` a line.
fn untested() -> BTreeMap<String, String> {
    include_str!("untested.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (form, reason) = line.split_once(' ').unwrap_or((line, ""));
            (form.to_string(), reason.trim().to_string())
        })
        .collect()
}

/// Forms of the list that are executed at all.
fn surveyed() -> BTreeSet<String> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx/tests/forms.txt");
    let text = std::fs::read_to_string(&list).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
    let supported = |form: &str| {
        let mut here = BTreeSet::new();
        let module = format!(".version 8.6\n.target sm_90a\n.entry k() {{ L: {form} }}");
        mnemonics(&module, &mut here);
        let parsed = warpsim_ptx::parse(&module).ok()?;
        let Some(Item::Function(function)) = parsed.items.first() else {
            return None;
        };
        let instruction = function.body.as_ref()?.iter().find_map(|s| match s {
            Statement::Instruction(i) => Some(i.op.is_supported()),
            _ => None,
        });
        instruction?.then(|| here.into_iter().next()).flatten()
    };
    text.lines().filter_map(supported).collect()
}

#[test]
fn every_surveyed_form_has_a_file_test() {
    let (tested, untested, surveyed) = (tested(), untested(), surveyed());
    assert!(surveyed.len() > 600, "only {} forms listed", surveyed.len());
    let missing: Vec<_> = surveyed
        .iter()
        .filter(|form| !tested.contains(*form) && !untested.contains_key(*form))
        .cloned()
        .collect();
    let n = missing.len();
    assert!(n == 0, "{n} forms without test:\n{}", missing.join("\n"));
    for (form, reason) in &untested {
        assert!(!reason.is_empty(), "{form} is excused without a reason");
        assert!(!tested.contains(form), "{form} is excused and tested");
    }
}
