//! The guide holds together: every link, picture and heading it names is there, and every page is
//! in its table of contents. Nothing but the files is needed; `mdbook build` makes pages of them.

use crate::common;

use common::root;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Pages outside the book that link into it.
const OUTSIDE: [&str; 3] = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"];

/// Every file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn pages() -> Vec<PathBuf> {
    let all = files(&root().join("docs"));
    let page = |p: &PathBuf| p.extension().is_some_and(|e| e == "md");
    let outside = OUTSIDE.iter().map(|p| root().join(p));
    all.into_iter().filter(page).chain(outside).collect()
}

/// A page without its code, in which brackets mean other things.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Between backquotes is code too.
            let outside = line.split('`').step_by(2);
            out += &outside.collect::<Vec<_>>().join("code");
            out.push('\n');
        }
    }
    out
}

/// The targets of a page's links and pictures.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let links = prose.split("](").skip(1);
    links
        .filter_map(|rest| Some(rest.split(')').next()?.to_string()))
        .collect()
}

/// `path` without `..`, as far as names tell.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// What a heading is called in an address.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    found
}

#[test]
fn every_link_and_picture_resolves() {
    let docs = tidy(&root().join("docs"));
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("text");
        for target in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let place = match file {
                "" => tidy(&page),
                file => tidy(&page.parent().expect("a folder").join(file)),
            };
            let here = page.display();
            assert!(place.exists(), "{here} names {target}, which is not there");
            // mdBook copies what is in docs/ and nothing else.
            if tidy(&page).starts_with(&docs) {
                assert!(place.starts_with(&docs), "{here}: {target} leaves the book");
            }
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(&place).expect("text");
                assert!(
                    anchors(&there).contains(anchor),
                    "{here}: no heading {target}"
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked} links");
}

/// A file that a page shows stands in it as it is, behind a mark with its name, so that pages can be read
/// without mdBook too: `WARPSIM_BLESS=1` brings them up to date.
#[test]
fn every_shown_file_is_shown_as_it_is() {
    const MARK: &str = "<!-- file ";
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("text");
        let here = page.display();
        assert!(
            !text.contains("{{#include"),
            "{here}: only mdBook shows what is included"
        );
        let mut made = String::new();
        for (i, part) in text.split(MARK).enumerate() {
            if i == 0 {
                made += part;
                continue;
            }
            let (file, rest) = part.split_once(" -->\n").expect("the end of the mark");
            let place = page.parent().expect("a folder").join(file);
            let shown = std::fs::read_to_string(&place)
                .unwrap_or_else(|e| panic!("{here} shows {file}: {e}"));
            let (fence, rest) = rest.split_once('\n').expect("a line");
            assert!(fence.starts_with("```"), "{here}: {file} is code");
            let (_, after) = rest.split_once("\n```").expect("the end of the code");
            made += &format!(
                "{MARK}{file} -->\n{fence}\n{}\n```{after}",
                shown.trim_end()
            );
            checked += 1;
        }
        if std::env::var_os("WARPSIM_BLESS").is_some() {
            std::fs::write(&page, &made).expect("written");
        } else {
            assert!(made == text, "{here}: run this test with WARPSIM_BLESS=1");
        }
    }
    assert!(checked >= 6, "{checked}");
}

/// What a page shows of Rust is compiled: a whole file (`<!-- file NAME -->`, see above), or lines of one as they
/// stand there (`<!-- part NAME -->`).
#[test]
fn every_snippet_of_rust_stands_in_a_file_that_is_compiled() {
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("text");
        let here = page.display();
        for (i, _) in text.match_indices("\n```rust") {
            let (before, fence) = (&text[..i], &text[i + 1..]);
            let mark = before.lines().last().unwrap_or_default();
            let (_, rest) = fence.split_once('\n').expect("a line");
            let (snippet, _) = rest.split_once("\n```").expect("the end of the code");
            let name = ["<!-- file ", "<!-- part "]
                .iter()
                .find_map(|begin| mark.strip_prefix(begin)?.strip_suffix(" -->"))
                .unwrap_or_else(|| panic!("{here}: which file has\n{snippet}"));
            let place = tidy(&page.parent().expect("a folder").join(name));
            let of_crate = place.starts_with(tidy(&root().join("crates")));
            let of_guide = place.starts_with(tidy(&root().join("docs/guide")));
            assert!(of_crate || of_guide, "{here}: {name} is not compiled");
            let file = std::fs::read_to_string(&place)
                .unwrap_or_else(|e| panic!("{here} shows {name}: {e}"));
            assert!(file.contains(snippet), "{here}: {name} has not\n{snippet}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
    // Every file in docs/guide is compiled by that test.
    let compiled = root().join("crates/workloads/tests/guide.rs");
    let compiled = std::fs::read_to_string(compiled).expect("text");
    for file in files(&root().join("docs/guide")) {
        let name = file.file_name().expect("a name").to_string_lossy();
        assert!(
            compiled.contains(&format!("docs/guide/{name}\"]")),
            "{name}"
        );
    }
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("the table");
    let listed = targets(&summary);
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(
        once.len(),
        listed.len(),
        "a page is listed twice: {listed:?}"
    );
    for page in files(&docs) {
        let name = page.strip_prefix(&docs).expect("below it");
        let name = name.display().to_string().replace('\\', "/");
        if name.ends_with(".md") && name != "SUMMARY.md" {
            assert!(once.contains(&name), "{name} is not in SUMMARY.md");
        }
    }
}

/// Pictures are for pages: each is shown somewhere, says what it shows, and stays small.
#[test]
fn every_picture_is_shown_and_described() {
    let folder = root().join("docs/pictures");
    let pages: Vec<String> = pages()
        .iter()
        .map(|p| std::fs::read_to_string(p).expect("text"))
        .collect();
    let all = files(&folder);
    for picture in &all {
        let name = picture.file_name().expect("a name").to_string_lossy();
        let shown = format!("](pictures/{name})");
        let page = pages.iter().find(|p| p.contains(&shown));
        let page = page.unwrap_or_else(|| panic!("no page shows {name}"));
        let before = page.split(&shown).next().expect("text before");
        let described = before.rsplit_once("![").map_or("", |(_, words)| words);
        assert!(
            described.len() > 10,
            "{name} has no description: {described:?}"
        );
        let size = std::fs::metadata(picture).expect("a file").len();
        assert!(size < 200_000, "{name} has {size} bytes");
        if name.ends_with(".svg") {
            let text = std::fs::read_to_string(picture).expect("text");
            // Its own page colour, and another where the reader's is dark.
            assert!(
                text.contains("prefers-color-scheme"),
                "{name} has no dark colours"
            );
        }
    }
    assert!(all.len() >= 5, "{all:?}");
}
