//! The kernels of the paper on virtual thread blocks and warps, and which of ours stands for each.
//!
//! That paper counts kernels, not programs: its tables have 51 rows in four sets (by divergence among
//! the warps of a block: in instructions and cycles, in cycles, in instructions, in neither). Its table 4
//! prints bucketcount twice; the first is bucketSort.

use Suite::{Ispass, Parboil, Rodinia};

/// Where a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Those that come with GPGPU-Sim (the paper's L).
    Ispass,
    /// Parboil.
    Parboil,
    /// Rodinia.
    Rodinia,
}

/// A row of the paper's tables 1 and 4, and our launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperKernel {
    /// The set it is in, 1 to 4.
    pub set: u8,
    /// The suite its program is from.
    pub suite: Suite,
    /// The program, as the paper calls it.
    pub program: &'static str,
    /// The kernel, as the paper calls it (shortened there).
    pub kernel: &'static str,
    /// Blocks in its grid there.
    pub blocks: u32,
    /// Blocks that the paper's GPU of 15 SMs holds at once, at most as many as there are.
    pub resident: u32,
    /// Our workload.
    pub workload: &'static str,
    /// The kernel in it.
    pub entry: &'static str,
}

const fn row(
    set: u8,
    suite: Suite,
    program: &'static str,
    kernel: &'static str,
    (blocks, resident): (u32, u32),
    workload: &'static str,
    entry: &'static str,
) -> PaperKernel {
    PaperKernel {
        set,
        suite,
        program,
        kernel,
        blocks,
        resident,
        workload,
        entry,
    }
}

