//! Monte-Carlo pricing in the LIBOR market model.
//!
//! Stands for LIB: 64 threads per block, a thread per path, two kernels (values, and values with
//! derivatives by the adjoint method), arrays of rates in local memory. Loops run equally long in
//! all lanes; only whether a swaption is exercised differs. The reference carries derivatives along
//! forwards, where the kernel goes backwards. Paths on which a swaption is worth almost exactly
//! nothing are drawn anew, so that single and double precision agree on which are exercised.
//!
//! First measurement (`small`, pdom, lrr): SIMD efficiency 96.6% on fx5800 and gtx480, 26.4
//! million thread instructions, no barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// What the kernel's arrays have room for.
const RATES: usize = 32;
const OPTIONS: usize = 16;

const PERIOD: f64 = 0.25;
const INITIAL: f64 = 0.05;

/// Single precision with approximate exponentials and divisions against double precision; values
/// are of the order of ten, derivatives of the order of a thousand.
const VALUES: Tolerance = Tolerance {
    absolute: 2e-3,
    relative: 1e-4,
    ulp: 0,
};
const DELTAS: Tolerance = Tolerance {
    absolute: 5e-2,
    relative: 2e-4,
    ulp: 0,
};

/// A swaption this near to being worthless might be exercised in one precision and not in the
/// other; no path has one.
const UNDECIDED: f64 = 2e-5;

static INFO: Info = Info {
    name: "libor",
    algorithm: "paths of forward rates and the value of swaptions on them; a second kernel with derivatives",
    known_for: "little divergence; arrays in local memory",
    shape: "64 threads per block, one thread per path",
    papers: &["tbc: LIB (coherent)"],
    comparison: "values within 2e-3 or 1e-4, derivatives within 5e-2 or 2e-4, against double precision",
    parameters: &[
        Parameter::new("paths", "paths", [64, 61_440, 65_536], (1, 1 << 22)),
        Parameter::new("rates", "forward rates", [8, 6, 32], (2, RATES as u64)),
        Parameter::new("steps", "maturities simulated", [4, 3, 16], (1, 16)),
        Parameter::new("options", "swaptions", [3, 3, 12], (1, OPTIONS as u64)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("libor"),
};

/// The workload.
pub struct Libor;

/// What all paths share.
struct Market {
    rates: usize,
    steps: usize,
    /// Every forward rate at the beginning.
    initial: f64,
    volatility: Vec<f32>,
    /// Maturity in periods and strike of each swaption.
    options: Vec<(u32, f32)>,
}

impl Market {
    fn new(rates: usize, steps: usize, options: usize, random: &mut Random) -> Market {
        let periods = (rates - steps) as u64;
        Market {
            rates,
            steps,
            initial: INITIAL,
            // Falls with the time to maturity, as in the market.
            volatility: (0..rates)
                .map(|i| (0.18 + 0.12 / (1.0 + 0.2 * i as f64)) as f32)
                .collect(),
            options: (0..options)
                .map(|_| {
                    (
                        random.below(periods) as u32 + 1,
                        random.float(0.04, 0.06) as f32,
                    )
                })
                .collect(),
        }
    }

    /// As the kernel's constant memory holds it.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for n in [self.rates, self.steps, self.options.len()] {
            bytes.extend((n as u32).to_le_bytes());
        }
        bytes.extend(f32_bytes(
            &[PERIOD, PERIOD.sqrt(), self.initial].map(|x| x as f32),
        ));
        let mut volatility = self.volatility.clone();
        volatility.resize(RATES, 0.0);
        bytes.extend(f32_bytes(&volatility));
        let option = |i: usize| self.options.get(i).copied().unwrap_or((1, 0.0));
        bytes.extend((0..OPTIONS).flat_map(|i| option(i).0.to_le_bytes()));
        bytes.extend((0..OPTIONS).flat_map(|i| option(i).1.to_le_bytes()));
        bytes
    }
}

/// A number with its derivative by a shift of all initial rates.
#[derive(Clone, Copy)]
struct Dual(f64, f64);

/// A path's value and derivative (carried along forwards, where the kernel goes backwards), and
/// how near any swaption came to being undecided.
fn follow(market: &Market, normals: &[f32]) -> (f64, f64, f64) {
    let mut rates = vec![Dual(market.initial, 1.0); market.rates];
    for (step, normal) in normals.iter().enumerate() {
        let mut drift = Dual(0.0, 0.0);
        for (i, own) in rates.iter_mut().enumerate().skip(step + 1) {
            let v = f64::from(market.volatility[i - step - 1]);
            let weight = PERIOD * v;
            let Dual(rate, slope) = *own;
            let divisor = 1.0 + PERIOD * rate;
            drift.0 += weight * rate / divisor;
            drift.1 += weight * slope / (divisor * divisor);
            let shock = v * PERIOD.sqrt() * f64::from(*normal);
            let growth = (weight * (drift.0 - 0.5 * v) + shock).exp();
            *own = Dual(
                rate * growth,
                slope * growth + rate * growth * weight * drift.1,
            );
        }
    }
    let (mut value, mut delta, mut nearest) = (0.0, 0.0, f64::INFINITY);
    for &(maturity, strike) in &market.options {
        let mut bond = Dual(1.0, 0.0);
        let mut annuity = Dual(0.0, 0.0);
        for Dual(rate, slope) in &rates[market.steps..market.steps + maturity as usize] {
            let divisor = 1.0 + PERIOD * rate;
            bond = Dual(
                bond.0 / divisor,
                bond.1 / divisor - bond.0 * PERIOD * slope / (divisor * divisor),
            );
            annuity = Dual(annuity.0 + PERIOD * bond.0, annuity.1 + PERIOD * bond.1);
        }
        let gain = bond.0 + f64::from(strike) * annuity.0 - 1.0;
        nearest = nearest.min(gain.abs());
        if gain < 0.0 {
            value -= 100.0 * gain;
            delta -= 100.0 * (bond.1 + f64::from(strike) * annuity.1);
        }
    }
    (value, delta, nearest)
}

