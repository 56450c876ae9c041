//! Back-propagation in a neural network.
//!
//! Stands for Rodinia's backprop: a layer of many inputs and 16 hidden units, blocks of 16x16
//! threads that multiply 16 inputs with their weights and add by a tree in shared memory whose
//! active rows halve at each barrier; then the update of all weights, with a barrier and a few
//! threads that also update the bias. The host computes the small layers between the two.
//!
//! First measurement (small, `lrr`, gtx480-v3): 6.3 million thread instructions, SIMD efficiency
//! 86.5%, 11.2% of warp time at barriers.

use super::host::{arguments, check_f32, float, read_f32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Hidden units, and side of a block.
const HIDDEN: usize = 16;
/// Learning rate and momentum.
const RATE: f32 = 0.3;
const MOMENTUM: f32 = 0.3;
/// What the network is to answer.
const TARGET: f64 = 0.1;

/// Sums of thousands of products in single precision decide the deltas.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-5,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "backprop",
    algorithm: "one step of back-propagation: a forward pass of the large layer, then its weights' update",
    known_for: "a shared-memory tree with halving rows and a barrier per level; streaming update",
    shape: "16x16 threads per block, one block for 16 inputs",
    papers: &[
        "tbc: BACKP (coherent)",
        "vtw: backprop",
        "origami: backprop",
        "baws: backprop (7% at barriers)",
    ],
    comparison: "within 1e-5 or 1e-4 of the value, against double precision",
    parameters: &[
        Parameter::new("inputs", "input units", [96, 7680, 65_536], (16, 1 << 20))
            .multiple_of(HIDDEN as u64),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("backprop"),
};

/// The workload.
pub struct Backprop;

/// What the network starts with. Unit 0 of inputs and hidden units is the bias, always 1.
struct Network {
    inputs: Vec<f32>,
    /// `HIDDEN + 1` for each input.
    weights: Vec<f32>,
    momenta: Vec<f32>,
    /// From the hidden units to the output.
    output: Vec<f32>,
}

impl Network {
    fn generate(inputs: usize, random: &mut Random) -> Network {
        let mut values = |count: usize, low: f64, high: f64| -> Vec<f32> {
            (0..count).map(|_| random.float(low, high) as f32).collect()
        };
        // Weights so small that hidden units do not saturate, however many inputs there are.
        let scale = 1.0 / (inputs as f64).sqrt();
        let weights = (inputs + 1) * (HIDDEN + 1);
        let mut network = Network {
            inputs: values(inputs + 1, 0.0, 1.0),
            weights: values(weights, -scale, scale),
            momenta: values(weights, -0.1 * scale, 0.1 * scale),
            output: values(HIDDEN + 1, -1.0, 1.0),
        };
        network.inputs[0] = 1.0;
        network
    }

    /// Deltas of the hidden units (0 for the bias) from the sums that reach them without the bias.
    fn deltas(&self, sums: &[f64]) -> Vec<f32> {
        let hidden: Vec<f64> = (1..=HIDDEN)
            .map(|h| squash(sums[h - 1] + f64::from(self.weights[h])))
            .collect();
        let weighted = hidden.iter().zip(&self.output[1..]);
        let total: f64 = weighted.map(|(h, w)| h * f64::from(*w)).sum();
        let out = squash(total + f64::from(self.output[0]));
        let error = out * (1.0 - out) * (TARGET - out);
        let weighted = hidden.iter().zip(&self.output[1..]);
        let deltas = weighted.map(|(h, w)| h * (1.0 - h) * error * f64::from(*w));
        std::iter::once(0.0)
            .chain(deltas)
            .map(|d| d as f32)
            .collect()
    }

    /// What reaches each hidden unit from all inputs but the bias.
    fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; HIDDEN];
        let rows = self.weights.chunks_exact(HIDDEN + 1);
        for (input, row) in self.inputs.iter().zip(rows).skip(1) {
            for (sum, weight) in sums.iter_mut().zip(&row[1..]) {
                *sum += f64::from(*input) * f64::from(*weight);
            }
        }
        sums
    }

    /// Weights and momenta after the step.
    fn reference(&self) -> (Vec<f32>, Vec<f32>) {
        let deltas = self.deltas(&self.sums());
        let (mut weights, mut momenta) = (self.weights.clone(), self.momenta.clone());
        for (row, input) in self.inputs.iter().enumerate() {
            for (column, delta) in deltas.iter().enumerate().skip(1) {
                let i = row * (HIDDEN + 1) + column;
                let change = f64::from(RATE) * f64::from(*delta) * f64::from(*input)
                    + f64::from(MOMENTUM) * f64::from(self.momenta[i]);
                weights[i] = (f64::from(self.weights[i]) + change) as f32;
                momenta[i] = change as f32;
            }
        }
        (weights, momenta)
    }
}

