//! The parts of this crate stand on floors, and each uses only those below it.
//!
//! Parts that use one another can be read, built and tested only together, and within a crate the compiler
//! does not mind.

use std::path::Path;

/// From the ground up.
const FLOORS: [&str; 19] = [
    // Other crates, by the names they have here, and what everything uses.
    "lanes",
    "place",
    "exec",
    "time",
    "replacement",
    "memory",
    "fixed_list",
    // What SMs choose by, and what is counted.
    "prefetch",
    "stats",
    "power",
    "divergence",
    "schedule",
    "fetch",
    // All of these together make machines that can be chosen.
    "config",
    "mechanism",
    "occupancy",
    "observe",
    "sm",
    "lib",
];

/// Parts that stand beside `sm`, and are used by none of these.
const ASIDE: [&str; 3] = ["area", "virtual_storage", "phases"];

/// Path and text of every source file that is no test.
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("sources are there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        // `laws.rs` is a file of tests.
        if name.contains("test") || name == "laws.rs" {
            continue;
        } else if path.is_dir() {
            sources(&path, found);
        } else {
            let text = std::fs::read_to_string(&path).expect("a text");
            let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
            let code = own.lines().filter(|l| !l.trim_start().starts_with("//"));
            let code = code.collect::<Vec<_>>().join("\n");
            found.push((path.display().to_string(), code));
        }
    }
}

/// The parts that a text names: `crate::part::…`, or those in `crate::{part::…, part}`.
fn named(text: &str) -> Vec<String> {
    let word = |t: &str| -> String {
        let letters = t.trim_start().chars();
        letters
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let mut all = Vec::new();
    for (at, start) in text.match_indices("crate::") {
        // In a macro it is for those who use that.
        if text[..at].ends_with('$') {
            continue;
        }
        let rest = &text[at + start.len()..];
        match rest.strip_prefix('{').and_then(|r| r.split('}').next()) {
            Some(list) => all.extend(list.split(',').map(word)),
            None => all.push(word(rest)),
        }
    }
    all.retain(|name| !name.is_empty());
    all
}

#[test]
fn parts_use_only_what_is_below_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    sources(&folder, &mut found);
    let floor = |part: &str| match ASIDE.contains(&part) {
        true => FLOORS.iter().position(|p| *p == "sm"),
        false => FLOORS.iter().position(|p| *p == part),
    };
    let mut uses = 0;
    for (path, text) in &found {
        let below = Path::new(path).strip_prefix(&folder).expect("in it");
        let first = below.components().next().expect("a part").as_os_str();
        let part = first.to_string_lossy().replace(".rs", "");
        let here = floor(&part).unwrap_or_else(|| panic!("{part} has no floor"));
        for other in named(text) {
            if other == part {
                continue;
            }
            let there = floor(&other).unwrap_or_else(|| panic!("{path}: {other} has no floor"));
            assert!(there < here, "{path} uses {other}, which is above it");
            uses += 1;
        }
    }
    assert!(uses > 200, "{uses} uses found: the search is broken");
}
