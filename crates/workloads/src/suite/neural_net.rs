//! A convolutional digit recogniser.
//!
//! Stands for NN: four layers, thousands of small blocks (13x13 and 5x5 threads per feature map of an
//! image, then a single thread per neuron), a few loads and a multiply-add at a time. No branch
//! diverges, but blocks leave lanes of their warps empty, most of all those of one thread: it is
//! neither in the divergent set (which is about branches) nor in the coherent one (76% and more).
//!
//! First measurement (`small`, pdom, lrr): SIMD efficiency 7.8% on fx5800 and gtx480, 12.4
//! million thread instructions (93% of warp instructions in the third layer), no barriers.

use super::{Info, Parameter, Parameters, REGISTERS, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Side of an image.
const SIDE: usize = 29;

/// Single precision with an approximate exponential against double precision, four layers deep;
/// neurons lie between -1.72 and 1.72.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 5e-4,
    relative: 0.0,
    ulp: 0,
};

static INFO: Info = Info {
    name: "neural-net",
    algorithm: "forward pass of a convolutional digit recogniser, four kernels, over many images",
    known_for: "thousands of small blocks (169, 25, 1 and 1 threads), little divergence",
    shape: "13x13, 5x5, 1 and 1 threads per block, one block per feature map or neuron of an image",
    papers: &["vtw: NN (its layers carry set 4's gain)"],
    comparison: "within 5e-4: every neuron of every layer, against double precision",
    parameters: &[
        Parameter::new("images", "images", [1, 28, 100], (1, 4096)),
        Parameter::new(
            "maps",
            "feature maps of the second layer",
            [10, 50, 50],
            (1, 1000),
        ),
        Parameter::new(
            "hidden",
            "neurons of the third layer",
            [10, 100, 100],
            (1, 10_000),
        ),
        Parameter::off(
            "subscripts",
            "whether the last two layers subscript all images' neurons, as the original's do",
        ),
        REGISTERS,
    ],
    sets: &[],
    exceptions: &[],
    kernel: kernel!("neural-net"),
};

/// The workload.
pub struct NeuralNet;

/// A layer: `maps` features of `side` x `side` neurons; each sees a 5x5 patch of every map before
/// it, or (side 1) everything.
#[derive(Clone, Copy)]
struct Layer {
    kernel: &'static str,
    maps: usize,
    side: usize,
}

/// The network: 6 and some maps, some hidden neurons, ten digits.
fn layers(maps: usize, hidden: usize) -> [Layer; 4] {
    let layer = |kernel, maps, side| Layer { kernel, maps, side };
    [
        layer("layer1", 6, 13),
        layer("layer2", maps, 5),
        layer("layer3", hidden, 1),
        layer("layer4", 10, 1),
    ]
}

impl Layer {
    fn neurons(&self) -> usize {
        self.maps * self.side * self.side
    }

    /// Weights of one map, its bias first.
    fn weights(&self, before: &Layer) -> usize {
        1 + if self.side == 1 {
            before.neurons()
        } else {
            25 * before.maps
        }
    }

    /// One image through the layer.
    fn forward(&self, before: &Layer, input: &[f64], weights: &[f32]) -> Vec<f64> {
        let each = self.weights(before);
        let mut output = Vec::with_capacity(self.neurons());
        for map in weights.chunks_exact(each) {
            for neuron in 0..self.side * self.side {
                let mut sum = f64::from(map[0]);
                for (i, weight) in map[1..].iter().enumerate() {
                    let at = if self.side == 1 {
                        i
                    } else {
                        let (y, x) = (2 * (neuron / self.side), 2 * (neuron % self.side));
                        let (row, column) = (y + i % 25 / 5, x + i % 5);
                        (i / 25 * before.side + row) * before.side + column
                    };
                    sum += f64::from(*weight) * input[at];
                }
                output.push(1.7159 * (sum * 2.0 / 3.0).tanh());
            }
        }
        output
    }
}

/// The image as a layer of one map.
const IMAGE: Layer = Layer {
    kernel: "",
    maps: 1,
    side: SIDE,
};

