//! The modules of this crate use only what is below them.
//!
//! A circle of imports means that none of its files can be read, tested or changed without the
//! others, and the compiler does not mind one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Parts of the crate from the bottom up: a part may use those on lines before its own, and those
/// named before it on the same line.
const LAYERS: [&[&str]; 7] = [
    &["memory", "iterations", "rows", "state", "fault", "grid"],
    &["op"],
    &["float", "arith", "access", "texture", "control", "matrix"],
    &["decode"],
    &["code", "step", "launch"],
    &["machine_code"],
    &["functional"],
];

/// Every file below `folder` as its path of module names and its text without its tests.
fn modules(folder: &Path, above: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .expect("sources are there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let mut module = above.to_vec();
        if path.is_dir() {
            module.push(name.into_owned());
            modules(&path, &module, found);
        } else if !name.contains("test") {
            if name != "mod" && name != "lib" {
                module.push(name.into_owned());
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let own = text.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
            found.push((module, own.to_string()));
        }
    }
}

/// What follows each `start` in the text, as a path: `a::b`, or `a::{b, c}` with one name each.
fn paths_after(text: &str, start: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (at, _) in text.match_indices(start) {
        let rest = &text[at + start.len()..];
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
            .unwrap_or(rest.len());
        let stem: Vec<String> = rest[..end]
            .split("::")
            .filter(|n| !n.is_empty())
            .map(String::from)
            .collect();
        match rest[end..]
            .strip_prefix('{')
            .and_then(|r| r.split('}').next())
        {
            None => paths.push(stem),
            Some(names) => {
                for name in names.split(',') {
                    let name = name.split_whitespace().next().unwrap_or("");
                    let mut path = stem.clone();
                    path.extend(name.split("::").map(String::from));
                    paths.push(path);
                }
            }
        }
    }
    paths
}

/// Modules that each module names, by their paths within the crate.
fn uses() -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    modules(&folder, &[], &mut found);
    let names: BTreeSet<Vec<String>> = found.iter().map(|(name, _)| name.clone()).collect();
    let mut graph = BTreeMap::new();
    for (name, text) in &found {
        let mut used = BTreeSet::new();
        let code: String = text
            .lines()
            .filter(|l| !l.trim_start().starts_with("//"))
            .map(|l| format!("{l}\n"))
            .collect();
        let from_root = paths_after(&code, "crate::");
        let parent = &name[..name.len().saturating_sub(1)];
        let from_parent = paths_after(&code, "super::")
            .into_iter()
            .map(|path| [parent, &path].concat());
        for path in from_root.into_iter().chain(from_parent) {
            // The longest beginning that is a module.
            let module = (1..=path.len())
                .rev()
                .map(|n| path[..n].to_vec())
                .find(|p| names.contains(p));
            used.extend(module.filter(|m| m != name));
        }
        graph.insert(name.clone(), used);
    }
    graph
}

#[test]
fn parts_use_only_what_is_below_them() {
    let order: Vec<&str> = LAYERS.iter().flat_map(|l| l.iter().copied()).collect();
    let place = |part: &str| order.iter().position(|p| *p == part);
    let mut edges = 0;
    for (module, used) in uses() {
        let Some(part) = module.first() else {
            continue;
        };
        let here = place(part).unwrap_or_else(|| panic!("{part} has no layer"));
        for other in used.iter().filter(|o| o[0] != *part) {
            let there = place(&other[0]).unwrap_or_else(|| panic!("{} has no layer", other[0]));
            assert!(there < here, "{module:?} uses {other:?}, which is above it");
            edges += 1;
        }
    }
    assert!(edges > 50, "{edges} uses found: the search is broken");
}

#[test]
fn modules_of_one_part_do_not_form_circles() {
    let mut left = uses();
    loop {
        let free: Vec<Vec<String>> = left
            .iter()
            .filter(|(_, used)| !used.iter().any(|u| left.contains_key(u)))
            .map(|(name, _)| name.clone())
            .collect();
        if free.is_empty() {
            break;
        }
        for name in free {
            left.remove(&name);
        }
    }
    assert!(left.is_empty(), "these use one another: {:?}", left.keys());
}
