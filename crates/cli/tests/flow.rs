//! `warpsim flow`: the paper's figure 7, and input that makes no sense.

mod common;

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
    let shown = fails(2, &["flow", "matmul", "--param", "n=160"]);
    assert!(shown.contains("a picture shows small kernels"), "{shown}");
}
