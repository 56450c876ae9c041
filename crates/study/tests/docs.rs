//! docs/studies.md and docs/study-files.md show studies that run.

use crate::common;

use common::Scratch;
use std::path::{Path, PathBuf};
use warpsim_study::runner::Silent;
use warpsim_study::store::Store;
use warpsim_study::{Choices, Plan, conduct, embedded, format, numbers};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_studies_of_the_pages_are_files_that_run() {
    let page = |name: &str| std::fs::read_to_string(root().join(name)).expect("the page");
    let page = page("docs/studies.md") + &page("docs/study-files.md");
    let mut seen = 0;
    for block in page.split("```toml\n# ").skip(1) {
        let block = block.split("```").next().expect("a block");
        let (file, text) = block.split_once('\n').expect("a name");
        let path = root().join(file);
        let stored = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert_eq!(stored, text, "{file} and its page differ");
        let study = format::read(&path).expect("a good study");
        let plan = Plan::new(study, &Choices::default()).expect("a good plan");
        let scratch = Scratch::new(&format!("docs-{seen}"));
        let store = Store::open(&scratch.path().join("r"), &plan.study.name).expect("a folder");
        let conclusion = conduct(&plan, &store, 2, "", &mut Silent).expect("a result");
        assert!(conclusion.failures.is_empty(), "{file}");
        assert!(conclusion.missing.is_empty(), "{file}");
        seen += 1;
    }
    assert_eq!(seen, 2);
}

/// What is kept of a study, where something is.
fn kept(name: &str) -> Option<serde_json::Value> {
    let path = root().join(format!("studies/results/{name}.json"));
    let text = std::fs::read_to_string(path).ok()?;
    Some(serde_json::from_str(&text).expect("kept results are JSON"))
}

#[test]
fn the_numbers_of_pages_are_those_of_kept_results() {
    let docs = std::fs::read_dir(root().join("docs")).expect("the pages");
    let docs = docs.map(|entry| entry.expect("an entry").path());
    let pages = docs.filter(|p| p.extension().is_some_and(|e| e == "md"));
    for path in pages.chain([root().join("README.md")]) {
        let page = std::fs::read_to_string(&path).expect("a page");
        let name = path.display();
        for study in numbers::quoted(&page) {
            let known = embedded::text(study).is_some();
            assert!(known, "{name}: no study is called `{study}`");
        }
        let written = numbers::written(&page, &kept).unwrap_or_else(|e| panic!("{name}, {e}"));
        if std::env::var_os("WARPSIM_BLESS").is_some() {
            std::fs::write(&path, written).expect("written");
        } else {
            assert!(
                written == page,
                "{name}: its numbers are not those of studies/results; run this test with WARPSIM_BLESS=1"
            );
        }
    }
}

#[test]
fn the_pictures_of_pages_are_those_of_kept_results() {
    for name in embedded::names() {
        let Some(kept) = kept(name) else {
            continue;
        };
        for (figure, hash) in kept["pictures"].as_object().expect("pictures") {
            let path = root().join(format!("docs/pictures/{name}-{figure}.svg"));
            let Ok(picture) = std::fs::read(&path) else {
                continue;
            };
            assert!(
                numbers::hash(&picture) == *hash,
                "{}: copy figures/{figure}.svg of the study's folder here",
                path.display()
            );
        }
    }
}
