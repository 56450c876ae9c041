//! The report in a real browser: it opens offline, its script runs, nothing is fetched, and a
//! timeline of tens of thousands of events is painted fast enough not to be noticed.
//!
//! Skipped with a message where there is no Chromium; under `CI=true` one must be there.

use crate::common;

#[path = "../../view/tests/common/chromium.rs"]
mod chromium;

use chromium::{browser, open};
use common::{Scratch, plan};
use std::path::{Path, PathBuf};
use warpsim_study::conduct;
use warpsim_study::runner::Silent;
use warpsim_study::store::Store;

const STUDY: &str = r#"
schema = 1
name = "t"
title = "A <report> & its \"quotes\""
machine = "gtx480"
size = "small"
awaited = ["not_yet"]
[groups.g]
workloads = ["histogram", "stencil-global"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto" }
[[figures]]
id = "speedup"
number = "Figure 1"
title = "Speed-up"
groups = ["g"]
configurations = ["gto"]
metric = "ipc"
normalise = "lrr"
display = "change"
[figures.paper]
mean = { gto = 1.1 }
[[figures.claims]]
text = "gto is a hundred times as fast"
claim = "gto > 100"
reason = "nothing is"
by = "paper"
[[figures]]
id = "states"
title = "Where warps spend their time"
groups = ["g"]
configurations = ["lrr", "gto"]
normalise = "lrr"
display = "percent"
parts = [{ title = "issued", metric = "warp_states.issued" }, { title = "barrier", metric = "warp_states.barrier" }]
[[figures]]
id = "later"
title = "Not here"
groups = ["g"]
configurations = ["gto"]
metric = "not_yet"
[[figures.claims]]
text = "it will be there"
claim = "gto > 1"
[[timelines]]
workload = "stencil-global"
configurations = ["gto"]
to = 33000
[[timelines]]
workload = "histogram"
configurations = ["lrr"]
to = 2000
"#;

/// What the browser prints of a page on which some seconds have passed.
fn run(browser: &str, scratch: &Path, arguments: &[&str], page: &Path) -> String {
    let arguments = [&["--virtual-time-budget=4000"], arguments].concat();
    open(browser, scratch, &arguments, page)
}

fn report(scratch: &Scratch) -> PathBuf {
    let plan = plan(STUDY).expect("a good study");
    let out = scratch.path().join("results");
    let store = Store::open(&out, "t").expect("a folder");
    conduct(
        &plan,
        &store,
        2,
        "warpsim study t.toml --out 'a b'",
        &mut Silent,
    )
    .expect("a result");
    out.join("report.html")
}

/// The value of an attribute in a page's text.
fn attribute<'a>(page: &'a str, name: &str) -> &'a str {
    let start = format!("{name}=\"");
    let at = page.find(&start).unwrap_or_else(|| panic!("no {name}"));
    page[at + start.len()..]
        .split('"')
        .next()
        .unwrap_or_default()
}

#[test]
fn the_report_works_in_a_browser() {
    let Some(browser) = browser() else {
        return;
    };
    let scratch = Scratch::new("browser");
    let page = report(&scratch);
    let text = std::fs::read_to_string(&page).expect("written");
    for outside in [
        "src=\"http",
        "href=\"http",
        "url(h",
        "url(/",
        "@import",
        "fetch(",
        "XMLHttp",
    ] {
        assert!(!text.contains(outside), "{outside}");
    }
    let shown = run(browser, scratch.path(), &["--dump-dom"], &page);
    assert!(shown.contains("<h1>A &lt;report&gt; &amp; its \"quotes\"</h1>"));
    assert!(shown.contains("gto is a hundred times as fast"));
    assert!(shown.contains("nothing is"), "the reason is shown");
    assert!(shown.contains("outlined: the paper's"));
    assert!(shown.contains("warpsim study t.toml --out 'a b'") || shown.contains("&#39;a b&#39;"));
    // Two figures, each for screens and for telephones; the third was not measured.
    assert_eq!(shown.matches("<svg").count(), 4);
    assert!(shown.contains("Not here</title>") || shown.contains("Not here: not measured"));
    // The script ran: the legend was filled, the canvas painted, in time for a frame or two.
    assert!(shown.contains(">SM 0, cycles 0 to "), "the range is shown");
    let segments: u64 = attribute(&shown, "data-segments")
        .parse()
        .expect("a number");
    let paint: f64 = attribute(&shown, "data-paint").parse().expect("a number");
    eprintln!("{segments} segments painted in {paint} ms");
    assert!(segments > 20_000, "{segments} segments");
    // In software, on a machine that compiles beside it: tens of milliseconds are usual there.
    assert!(
        paint < 500.0,
        "{paint} ms, on a machine that does other things too"
    );
    let picture = scratch.path().join("page.png");
    let screenshot = format!("--screenshot={}", picture.display());
    run(
        browser,
        scratch.path(),
        &[&screenshot, "--window-size=1200,2400"],
        &page,
    );
    let size = std::fs::metadata(&picture).expect("a picture").len();
    assert!(size > 20_000, "{size} bytes");
}

