//! How many blocks an SM holds of each kernel, and how often a launch fills the GPU.
//!
//! Waiting for the other warps of a block is hidden by other blocks, so an SM has to hold as many
//! as in the papers, where the block has the same shape. And below four waves of blocks the last,
//! partly filled one decides what a run shows.

use crate::common;

use common::Mock;
use std::collections::BTreeMap;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::api::Launch;
use warpsim_sim::occupancy::{occupancy, registers};
use warpsim_workloads::Session;
use warpsim_workloads::simulated::compile;
use warpsim_workloads::suite::{Parameters, Size, WORKLOADS, find};

/// Workload, kernel, threads per block, blocks per SM.
type Row = (&'static str, &'static str, u32, u32);

/// The compaction paper's table 1 (`fx5800`).
const COMPACTION: &[Row] = &[
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
    // The table's 4, 5 and 6 the other way round: six blocks of 256 are more threads than an SM holds.
    ("dg", "dg_volume", 84, 6),
    ("dg", "dg_surface", 112, 5),
    ("dg", "dg_step", 256, 4),
    ("heartwall", "heartwall", 512, 1),
    ("leukocyte", "leukocyte_gicov", 175, 5),
    ("leukocyte", "leukocyte_dilate", 175, 5),
    ("leukocyte", "leukocyte_field", 175, 1),
    ("wp", "wp", 64, 4),
    ("libor", "libor_value", 64, 8),
    ("libor", "libor_greeks", 64, 8),
    ("nearest-neighbour", "distances", 16, 8),
    ("raytrace", "render", 128, 3),
    ("stream-cluster", "stream_cluster", 512, 2),
    ("sha1", "sha1", 128, 1),
];

/// The barrier paper's table 2 (`gtx480-v3`).
const BARRIERS: &[Row] = &[
    ("scalar-product", "scalar_product", 512, 3),
    ("fwt", "fwt_shared", 512, 3),
    ("stencil", "stencil", 512, 2),
    ("histogram", "histogram", 512, 3),
    ("merge-sort", "merge_sort_tile", 256, 6),
    ("merge-sort", "merge_sort_pass", 256, 6),
    ("matmul", "matmul", 256, 6),
    ("srad-v2", "srad_coefficients", 256, 6),
    ("srad-v2", "srad_spread", 256, 6),
    ("btree-find-k", "btree_find_k", 256, 5),
    ("btree-range", "btree_range", 256, 5),
    ("octree", "octree", 256, 4),
    ("page-view-count", "map_count", 256, 6),
    ("page-view-count", "sort_tiles", 256, 6),
    ("page-view-count", "sort_merge", 256, 6),
    ("page-view-rank", "map_count", 256, 6),
    ("page-view-rank", "sort_tiles", 256, 6),
    ("page-view-rank", "sort_merge", 256, 6),
    ("similarity-score", "map_count", 256, 6),
    ("similarity-score", "sort_tiles", 256, 6),
    ("similarity-score", "sort_merge", 256, 6),
    ("mri-gridding", "binning_kernel", 512, 3),
    ("mri-gridding", "gridding_GPU", 512, 3),
];

/// The virtual-warps paper's table 1 (resident blocks of the GPU over its 15 SMs; `gtx480`).
const VIRTUAL: &[Row] = &[
    ("lbm", "performStreamColl", 120, 7),
    ("hybrid-sort", "hist1024Kernel", 96, 4),
    ("hybrid-sort", "bucketcount", 32, 8),
    ("hybrid-sort", "bucketSort", 32, 8),
    ("hybrid-sort", "mergeSortFirst", 256, 6),
    ("hybrid-sort", "mergeSortPass", 208, 5),
    ("hybrid-sort", "mergepack", 256, 6),
    ("sad", "mb_sad_calc", 61, 8),
    ("cfd", "cu_initialize_vars", 192, 8),
    ("cfd", "cu_comp_step_fact", 192, 8),
    ("cfd", "cu_compute_flux", 192, 3),
    ("cfd", "cu_time_step", 192, 8),
];

/// A workload's launches, as its host code makes them.
fn launches(workload: &str, size: Size) -> Mock {
    let workload = find(workload).expect("a workload");
    let parameters = Parameters::resolve(workload.info().parameters, size, &[]).expect("sizes");
    let mut device = Mock::default();
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    // The kernels do nothing here, so that the result is wrong and loops end after a launch.
    let _ = workload.run(&parameters, 1, &mut session);
    device
}

/// Blocks of a launch that an SM of the machine holds.
fn held(machine: &Machine, device: &Mock, launch: &Launch) -> u32 {
    let program = device.program.as_ref().expect("a program");
    let kernel = &program.kernels[launch.kernel];
    let threads = launch.block.iter().product();
    let registers = match launch.registers {
        Some(registers) => registers,
        None => registers(machine, kernel, threads),
    };
    let shared = kernel.shared_bytes + launch.dynamic_shared;
    occupancy(machine, registers, shared, threads).blocks
}

