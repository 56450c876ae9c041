//! Every kernel of the virtual-warps paper has a launch of ours.

use std::collections::BTreeSet;
use warpsim_workloads::simulated::compile;
use warpsim_workloads::suite::WORKLOADS;
use warpsim_workloads::vtw_kernels::{KERNELS, PaperKernel};

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
fn every_row_names_a_kernel_of_ours() {
    let mut wrong = Vec::new();
    for PaperKernel {
        workload, entry, ..
    } in KERNELS
    {
        let Some(w) = WORKLOADS.iter().find(|w| w.info().name == *workload) else {
            wrong.push(format!("no workload is called {workload}"));
            continue;
        };
        let kernel = &w.info().kernel;
        let program = compile(kernel.name, kernel.ptx).expect("PTX of ours");
        if !program.kernels.iter().any(|k| k.name == *entry) {
            let names: Vec<_> = program.kernels.iter().map(|k| k.name.as_str()).collect();
            wrong.push(format!("{workload} has no kernel `{entry}`: {names:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