/// A digit of seven strokes, slanted, shifted and noisy: ink is 1, paper -1.
fn digit(random: &mut Random) -> Vec<f32> {
    // Which strokes: top, upper left and right, middle, lower left and right, bottom.
    const STROKES: [u8; 10] = [
        0b111_0111, 0b010_0100, 0b101_1101, 0b110_1101, 0b010_1110, 0b110_1011, 0b111_1011,
        0b010_0101, 0b111_1111, 0b110_1111,
    ];
    let strokes = STROKES[random.below(10) as usize];
    let shift = [random.between(-2, 2) as i32, random.between(-2, 2) as i32];
    let slant = random.between(-3, 3) as i32;
    let mut pixels = vec![-1.0f32; SIDE * SIDE];
    let mut ink = |x: i32, y: i32| {
        let x = x + shift[0] - slant * (y - 14) / 10;
        let y = y + shift[1];
        for (px, py) in [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] {
            if (0..SIDE as i32).contains(&px) && (0..SIDE as i32).contains(&py) {
                pixels[py as usize * SIDE + px as usize] = 1.0;
            }
        }
    };
    for (stroke, (x, y, across)) in [
        (9, 5, true),
        (9, 5, false),
        (18, 5, false),
        (9, 14, true),
        (9, 14, false),
        (18, 14, false),
        (9, 23, true),
    ]
    .into_iter()
    .enumerate()
    {
        if strokes >> stroke & 1 == 1 {
            for i in 0..10 {
                if across { ink(x + i, y) } else { ink(x, y + i) }
            }
        }
    }
    for pixel in &mut pixels {
        *pixel += random.float(-0.1, 0.1) as f32;
    }
    pixels
}

impl Workload for NeuralNet {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let images = parameters.get_u32("images");
        let subscripts = parameters.on("subscripts");
        let mut random = Random::new(seed, "neural-net");
        let input: Vec<f32> = (0..images).flat_map(|_| digit(&mut random)).collect();
        let module = session.load(&INFO.kernel)?;
        let mut neurons = session.upload_f32("images", &input)?;
        let mut expected: Vec<Vec<f64>> = input
            .chunks_exact(SIDE * SIDE)
            .map(|image| image.iter().map(|p| f64::from(*p)).collect())
            .collect();
        let mut before = &IMAGE;
        let mut results = Vec::new();
        let layers = layers(
            parameters.get("maps") as usize,
            parameters.get("hidden") as usize,
        );
        for layer in &layers {
            // Not trained: what a layer costs does not depend on its weights.
            let each = layer.weights(before);
            let scale = 1.0 / (each as f64).sqrt();
            let weights: Vec<f32> = (0..layer.maps * each)
                .map(|_| random.float(-scale, scale) as f32)
                .collect();
            let shape = Shape {
                grid: [layer.maps as u32, images, 1],
                block: [layer.side as u32, layer.side as u32, 1],
            };
            let bytes = 4 * u64::from(images) * layer.neurons() as u64;
            let output = session.zeroed(layer.kernel, bytes)?;
            let mut arguments = vec![
                Arg::Pointer(neurons),
                Arg::Pointer(session.upload_f32("weights", &weights)?),
                Arg::Pointer(output),
            ];
            if layer.side == 1 {
                arguments.push(Arg::u32(before.neurons() as u32));
            }
            let kernel = match layer.kernel {
                "layer3" if subscripts => "layer3_subscripts",
                "layer4" if subscripts => "layer4_subscripts",
                usual => usual,
            };
            // Of the first layer: registers limit the residency of no other.
            let registers = match layer.kernel {
                "layer1" => parameters.get_u32("registers"),
                _ => 0,
            };
            let from = (&INFO.kernel, kernel);
            session.launch_counted(&module, from, shape, &arguments, registers)?;
            for image in &mut expected {
                *image = layer.forward(before, image, &weights);
            }
            let right: Vec<f32> = expected.iter().flatten().map(|v| *v as f32).collect();
            let got = session.device.read(output, bytes)?;
            results.push(compare(
                layer.kernel,
                Element::F32,
                &f32_bytes(&right),
                &got,
                &TOLERANCE,
            ));
            (neurons, before) = (output, layer);
        }
        Ok(Outcome::of(results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_of_ones_sums_up() {
        let layer = Layer {
            kernel: "",
            maps: 1,
            side: 2,
        };
        let before = Layer {
            kernel: "",
            maps: 1,
            side: 7,
        };
        let mut weights = vec![0.0; 26];
        (weights[0], weights[1], weights[25]) = (0.5, 1.0, 1.0);
        let input: Vec<f64> = (0..49).map(|i| f64::from(i) / 100.0).collect();
        let out = layer.forward(&before, &input, &weights);
        // The bias, the patch's first pixel and its last.
        let first = 1.7159 * ((0.5f64 + 0.0 + 0.32) * 2.0 / 3.0).tanh();
        let last = 1.7159 * ((0.5f64 + 0.16 + 0.48) * 2.0 / 3.0).tanh();
        assert!((out[0] - first).abs() < 1e-12 && (out[3] - last).abs() < 1e-12);
        assert_eq!(layer.weights(&before), 26);
    }

    #[test]
    fn digits_repeat_and_have_ink() {
        let make = |seed| digit(&mut Random::new(seed, "neural-net"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        for seed in 0..20 {
            let ink = make(seed).iter().filter(|p| **p > 0.0).count();
            assert!((30..200).contains(&ink), "{ink}");
        }
    }
}
