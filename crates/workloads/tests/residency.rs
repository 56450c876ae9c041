//! The compaction paper's table 1 gives the blocks that an SM of its machine holds of each
//! benchmark. Waiting for the other warps of a block is hidden by other blocks, so ours have to be
//! as many, where the block has the same shape.

use warpsim_sim::config::Machine;
use warpsim_sim::occupancy::{occupancy, registers};
use warpsim_workloads::simulated::compile;
use warpsim_workloads::suite::find;

/// Workload, kernel, threads per block, blocks per SM.
const TABLE_1: &[(&str, &str, u32, u32)] = &[
    ("face-detect", "detect_early", 192, 5),
    ("face-detect", "detect_late", 192, 4),
    ("hotspot", "hotspot", 256, 2),
    ("laplace3d", "laplace3d", 128, 6),
    ("mummer", "mummer", 256, 4),
    ("mummer-pp", "mummer_pp", 192, 3),
    ("nbody-cutoff", "pair_forces", 64, 7),
    ("raytrace-persistent", "trace", 192, 3),
    ("aes", "aes", 256, 2),
    ("backprop", "backprop_forward", 256, 4),
    ("backprop", "backprop_adjust", 256, 4),
    ("coulomb", "coulomb", 128, 8),
    ("libor", "libor_value", 64, 8),
    ("libor", "libor_greeks", 64, 8),
    ("nearest-neighbour", "distances", 16, 8),
    ("raytrace", "render", 128, 3),
    ("stream-cluster", "stream_cluster", 512, 2),
    ("sha1", "sha1", 128, 1),
];

#[test]
fn an_sm_holds_as_many_blocks_as_in_the_compaction_paper() {
    let machine = Machine::preset("fx5800").expect("a preset");
    let mut differing = Vec::new();
    for &(workload, name, threads, blocks) in TABLE_1 {
        let info = find(workload).expect("a workload").info();
        let module = compile(info.kernel.name, info.kernel.ptx).expect("it compiles");
        let kernel = module.kernels.iter().find(|k| k.name == name);
        let kernel = kernel.unwrap_or_else(|| panic!("{workload} has no kernel `{name}`"));
        let registers = registers(&machine, kernel, threads);
        let held = occupancy(&machine, registers, kernel.shared_bytes, threads);
        if held.blocks != blocks {
            differing.push(format!("{name}: {} instead of {blocks}", held.blocks));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join(", "));
}
