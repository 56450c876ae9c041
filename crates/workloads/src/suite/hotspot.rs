//! Temperatures on a chip.
//!
//! Stands for Rodinia's hotspot: 16x16 blocks make two time steps in shared memory between loads
//! (the "pyramid"), so that a tile's border of two cells is computed by several blocks and the rings
//! of threads there fall idle one by one; blocks at the chip's edge idle more. Power comes in
//! rectangles, as functional units on a floorplan draw it.
//!
//! First measurement (small, `lrr`, gtx480-v3): 15.0 million thread instructions, SIMD efficiency
//! 92.3%, 7.3% of warp time at barriers. Compaction's paper has it among the divergent ones, below
//! 76%. That is as low as the stencil's own arithmetic can get here (14x14 and 12x12 of 16x16
//! threads compute), and the code around it is uniform; deeper pyramids give 87% (4 steps) to 82%
//! (6). A pyramid of two steps is what the virtual-warp paper's 43x43 blocks for 512x512 cells
//! imply, so it stays, and is listed as coherent.

use super::host::{arguments, check_f32, float};
use super::{Info, Parameter, Parameters, REGISTERS, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Side of a block.
const SIDE: u32 = 16;

/// Temperatures of some 330 K in single precision, a few steps.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "hotspot",
    algorithm: "thermal simulation of a chip: a five-point stencil, several time steps per launch in shared memory",
    known_for: "rings of threads that fall idle step by step, border divergence, barriers",
    shape: "16x16 threads per block for the tile and its border, one launch for a pyramid of steps",
    papers: &[
        "tbc: HOTSP (divergent)",
        "vtw: hotspot",
        "baws: hotspot (not barrier-intensive)",
    ],
    comparison: "within 1e-3 or 1e-5 of the value, against steps in double precision",
    parameters: &[
        Parameter::new(
            "side",
            "rows and columns of the chip",
            [28, 216, 512],
            (16, 8192),
        ),
        Parameter::new("steps", "time steps", [3, 4, 20], (1, 1000)),
        Parameter::new("pyramid", "time steps per launch", [2, 2, 2], (1, 7)),
        Parameter::off(
            "divides",
            "whether each thread divides by capacity and resistances, as the original's do",
        ),
        Parameter::off(
            "branches",
            "whether each comparison is a branch, as the original's compiler left them",
        ),
        REGISTERS,
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("hotspot"),
};

/// The workload.
pub struct Hotspot;

/// The chip's thermal constants, in single precision as the kernel takes them.
struct Chip {
    side: usize,
    per_capacity: f32,
    per_rx: f32,
    per_ry: f32,
    per_rz: f32,
    capacity: f32,
    resistances: [f32; 3],
    step: f32,
}

/// Kelvin around the chip.
const AMBIENT: f32 = 80.0;

impl Chip {
    /// A chip of 16 mm by 16 mm by 0.5 mm of silicon, as cells.
    fn new(side: usize) -> Chip {
        const THICKNESS: f64 = 0.0005;
        const WIDTH: f64 = 0.016;
        const CONDUCTIVITY: f64 = 100.0;
        const HEAT_CAPACITY: f64 = 1.75e6;
        const PRECISION: f64 = 0.001;
        const MOST_POWER: f64 = 3.0e6;
        let cell = WIDTH / side as f64;
        let capacity = 0.5 * HEAT_CAPACITY * THICKNESS * cell * cell;
        let lateral = cell / (2.0 * CONDUCTIVITY * THICKNESS * cell);
        let vertical = THICKNESS / (CONDUCTIVITY * cell * cell);
        // The step at which no cell changes by more than the precision asked for.
        let step = PRECISION / (MOST_POWER / (0.5 * THICKNESS * HEAT_CAPACITY));
        Chip {
            side,
            per_capacity: (step / capacity) as f32,
            per_rx: (1.0 / lateral) as f32,
            per_ry: (1.0 / lateral) as f32,
            per_rz: (1.0 / vertical) as f32,
            capacity: capacity as f32,
            resistances: [lateral, lateral, vertical].map(|r| r as f32),
            step: step as f32,
        }
    }

    /// As the kernels that are given factors take it, or those whose threads divide.
    fn constants(&self, divides: bool) -> Vec<f32> {
        let [rx, ry, rz] = self.resistances;
        match divides {
            false => vec![self.per_capacity, self.per_rx, self.per_ry, self.per_rz],
            true => vec![self.capacity, rx, ry, rz, self.step],
        }
    }

    /// A step in double precision; beyond the edge it is as warm as at the edge.
    fn step(&self, temperature: &[f64], power: &[f32]) -> Vec<f64> {
        let side = self.side;
        let mut next = Vec::with_capacity(temperature.len());
        for y in 0..side {
            for x in 0..side {
                let at = |y: usize, x: usize| temperature[y * side + x];
                let here = at(y, x);
                let up_down = at(y.saturating_sub(1), x) + at((y + 1).min(side - 1), x);
                let sideways = at(y, x.saturating_sub(1)) + at(y, (x + 1).min(side - 1));
                let flow = f64::from(power[y * side + x])
                    + (up_down - 2.0 * here) * f64::from(self.per_ry)
                    + (sideways - 2.0 * here) * f64::from(self.per_rx)
                    + (f64::from(AMBIENT) - here) * f64::from(self.per_rz);
                next.push(here + f64::from(self.per_capacity) * flow);
            }
        }
        next
    }
}

/// Power in rectangles over a low base, in watts a cell.
fn floorplan(side: usize, random: &mut Random) -> Vec<f32> {
    let mut power = vec![0.001f32; side * side];
    for _ in 0..8 {
        let mut span = || {
            let from = random.below(side as u64) as usize;
            let length = 1 + random.below(side as u64 / 4) as usize;
            from..(from + length).min(side)
        };
        let (ys, xs) = (span(), span());
        let watts = random.float(0.005, 0.05) as f32;
        for y in ys {
            power[y * side..][xs.clone()].fill(watts);
        }
    }
    power
}

impl Workload for Hotspot {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let side = parameters.get_u32("side");
        let steps = parameters.get_u32("steps");
        let pyramid = parameters.get_u32("pyramid");
        let divides = parameters.on("divides");
        let kernel = match (divides, parameters.on("branches")) {
            (false, false) => "hotspot",
            (false, true) => "hotspot_branches",
            (true, false) => "hotspot_divides",
            (true, true) => "hotspot_divides_branches",
        };
        let registers = parameters.get_u32("registers");
        let chip = Chip::new(side as usize);
        let mut random = Random::new(seed, "hotspot");
        let power = floorplan(chip.side, &mut random);
        let start: Vec<f32> = power
            .iter()
            .map(|p| 323.0 + 400.0 * p + random.float(-0.5, 0.5) as f32)
            .collect();

        let module = session.load(&INFO.kernel)?;
        let heat = session.upload_f32("power", &power)?;
        let mut from = session.upload_f32("temperature", &start)?;
        let mut to = session.zeroed("next temperature", 4 * power.len() as u64)?;
        let inside = SIDE - 2 * pyramid;
        let blocks = side.div_ceil(inside);
        let shape = Shape {
            grid: [blocks, blocks, 1],
            block: [SIDE, SIDE, 1],
        };
        let mut done = 0;
        while done < steps {
            let now = pyramid.min(steps - done);
            let whole = [side, side, pyramid, now].map(Arg::u32);
            let constants = chip.constants(divides).into_iter().chain([AMBIENT]);
            let scalars: Vec<Arg> = whole.into_iter().chain(constants.map(float)).collect();
            let args = arguments(&[heat, from, to], &scalars);
            session.launch_counted(&module, (&INFO.kernel, kernel), shape, &args, registers)?;
            (from, to) = (to, from);
            done += now;
        }
        let mut expected: Vec<f64> = start.iter().map(|t| f64::from(*t)).collect();
        for _ in 0..steps {
            expected = chip.step(&expected, &power);
        }
        let expected: Vec<f32> = expected.iter().map(|t| *t as f32).collect();
        let temperature = check_f32(session, "temperature", from, &expected, &TOLERANCE)?;
        Ok(Outcome::of([temperature]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_flows_to_cooler_neighbours() {
        let chip = Chip::new(3);
        let mut start = vec![300.0; 9];
        start[4] = 310.0;
        let next = chip.step(&start, &[0.0; 9]);
        assert!(next[4] < 310.0 && next[1] > next[0] && next[1] == next[3]);
        // With no difference and no power, only the air takes heat.
        let plain = chip.step(&[300.0; 9], &[0.0; 9]);
        assert!(plain.iter().all(|t| *t < 300.0 && *t == plain[0]));
    }

    #[test]
    fn floorplans_repeat_and_have_units() {
        let make = |seed| floorplan(64, &mut Random::new(seed, "hotspot"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert!(make(1).iter().any(|p| *p > 0.005) && make(1).contains(&0.001));
    }
}
