//! Numbers of pages that come from studies: between two marks stands what the study's kept results say.
//!
//! ```text
//! <!-- numbers STUDY WHAT -->text<!-- end numbers -->
//! ```
//!
//! `WHAT` is `learned` (three sentences), `headlines` or `kinds` (tables), `claims` (how many hold of those that were
//! tested), `held` (that by kind), `table` with a figure's id (its averages beside the paper's), or `ours`, `median`,
//! `worst` (workload), `spread` or `paper` with a figure's id, a group (or `all`) and a configuration. Sentences and tables say once how many repeats are
//! behind them; `repeats` says it alone, for text around single numbers. Where nothing is kept of a study, what stands there stays.

use crate::results::key::sha256;
use crate::words;
use serde_json::Value;

const BEGIN: &str = "<!-- numbers ";
const END: &str = "<!-- end numbers -->";

/// What a page quotes: of which study, and what of it.
pub fn quoted(page: &str) -> Vec<(&str, &str)> {
    let marks = page.split(BEGIN).skip(1);
    let marks = marks.filter_map(|m| m.split(" -->").next());
    marks
        .map(|m| m.split_once(' ').unwrap_or((m, "")))
        .collect()
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
            let repeats = repeats(kept).ok_or_else(lacking)?;
            Ok(format!(
                "{} Behind these numbers: {repeats}.",
                said.join(" ")
            ))
        }
        ["claims"] => {
            let of = |key: &str| kept["claims"][key].as_u64().ok_or_else(lacking);
            Ok(format!("{} of {}", of("holds")?, of("tested")?))
        }
        ["repeats"] => repeats(kept).ok_or_else(lacking),
        ["held"] => held(kept).ok_or_else(lacking),
        ["headlines"] => headlines(kept).ok_or_else(lacking),
        ["kinds"] => kinds(kept).ok_or_else(lacking),
        ["table", figure] => table(kept, figure).ok_or_else(lacking),
        ["spread", ..] if once(kept) => Ok(words::repeats(1)),
        [
            key @ ("ours" | "median" | "worst" | "spread" | "paper"),
            figure,
            group,
            configuration,
        ] => {
            let value = &kept["averages"][*figure][*group][*configuration][*key];
            Ok(value.as_str().ok_or_else(lacking)?.to_string())
        }
        _ => Err(format!(
            "`{what}` is none of: learned, claims, held, repeats, headlines, kinds, table FIGURE, ours|median|worst|spread|paper FIGURE GROUP CONFIGURATION"
        )),
    }
}

/// A cell of a table.
fn cell(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('|', "\\|")
}

/// How many repeats are behind the numbers.
fn repeats(kept: &Value) -> Option<String> {
    Some(words::repeats(kept["repeats"].as_u64()? as usize))
}

/// Whether everything ran once, so that nothing is known of scatter.
fn once(kept: &Value) -> bool {
    kept["repeats"] == 1
}

