//! `run --report`: one page about a run, which costs the run nothing, sorts its code and fits on a telephone.

use crate::common;

use crate::chromium::{browser, open};
use common::{Scratch, fails, succeeds};
use serde_json::Value;
use std::path::Path;

#[test]
fn the_page_has_everything_and_changes_nothing() {
    let scratch = Scratch::new("report");
    let (page, with, without) = (
        scratch.path("bfs.html"),
        scratch.path("with.json"),
        scratch.path("without.json"),
    );
    let run = ["run", "bfs", "--size", "tiny", "-q"];
    succeeds(&[&run[..], &["--report", &page, "--stats", &with]].concat());
    succeeds(&[&run[..], &["--stats", &without]].concat());
    let read = |path: &str| -> Value {
        let text = std::fs::read_to_string(path).expect("written");
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(read(&with)["totals"], read(&without)["totals"]);
    let text = std::fs::read_to_string(&page).expect("written");
    for part in [
        "Roofline",
        "Over time",
        "Warps",
        "Code",
        "Summary",
        "bfs_visit",
    ] {
        assert!(text.contains(part), "{part}");
    }
    for outside in [
        "src=",
        "href=\"http",
        "url(",
        "@import",
        "fetch(",
        "XMLHttp",
    ] {
        assert!(!text.contains(outside), "{outside}");
    }
    // A line for each quantity, none of them empty, and the same cycles as in the statistics.
    assert_eq!(text.matches("<path class=\"line\"").count(), 5);
    assert!(!text.contains("d=\"\"") && !text.contains("NaN"));
    let cycles = read(&with)["totals"]["cycles"].as_u64().expect("a number");
    let shown = format!("{},{:03}", cycles / 1000, cycles % 1000);
    assert!(text.contains(&format!("<b>{shown}</b>")), "{shown}");
    assert!(
        fails(2, &[&run[..], &["--report", "page.txt"]].concat()).contains("end its name in .html")
    );
    let both = ["run", "bfs", "--functional", "--report", &page];
    assert!(fails(2, &both).contains("--report"));
}

/// What stands between two texts of a page.
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let rest = page
        .split_once(from)
        .unwrap_or_else(|| panic!("no {from}"))
        .1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

#[test]
fn code_has_a_row_for_each_instruction_and_comes_first() {
    let scratch = Scratch::new("report-code");
    let (page, data) = (scratch.path("page.html"), scratch.path("data.json"));
    let profile = format!("--profile={data}");
    let run = [
        "run",
        "reduction",
        "--size",
        "tiny",
        "-q",
        "--report",
        &page,
    ];
    succeeds(&[&run[..], &[&profile]].concat());
    let page = std::fs::read_to_string(page).expect("written");
    let data = std::fs::read_to_string(data).expect("written");
    let data: Value = serde_json::from_str(&data).expect("JSON");
    let instructions: usize = data["kernels"]
        .as_array()
        .expect("kernels")
        .iter()
        .flat_map(|k| k["lines"].as_array().expect("lines"))
        .map(|l| l["instructions"].as_array().expect("instructions").len())
        .sum();
    let tables = page.split("<table class=\"profile\">").skip(1);
    let bodies = tables.map(|t| between(t, "<tbody>", "</tbody>"));
    let rows: Vec<&str> = bodies.flat_map(|b| b.split("<tr").skip(1)).collect();
    assert_eq!(rows.len(), instructions);
    for row in rows {
        assert!(row.starts_with("><td class=\"code\" data-by=\""), "{row}");
    }
    let first = between(&page, "<thead><tr>", "</th>");
    assert!(
        first.contains("<button type=\"button\">code</button>"),
        "{first}"
    );
}

#[test]
fn the_page_has_what_the_warps_of_an_sm_did() {
    let scratch = Scratch::new("report-warps");
    let (page, stats) = (scratch.path("page.html"), scratch.path("stats.json"));
    let run = ["run", "matmul", "--size", "tiny", "-q", "--report", &page];
    succeeds(&[&run[..], &["--stats", &stats]].concat());
    let page = std::fs::read_to_string(page).expect("written");
    let trace = between(
        &page,
        "<script type=\"application/json\" class=\"trace\">",
        "</script>",
    );
    let trace: Value = serde_json::from_str(trace).expect("JSON");
    let stats = std::fs::read_to_string(stats).expect("written");
    let stats: Value = serde_json::from_str(&stats).expect("JSON");
    let cycles = stats["totals"]["cycles"].as_u64().expect("a number");
    let end = trace["cycles"][1].as_u64().expect("a number");
    assert!(end > cycles / 2 && end <= cycles, "{end} of {cycles}");
    let tracks = trace["tracks"].as_array().expect("tracks");
    assert_eq!(tracks.len(), 8, "a block of 256 threads");
    assert!(trace["code"].as_array().is_some_and(|c| !c.is_empty()));
    assert_eq!(trace["left_out"], 0);
}

/// A page as it is after its scripts have run.
fn shown(browser: &str, scratch: &Scratch, page: &str) -> String {
    let folder = scratch.path("browser");
    let arguments = ["--dump-dom", "--virtual-time-budget=3000"];
    open(browser, Path::new(&folder), &arguments, Path::new(page))
}

/// Presses titles of columns, and notes what the first rows are then.
const READER: &str = "<script>setTimeout(() => {
    const table = document.querySelector('table.profile'), rows = () => [...table.tBodies[0].rows];
    const by = (row, column) => row.cells[column].dataset.by;
    const values = (column) => rows().map((r) => by(r, column)).filter((v) => v !== undefined).map(Number);
    const sorted = (list) => list.every((v, i) => i === 0 || list[i - 1] <= v);
    const titles = [...table.tHead.rows[0].cells];
    const seen = [];
    const note = (column) => {
        const list = values(column), last = rows().slice(list.length);
        seen.push([titles[column].getAttribute('aria-sort'), sorted(list), sorted(list.reverse()),
            last.every((r) => by(r, column) === undefined)].join(' '));
    };
    note(2);
    // As the keyboard does: the button is reached, and pressed.
    const press = (column) => {
        const button = titles[column].querySelector('button');
        button.focus();
        if (document.activeElement === button) button.click();
        note(column);
    };
    press(0);
    press(0);
    press(6);
    press(6);
    document.body.dataset.seen = seen.join('|');
    }, 500);</script>";

