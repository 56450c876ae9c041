//! Fourier transforms of many signals.
//!
//! Stands for the FFT of the variable-warp-sizing paper's insensitive set: Stockham's form in shared memory, a
//! block of 128 threads per signal of 512 complex numbers, four steps of radix 4 and one of radix 2, two barriers per
//! step. Nothing diverges; loads and stores of a block coalesce at any width of a warp.

use super::host::{arguments, check_f32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Length of a signal, and threads per block.
const POINTS: usize = 512;
const BLOCK: u32 = 128;
/// Forward.
const DIRECTION: f32 = -1.0;

/// Approximate sines in single precision against double precision; a signal's numbers are of the
/// order of one, their transforms of the order of twenty.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "fft",
    algorithm: "Fourier transforms of signals of 512 complex numbers: Stockham, radix 4 and 2, in shared memory",
    known_for: "no divergence, two barriers per step; the width of a warp does not matter",
    shape: "128 threads per block, one block per signal",
    papers: &["vws: FFT (insensitive)"],
    comparison: "within 1e-3 or 1e-5 of the value, against a transform in double precision",
    parameters: &[Parameter::new(
        "signals",
        "signals",
        [4, 960, 4096],
        (1, 1 << 18),
    )],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("fft"),
};

/// The workload.
pub struct Fft;

/// Some tones and noise, one signal after the other.
fn signals(count: u32, random: &mut Random) -> Vec<[f32; 2]> {
    let mut all = Vec::new();
    for _ in 0..count {
        let mut tone = || (random.float(0.0, 256.0), random.float(0.1, 1.0));
        let tones = [tone(), tone(), tone()];
        for i in 0..POINTS {
            let wave = |(frequency, strength): &(f64, f64)| {
                let angle = std::f64::consts::TAU * frequency * i as f64 / POINTS as f64;
                strength * angle.cos()
            };
            let sound: f64 = tones.iter().map(wave).sum();
            let mut noise = || random.float(-0.2, 0.2);
            all.push([(sound + noise()) as f32, noise() as f32]);
        }
    }
    all
}

/// The transform by halves: even and odd numbers apart, then together.
fn transform(signal: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = signal.len();
    if n == 1 {
        return signal.to_vec();
    }
    let half = |from: usize| -> Vec<[f64; 2]> {
        transform(
            &signal
                .iter()
                .copied()
                .skip(from)
                .step_by(2)
                .collect::<Vec<_>>(),
        )
    };
    let (even, odd) = (half(0), half(1));
    let mut result = vec![[0.0; 2]; n];
    for k in 0..n / 2 {
        let angle = f64::from(DIRECTION) * std::f64::consts::TAU * k as f64 / n as f64;
        let (s, c) = angle.sin_cos();
        let [x, y] = odd[k];
        let turned = [x * c - y * s, x * s + y * c];
        result[k] = [even[k][0] + turned[0], even[k][1] + turned[1]];
        result[k + n / 2] = [even[k][0] - turned[0], even[k][1] - turned[1]];
    }
    result
}

impl Workload for Fft {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let count = parameters.get_u32("signals");
        let signals = signals(count, &mut Random::new(seed, "fft"));
        let module = session.load(&INFO.kernel)?;
        let from = session.upload_f32("signals", signals.as_flattened())?;
        let to = session.zeroed("transforms", 8 * signals.len() as u64)?;
        let args = arguments(&[from, to], &[float(DIRECTION)]);
        session.launch(&module, "fft", Shape::linear(count, BLOCK), &args)?;
        let expected: Vec<f32> = signals
            .chunks(POINTS)
            .flat_map(|s| transform(&s.iter().map(|z| z.map(f64::from)).collect::<Vec<_>>()))
            .flat_map(|z| z.map(|part| part as f32))
            .collect();
        let result = check_f32(session, "transforms", to, &expected, &TOLERANCE)?;
        Ok(Outcome::of([result]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_has_one_frequency() {
        let wave: Vec<[f64; 2]> = (0..64)
            .map(|i| {
                let angle = std::f64::consts::TAU * 5.0 * f64::from(i) / 64.0;
                [angle.cos(), angle.sin()]
            })
            .collect();
        for (k, [x, y]) in transform(&wave).into_iter().enumerate() {
            let expected = if k == 5 { 64.0 } else { 0.0 };
            assert!(
                (x - expected).abs() < 1e-9 && y.abs() < 1e-9,
                "{k}: {x} {y}"
            );
        }
    }

    #[test]
    fn signals_repeat() {
        let make = |seed| signals(2, &mut Random::new(seed, "fft"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }
}