fn squash(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Workload for Backprop {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let inputs = parameters.get_u32("inputs");
        let network = Network::generate(inputs as usize, &mut Random::new(seed, "backprop"));
        let module = session.load(&INFO.kernel)?;
        let units = session.upload_f32("inputs", &network.inputs)?;
        let weights = session.upload_f32("weights", &network.weights)?;
        let momenta = session.upload_f32("momenta", &network.momenta)?;
        let blocks = inputs / HIDDEN as u32;
        let sums = blocks as usize * HIDDEN;
        let partial = session.zeroed("partial sums", 4 * sums as u64)?;
        let shape = Shape {
            grid: [1, blocks, 1],
            block: [HIDDEN as u32, HIDDEN as u32, 1],
        };
        let args = arguments(&[units, weights, partial], &[Arg::u32(HIDDEN as u32)]);
        session.launch(&module, "backprop_forward", shape, &args)?;
        let mut reached = vec![0.0; HIDDEN];
        for block in read_f32(session, partial, sums)?.chunks_exact(HIDDEN) {
            for (sum, part) in reached.iter_mut().zip(block) {
                *sum += f64::from(*part);
            }
        }
        let deltas = session.upload_f32("deltas", &network.deltas(&reached))?;
        let args = arguments(
            &[deltas, units, weights, momenta],
            &[Arg::u32(HIDDEN as u32), float(RATE), float(MOMENTUM)],
        );
        session.launch(&module, "backprop_adjust", shape, &args)?;

        let reached: Vec<f32> = reached.iter().map(|s| *s as f32).collect();
        let sums: Vec<f32> = network.sums().iter().map(|s| *s as f32).collect();
        let (expected, changes) = network.reference();
        Ok(Outcome::of([
            compare(
                "hidden sums",
                Element::F32,
                &f32_bytes(&sums),
                &f32_bytes(&reached),
                &TOLERANCE,
            ),
            check_f32(session, "weights", weights, &expected, &TOLERANCE)?,
            check_f32(session, "momenta", momenta, &changes, &TOLERANCE)?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_brings_the_output_closer_to_the_target() {
        let network = Network::generate(64, &mut Random::new(1, "backprop"));
        let output = |network: &Network| {
            let sums = network.sums();
            let hidden = (1..=HIDDEN).map(|h| squash(sums[h - 1] + f64::from(network.weights[h])));
            let weighted = hidden.zip(&network.output[1..]);
            let total: f64 = weighted.map(|(h, w)| h * f64::from(*w)).sum();
            squash(total + f64::from(network.output[0]))
        };
        let still = Network {
            momenta: vec![0.0; network.momenta.len()],
            ..network
        };
        let before = (output(&still) - TARGET).abs();
        let (weights, _) = still.reference();
        let after = (output(&Network { weights, ..still }) - TARGET).abs();
        assert!(after < before, "{before} {after}");
    }

    #[test]
    fn networks_repeat() {
        let make = |seed| Network::generate(32, &mut Random::new(seed, "backprop")).weights;
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert_eq!(make(1).len(), 33 * 17);
    }
}