/// A page that is only dumped gets no further frames: time brings them instead.
const FRAMES: &str = "<head><script>\
    window.requestAnimationFrame = (paint) => setTimeout(paint, 16);\
    window.cancelAnimationFrame = clearTimeout;\
    </script>";

/// What a person does with the timeline, done by a script that is added to the page.
const VISITOR: &str = r#"<script>
(async () => {
  // Painting waits for the next frame.
  const painted = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  const box = document.querySelector(".timeline"), canvas = box.querySelector("canvas");
  const note = (name) => { document.body.dataset[name] = box.querySelector(".range").textContent; };
  await painted();
  note("before");
  box.querySelector("[data-zoom=in]").click();
  await painted();
  note("zoomed");
  const at = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent("pointermove",
    { clientX: at.left + 400, clientY: at.top + 28, bubbles: true }));
  const tip = box.querySelector(".tip");
  document.body.dataset.tip = tip.hidden ? "hidden" : tip.textContent;
  box.querySelector("[data-zoom=all]").click();
  await painted();
  note("after");
})();
</script></body>"#;

#[test]
fn a_timeline_zooms_and_says_what_is_under_the_pointer() {
    let Some(browser) = browser() else {
        return;
    };
    let scratch = Scratch::new("visit");
    let page = report(&scratch);
    let text = std::fs::read_to_string(&page).expect("written");
    let visited = page.with_file_name("visited.html");
    let text = text.replace("<head>", FRAMES).replace("</body>", VISITOR);
    std::fs::write(&visited, text).expect("written");
    let shown = run(browser, scratch.path(), &["--dump-dom"], &visited);
    let cycles = |name: &str| -> Vec<u64> {
        let text = attribute(&shown, name).replace(',', "");
        let words = text.split_whitespace();
        words.filter_map(|w| w.parse().ok()).collect()
    };
    let (before, zoomed) = (cycles("data-before"), cycles("data-zoomed"));
    // The SM, then from where to where.
    let span = |c: &[u64]| c[2] - c[1];
    assert!(
        span(&zoomed).abs_diff(span(&before) / 2) <= 2,
        "{before:?} {zoomed:?}"
    );
    assert_eq!(cycles("data-after"), before);
    let tip = attribute(&shown, "data-tip");
    assert!(tip.starts_with("warp 0 of block "), "{tip}");
    assert!(tip.contains("cycle "), "{tip}");
}

#[test]
fn pictures_are_files_of_their_own() {
    let Some(browser) = browser() else {
        return;
    };
    let scratch = Scratch::new("svg");
    let page = report(&scratch);
    let picture = page.with_file_name("figures").join("states.svg");
    let shown = run(browser, scratch.path(), &["--dump-dom"], &picture);
    assert!(shown.contains("Where warps spend their time"));
    assert!(!shown.contains("parsererror"), "well-formed");
}

