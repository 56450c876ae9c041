//! The estimate of registers against what NVIDIA's assembler says, kernel by kernel.
//!
//! `tests/registers.tsv` holds the assembler's answers; `examples/registers.rs` makes it.

use std::collections::BTreeMap;
use std::path::Path;
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{Instr, Intrinsic, Program};

/// One row of the table, with our estimate.
struct Row {
    file: String,
    kernel: String,
    said: u32,
    estimated: u32,
    fewest: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Workloads, micro-kernels and examples.
    Ours,
    /// What the parser is tested on.
    Corpus,
    /// Written for checking, after the model was made, and not used to change it.
    Unseen,
}

impl Row {
    fn error(&self) -> f64 {
        (f64::from(self.estimated) - f64::from(self.said)) / f64::from(self.said)
    }
    /// Where the kernel comes from.
    fn origin(&self) -> Origin {
        match self.file.as_str() {
            file if file.contains("tests/corpus") => Origin::Corpus,
            file if file.contains("tests/unseen") => Origin::Unseen,
            _ => Origin::Ours,
        }
    }
}

fn rows() -> Vec<Row> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = root.join("crates/ptx/tests/registers.tsv");
    let table = std::fs::read_to_string(table).expect("the table");
    let mut programs: BTreeMap<String, Program> = BTreeMap::new();
    let mut rows = Vec::new();
    for line in table.lines().skip(1) {
        let [file, kernel, _, said, ..] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("a row of six columns: {line}");
        };
        let program = programs.entry(file.to_string()).or_insert_with(|| {
            let text = std::fs::read_to_string(root.join(file)).expect(file);
            let module = warpsim_ptx::parse(&text).expect(file);
            warpsim_ptx::lower(&module).expect(file)
        });
        // Kernels that cannot be run here are none of ours; and those with calls through registers or
        // matrices, for which the assembler keeps registers by rules of its own, are not estimated well.
        let apart = |i: &Instr| i.op == Op::Mma || i.intrinsic == Some(Intrinsic::NoSuchFunction);
        let kernels = program.kernels.iter();
        let found = kernels.filter(|k| !k.code.iter().any(apart));
        if let Some(lowered) = found.into_iter().find(|k| k.name == kernel) {
            rows.push(Row {
                file: file.to_string(),
                kernel: kernel.to_string(),
                said: said.parse().expect("a number"),
                estimated: lowered.register_demand,
                fewest: lowered.register_floor,
            });
        }
    }
    rows
}

/// The mean of the absolute errors, and the share within a quarter.
fn agreement<'a>(rows: impl Iterator<Item = &'a Row>) -> (usize, f64, f64) {
    let errors: Vec<f64> = rows.map(|row| row.error().abs()).collect();
    let count = errors.len() as f64;
    let close = errors.iter().filter(|e| **e <= 0.25).count() as f64;
    (
        errors.len(),
        errors.iter().sum::<f64>() / count,
        close / count,
    )
}

#[test]
fn the_estimate_is_right_kernel_by_kernel() {
    let mut rows = rows();
    rows.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    println!("the worst:");
    for row in rows.iter().take(15) {
        println!(
            "{:+.0}%  {} of {}: {} estimated ({} at least), {} said",
            100.0 * row.error(),
            row.kernel,
            row.file,
            row.estimated,
            row.fewest,
            row.said
        );
    }
    let show = |name: &str, (count, mean, close): (usize, f64, f64)| {
        println!("{name}: {count} kernels, mean error {mean:.3}, within a quarter {close:.3}");
    };
    let of = |origin: Origin| agreement(rows.iter().filter(|row| row.origin() == origin));
    let known = agreement(rows.iter().filter(|row| row.origin() != Origin::Unseen));
    let unseen = of(Origin::Unseen);
    show("ours", of(Origin::Ours));
    show("corpus", of(Origin::Corpus));
    show("both", known);
    show("unseen", unseen);
    assert!(known.0 > 130 && unseen.0 > 20, "the table has lost kernels");
    assert!(known.1 <= 0.10, "mean error {:.3}", known.1);
    assert!(known.2 >= 0.90, "within a quarter {:.3}", known.2);
    // Kernels that the model was not made with may be a little further off.
    assert!(unseen.1 <= 0.14, "mean error {:.3}", unseen.1);
    assert!(unseen.2 >= 0.85, "within a quarter {:.3}", unseen.2);
}

#[test]
fn estimates_keep_their_order() {
    for row in rows() {
        assert!(row.fewest >= 2 && row.fewest <= row.estimated);
    }
}

#[test]
fn a_kernel_may_begin_with_a_loop() {
    let text = ".version 4.1\n.target sm_35\n.address_size 64\n.global .u32 g;\n\
        .visible .entry k() { .reg .b64 %a; .reg .b32 %r<3>; .reg .pred %p;\n\
        AGAIN: mov.u64 %a, g; ld.global.u32 %r1, [%a]; add.u32 %r2, %r1, 1;\n\
        st.global.u32 [%a], %r2; setp.lt.u32 %p, %r2, 9; @%p bra AGAIN; ret; }\n";
    let program = warpsim_ptx::lower(&warpsim_ptx::parse(text).expect("PTX")).expect("a kernel");
    let estimated = program.kernels[0].register_demand;
    assert!((4..=8).contains(&estimated), "{estimated}");
}
