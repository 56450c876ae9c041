//! The workloads: kernels with generated input, host code, and a CPU reference each.

mod aes;
mod backprop;
mod bfs;
mod bfs_frontier;
mod btree;
mod cfd;
mod collatz;
mod convolution;
mod coulomb;
mod cutcp;
mod dg;
mod dwt2d;
mod face_detect;
mod fft;
mod fwt;
mod game_physics;
mod gaussian;
mod heartwall;
mod histogram;
mod host;
mod hotspot;
mod hybrid_sort;
mod images;
mod kmeans;
mod laplace3d;
mod lbm;
mod leukocyte;
mod libor;
mod lighting;
mod lud;
mod mapreduce;
mod matmul;
mod merge_sort;
mod mri_gridding;
mod mri_q;
mod mummer;
mod nbody_cutoff;
mod nearest_neighbour;
mod neural_net;
mod nqueens;
mod nw;
mod octree;
mod packed;
mod parameters;
mod particle_filter;
mod pathfinder;
mod radix_sort;
mod raytrace;
mod raytrace_persistent;
mod reduction;
mod sad;
mod scalar_product;
mod sha1;
mod shading;
mod srad;
mod srad_v1;
mod srad_v2;
mod stencil;
mod stream_cluster;
mod tpacf;
mod vecadd;
mod vector;
mod wp;

pub use parameters::{Parameter, Parameters, REGISTERS, SMALL_VERSION, Size};

use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::Session;
use warpsim_present::nearest;

/// What `warpsim list workloads` shows.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Name on the command line.
    pub name: &'static str,
    /// The algorithm, in a sentence.
    pub algorithm: &'static str,
    /// What it is known for: its divergence, barriers, memory behaviour.
    pub known_for: &'static str,
    /// Launch shape.
    pub shape: &'static str,
    /// The papers that use it, with the name and set it has there.
    pub papers: &'static [&'static str],
    /// How the result is compared.
    pub comparison: &'static str,
    /// What decides its size.
    pub parameters: &'static [Parameter],
    /// The sets it is in, as measured (`docs/workloads.md`).
    pub sets: &'static [Set],
    /// Sets it is in although the measurement says otherwise, and why.
    pub exceptions: &'static [(Set, &'static str)],
    /// Its kernels.
    pub kernel: Kernel,
}

/// What a workload is an example of. Each has a bound that a measurement holds it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// SIMD efficiency under `pdom` below 76%.
    Divergent,
    /// SIMD efficiency under `pdom` of 76% or more.
    Coherent,
    /// Above 15% of warp time at barriers under `lrr` on `gtx480-v3`.
    BarrierIntensive,
}

impl Set {
    /// Every set.
    pub const ALL: &[Set] = &[Set::Divergent, Set::Coherent, Set::BarrierIntensive];

    /// Its name on the command line and in study files.
    pub const fn name(self) -> &'static str {
        match self {
            Set::Divergent => "divergent",
            Set::Coherent => "coherent",
            Set::BarrierIntensive => "barrier-intensive",
        }
    }
}

/// A compiled file of `kernels/`. Workloads that are variants of each other share one.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The name of the `.cu` and `.ptx` file without its ending.
    pub name: &'static str,
    /// The PTX.
    pub ptx: &'static str,
    /// The listing of its machine code, compressed (`kernels/listings.sh`).
    pub listing: &'static [u8],
}

/// The [`Kernel`] of that name.
macro_rules! kernel {
    ($name:literal) => {
        $crate::suite::Kernel {
            name: $name,
            ptx: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/kernels/",
                $name,
                ".ptx"
            )),
            listing: include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/kernels/",
                $name,
                ".sass.gz"
            )),
        }
    };
}
use kernel;

/// A workload.
pub trait Workload: Sync {
    /// What it is.
    fn info(&self) -> &'static Info;

    /// Generates the input from `seed`, runs the kernels and compares with the reference.
    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError>;
}

/// Every workload, in the order they are listed.
pub const WORKLOADS: &[&dyn Workload] = &[
    &vecadd::VecAdd,
    &matmul::MatMul,
    &reduction::Reduction,
    &bfs::Bfs,
    &bfs::BfsMesh,
    &collatz::Collatz,
    &histogram::Histogram,
    &scalar_product::ScalarProduct,
    &fwt::Fwt,
    &stencil::Stencil,
    &stencil::StencilGlobal,
    &merge_sort::MergeSort,
    &btree::FindK,
    &btree::Range,
    &srad_v1::SradV1,
    &srad_v2::SradV2,
    &hotspot::Hotspot,
    &backprop::Backprop,
    &pathfinder::Pathfinder,
    &nw::Nw,
    &radix_sort::RadixSort,
    &kmeans::KMeans,
    &stream_cluster::StreamCluster,
    &raytrace_persistent::RaytracePersistent,
    &raytrace_persistent::RaytracePersistent4,
    &face_detect::FaceDetect,
    &mummer::Mummer,
    &mummer::MummerPp,
    &laplace3d::Laplace3d,
    &nbody_cutoff::NbodyCutoff,
    &raytrace::Raytrace,
    &nqueens::Nqueens,
    &aes::Aes,
    &coulomb::Coulomb,
    &sha1::Sha1,
    &nearest_neighbour::NearestNeighbour,
    &libor::Libor,
    &game_physics::GamePhysics,
    &shading::ShadingFew,
    &shading::ShadingMany,
    &convolution::Convolution,
    &fft::Fft,
    &lbm::Lbm,
    &cfd::Cfd,
    &sad::Sad,
    &hybrid_sort::HybridSort,
    &particle_filter::ParticleFilter,
    &lighting::Lighting,
    &neural_net::NeuralNet,
    &octree::Octree,
    &mapreduce::PageViewCount,
    &mapreduce::PageViewRank,
    &mapreduce::SimilarityScore,
    &mri_gridding::MriGridding,
    &mri_q::MriQ,
    &tpacf::Tpacf,
    &cutcp::Cutcp,
    &bfs_frontier::BfsFrontier,
    &heartwall::Heartwall,
    &leukocyte::Leukocyte,
    &wp::Wp,
    &dg::Dg,
    &lud::Lud,
    &gaussian::Gaussian,
    &dwt2d::Dwt2d,
    &nw::Nw64,
];

/// The workload of that name.
pub fn find(name: &str) -> Result<&'static dyn Workload, DeviceError> {
    if let Some(workload) = WORKLOADS.iter().find(|w| w.info().name == name) {
        return Ok(*workload);
    }
    let names = || WORKLOADS.iter().map(|w| w.info().name);
    let hint = nearest(name, names())
        .map(|n| format!("; did you mean `{n}`?"))
        .unwrap_or_default();
    Err(DeviceError::bad_input(format!(
        "no workload is called `{name}`{hint}\nworkloads: {}\na launch file ends in .toml",
        names().collect::<Vec<_>>().join(", ")
    )))
}
