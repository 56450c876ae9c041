//! `warpsim flow`: the paper's figure 7, and input that makes no sense.

use crate::common;

use common::{Scratch, fails, root, succeeds};

fn example() -> String {
    let file = root().join("examples/figure-7/figure-7.toml");
    file.display().to_string()
}

#[test]
fn figure_7_side_by_side() {
    let shown = succeeds(&["flow", &example(), "--lanes", "0-3", "--blocks", "ABCD"]);
    // What each model issues, without cycles: three instructions per block.
    let column = |place: usize| -> Vec<String> {
        let lines = shown.lines().skip_while(|l| !l.contains("cycle")).skip(1);
        let cells = lines.take_while(|l| !l.is_empty()).map(|l| {
            let at = 9 + place * 6;
            l.get(at..(at + 4).min(l.len())).unwrap_or("").trim().into()
        });
        let mut all: Vec<String> = cells.filter(|c: &String| !c.is_empty()).collect();
        all.dedup();
        all
    };
    let pdom = column(0);
    for warp in ["C...", ".CC.", ".BBB", "B..B"] {
        assert!(pdom.iter().any(|c| c == warp), "{warp}:\n{shown}");
    }
    let tbc = column(1);
    for warp in ["AAAA", "CCC.", "BBBB", "...B", "DDDD"] {
        assert!(tbc.iter().any(|c| c == warp), "{warp}:\n{shown}");
    }
    assert!(shown.contains("pdom: 24 warp instructions;"), "{shown}");
    assert!(
        shown.contains("tbc: 21 warp instructions, 12.5% fewer than pdom;"),
        "{shown}"
    );
}

#[test]
fn the_picture_has_a_cell_for_each_lane_of_each_issue() {
    let scratch = Scratch::new("flow");
    let file = scratch.path("flow.svg");
    succeeds(&[
        "flow",
        &example(),
        "--lanes",
        "0-3",
        "--blocks",
        "ABCD",
        "-o",
        &file,
    ]);
    let svg = std::fs::read_to_string(&file).expect("written");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    // 24 and 21 issues of four lanes, and the legend's five blocks and more.
    let cells = svg.matches("<rect class=\"cell").count();
    let legend = svg.matches("width=\"12\" height=\"12\"").count();
    assert_eq!(cells - legend, 4 * (24 + 21));
}

#[test]
fn bad_input_is_refused() {
    let example = example();
    for (arguments, message) in [
        (
            &["--divergence", "pdom,tbx"][..],
            "no divergence model is called `tbx`",
        ),
        (&["--lanes", "3-40"], "is not a list of lanes"),
        (
            &["--blocks", "AX"],
            "no basic block is called `X`; there are:",
        ),
        (&["--launch", "1"], "there is no launch 1"),
        (&["--block", "7"], "there is no block 7"),
        (&["-o", "flow.png"], "end its name in .svg or .txt"),
        (&["--scheduler", "x"], "no scheduler is called `x`"),
    ] {
        let all = [&["flow", example.as_str()][..], arguments].concat();
        let shown = fails(2, &all);
        assert!(shown.contains(message), "{arguments:?}: {shown}");
    }
    for arguments in [&["--view", "cycles"][..], &["--lanes", "0-3"]] {
        let all = [&["flow", "matmul", "--param", "n=160"][..], arguments].concat();
        let shown = fails(2, &all);
        assert!(shown.contains("too many to be shown one by one"), "{shown}");
    }
    let both = ["flow", &example, "--view", "blocks", "--lanes", "0-3"];
    assert!(fails(2, &both).contains("--view blocks counts them"));
}

#[test]
fn large_kernels_are_shown_by_basic_block() {
    let scratch = Scratch::new("flow-blocks");
    let file = scratch.path("flow.svg");
    let run = ["flow", "matmul", "--param", "n=160"];
    let shown = succeeds(&run);
    // Eight warps, 20 tiles with 63 instructions half of the time: whatever they are, the rows add up.
    let issued: u64 = shown
        .lines()
        .skip_while(|l| !l.starts_with("block"))
        .skip(1)
        .take_while(|l| !l.is_empty())
        .filter_map(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok())
        .sum();
    assert!(issued > 2000, "{shown}");
    assert!(
        shown.contains(&format!("pdom: {issued} warp instructions")),
        "{shown}"
    );
    succeeds(&[&run[..], &["-o", &file]].concat());
    let svg = std::fs::read_to_string(&file).expect("written");
    assert!(svg.contains("width=\"960\""), "as wide as a screen");
    assert!(svg.contains("instructions issued by basic block"), "{svg}");
    // What is small enough for both can be shown either way, with the same totals.
    let small = ["flow", &example(), "--view"];
    let last = |view: &str| {
        let shown = succeeds(&[&small[..], &[view]].concat());
        let totals = shown.lines().filter(|l| l.contains("warp instructions"));
        totals.map(String::from).collect::<Vec<_>>()
    };
    let (blocks, cycles) = (last("blocks"), last("cycles"));
    assert_eq!(blocks, cycles);
    assert_eq!(blocks.len(), 2);
}

#[test]
fn it_takes_what_run_takes() {
    // A size, a machine and its settings; of several launches the one that executes most.
    let scratch = Scratch::new("flow-run");
    let shown = succeeds(&["flow", "matmul", "--size", "tiny"]);
    assert!(shown.contains("on gtx480"), "{shown}");
    let shown = succeeds(&[
        "flow",
        "matmul",
        "--machine",
        "fx5800",
        "--set",
        "sm.schedulers=1",
    ]);
    assert!(shown.contains("on fx5800"), "{shown}");
    let (a, b) = (scratch.path("a.svg"), scratch.path("b.svg"));
    succeeds(&["flow", "reduction", "--svg", &a]);
    succeeds(&["flow", "reduction", "-o", &b]);
    let read = |file| std::fs::read_to_string(file).expect("written");
    assert_eq!(read(&a), read(&b));
    assert!(read(&a).contains("launch 0"), "the first takes most");
    // A folder, and workloads of one's own.
    let folder = root().join("examples/vector-add").display().to_string();
    let alone = succeeds(&["flow", &folder]);
    let examples = root().join("examples").display().to_string();
    let named = succeeds(&["flow", "vector-add", "--workload-dir", &examples]);
    assert_eq!(alone, named);
    let shown = fails(2, &["flow", "missing.ptx"]);
    assert!(shown.contains("cannot read missing.ptx"), "{shown}");
}
