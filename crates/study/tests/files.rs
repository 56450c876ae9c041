//! Results open in pandas, Polars and DuckDB as they are. The programs are those of
//! docs/studies.md.

use crate::common;

use common::{Scratch, plan};
use std::path::Path;
use std::process::Command;
use warpsim_study::conduct;
use warpsim_study::runner::Silent;
use warpsim_study::store::Store;

const STUDY: &str = r#"
schema = 1
name = "t"
machine = "gtx480"
size = "tiny"
repeats = { count = 2 }
[groups.g]
workloads = ["vecadd", "reduction"]
[[grid]]
scheduler = ["lrr", "gto"]
"#;

/// The Python programs of the page, by the library they use.
fn programs() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/studies.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let blocks = page.split("```python\n").skip(1);
    let program = |b: &str| b.split("```").next().unwrap_or_default().to_string();
    blocks.map(program).collect()
}

#[test]
fn the_documented_examples_run() {
    let scratch = Scratch::new("python");
    let plan = plan(STUDY).expect("a good study");
    let out = scratch.path().join("results/t");
    let store = Store::open(&out, "t").expect("a folder");
    conduct(&plan, &store, 2, "", &mut Silent).expect("a result");
    let programs = programs();
    for library in ["pandas", "polars", "duckdb"] {
        let import = format!("import {library}");
        let program = programs.iter().find(|p| p.contains(&import));
        let program = program.unwrap_or_else(|| panic!("an example for {library}"));
        let python = |text: &str| {
            Command::new("python3")
                .args(["-c", text])
                .current_dir(scratch.path())
                .output()
        };
        // pandas reads Parquet with pyarrow.
        let needs = match library {
            "pandas" => "import pandas, pyarrow",
            other => &format!("import {other}"),
        };
        if !python(needs).is_ok_and(|o| o.status.success()) {
            eprintln!("skipped: python3 has no {library}");
            continue;
        }
        let output = python(&program.replace("results/baws", "results/t")).expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{library}: {errors}");
        let shown = String::from_utf8_lossy(&output.stdout);
        for expected in ["vecadd", "reduction", "lrr", "gto"] {
            assert!(shown.contains(expected), "{library} shows {shown}");
        }
    }
}

#[test]
fn both_files_say_the_same() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let scratch = Scratch::new("same");
    let plan = plan(STUDY).expect("a good study");
    let out = scratch.path().join("results");
    let store = Store::open(&out, "t").expect("a folder");
    conduct(&plan, &store, 2, "", &mut Silent).expect("a result");
    let csv = std::fs::read_to_string(out.join("results.csv")).expect("written");
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let file = std::fs::File::open(out.join("results.parquet")).expect("written");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let fields = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .num_columns();
    assert_eq!(fields, head.len());
    let rows: Vec<_> = reader.get_row_iter(None).expect("rows").collect();
    assert_eq!(rows.len(), 8, "four pairs, two repeats");
    for (row, line) in rows.into_iter().zip(lines) {
        let row = row.expect("a row");
        let shown: Vec<&str> = line.split(',').collect();
        assert_eq!(shown.len(), head.len(), "nothing here needs quotes");
        for ((name, field), (column, text)) in row.get_column_iter().zip(head.iter().zip(shown)) {
            assert_eq!(name, column);
            let typed = match field {
                parquet::record::Field::Str(s) => s.clone(),
                parquet::record::Field::Long(n) => n.to_string(),
                parquet::record::Field::Double(x) => x.to_string(),
                parquet::record::Field::Null => String::new(),
                other => panic!("{name} is {other:?}"),
            };
            assert_eq!(typed, text, "{name}");
        }
    }
    for declared in [
        "cycles",
        "ipc",
        "warp_states.barrier",
        "scheduler_states.idle",
    ] {
        assert!(head.contains(&declared), "{declared}");
    }
}
