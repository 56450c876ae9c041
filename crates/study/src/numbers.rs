//! Numbers of pages that come from studies: between two marks stands what the study's kept results say.
//!
//! ```text
//! <!-- numbers STUDY WHAT -->text<!-- end numbers -->
//! ```
//!
//! `WHAT` is `learned` (three sentences), `headlines` or `kinds` (tables), `claims` (how many hold of those that were
//! tested), `held` (that by kind), `table` with a figure's id (its averages beside the paper's), or `ours`, `spread` or `paper` with a figure's
//! id, a group (or `all`) and a configuration. Where nothing is kept of a study, its numbers stay as they are.

use crate::results::key::sha256;
use serde_json::Value;

const BEGIN: &str = "<!-- numbers ";
const END: &str = "<!-- end numbers -->";

/// The studies whose numbers a page quotes.
pub fn quoted(page: &str) -> Vec<&str> {
    let marks = page.split(BEGIN).skip(1);
    let mut names: Vec<&str> = marks.filter_map(|m| m.split(' ').next()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What a picture is known by in kept results.
pub fn hash(picture: &[u8]) -> String {
    sha256(picture)
}

/// The page with its numbers as `kept` has them; what is wrong with a mark, if something is.
pub fn written(page: &str, kept: &dyn Fn(&str) -> Option<Value>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let line = page[..page.len() - after.len()].lines().count();
        let wrong = |text: String| format!("line {line}: {text}");
        let (mark, after) = after
            .split_once(" -->")
            .ok_or_else(|| wrong("this mark does not end with `-->`".into()))?;
        let (old, after) = after
            .split_once(END)
            .ok_or_else(|| wrong(format!("`{mark}` has no `{END}`")))?;
        let (study, what) = mark
            .split_once(' ')
            .ok_or_else(|| wrong(format!("`{mark}` says of which study, but not what")))?;
        let text = match kept(study) {
            Some(results) => text(&results, what).map_err(wrong)?,
            None => old.to_string(),
        };
        out += &format!("{before}{BEGIN}{mark} -->{text}{END}");
        rest = after;
    }
    Ok(out + rest)
}

/// What stands between the marks.
fn text(kept: &Value, what: &str) -> Result<String, String> {
    let lacking = || format!("the kept results have no `{what}`");
    let words: Vec<&str> = what.split_whitespace().collect();
    match words.as_slice() {
        ["learned"] => {
            let said = kept["learned"].as_array().ok_or_else(lacking)?;
            let said: Vec<&str> = said.iter().filter_map(Value::as_str).collect();
            Ok(said.join(" "))
        }
        ["claims"] => {
            let of = |key: &str| kept["claims"][key].as_u64().ok_or_else(lacking);
            Ok(format!("{} of {}", of("holds")?, of("tested")?))
        }
        ["held"] => held(kept).ok_or_else(lacking),
        ["headlines"] => headlines(kept).ok_or_else(lacking),
        ["kinds"] => kinds(kept).ok_or_else(lacking),
        ["table", figure] => table(&kept["averages"][*figure]).ok_or_else(lacking),
        [
            key @ ("ours" | "spread" | "paper"),
            figure,
            group,
            configuration,
        ] => {
            let value = &kept["averages"][*figure][*group][*configuration][*key];
            Ok(value.as_str().ok_or_else(lacking)?.to_string())
        }
        _ => Err(format!(
            "`{what}` is none of: learned, claims, held, headlines, kinds, table FIGURE, ours|spread|paper FIGURE GROUP CONFIGURATION"
        )),
    }
}

/// A cell of a table.
fn cell(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('|', "\\|")
}

fn headlines(kept: &Value) -> Option<String> {
    let mut out = String::from(
        "\n\n| claim | the paper | ours | lowest to highest repeat | | why |\n|---|---|---|---|---|---|\n",
    );
    for name in kept["headlines"].as_array()? {
        let claim = &kept["verdicts"][name.as_str()?];
        let cells = ["paper", "ours", "spread", "verdict", "cause"].map(|key| cell(&claim[key]));
        out += &format!("| {} | {} |\n", cell(name), cells.join(" | "));
    }
    Some(out + "\n")
}

fn held(kept: &Value) -> Option<String> {
    let mut told = Vec::new();
    for (kind, counts) in kept["kinds"].as_object()? {
        let (holds, tested) = (counts["holds"].as_u64()?, counts["tested"].as_u64()?);
        if tested > 0 {
            told.push(format!("{holds} of {tested} {kind}"));
        }
    }
    Some(told.join(", "))
}

fn kinds(kept: &Value) -> Option<String> {
    let columns = ["holds", "fails", "within scatter", "untested", "vacuous"];
    let mut out = format!(
        "\n\n| | {} |\n|---|---|---|---|---|---|\n",
        columns.join(" | ")
    );
    for (kind, counts) in kept["kinds"].as_object()? {
        let numbers = columns.map(|c| counts[c].as_u64().unwrap_or(0).to_string());
        out += &format!("| {kind} | {} |\n", numbers.join(" | "));
    }
    Some(out + "\n")
}

/// A figure's averages: a line for each configuration, columns for each group and for what the paper has of it.
fn table(groups: &Value) -> Option<String> {
    let groups = groups.as_object()?;
    let printed = |cells: &Value| {
        let mut all = cells.as_object().into_iter().flat_map(|c| c.values());
        all.any(|cell| cell["paper"].is_string())
    };
    let mut head = String::from("|");
    let mut names: Vec<&String> = Vec::new();
    for (group, cells) in groups {
        head += &format!(" | {group}");
        if printed(cells) {
            head += " | paper";
        }
        let configurations = cells.as_object()?.keys();
        let new: Vec<&String> = configurations.filter(|c| !names.contains(c)).collect();
        names.extend(new);
    }
    let columns = head.matches('|').count();
    let mut out = format!("\n\n{head} |\n|---|{}\n", "---:|".repeat(columns - 1));
    for name in names {
        out += &format!("| `{name}`");
        for cells in groups.values() {
            let value = &cells[name.as_str()];
            out += &format!(" | {}", cell(&value["ours"]));
            if printed(cells) {
                out += &format!(" | {}", cell(&value["paper"]));
            }
        }
        out += " |\n";
    }
    Some(out + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kept(name: &str) -> Option<Value> {
        let found = json!({
            "learned": ["One.", "Two."],
            "claims": { "holds": 2, "tested": 5 },
            "kinds": { "sizes": { "holds": 1, "fails": 2, "tested": 3 } },
            "headlines": ["a is fast"],
            "verdicts": { "a is fast": { "paper": "+8%", "ours": "+7.0%", "verdict": "holds" } },
            "averages": { "fig8": { "all": { "gto": { "ours": "+8.1%", "paper": "+8.4%" } } } },
        });
        (name == "s").then_some(found)
    }

    #[test]
    fn numbers_are_those_of_the_kept_results() {
        let page = "gto gains <!-- numbers s ours fig8 all gto -->+1%<!-- end numbers --> here,\n\
                    <!-- numbers s claims --><!-- end numbers --> hold.";
        let now = written(page, &kept).expect("good marks");
        assert!(
            now.contains("gto -->+8.1%<!-- end numbers --> here"),
            "{now}"
        );
        assert!(
            now.contains("claims -->2 of 5<!-- end numbers --> hold."),
            "{now}"
        );
        assert_eq!(written(&now, &kept).expect("good marks"), now);
        assert_eq!(quoted(page), ["s"]);
        let tables = "<!-- numbers s headlines --><!-- end numbers --><!-- numbers s kinds --><!-- end numbers -->";
        let now = written(tables, &kept).expect("good marks");
        assert!(
            now.contains("| a is fast | +8% | +7.0% |  | holds |  |\n"),
            "{now}"
        );
        assert!(now.contains("| sizes | 1 | 2 | 0 | 0 | 0 |\n"), "{now}");
        let table = "<!-- numbers s table fig8 --><!-- end numbers -->";
        let now = written(table, &kept).expect("good marks");
        let shown = "\n\n| | all | paper |\n|---|---:|---:|\n| `gto` | +8.1% | +8.4% |\n\n<!-- end";
        assert!(now.contains(shown), "{now}");
        let held = "<!-- numbers s held --><!-- end numbers -->";
        let now = written(held, &kept).expect("good marks");
        assert!(now.contains("held -->1 of 3 sizes<!--"), "{now}");
        let other = page.replace("numbers s", "numbers other");
        assert_eq!(
            written(&other, &kept).expect("good marks"),
            other,
            "nothing is kept of it"
        );
    }

    #[test]
    fn a_wrong_mark_is_named_with_its_line() {
        for (page, said) in [
            ("<!-- numbers t claims -->", "has no `<!-- end numbers -->`"),
            ("<!-- numbers s learned", "does not end with"),
            ("<!-- numbers s clams --><!-- end numbers -->", "is none of"),
            (
                "<!-- numbers s ours fig9 all gto --><!-- end numbers -->",
                "have no `ours fig9",
            ),
            ("<!-- numbers s --><!-- end numbers -->", "but not what"),
        ] {
            let error = written(&format!("a\nb {page}"), &kept).expect_err("refused");
            assert!(
                error.starts_with("line 2: ") && error.contains(said),
                "{error}"
            );
        }
    }
}
