//! Files of tests that no program lists would pass without being run.

use std::fs;
use std::path::Path;

#[test]
fn every_file_of_tests_is_in_a_program() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut missing = Vec::new();
    let mut files = 0;
    for krate in fs::read_dir(crates).unwrap().map(|e| e.unwrap().path()) {
        let Ok(list) = fs::read_to_string(krate.join("tests/all.rs")) else {
            continue;
        };
        let manifest = fs::read_to_string(krate.join("Cargo.toml")).unwrap();
        for entry in fs::read_dir(krate.join("tests")).unwrap() {
            let path = entry.unwrap().path();
            let is_tests =
                path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").exists();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if !is_tests || name == "all" {
                continue;
            }
            files += 1;
            let listed = list.lines().any(|l| l == format!("mod {name};"));
            if !listed && !manifest.contains(&format!("[[test]]\nname = \"{name}\"")) {
                missing.push(format!("{}: {name}", krate.display()));
            }
        }
    }
    assert!(files > 80, "{files} files of tests");
    assert!(missing.is_empty(), "not run by any program: {missing:#?}");
}
