//! Every example launch file runs on the simulated GPU and gives the right result, with timing
//! and without.

use crate::common;

use common::{fails, root, succeeds};

fn has_cuda_compiler() -> bool {
    warpsim_workloads::cuda::CudaCompiler::choose(None).is_ok()
}

#[test]
fn a_folder_of_workloads_is_picked_up() {
    let folder = root().join("examples").display().to_string();
    let shown = succeeds(&["list", "workloads", "--workload-dir", &folder]);
    assert!(
        shown.contains("vector-add\n    Vector addition: 1000"),
        "{shown}"
    );
    let shown = succeeds(&["run", "vector-add", "--workload-dir", &folder]);
    assert!(shown.contains("result            correct"), "{shown}");
    let shown = fails(2, &["run", "vector-ad", "--workload-dir", &folder]);
    assert!(shown.contains("did you mean `vector-add`?"), "{shown}");
}

#[test]
fn every_example_is_correct() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("examples")).expect("examples") {
        let directory = entry.expect("an entry").path();
        let name = directory.file_name().expect("a name").display().to_string();
        let file = directory.join(format!("{name}.toml")).display().to_string();
        found.push(name.clone());
        if name == "programs" {
            continue; // they have host code: see programs.rs
        }
        if name == "cuda" && !has_cuda_compiler() {
            println!("examples/cuda is skipped: no compiler of CUDA C here");
            continue;
        }
        for how in [&["run", &file][..], &["run", &file, "--functional"]] {
            let shown = succeeds(how);
            assert!(
                shown.contains("result            correct"),
                "{name}:\n{shown}"
            );
        }
    }
    found.sort();
    for name in [
        "bfs",
        "cuda",
        "figure-7",
        "struct-argument",
        "symbols",
        "textures",
        "vector-add",
    ] {
        assert!(
            found.iter().any(|f| f == name),
            "examples/{name} is missing"
        );
    }
}

#[test]
fn textures_and_constants_go_through_their_caches() {
    for (name, cache) in [("textures", "texture"), ("symbols", "constant")] {
        let file = root().join(format!("examples/{name}/{name}.toml"));
        let shown = succeeds(&["run", &file.display().to_string()]);
        let row = shown.lines().find(|l| l.trim_start().starts_with(cache));
        assert!(row.is_some(), "{name}:\n{shown}");
    }
}
