//! `run --report`: one page about a run, which costs the run nothing and fits on a telephone.

use crate::common;

use common::{Scratch, fails, succeeds};
use std::process::Command;

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
    let read = |path: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(path).expect("written");
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(read(&with)["totals"], read(&without)["totals"]);
    let text = std::fs::read_to_string(&page).expect("written");
    for part in ["Roofline", "Over time", "Profile", "Summary", "bfs_visit"] {
        assert!(text.contains(part), "{part}");
    }
    for outside in ["src=\"http", "href=\"http", "url(", "@import", "<script"] {
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

#[test]
fn the_page_fits_on_a_telephone() {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let there = |name: &&str| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|o| o.status.success())
    };
    let Some(browser) = names.into_iter().find(there) else {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true");
        assert!(!ci, "under CI=true a Chromium must be installed");
        eprintln!("skipped: no Chromium here");
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
        }, 1000);</script>";
    let frame = format!(
        "<!doctype html><body><iframe width=390 height=800 srcdoc=\"{held}\"></iframe>{script}</body>"
    );
    let held = scratch.path("held.html");
    std::fs::write(&held, frame).expect("written");
    let shown = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--disable-dev-shm-usage", "--virtual-time-budget=3000"])
        .arg(format!("--user-data-dir={}", scratch.path("profile")))
        .arg(format!("file://{held}"))
        .output()
        .expect("the browser runs");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("data-wide=\"none\""),
        "{}",
        &shown[shown.len().saturating_sub(900)..]
    );
    assert!(shown.contains("data-width=\"390\"") || shown.contains("data-width=\"375\""));
}
