//! Every file of `tests/corpus` lowers, and what comes out keeps the promises of the
//! lowered form.

use crate::common;
use common::{errors, program};
use std::path::PathBuf;
use warpsim_ptx::analysis::{liveness, reads, writes};
use warpsim_ptx::inspect::{cfg_dot, cfg_svg, disassemble_all, summarize};
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{Instr, Intrinsic, Kernel, NO_PC, RegClass};

fn corpus() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the corpus folder")
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "ptx"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (
                name.into_owned(),
                std::fs::read_to_string(&path).expect("readable PTX"),
            )
        })
        .collect();
    files.sort();
    files
}

fn check(kernel: &Kernel) {
    let count = kernel.code.len() as u32;
    assert!(count > 0);
    let last = &kernel.code[count as usize - 1];
    assert!(last.guard.is_none() && matches!(last.op, Op::Ret | Op::Exit | Op::Bra));
    let starts: Vec<u32> = kernel.blocks.iter().map(|b| b.start).collect();
    for instr in &kernel.code {
        assert!(
            !matches!(instr.op, Op::Brx),
            "only two-way branches are left"
        );
        assert_eq!(instr.op == Op::Bra, instr.target != NO_PC);
        assert_eq!(instr.op == Op::Call, instr.intrinsic.is_some());
        if instr.op == Op::Bra {
            assert!(starts.contains(&instr.target));
            assert!(instr.reconverge == NO_PC || starts.contains(&instr.reconverge));
        }
        for reg in reads(instr).chain(writes(instr)) {
            let register = &kernel.registers[reg.0 as usize];
            match register.class {
                RegClass::Pred => assert!(register.slot < kernel.predicate_slots),
                RegClass::B32 => assert!(register.slot < kernel.rows),
                RegClass::B64 => {
                    assert!(register.slot.is_multiple_of(2) && register.slot + 2 <= kernel.rows)
                }
            }
        }
    }
    // Blocks tile the code, and nothing is read before it is written on the way from the
    // entry: compilers do not do that, so it would be a name resolved wrongly.
    assert_eq!(starts[0], 0);
    for pair in kernel.blocks.windows(2) {
        assert_eq!(pair[0].end, pair[1].start);
    }
    assert_eq!(kernel.blocks.last().map(|b| b.end), Some(count));
    let live = liveness(kernel);
    let undefined: Vec<&str> = live.live_in[0]
        .iter()
        .map(|r| kernel.registers[r.0 as usize].name.as_str())
        .collect();
    // The inline assembly of one was made up, and reads what it likes; a call through a register that
    // is none ends the thread, which the graph does not show.
    let excused = |i: &Instr| i.op == Op::Mma || i.intrinsic == Some(Intrinsic::NoSuchFunction);
    assert!(
        undefined.is_empty() || kernel.code.iter().any(excused),
        "{}: {undefined:?} read before written",
        kernel.name
    );
    assert!(kernel.register_floor <= kernel.register_demand && kernel.register_floor > 0);
}

#[test]
fn every_file_lowers() {
    let (mut kernels, mut rejected) = (0, Vec::new());
    for (name, text) in corpus() {
        // Written by hand for the parser; it names a register that it does not declare.
        if name == "nvcc-fermi.ptx" {
            let found = errors(&text);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains("`%rh` is not declared"), "{}", found[0]);
            continue;
        }
        let program = program(&text);
        for kernel in &program.kernels {
            check(kernel);
            kernels += 1;
            let listing = disassemble_all(kernel);
            assert_eq!(listing.matches("; line ").count(), kernel.code.len());
            assert_eq!(
                cfg_dot(kernel).matches("[label=\"B").count(),
                kernel.blocks.len()
            );
            assert_eq!(
                cfg_svg(kernel).matches("<rect class=\"block").count(),
                kernel.blocks.len()
            );
            let summary = summarize(&program, kernel);
            assert_eq!(summary.mix.iter().sum::<usize>(), kernel.code.len());
        }
        for (kernel, reasons) in &program.rejected {
            rejected.push(format!("{name} {kernel}: {}", reasons[0].message));
        }
    }
    assert!(kernels >= 15, "{kernels}");
    assert!(rejected.is_empty(), "{rejected:?}");
}
