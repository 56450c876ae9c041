//! A workload that was exported is the same workload: the same result in the same cycles.

use crate::common;

use common::{Scratch, fails, succeeds};
use serde_json::Value;

fn cycles(what: &[&str], stats: &str) -> (u64, String) {
    let mut arguments = vec!["run"];
    arguments.extend(what);
    arguments.extend(["--stats", stats, "-q"]);
    succeeds(&arguments);
    let text = std::fs::read_to_string(stats).expect("statistics");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let result = json["result"].as_str().expect("a result").to_string();
    (json["totals"]["cycles"].as_u64().expect("cycles"), result)
}

#[test]
fn the_same_cycles_and_a_correct_result() {
    // One launch, many, a loop that the host decides, constants, barriers, textures.
    for name in [
        "vecadd",
        "matmul",
        "reduction",
        "bfs",
        "convolution",
        "hotspot",
        "kmeans",
        "sad",
    ] {
        let scratch = Scratch::new(&format!("export-{name}"));
        let folder = scratch.path("exported");
        succeeds(&[
            "export", name, "--size", "tiny", "--seed", "3", "-o", &folder,
        ]);
        let stats = scratch.path("stats.json");
        let original = cycles(&[name, "--size", "tiny", "--seed", "3"], &stats);
        let exported = cycles(&[&folder], &stats);
        assert_eq!(exported, original, "{name}");
        assert_eq!(original.1, "correct", "{name}");
    }
}

#[test]
fn a_folder_that_is_not_empty_stays_as_it_is() {
    let scratch = Scratch::new("export-full");
    std::fs::write(scratch.path("mine.txt"), "mine").expect("written");
    let folder = scratch.path(".");
    let shown = fails(2, &["export", "vecadd", "--size", "tiny", "-o", &folder]);
    assert!(shown.contains("not empty"), "{shown}");
    assert_eq!(scratch.names(), ["mine.txt"]);
}

#[test]
fn a_sweep_sets_the_parameters_of_a_launch_file() {
    let scratch = Scratch::new("sweep-parameters");
    let ptx = common::root().join("examples/vector-add/vector-add.ptx");
    std::fs::copy(ptx, scratch.path("k.ptx")).expect("copied");
    std::fs::write(
        scratch.path("launch.toml"),
        "schema = 1\nptx = \"k.ptx\"\n[param]\nn = 64\n\
         [buffers.a]\ntype = \"f32\"\ncount = \"n\"\nfill = 1\n\
         [[steps]]\nlaunch = \"vecadd\"\ngrid = \"ceil_div(n, 32)\"\nblock = 32\n\
         args = [\"a\", \"a\", \"a\", { u32 = \"n\" }]\n\
         [[outputs]]\nbuffer = \"a\"\nexpect = 2\n",
    )
    .expect("written");
    let sweep = scratch.path("sweep.toml");
    std::fs::write(
        &sweep,
        "schema = 1\nname = \"t\"\nmachine = \"gtx480\"\n[groups.g]\nworkloads = [\"launch.toml\"]\n\
         [[grid]]\nparam = { n = [64, 128, 4096] }\n",
    )
    .expect("written");
    let out = scratch.path("out");
    succeeds(&["sweep", &sweep, "--out", &out]);
    let mut blocks = Vec::new();
    for entry in std::fs::read_dir(std::path::Path::new(&out).join("runs")).expect("results") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a record");
        let json: Value = serde_json::from_str(&text).expect("JSON");
        let n = json["inputs"]["parameters"]["n"].as_u64();
        blocks.push((n, json["totals"]["blocks"].as_u64()));
    }
    blocks.sort_unstable();
    // Every point is run several times.
    blocks.dedup();
    let expected = [(64, 2), (128, 4), (4096, 128)].map(|(n, b)| (Some(n), Some(b)));
    assert_eq!(blocks, expected);
}