/// Every row, in the paper's order.
#[rustfmt::skip]
pub const KERNELS: &[PaperKernel] = &[
    row(1, Parboil, "lbm", "performStreamColl", (18000, 105), "lbm", "performStreamColl"),
    row(1, Rodinia, "hybridsort", "mergepack", (17408, 90), "hybrid-sort", "mergepack"),
    row(1, Rodinia, "bfs", "Kernel", (1954, 45), "bfs", "bfs_visit"),
    row(1, Rodinia, "bfs", "Kernel2", (1954, 45), "bfs", "bfs_advance"),
    row(1, Rodinia, "hybridsort", "mergeSortPass", (695, 75), "hybrid-sort", "mergeSortPass"),
    row(1, Ispass, "BFS", "Kernel", (256, 90), "bfs-frontier", "bfs_frontier"),
    row(1, Ispass, "MUM", "mummergpuKernel", (196, 75), "mummer", "mummer"),
    row(1, Ispass, "NQU", "solve_nqueen_cu", (256, 45), "nqueens", "nqueens"),
    row(1, Ispass, "RAY", "render", (512, 75), "raytrace", "render"),
    row(1, Rodinia, "b+tree", "findK", (10000, 90), "btree-find-k", "btree_find_k"),
    row(1, Ispass, "NN", "executeFirstLayer", (168, 105), "neural-net", "layer1"),
    row(1, Rodinia, "b+tree", "findRangeK", (6000, 90), "btree-range", "btree_range"),
    row(1, Parboil, "mri-gridding", "splitSort", (2594, 45), "mri-gridding", "splitSort"),
    row(1, Rodinia, "hotspot", "calculate_temp", (1849, 60), "hotspot", "hotspot"),
    row(1, Parboil, "sad", "mb_sad_calc", (1584, 120), "sad", "mb_sad_calc"),
    row(1, Rodinia, "backprop", "bpnn_layerfwd_CU", (4096, 90), "backprop", "backprop_forward"),
    row(2, Parboil, "mri-gridding", "binning_kernel", (5188, 45), "mri-gridding", "binning_kernel"),
    row(2, Rodinia, "hybridsort", "mergeSortFirst", (4098, 90), "hybrid-sort", "mergeSortFirst"),
    row(2, Rodinia, "kmeans", "invert_mapping", (3249, 90), "kmeans", "kmeans_transpose"),
    row(2, Rodinia, "cfd", "cu_time_step", (1212, 120), "cfd", "cu_time_step"),
    row(2, Rodinia, "cfd", "cu_initialize_vars", (1212, 120), "cfd", "cu_initialize_vars"),
    row(2, Rodinia, "srad_v1", "prepare", (450, 45), "srad-v1", "srad_prepare"),
    row(2, Rodinia, "srad_v1", "srad", (450, 45), "srad-v1", "srad_gradient"),
    row(2, Ispass, "CP", "cenergy", (256, 120), "coulomb", "coulomb"),
    row(2, Rodinia, "srad_v1", "srad2", (450, 45), "srad-v1", "srad_update"),
    row(2, Rodinia, "cfd", "cu_comp_step_fact", (1212, 120), "cfd", "cu_comp_step_fact"),
    row(2, Parboil, "sad", "larger_sad_calc_8", (99, 99), "sad", "larger_sad_calc_8"),
    row(2, Rodinia, "streamcluster", "kernel_compute_cost", (128, 30), "stream-cluster", "stream_cluster"),
    row(2, Rodinia, "srad_v1", "extract", (450, 45), "srad-v1", "srad_extract"),
    row(2, Rodinia, "srad_v2", "srad_cu_1", (16384, 90), "srad-v2", "srad_coefficients"),
    row(2, Rodinia, "kmeans", "kmeansPoint", (3249, 90), "kmeans", "kmeans_nearest"),
    row(2, Rodinia, "cfd", "cu_compute_flux", (1212, 45), "cfd", "cu_compute_flux"),
    row(2, Parboil, "mri-q", "ComputeQ_GPU", (128, 75), "mri-q", "ComputeQ_GPU"),
    row(2, Rodinia, "backprop", "bpnn_adjust_wts_cu", (4096, 90), "backprop", "backprop_adjust"),
    row(2, Rodinia, "srad_v2", "srad_cu_2", (16384, 90), "srad-v2", "srad_spread"),
    row(2, Rodinia, "srad_v1", "reduce", (225, 45), "srad-v1", "srad_reduce"),
    row(3, Parboil, "mri-gridding", "scan_L1_kernel", (41, 41), "mri-gridding", "scan_L1_kernel"),
    row(3, Rodinia, "pathfinder", "dynproc_kernel", (463, 90), "pathfinder", "pathfinder"),
    row(3, Ispass, "LPS", "GPU_laplace3d", (100, 100), "laplace3d", "laplace3d"),
    row(4, Parboil, "stencil", "block2D_hyb_coarsen", (64, 64), "stencil", "stencil"),
    row(4, Parboil, "cutcp", "cu_cutoff_pot_lat", (121, 120), "cutcp", "cu_cutoff_pot_lat"),
    row(4, Parboil, "tpacf", "gen_hists", (201, 45), "tpacf", "gen_hists"),
    row(4, Ispass, "AES", "aesEncrypt128", (257, 90), "aes", "aes"),
    row(4, Ispass, "NN", "executeThirdLayer", (2800, 120), "neural-net", "layer3"),
    row(4, Ispass, "NN", "executeFourthLayer", (280, 120), "neural-net", "layer4"),
    row(4, Ispass, "NN", "executeSecondLayer", (1400, 120), "neural-net", "layer2"),
    row(4, Ispass, "STO", "sha1_overlap", (384, 45), "sha1", "sha1"),
    row(4, Rodinia, "hybridsort", "bucketSort", (1024, 120), "hybrid-sort", "bucketSort"),
    row(4, Rodinia, "hybridsort", "bucketcount", (1024, 120), "hybrid-sort", "bucketcount"),
    row(4, Rodinia, "hybridsort", "hist1024Kernel", (64, 60), "hybrid-sort", "hist1024Kernel"),
    row(4, Rodinia, "nw", "needle_cu_shared_1", (64, 15), "nw-64", "nw_64"),
];
