//! The second set of micro-kernels: each launched once, or several times in a row, with the
//! reference simulator's cycles for every launch.

use super::Measured;
use crate::host::args::Arg;
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::host::simulated::{Simulated, compile};
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;

/// The reference's results, one launch per line; launches in a row follow each other.
const REFERENCE: &str = include_str!("../../micro2/reference.csv");

macro_rules! kernels {
    ($($name:literal),* $(,)?) => {
        /// Every kernel of the second set with its PTX.
        pub const KERNELS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../micro2/", $name, ".ptx")))),*];
    };
}

kernels!(
    "const_div2",
    "const_diverge",
    "const_uniform",
    "const_walk",
    "cvt_chain",
    "dadd_dmul",
    "ddiv",
    "exit_divergent",
    "fadd_fmul",
    "fdiv_full",
    "fdiv_rn",
    "fmin_selp",
    "gather_stride12",
    "i64_ops",
    "imul_wide",
    "l12cg",
    "l12cgpad",
    "l4cg",
    "ld_u8",
    "ld_v4",
    "local_ld",
    "local_rw",
    "local_st",
    "membar_cta",
    "membar_gl",
    "rem_u32",
    "s12",
    "s12pad",
    "s4",
    "s4pad",
    "sh_atom_2way",
    "sh_atom_same",
    "sh_atom_spread",
    "sqrt_rn",
    "st_v4",
    "store128",
    "store8",
    "store_partial_read",
);

/// The same launch, once or several times in a row, and what the reference says of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: u32,
    /// Threads per block.
    pub block: u32,
    /// The kernel's `n`.
    pub n: u32,
    /// Words of the output and of the input buffer, all zero.
    pub words: [u32; 2],
    /// Issue policy.
    pub scheduler: String,
    /// The reference's cycles and thread instructions, launch by launch.
    pub launches: Vec<[u64; 2]>,
}

/// All series in the reference's order.
pub fn series() -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in REFERENCE.lines().skip(1).filter_map(parse) {
        match all.last_mut() {
            Some(last) if row.1 > 0 => last.launches.extend(row.0.launches),
            _ => all.push(row.0),
        }
    }
    all
}

/// A line of the results: a launch, and its number in its row.
fn parse(line: &str) -> Option<(Series, usize)> {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |i: usize| fields.get(i)?.parse::<u64>().ok();
    let series = Series {
        kernel: fields.first()?.to_string(),
        grid: number(1)? as u32,
        block: number(2)? as u32,
        n: number(4)? as u32,
        words: [number(5)? as u32, number(6)? as u32],
        scheduler: fields.get(7)?.to_string(),
        launches: vec![[number(9)?, number(10)?]],
    };
    Some((series, number(8)? as usize))
}

impl Series {
    /// Makes the launches on a fresh machine, as the reference did: both buffers are copied from
    /// the host before the first.
    pub fn run(&self, machine: Machine) -> Result<Vec<Measured>, DeviceError> {
        let mut device = Simulated::new(machine, Options::default())?;
        let mut session = Session {
            device: &mut device,
            compiler: &compile,
        };
        let ptx = KERNELS.iter().find(|(name, _)| *name == self.kernel);
        let (name, ptx) =
            ptx.ok_or_else(|| DeviceError::bad_input(format!("no kernel {}", self.kernel)))?;
        let module = session.load_text(name, ptx)?;
        let [out, input] = self.words.map(|words| vec![0; 4 * words as usize]);
        let out = session.upload("out", &out)?;
        let input = session.upload("in", &input)?;
        let args = [Arg::Pointer(out), Arg::Pointer(input), Arg::u32(self.n)];
        for _ in &self.launches {
            session.launch(&module, name, Shape::linear(self.grid, self.block), &args)?;
        }
        Ok(device.gpu.reports().iter().map(Measured::of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_launches_and_rows_are_whole() {
        let all = series();
        assert_eq!(all.iter().map(|s| s.launches.len()).sum::<usize>(), 464);
        for (name, _) in KERNELS {
            let of = |scheduler: &str| {
                let found = all.iter();
                found
                    .filter(|s| s.kernel == *name && s.scheduler == scheduler)
                    .count()
            };
            assert!(of("lrr") > 0 && of("lrr") == of("gto"), "{name}");
        }
        assert!(all.iter().all(|s| [1, 4].contains(&s.launches.len())));
    }
}