fn holds_as_many(preset: &str, table: &[Row]) {
    let machine = Machine::preset(preset).expect("a preset");
    let mut differing = Vec::new();
    for &(workload, name, threads, blocks) in table {
        let device = launches(workload, Size::Tiny);
        let (_, launch) = device
            .launches
            .iter()
            .find(|(kernel, _)| kernel == name)
            .unwrap_or_else(|| panic!("{workload} does not launch `{name}`"));
        assert_eq!(launch.block.iter().product::<u32>(), threads, "{workload}");
        let held = held(&machine, &device, launch);
        if held != blocks {
            differing.push(format!("{name}: {held} instead of {blocks}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join(", "));
}

#[test]
fn an_sm_holds_as_many_blocks_as_in_the_compaction_paper() {
    holds_as_many("fx5800", COMPACTION);
}

#[test]
fn an_sm_holds_as_many_blocks_as_in_the_barrier_paper() {
    holds_as_many("gtx480-v3", BARRIERS);
}

#[test]
fn an_sm_holds_as_many_blocks_as_in_the_virtual_warps_paper() {
    holds_as_many("gtx480", VIRTUAL);
}

/// Waves of blocks that a launch should have, and kernels with fewer: waves of their largest launch
/// at `small`, and why.
const ENOUGH: f64 = 4.0;
const FEWER: &[(&str, &str, &str, f64, &str)] = &[
    (
        "gtx480-v3",
        "stencil-global",
        "stencil_global",
        1.0,
        "its blocks wait for each other",
    ),
    (
        "gtx480-v3",
        "nw",
        "nw",
        0.26,
        "as many blocks as a diagonal has tiles, as in the original",
    ),
    (
        "gtx480-v3",
        "radix-sort",
        "radix_sort_scan",
        0.01,
        "one block adds up the tiles' counts",
    ),
    (
        "gtx480-v3",
        "raytrace-persistent",
        "trace",
        2.0,
        "threads stay and fetch rays: a wave on fx5800",
    ),
    (
        "gtx480-v3",
        "raytrace-persistent-4",
        "trace",
        2.0,
        "as raytrace-persistent",
    ),
    (
        "gtx480-v3",
        "mummer",
        "mummer",
        2.1,
        "the original's 50,000 reads",
    ),
    (
        "gtx480-v3",
        "laplace3d",
        "laplace3d",
        0.8,
        "the original's mesh of 100 x 100 x 100",
    ),
    (
        "gtx480-v3",
        "nbody-cutoff",
        "sum_forces",
        0.5,
        "below a tenth of the cycles",
    ),
    (
        "gtx480-v3",
        "neural-net",
        "layer1",
        2.2,
        "the original's 28 images; 2% of the cycles",
    ),
    (
        "gtx480-v3",
        "neural-net",
        "layer4",
        2.3,
        "the original's 28 images; 1% of the cycles",
    ),
    (
        "gtx480-v3",
        "octree",
        "octree",
        1.0,
        "its blocks stay and take nodes from lists",
    ),
    (
        "gtx480-v3",
        "page-view-count",
        "scan_sums",
        0.01,
        "one block adds up the tiles' sums",
    ),
    (
        "gtx480-v3",
        "page-view-rank",
        "scan_sums",
        0.01,
        "one block adds up the tiles' sums",
    ),
    (
        "gtx480-v3",
        "similarity-score",
        "scan_sums",
        0.01,
        "one block adds up the tiles' sums",
    ),
    (
        "gtx480-v3",
        "mri-gridding",
        "splitRearrange",
        2.0,
        "as many blocks as splitSort, twice as many of them resident",
    ),
    (
        "gtx480-v3",
        "mri-gridding",
        "scan_L1_kernel",
        0.7,
        "as many blocks as the bins need; the original has 41",
    ),
    (
        "gtx480-v3",
        "mri-gridding",
        "uniformAdd",
        0.7,
        "as scan_L1_kernel",
    ),
    (
        "gtx480-v3",
        "mri-gridding",
        "scan_inter_kernel",
        0.02,
        "one block adds up the blocks' totals",
    ),
    (
        "gtx480-v3",
        "mri-q",
        "ComputeQ_GPU",
        1.7,
        "the original's 128 blocks",
    ),
    (
        "gtx480-v3",
        "mri-q",
        "ComputePhiMag_GPU",
        0.01,
        "a thread per sample of k-space",
    ),
    (
        "gtx480-v3",
        "cutcp",
        "cu_cutoff_pot_lat",
        1.0,
        "the original's 121 blocks",
    ),
    (
        "gtx480-v3",
        "bfs-frontier",
        "bfs_frontier",
        2.8,
        "the original's 65,536 nodes",
    ),
    (
        "gtx480-v3",
        "hybrid-sort",
        "hist1024Kernel",
        1.0,
        "the original's 64 blocks",
    ),
    (
        "gtx480-v3",
        "hybrid-sort",
        "bucketprefixoffset",
        0.06,
        "one thread per bucket, as in the original",
    ),
    (
        "gtx480-v3",
        "hybrid-sort",
        "mergeSortPass",
        2.4,
        "one thread per pair of lists, half as many in each pass",
    ),
    (
        "gtx480-v3",
        "sad",
        "larger_sad_calc_8",
        0.2,
        "sixteen macroblocks per block, as in the original",
    ),
    (
        "gtx480-v3",
        "sad",
        "larger_sad_calc_16",
        0.2,
        "sixteen macroblocks per block, as in the original",
    ),
    (
        "gtx480-v3",
        "particle-filter",
        "sum_kernel",
        0.02,
        "one block adds up the blocks' sums",
    ),
    (
        "fx5800",
        "raytrace-persistent",
        "trace",
        1.0,
        "threads stay and fetch rays",
    ),
    (
        "fx5800",
        "mummer",
        "mummer",
        1.6,
        "the original's 50,000 reads",
    ),
    (
        "fx5800",
        "laplace3d",
        "laplace3d",
        0.5,
        "the original's mesh of 100 x 100 x 100",
    ),
    (
        "fx5800",
        "nbody-cutoff",
        "sum_forces",
        0.3,
        "below a tenth of the cycles",
    ),
    (
        "gtx480-v3",
        "heartwall",
        "heartwall",
        1.7,
        "the original's 51 points",
    ),
    (
        "gtx480-v3",
        "leukocyte",
        "leukocyte_field",
        0.8,
        "the original's 36 cells",
    ),
    ("gtx480-v3", "wp", "wp", 0.6, "the original's 9x8 blocks"),
    (
        "gtx480-v3",
        "lud",
        "lud_diagonal",
        0.008,
        "one block decomposes the diagonal tile",
    ),
    (
        "gtx480-v3",
        "lud",
        "lud_perimeter",
        0.15,
        "as many blocks as a row has tiles",
    ),
    (
        "gtx480-v3",
        "gaussian",
        "gaussian_multiples",
        0.02,
        "one thread per row: one block",
    ),
    (
        "gtx480-v3",
        "nw-64",
        "nw_64",
        2.1,
        "as many blocks as a diagonal has tiles; the original's 64 take four times the work",
    ),
    (
        "fx5800",
        "heartwall",
        "heartwall",
        1.7,
        "the original's 51 points",
    ),
    (
        "fx5800",
        "leukocyte",
        "leukocyte_field",
        1.2,
        "the original's 36 cells",
    ),
    ("fx5800", "wp", "wp", 0.6, "the original's 9x8 blocks"),
];

/// The compaction study's workloads; its machine has thirty SMs.
const COMPACTED: &[&str] = &[
    "bfs",
    "bfs-mesh",
    "face-detect",
    "hotspot",
    "laplace3d",
    "mummer",
    "mummer-pp",
    "nbody-cutoff",
    "raytrace-persistent",
    "aes",
    "backprop",
    "coulomb",
    "dg",
    "heartwall",
    "leukocyte",
    "wp",
    "libor",
    "merge-sort",
    "nearest-neighbour",
    "raytrace",
    "stream-cluster",
    "sha1",
];

#[test]
#[ignore = "long: .ci/run"]
fn small_launches_have_four_waves() {
    let every: Vec<&str> = WORKLOADS.iter().map(|w| w.info().name).collect();
    let mut wrong = Vec::new();
    for (preset, workloads) in [("gtx480-v3", &every[..]), ("fx5800", COMPACTED)] {
        let machine = Machine::preset(preset).expect("a preset");
        for name in workloads {
            let device = launches(name, Size::Small);
            assert!(!device.launches.is_empty(), "{name}");
            let mut most: BTreeMap<&str, f64> = BTreeMap::new();
            for (kernel, launch) in &device.launches {
                let blocks: u32 = launch.grid.iter().product();
                let places = held(&machine, &device, launch) * machine.gpu.sms;
                let waves = f64::from(blocks) / f64::from(places);
                let largest = most.entry(kernel).or_insert(0.0);
                *largest = largest.max(waves);
            }
            for (kernel, waves) in most {
                let exception = FEWER
                    .iter()
                    .find(|(m, w, k, ..)| (*m, *w, *k) == (preset, *name, kernel));
                let least = exception.map_or(ENOUGH, |e| e.3);
                if waves < least || (exception.is_some() && waves >= ENOUGH) {
                    wrong.push(format!("{preset} {name} {kernel}: {waves:.2}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
