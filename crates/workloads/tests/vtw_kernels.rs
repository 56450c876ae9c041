//! Every kernel of the virtual-warps paper has a launch of ours.

use std::collections::BTreeSet;
use warpsim_workloads::simulated::compile;
use warpsim_workloads::suite::WORKLOADS;
use warpsim_workloads::vtw_kernels::{AWAITED, KERNELS, PaperKernel};

#[test]
fn the_table_has_every_row_of_the_paper() {
    let sizes = [1, 2, 3, 4].map(|set| KERNELS.iter().filter(|k| k.set == set).count());
    assert_eq!(sizes, [16, 20, 3, 12]);
    // Two programs have a kernel that is called Kernel; no row is there twice, and no launch of ours
    // stands for two.
    let names: BTreeSet<_> = KERNELS.iter().map(|k| (k.program, k.kernel)).collect();
    let ours: BTreeSet<_> = KERNELS.iter().map(|k| (k.workload, k.entry)).collect();
    assert_eq!((names.len(), ours.len()), (51, 51));
    for k in KERNELS {
        assert!(k.resident <= k.blocks && k.resident <= 120, "{}", k.kernel);
    }
}

#[test]
fn every_row_names_a_kernel_of_ours_or_one_that_is_awaited() {
    let mut wrong = Vec::new();
    for k @ PaperKernel {
        workload, entry, ..
    } in KERNELS
    {
        let found = WORKLOADS.iter().find(|w| w.info().name == *workload);
        match (found, k.awaited()) {
            (Some(_), true) => wrong.push(format!(
                "{workload} is there: take it from AWAITED, and see whether its kernel is `{entry}`"
            )),
            (None, false) => wrong.push(format!("no workload is called {workload}")),
            (None, true) => (),
            (Some(w), false) => {
                let kernel = &w.info().kernel;
                let program = compile(kernel.name, kernel.ptx).expect("PTX of ours");
                if !program.kernels.iter().any(|k| k.name == *entry) {
                    let names: Vec<_> = program.kernels.iter().map(|k| k.name.as_str()).collect();
                    wrong.push(format!("{workload} has no kernel `{entry}`: {names:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for name in AWAITED {
        assert!(
            KERNELS.iter().any(|k| k.workload == *name),
            "{name} is awaited, but no row names it"
        );
    }
}