/// The report on a telephone: a frame as wide as one, and a list of what is wider than it. What scrolls
/// inside its own box (tables, commands) does not count.
const TELEPHONE: &str = r#"<script>
const frame = document.querySelector("iframe");
setTimeout(() => {
  const page = frame.contentDocument;
  const inside = (e) => e.closest(".wide, pre");
  const wide = [...page.querySelectorAll("body *")].filter((e) =>
    !inside(e) && e.getBoundingClientRect().right > 390.5);
  document.body.dataset.width = page.documentElement.scrollWidth;
  document.body.dataset.wide = wide.map((e) => e.tagName + "." + e.getAttribute("class")).join(" ") || "none";
  const drawn = [...page.querySelectorAll(".picture svg")].filter((e) => e.clientWidth > 0);
  document.body.dataset.drawn = drawn.map((e) => e.getAttribute("class")).join(" ");
  const letters = drawn.flatMap((e) => [...e.querySelectorAll("text")]);
  document.body.dataset.letters = Math.min(...letters.map((e) => e.getBoundingClientRect().height)).toFixed(1);
}, 1500);
</script></body>"#;

#[test]
fn nothing_is_wider_than_a_telephone() {
    let Some(browser) = browser() else {
        return;
    };
    let scratch = Scratch::new("telephone");
    let page = report(&scratch);
    let text = std::fs::read_to_string(&page).expect("written");
    let held = text
        .replace("<head>", FRAMES)
        .replace('&', "&amp;")
        .replace('"', "&quot;");
    let frame = format!(
        "<!doctype html><html><body><iframe width=390 height=800 srcdoc=\"{held}\"></iframe>{TELEPHONE}</html>"
    );
    let visited = page.with_file_name("telephone.html");
    std::fs::write(&visited, frame).expect("written");
    let shown = run(browser, scratch.path(), &["--dump-dom"], &visited);
    assert_eq!(attribute(&shown, "data-wide"), "none");
    let width: f64 = attribute(&shown, "data-width").parse().expect("a number");
    assert!(width <= 390.0, "{width}");
    assert_eq!(attribute(&shown, "data-drawn"), "narrow narrow");
    let letters: f64 = attribute(&shown, "data-letters").parse().expect("a number");
    assert!(letters > 7.0, "{letters} px: too small to be read");
}

/// What printing begins with.
const PRINTER: &str = r#"<script>
setTimeout(() => {
  dispatchEvent(new Event("beforeprint"));
  const box = document.querySelector(".timeline"), pieces = [...box.querySelectorAll(".sheets canvas")];
  document.body.dataset.titles = [...box.querySelectorAll(".sheets b")].map((e) => e.textContent).join("|");
  document.body.dataset.pieces = pieces.length;
  const painted = (c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v !== 0);
  document.body.dataset.painted = pieces.every(painted);
  document.body.dataset.height = Math.max(...pieces.map((c) => c.height));
  dispatchEvent(new Event("afterprint"));
  document.body.dataset.after = box.querySelectorAll(".sheets canvas").length;
}, 500);
</script></body>"#;

#[test]
fn every_timeline_is_printed() {
    let Some(browser) = browser() else {
        return;
    };
    let scratch = Scratch::new("printed");
    let page = report(&scratch);
    let text = std::fs::read_to_string(&page).expect("written");
    let visited = page.with_file_name("printed.html");
    std::fs::write(&visited, text.replace("</body>", PRINTER)).expect("written");
    let shown = run(browser, scratch.path(), &["--dump-dom"], &visited);
    let titles = attribute(&shown, "data-titles");
    assert_eq!(titles.split('|').count(), 2, "{titles}");
    let pieces: usize = attribute(&shown, "data-pieces").parse().expect("a number");
    assert!(pieces >= 2, "{pieces} pieces");
    assert_eq!(attribute(&shown, "data-painted"), "true");
    let height: f64 = attribute(&shown, "data-height").parse().expect("a number");
    assert!(height < 2000.0, "{height}: a page holds 900, twice as fine");
    assert_eq!(attribute(&shown, "data-after"), "0");
}