/// A normal random number: the sum of twelve uniform ones, less six.
fn normal(random: &mut Random) -> f32 {
    ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0) as f32
}

impl Workload for Libor {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [rates, steps, options] =
            ["rates", "steps", "options"].map(|name| parameters.get(name) as usize);
        if steps >= rates {
            return Err(DeviceError::bad_input(format!(
                "after {steps} steps none of {rates} rates is left to price with: \
                 make `steps` less than `rates`"
            )));
        }
        let mut random = Random::new(seed, "libor");
        let market = Market::new(rates, steps, options, &mut random);
        let paths = parameters.get("paths") as usize;
        // Step after step, so that neighbouring threads read neighbouring numbers.
        let mut normals = vec![0.0; paths * steps];
        let (mut values, mut deltas) = (Vec::new(), Vec::new());
        for path in 0..paths {
            let (drawn, value, delta) = loop {
                let drawn: Vec<f32> = (0..steps).map(|_| normal(&mut random)).collect();
                let (value, delta, nearest) = follow(&market, &drawn);
                if nearest > UNDECIDED {
                    break (drawn, value, delta);
                }
            };
            for (step, number) in drawn.into_iter().enumerate() {
                normals[step * paths + path] = number;
            }
            values.push(value as f32);
            deltas.push(delta as f32);
        }

        let module = session.load(&INFO.kernel)?;
        session.set_symbol(&module, "market", &market.bytes())?;
        let input = session.upload_f32("normals", &normals)?;
        let bytes = 4 * paths as u64;
        let output = ["values", "values again", "deltas"];
        let mut buffers = Vec::new();
        for name in output {
            buffers.push(Arg::Pointer(session.zeroed(name, bytes)?));
        }
        let count = Arg::u32(paths as u32);
        let shape = Shape::cover(paths as u32, 64);
        let arguments = [Arg::Pointer(input), buffers[0].clone(), count.clone()];
        session.launch(&module, "libor_value", shape, &arguments)?;
        let arguments = [
            Arg::Pointer(input),
            buffers[1].clone(),
            buffers[2].clone(),
            count,
        ];
        session.launch(&module, "libor_greeks", shape, &arguments)?;
        let expected = [(&values, &VALUES), (&values, &VALUES), (&deltas, &DELTAS)];
        let mut results = Vec::new();
        for ((name, buffer), (expected, tolerance)) in output.iter().zip(&buffers).zip(expected) {
            let Arg::Pointer(address) = *buffer else {
                continue;
            };
            let got = session.device.read(address, bytes)?;
            let expected = f32_bytes(expected);
            results.push(compare(name, Element::F32, &expected, &got, tolerance));
        }
        Ok(Outcome::of(results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_shocks_rates_hardly_move() {
        let mut market = Market::new(6, 2, 1, &mut Random::new(1, "libor"));
        market.volatility = vec![0.0; 6];
        market.options = vec![(2, 0.04)];
        let (value, delta, _) = follow(&market, &[1.0, -1.0]);
        let bond = 1.0 / 1.0125f64;
        let gain = bond * bond + f64::from(0.04f32) * 0.25 * (bond + bond * bond) - 1.0;
        assert!((value + 100.0 * gain).abs() < 1e-12);
        assert!(delta > 0.0, "higher rates make the swaption worth more");
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let mut random = Random::new(2, "libor");
        let mut market = Market::new(10, 5, 4, &mut random);
        let mut checked = 0;
        for _ in 0..20 {
            let normals: Vec<f32> = (0..5).map(|_| normal(&mut random)).collect();
            let (value, delta, nearest) = follow(&market, &normals);
            if nearest > 1e-4 && value > 0.0 {
                let mut at = |initial: f64| {
                    market.initial = initial;
                    follow(&market, &normals).0
                };
                let slope = (at(INITIAL + 1e-6) - at(INITIAL - 1e-6)) / 2e-6;
                at(INITIAL);
                assert!((delta - slope).abs() < 1e-5 * slope, "{delta} {slope}");
                checked += 1;
            }
        }
        assert!(checked > 5, "{checked}");
    }

    #[test]
    fn normals_have_mean_zero_and_variance_one() {
        let mut random = Random::new(3, "libor");
        let all: Vec<f64> = (0..4000).map(|_| f64::from(normal(&mut random))).collect();
        let mean = all.iter().sum::<f64>() / 4000.0;
        let variance = all.iter().map(|x| x * x).sum::<f64>() / 4000.0;
        assert!(mean.abs() < 0.06 && (variance - 1.0).abs() < 0.1);
    }
}
