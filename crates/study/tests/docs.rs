//! docs/studies.md and docs/study-files.md show studies that run.

use crate::common;

use common::Scratch;
use std::path::{Path, PathBuf};
use warpsim_present::Source;
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

/// The pages, with their paths.
fn pages() -> Vec<(PathBuf, String)> {
    let docs = std::fs::read_dir(root().join("docs")).expect("the pages");
    let docs = docs.map(|entry| entry.expect("an entry").path());
    let pages = docs.filter(|p| p.extension().is_some_and(|e| e == "md"));
    let pages = pages.chain([root().join("README.md")]);
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a page");
        (path, text)
    };
    pages.map(read).collect()
}

/// A study that comes with warpsim.
fn study(name: &str) -> Option<format::Study> {
    let source = Source::new(name, embedded::text(name)?);
    Some(format::parse(&source).expect("a good study"))
}

fn blessed() -> bool {
    std::env::var_os("WARPSIM_BLESS").is_some()
}

/// Before anything is kept of a study, too.
#[test]
fn pages_quote_what_their_studies_have() {
    let mut seen = 0;
    for (path, page) in pages() {
        for (name, what) in numbers::quoted(&page) {
            let here = format!("{}: `{name} {what}`", path.display());
            let study = study(name).unwrap_or_else(|| panic!("{here}: there is no such study"));
            let words: Vec<&str> = what.split(' ').collect();
            let Some(id) = words.get(1) else {
                continue;
            };
            let figure = study.figures.iter().find(|f| f.id.value == *id);
            let figure = figure.unwrap_or_else(|| panic!("{here}: there is no such figure"));
            let named =
                |all: &[format::At<String>], name: &str| all.iter().any(|n| n.value == name);
            if let [_, _, group, configuration] = words.as_slice() {
                let all = *group == "all" && figure.groups.len() > 1;
                assert!(all || named(&figure.groups, group), "{here}: no such group");
                let there = named(&figure.configurations, configuration);
                assert!(there, "{here}: no such configuration");
            }
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen} marks about figures");
}

#[test]
fn the_numbers_of_pages_are_those_of_kept_results() {
    for (path, page) in pages() {
        let name = path.display();
        let written = numbers::written(&page, &kept).unwrap_or_else(|e| panic!("{name}, {e}"));
        if blessed() {
            std::fs::write(&path, written).expect("written");
        } else {
            assert!(
                written == page,
                "{name}: its numbers are not those of studies/results; run this test with WARPSIM_BLESS=1"
            );
        }
    }
}

/// What a page's picture is to be where it is not that of the kept results: the one that the study drew, if that is.
fn drawn_anew(hash: &str, shown: &[u8], drawn: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, String> {
    let kept = |picture: &[u8]| numbers::hash(picture) == hash;
    match drawn {
        _ if kept(shown) => Ok(None),
        Some(drawn) if kept(&drawn) => Ok(Some(drawn)),
        Some(_) => Err("neither it nor the one in the study's folder is of the kept results".into()),
        None => Err("it is not of the kept results; run this test with WARPSIM_BLESS=1, and WARPSIM_RESULTS=DIR \
                     where the study's folder is not in results".into()),
    }
}

/// `docs/pictures/STUDY-FIGURE.svg` is the study's `figures/FIGURE.svg`.
#[test]
fn the_pictures_of_pages_are_those_of_kept_results() {
    let results = std::env::var_os("WARPSIM_RESULTS").map(PathBuf::from);
    let results = results.unwrap_or_else(|| root().join("results"));
    let mut seen = 0;
    for name in embedded::names() {
        for figure in study(name).expect("a study").figures {
            let figure = figure.id.value;
            let path = root().join(format!("docs/pictures/{name}-{figure}.svg"));
            let Ok(shown) = std::fs::read(&path) else {
                continue;
            };
            seen += 1;
            let Some(kept) = kept(name) else {
                println!(
                    "nothing is kept of study {name}: {} is not held",
                    path.display()
                );
                continue;
            };
            let hash = kept["pictures"][&figure].as_str().unwrap_or_default();
            let drawn = results.join(format!("{name}/figures/{figure}.svg"));
            let drawn = blessed().then(|| std::fs::read(drawn).ok()).flatten();
            match drawn_anew(hash, &shown, drawn) {
                Ok(None) => {}
                Ok(Some(drawn)) => std::fs::write(&path, drawn).expect("written"),
                Err(why) => panic!("{}: {why}", path.display()),
            }
        }
    }
    assert!(seen >= 2, "{seen} pictures of studies");
}

#[test]
fn a_picture_is_taken_from_the_folder_of_the_kept_results_alone() {
    let hash = numbers::hash(b"new");
    assert_eq!(drawn_anew(&hash, b"new", None), Ok(None));
    let new = Some(b"new".to_vec());
    assert_eq!(drawn_anew(&hash, b"old", new.clone()), Ok(new));
    let other = drawn_anew(&hash, b"old", Some(b"other".to_vec()));
    assert!(other.is_err_and(|e| e.contains("neither")));
    assert!(drawn_anew(&hash, b"old", None).is_err_and(|e| e.contains("WARPSIM_BLESS")));
}
