//! Every example launch file runs on the simulated GPU and gives the right result, with timing
//! and without.

mod common;

use common::{root, succeeds};

#[test]
fn every_example_is_correct() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("examples")).expect("examples") {
        let directory = entry.expect("an entry").path();
        let name = directory.file_name().expect("a name").display().to_string();
        let file = directory.join(format!("{name}.toml")).display().to_string();
        for how in [&["run", &file][..], &["run", &file, "--functional"]] {
            let shown = succeeds(how);
            assert!(
                shown.contains("result            correct"),
                "{name}:\n{shown}"
            );
        }
        found.push(name);
    }
    found.sort();
    for name in [
        "bfs",
        "struct-argument",
        "symbols",
        "textures",
        "vector-add",
    ] {
        assert!(
            found.iter().any(|f| f == name),
            "examples/{name} is missing"
        );
    }
}

#[test]
fn textures_and_constants_go_through_their_caches() {
    for (name, cache) in [("textures", "texture"), ("symbols", "constant")] {
        let file = root().join(format!("examples/{name}/{name}.toml"));
        let shown = succeeds(&["run", &file.display().to_string()]);
        let row = shown.lines().find(|l| l.trim_start().starts_with(cache));
        assert!(row.is_some(), "{name}:\n{shown}");
    }
}