fn headlines(kept: &Value) -> Option<String> {
    let ours = format!("ours, {}", repeats(kept)?);
    let columns = [
        ("paper", "the paper"),
        ("ours", ours.as_str()),
        ("median", "median"),
        ("worst", "worst workload"),
        ("spread", "lowest to highest repeat"),
        ("verdict", ""),
        ("cause", "why"),
    ];
    let claims = kept["headlines"].as_array()?;
    let claim = |name: &Value| &kept["verdicts"][name.as_str().unwrap_or_default()];
    let filled = |key: &str| claims.iter().any(|c| !cell(&claim(c)[key]).is_empty());
    let shown = columns.iter().filter(|(key, _)| filled(key));
    let shown: Vec<&(&str, &str)> = shown.collect();
    let titles: Vec<&str> = shown.iter().map(|(_, title)| *title).collect();
    let mut out = format!(
        "\n\n| claim | {} |\n|---|{}\n",
        titles.join(" | "),
        "---|".repeat(shown.len())
    );
    for name in claims {
        let cells = shown.iter().map(|(key, _)| cell(&claim(name)[*key]));
        let cells: Vec<String> = cells.collect();
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
    Some(format!("{} ({})", told.join(", "), repeats(kept)?))
}

fn kinds(kept: &Value) -> Option<String> {
    let mut columns = vec!["holds", "fails", "within scatter", "untested", "vacuous"];
    columns.retain(|c| *c != "within scatter" || !once(kept));
    let mut out = format!(
        "\n\n| {} | {} |\n|---|{}\n",
        repeats(kept)?,
        columns.join(" | "),
        "---|".repeat(columns.len())
    );
    for (kind, counts) in kept["kinds"].as_object()? {
        let numbers = columns.iter().map(|c| counts[*c].as_u64().unwrap_or(0));
        let numbers: Vec<String> = numbers.map(|n| n.to_string()).collect();
        out += &format!("| {kind} | {} |\n", numbers.join(" | "));
    }
    Some(out + "\n")
}

/// A figure's averages: a line for each configuration, columns for each group and for what the paper has of it.
fn table(kept: &Value, figure: &str) -> Option<String> {
    let groups = kept["averages"][figure].as_object()?;
    let printed = |cells: &Value| {
        let mut all = cells.as_object().into_iter().flat_map(|c| c.values());
        all.any(|cell| cell["paper"].is_string())
    };
    let mut head = format!("| {}", repeats(kept)?);
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
        let mut titles = groups
            .values()
            .filter_map(|g| g[name.as_str()]["title"].as_str());
        out += &match titles.next().filter(|title| title != name) {
            Some(title) => format!("| {title}"),
            None => format!("| `{name}`"),
        };
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
            "repeats": if name == "once" { 1 } else { 3 },
            "learned": ["One.", "Two."],
            "claims": { "holds": 2, "tested": 5 },
            "kinds": { "sizes": { "holds": 1, "fails": 2, "tested": 3 } },
            "headlines": ["a is fast"],
            "verdicts": { "a is fast": { "paper": "+8%", "ours": "+7.0%", "verdict": "holds" } },
            "averages": { "fig8": { "all": { "gto": { "ours": "+8.1%", "paper": "+8.4%", "spread": null, "worst": "-2.0% (bfs)" },
                                              "g": { "ours": "+9.0%", "title": "greedy" } } } },
        });
        ["s", "once"].contains(&name).then_some(found)
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
        assert_eq!(quoted(page), [("s", "ours fig8 all gto"), ("s", "claims")]);
        let tables = "<!-- numbers s headlines --><!-- end numbers --><!-- numbers s kinds --><!-- end numbers -->";
        let now = written(tables, &kept).expect("good marks");
        assert!(
            now.contains("| claim | the paper | ours, three repeats |  |\n|---|---|---|---|\n| a is fast | +8% | +7.0% | holds |\n"),
            "{now}"
        );
        assert!(now.contains("| sizes | 1 | 2 | 0 | 0 | 0 |\n"), "{now}");
        let table = "<!-- numbers s table fig8 --><!-- end numbers -->";
        let now = written(table, &kept).expect("good marks");
        let shown =
            "\n\n| three repeats | all | paper |\n|---|---:|---:|\n| `gto` | +8.1% | +8.4% |\n";
        assert!(now.contains(shown), "{now}");
        assert!(
            now.contains("\n| greedy | +9.0% |  |"),
            "titles say more: {now}"
        );
        let held = "<!-- numbers s held --><!-- end numbers -->";
        let now = written(held, &kept).expect("good marks");
        assert!(
            now.contains("held -->1 of 3 sizes (three repeats)<!--"),
            "{now}"
        );
        let other = page.replace("numbers s", "numbers other");
        assert_eq!(
            written(&other, &kept).expect("good marks"),
            other,
            "nothing is kept of it"
        );
    }

    #[test]
    fn how_often_it_ran_is_said_once_and_one_repeat_has_no_scatter() {
        let said = |what: &str| {
            let page = format!("<!-- numbers once {what} --><!-- end numbers -->");
            let now = written(&page, &kept).expect("good marks");
            let (_, text) = now.split_once("-->").expect("a mark");
            text.replace(END, "")
        };
        assert_eq!(said("repeats"), "one repeat");
        assert_eq!(
            said("learned"),
            "One. Two. Behind these numbers: one repeat."
        );
        assert_eq!(said("spread fig8 all gto"), "one repeat");
        assert_eq!(said("ours fig8 all gto"), "+8.1%");
        assert_eq!(said("worst fig8 all gto"), "-2.0% (bfs)");
        for what in ["learned", "held", "headlines", "kinds", "table fig8"] {
            let text = said(what);
            assert_eq!(text.matches("one repeat").count(), 1, "{what}: {text}");
            assert!(
                !text.contains("scatter") && !text.contains("lowest"),
                "{what}: {text}"
            );
        }
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
