//! Collatz sequences.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

static INFO: Info = Info {
    name: "collatz",
    algorithm: "steps of the Collatz sequence from random starts, one start per thread",
    known_for: "pure control divergence: trip counts without pattern, and a branch in the loop",
    shape: "256 threads per block, or as asked for",
    papers: &[],
    comparison: "exact",
    parameters: &[
        Parameter::new("n", "start values", [1_000, 92_160, 245_760], (1, 1 << 26)),
        Parameter::new(
            "largest",
            "largest start value",
            [1_000, 1_000_000, 1_000_000],
            // No start below 2^32 leaves 64 bits.
            (1, u32::MAX as u64),
        ),
        Parameter::new(
            "limit",
            "steps after which to give up",
            [1_000, 1_000, 1_000],
            (1, 100_000),
        ),
        Parameter::new("block", "threads per block", [256, 256, 256], (1, 1024)),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("collatz"),
};

/// The workload.
pub struct Collatz;

/// Steps until 1 is reached.
fn reference(start: u32, limit: u32) -> u32 {
    std::iter::successors(Some(u64::from(start)), |v| {
        Some(if v.is_multiple_of(2) {
            v / 2
        } else {
            v.wrapping_mul(3).wrapping_add(1)
        })
    })
    .take(limit as usize)
    .take_while(|v| *v > 1)
    .count() as u32
}

impl Workload for Collatz {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let n = parameters.get_u32("n");
        let limit = parameters.get_u32("limit");
        let mut random = Random::new(seed, "collatz");
        let starts: Vec<u32> = (0..n)
            .map(|_| 1 + random.below(parameters.get("largest")) as u32)
            .collect();
        let module = session.load(&INFO.kernel)?;
        let start = session.upload_u32("start", &starts)?;
        let bytes = u64::from(n) * 4;
        let steps = session.zeroed("steps", bytes)?;
        let arguments = [
            Arg::Pointer(start),
            Arg::Pointer(steps),
            Arg::u32(n),
            Arg::u32(limit),
        ];
        let shape = Shape::cover(n, parameters.get_u32("block"));
        session.launch(&module, "collatz", shape, &arguments)?;
        let got = session.device.read(steps, bytes)?;
        let expected: Vec<u32> = starts.iter().map(|s| reference(*s, limit)).collect();
        Ok(Outcome::of([compare(
            "steps",
            Element::U32,
            &u32_bytes(&expected),
            &got,
            &Tolerance::EXACT,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn reference_knows_famous_starts() {
        assert_eq!(
            [1, 2, 3, 27, 97].map(|s| reference(s, 1000)),
            [0, 1, 7, 111, 118]
        );
        assert_eq!(reference(27, 50), 50);
    }
}
