//! docs/studies.md and docs/study-files.md show studies that run.

use crate::common;

use common::Scratch;
use std::path::{Path, PathBuf};
use warpsim_study::runner::Silent;
use warpsim_study::store::Store;
use warpsim_study::{Choices, Plan, conduct, format};

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
