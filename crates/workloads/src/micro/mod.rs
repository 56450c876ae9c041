//! Micro-kernels with the cycles a reference simulator (GPGPU-Sim 4.0.1, its GTX 480
//! configuration) takes for them, and the comparison with ours. See `docs/agreement.md`.

pub mod series;

use crate::host::args::Arg;
use crate::host::device::DeviceError;
use crate::host::element::u32_bytes;
use crate::host::session::{Session, Shape};
use crate::host::simulated::{Simulated, compile};
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_sim::stats::LaunchReport;

/// The reference's results, one launch per line.
const REFERENCE: &str = include_str!("../../micro/reference.csv");

macro_rules! kernels {
    ($($name:literal),* $(,)?) => {
        /// Every micro-kernel with its PTX.
        pub const KERNELS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../micro/", $name, ".ptx")))),*];
    };
}

// In the order in which the reference's program had them: where a kernel's code begins depends
// on those before it.
kernels!(
    "int_add_chain",
    "int_add_ilp4",
    "int_mad_chain",
    "int_div_chain",
    "fp_fma_chain",
    "fp_fma_ilp4",
    "int_fp_mix",
    "sfu_chain",
    "fp64_fma_chain",
    "shared_chase",
    "shared_stride1",
    "shared_stride2",
    "shared_stride8",
    "shared_stride32",
    "global_chase",
    "global_stream",
    "global_stride2",
    "global_stride32",
    "global_gather",
    "global_copy",
    "atomic_same",
    "atomic_spread",
    "barrier_loop",
    "barrier_imbalanced",
    "branch_ifelse",
    "branch_nested",
    "loop_divergent",
    "icache_big",
);

/// How the input buffer is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Zeros.
    Zero,
    /// Word i holds i.
    Index,
    /// Word i holds the byte offset (4 i + 128) modulo the size.
    Chase,
}

/// A launch and what the reference says of it.
#[derive(Clone, Debug)]
pub struct MicroLaunch {
    /// Kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: u32,
    /// Threads per block.
    pub block: u32,
    /// The kernel's `n`.
    pub n: u32,
    /// Bytes of the input buffer.
    pub in_bytes: u64,
    /// Its contents.
    pub fill: Fill,
    /// The reference's cycles under `lrr` and `gto`; `None` where it did not finish.
    pub cycles: [Option<u64>; 2],
    /// The reference's thread and warp instructions.
    pub instructions: Option<[u64; 2]>,
}

/// What a launch took here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Core cycles.
    pub cycles: u64,
    /// Thread instructions.
    pub thread_instructions: u64,
    /// Warp instructions.
    pub warp_instructions: u64,
}

impl Measured {
    pub(crate) fn of(report: &LaunchReport) -> Measured {
        let counters = &report.totals.sm.counters;
        Measured {
            cycles: report.totals.cycles,
            thread_instructions: counters.thread_instructions,
            warp_instructions: counters.warp_instructions,
        }
    }
}

/// All launches in the reference's order.
pub fn launches() -> Vec<MicroLaunch> {
    REFERENCE.lines().skip(1).filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<MicroLaunch> {
    // One field is quoted because it holds a comma; only its beginning matters.
    let line = line.replace("\"chase stride 128 bytes, wrapping\"", "chase");
    let f: Vec<&str> = line.split(',').collect();
    let number = |i: usize| f.get(i)?.parse::<u64>().ok();
    Some(MicroLaunch {
        kernel: f.first()?.to_string(),
        grid: number(1)? as u32,
        block: number(2)? as u32,
        n: number(3)? as u32,
        in_bytes: number(4)?,
        fill: match *f.get(5)? {
            "zero" => Fill::Zero,
            "chase" => Fill::Chase,
            _ => Fill::Index,
        },
        cycles: [number(6), number(7)],
        instructions: number(8).zip(number(9)).map(|(t, w)| [t, w]),
    })
}

impl MicroLaunch {
    fn input(&self) -> Vec<u8> {
        let words = (self.in_bytes / 4) as u32;
        let word = |i: u32| match self.fill {
            Fill::Zero => 0,
            Fill::Index => i,
            Fill::Chase => ((4 * i as u64 + 128) % self.in_bytes) as u32,
        };
        u32_bytes(&(0..words).map(word).collect::<Vec<_>>())
    }

    /// Runs the launch on a fresh machine, as the reference did: the input is copied from the
    /// host just before.
    pub fn run(&self, machine: Machine, options: Options) -> Result<Measured, DeviceError> {
        let mut device = Simulated::new(machine, options)?;
        let at = KERNELS.iter().position(|(name, _)| *name == self.kernel);
        let at = at.ok_or_else(|| DeviceError::bad_input(format!("no kernel {}", self.kernel)))?;
        let name = KERNELS[at].0;
        let mut session = Session {
            device: &mut device,
            compiler: &compile,
        };
        let mut module = session.load_text(KERNELS[0].0, KERNELS[0].1)?;
        for (name, ptx) in &KERNELS[1..=at] {
            module = session.load_text(name, ptx)?;
        }
        let out = session.zeroed("out", 4 * (self.grid * self.block) as u64)?;
        // global_copy writes 8 MB behind what it reads.
        let room = self.in_bytes.max(if self.kernel == "global_copy" {
            16 << 20
        } else {
            0
        });
        let input = session.zeroed("in", room)?;
        session.device.write(input, &self.input())?;
        let args = [Arg::Pointer(out), Arg::Pointer(input), Arg::u32(self.n)];
        session.launch(&module, name, Shape::linear(self.grid, self.block), &args)?;
        let report = device.gpu.reports().first();
        report
            .map(Measured::of)
            .ok_or_else(|| DeviceError::bad_input("nothing was launched"))
    }
}
