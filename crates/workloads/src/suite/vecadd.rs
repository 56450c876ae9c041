//! Vector addition.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

const BLOCK: u32 = 256;

static INFO: Info = Info {
    name: "vecadd",
    algorithm: "c[i] = a[i] + b[i], one element per thread",
    known_for: "streaming memory traffic, no reuse, no divergence",
    shape: "256 threads per block",
    papers: &[],
    comparison: "exact: one rounded addition has one right answer",
    parameters: &[Parameter::new(
        "n",
        "elements",
        [5_000, 1 << 20, 1 << 23],
        (1, 1 << 28),
    )],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("vecadd"),
};

/// The workload.
pub struct VecAdd;

fn reference(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(x, y)| x + y).collect()
}

impl Workload for VecAdd {
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
        let mut random = Random::new(seed, "vecadd");
        let mut vector =
            || -> Vec<f32> { (0..n).map(|_| random.float(-100.0, 100.0) as f32).collect() };
        let (a, b) = (vector(), vector());
        let module = session.load(&INFO.kernel)?;
        let da = session.upload_f32("a", &a)?;
        let db = session.upload_f32("b", &b)?;
        let bytes = u64::from(n) * 4;
        let dc = session.zeroed("c", bytes)?;
        session.launch(
            &module,
            "vecadd",
            Shape::cover(n, BLOCK),
            &[
                Arg::Pointer(da),
                Arg::Pointer(db),
                Arg::Pointer(dc),
                Arg::u32(n),
            ],
        )?;
        let got = session.device.read(dc, bytes)?;
        let expected = f32_bytes(&reference(&a, &b));
        Ok(Outcome::of([compare(
            "c",
            Element::F32,
            &expected,
            &got,
            &Tolerance::EXACT,
        )]))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn reference_adds() {
        assert_eq!(super::reference(&[1.0, 2.5], &[0.5, -2.5]), [1.5, 0.0]);
    }
}
