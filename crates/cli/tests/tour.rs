//! The tour of `docs/view.md`, taken on its pages: what it says is what the page says.

use crate::{chromium, common, visit};

use common::{Scratch, succeeds};
use serde_json::{Value, json};

/// Counts lanes, and finds a warp's n-th issue, for the scripts below.
const HELPERS: &str = "const lanes = (mask) => { let n = 0; for (let m = mask; m; m = (m & (m - 1)) >>> 0) n++; return n; }; \
    const at = (cycle, track, run) => viewAt(cycle, track, run).warp;";

/// Takes a stop: the command that the page shows, with a page of its own, then the script there.
fn take(command: &str, script: &str) -> Value {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/view.md");
    let docs = std::fs::read_to_string(docs).expect("the page of the guide");
    assert!(docs.contains(command), "the tour has no `{command}`");
    let scratch = Scratch::new("tour");
    let page = scratch.path("tour.html");
    let mut quoted = false;
    let words = command.split(|c: char| {
        quoted ^= c == '"';
        c == '"' || c == ' ' && !quoted
    });
    let words = words.filter(|word| !word.is_empty()).skip(1);
    let words: Vec<&str> = words
        .map(|word| match word.ends_with(".html") {
            true => page.as_str(),
            false => word,
        })
        .collect();
    succeeds(&words);
    let text = std::fs::read_to_string(&page).expect("a page");
    let folder = std::path::Path::new(&page).parent().expect("a folder");
    let browser = chromium::browser().expect("it was there before");
    visit::visit(browser, folder, &text, &format!("{HELPERS} {script}"))
}

#[test]
fn the_tour_says_what_one_sees() {
    if chromium::browser().is_none() {
        return;
    }
    let diverges = take(
        "warpsim run collatz --size tiny --view collatz.html",
        "const w = at(1225, 0); const line = (pc) => pc < 0 ? pc : w.last.ptx + pc - w.last.pc; \
         let [n, c] = [0, w.last.cycle]; for (let i = at(c, 0); lanes(i.lanes.active) < 32 || !n; n++) { i = at(c = i.next.cycle, 0); } \
         return [w.last.cycle, w.last.ptx, lanes(w.lanes.active), lanes(w.lanes.other), w.paths.map((p) => lanes(p.lanes)), n];",
    );
    assert_eq!(diverges, json!([1225, 26, 14, 18, [14, 18, 32], 4]));
    let barrier = take(
        "warpsim run reduction --size tiny --view reduction.html",
        "const w = at(2320, 2); const there = w.barrier.waits.map((a) => a.track); \
         return [w.last.cycle, w.last.text, there.length, w.barrier.left.filter((t) => !there.includes(t)), \
         at(2325, 6).last.cycle, at(2325, 6).last.text, at(2324, 0).state, at(2326, 0).state];",
    );
    let bar = "bar.sync 0";
    assert_eq!(
        barrier,
        json!([2281, bar, 6, [4, 6], 2325, bar, "barrier", "issued"])
    );
    let schedulers = take(
        "warpsim run matmul --size tiny --view matmul.html --view-against \"--scheduler lrr\"",
        "const same = (c) => [0, 1, 2, 3, 4, 5, 6, 7].every((w) => at(c, w, 0).state === at(c, w, 1).state); \
         let first = 0; while (same(first)) first++; \
         const issue = at(284, 0, 0).last; let c = 284; while (at(c, 0, 1).last.pc !== issue.pc) c++; \
         const later = at(3369, 2, 0).last; let d = 3369; while (at(d, 2, 1).last.pc !== later.pc || at(d, 2, 1).last.cycle < d) d++; \
         return [first, at(284, 0, 1).state, issue.cycle, c, later.cycle, d - 3369];",
    );
    assert_eq!(schedulers, json!([284, "eligible", 284, 290, 3369, 56]));
    let compaction = take(
        "warpsim run collatz --size tiny --machine fx5800 --divergence tbc --view tbc.html --view-against \"--divergence pdom\"",
        "return [[0, 1, 2, 3, 4, 5, 6, 7].map((w) => lanes(at(4000, w).lanes.active)), at(4000, 1).holds.length, \
         lanes(at(4000, 1, 1).lanes.active)];",
    );
    assert_eq!(compaction, json!([[30, 26, 21, 9, 3, 0, 0, 0], 6, 10]));
    let gangs = take(
        "warpsim run collatz --size tiny --param n=256 --machine vws --warps i-vws --view gangs.html",
        "return [1317, 1318, 1477, 1763, 2319, 2320].map((c) => at(c, 0).gang.length);",
    );
    assert_eq!(gangs, json!([8, 7, 5, 2, 2, 1]));
}