#[test]
fn code_is_sorted_by_the_column_that_is_pressed() {
    let Some(browser) = browser() else {
        return;
    };
    let scratch = Scratch::new("report-sorted");
    let page = scratch.path("page.html");
    succeeds(&["run", "matmul", "--size", "tiny", "-q", "--report", &page]);
    let text = std::fs::read_to_string(&page).expect("written");
    std::fs::write(&page, text.replace("</body>", &format!("{READER}</body>"))).expect("written");
    let text = shown(browser, &scratch, &page);
    let seen = between(&text, "data-seen=\"", "\"");
    let expected = [
        "descending false true true",
        "ascending true false true",
        "descending false true true",
        // Not every instruction waits for its fetch.
        "descending false true true",
        "ascending true false true",
    ];
    assert_eq!(seen, expected.join("|"));
    // The timeline's script ran too.
    assert!(text.contains(">SM 0, cycles 0 to "), "the range is shown");
}

#[test]
fn the_page_fits_on_a_telephone() {
    let Some(browser) = browser() else {
        return;
    };
    let scratch = Scratch::new("report-telephone");
    let page = scratch.path("matmul.html");
    succeeds(&["run", "matmul", "--size", "tiny", "-q", "--report", &page]);
    let text = std::fs::read_to_string(&page).expect("written");
    let held = text.replace('&', "&amp;").replace('"', "&quot;");
    let script = "<script>setTimeout(() => {
        const page = document.querySelector('iframe').contentDocument;
        const wide = [...page.querySelectorAll('body *')].filter((e) =>
            !e.closest('.scroll, pre') && e.getBoundingClientRect().right > 390.5);
        document.body.dataset.wide = wide.map((e) => e.tagName + '.' + e.className).join(' ') || 'none';
        document.body.dataset.width = page.documentElement.scrollWidth;
        const sticks = [...page.querySelectorAll('body *')].filter((e) =>
            ['sticky', 'fixed'].includes(frames[0].getComputedStyle(e).position));
        document.body.dataset.sticks = sticks.length;
        }, 1000);</script>";
    let frame = format!(
        "<!doctype html><body><iframe width=390 height=800 srcdoc=\"{held}\"></iframe>{script}</body>"
    );
    let held = scratch.path("held.html");
    std::fs::write(&held, frame).expect("written");
    let shown = shown(browser, &scratch, &held);
    assert!(
        shown.contains("data-wide=\"none\""),
        "{}",
        &shown[shown.len().saturating_sub(900)..]
    );
    assert!(shown.contains("data-sticks=\"0\""), "something sticks");
    assert!(shown.contains("data-width=\"390\"") || shown.contains("data-width=\"375\""));
}
