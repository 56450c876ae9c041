//! Histogram of bytes.
//!
//! Stands for Parboil's histogram: 512 threads per block (16 warps, 3 blocks per SM as in the paper) count
//! in shared memory with atomics, between barriers, and add to the global bins.
//!
//! Measured (small, `lrr`, gtx480-v3): 12.8 million thread instructions, SIMD efficiency 99.9%, 2.7% of
//! warp time at barriers; 6.3% with 512 blocks, which have less to count each. Below the 15% that the
//! barrier paper's set asks for: counting is long and bound by memory, and there are only two barriers
//! (the original's other kernels, a reduction among them, have more). So it is not listed
//! there; the paper's study runs it among its set all the same.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

const BINS: usize = 256;

static INFO: Info = Info {
    name: "histogram",
    algorithm: "256-bin histogram of bytes: shared-memory counts per block, then global atomics",
    known_for: "contended shared atomics between barriers",
    shape: "512 threads per block, blocks stride over the data",
    papers: &["baws: HISTO (barrier-intensive, 16 warps per block)"],
    comparison: "exact: every bin",
    parameters: &[
        Parameter::new(
            "words",
            "32-bit words of four bytes each",
            [2_000, 1 << 19, 1 << 22],
            (1, 1 << 28),
        ),
        Parameter::new("blocks", "blocks", [3, 180, 180], (1, 65_535)),
        Parameter::new("block", "threads per block", [512, 512, 512], (32, 1024)).multiple_of(32),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("histogram"),
};

/// The workload.
pub struct Histogram;

/// Bytes as an image has them: a broad hump (the sum of four dice) with some saturated pixels,
/// so that a few bins are fought over.
fn image(words: u32, random: &mut Random) -> Vec<u32> {
    let mut pixel = || -> u32 {
        if random.below(16) == 0 {
            return 255;
        }
        let bits = random.next_u32();
        (0..4).map(|i| bits >> (8 * i) & 63).sum::<u32>()
    };
    (0..words)
        .map(|_| (0..4).fold(0, |word, i| word | pixel() << (8 * i)))
        .collect()
}

fn reference(data: &[u32]) -> Vec<u32> {
    let mut bins = vec![0u32; BINS];
    for byte in data.iter().flat_map(|w| w.to_le_bytes()) {
        bins[usize::from(byte)] += 1;
    }
    bins
}

impl Workload for Histogram {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let words = parameters.get_u32("words");
        let data = image(words, &mut Random::new(seed, "histogram"));
        let module = session.load(&INFO.kernel)?;
        let input = session.upload_u32("data", &data)?;
        let bins = session.zeroed("bins", 4 * BINS as u64)?;
        let shape = Shape::linear(parameters.get_u32("blocks"), parameters.get_u32("block"));
        let arguments = [Arg::Pointer(input), Arg::Pointer(bins), Arg::u32(words)];
        session.launch(&module, "histogram", shape, &arguments)?;
        let got = session.device.read(bins, 4 * BINS as u64)?;
        Ok(Outcome::of([compare(
            "bins",
            Element::U32,
            &u32_bytes(&reference(&data)),
            &got,
            &Tolerance::EXACT,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_counts_bytes() {
        let bins = reference(&[0x0000_0102, 0xff00_0002]);
        assert_eq!((bins[0], bins[1], bins[2], bins[255]), (4, 1, 2, 1));
        assert_eq!(bins.iter().sum::<u32>(), 8);
    }

    #[test]
    fn images_repeat_and_have_a_hot_bin() {
        let make = |seed| image(1000, &mut Random::new(seed, "histogram"));
        assert_eq!(make(3), make(3));
        assert_ne!(make(3), make(4));
        let bins = reference(&make(3));
        assert!(bins[255] > 150 && bins[126] > bins[10]);
    }
}
