//! One time step of a weather model's cloud microphysics.
//!
//! Stands for WP (weather prediction) of the ISPASS set: blocks of 8x8 threads, a thread per column
//! of the atmosphere, a grid of 9x8 blocks. Code is long, larger than the instruction cache, with many
//! values alive (four blocks per SM on fx5800 by its registers) and a branch for every way in which
//! one kind of water becomes another. Weather is smooth, so that neighbouring columns mostly agree on
//! them; fronts and clouds' edges are where they do not. The scheme is in the manner of single-moment
//! schemes with five kinds of water (vapour, cloud, rain, ice, snow); conditions are such that a
//! process vanishes where its condition ends, so that rounding decides nothing.
//!
//! First measurement (small, `lrr`, gtx480-v3): 41.7 million thread instructions, SIMD efficiency
//! 88.1%. On fx5800 the block-wide stack is 8 deep under `tbc-lcp`, as in the compaction paper.

mod air;
mod scheme;

use super::host::{arguments, check_f32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use air::{Level, over_water};
use scheme::column;
use std::f64::consts::TAU;

/// Side of a block.
const SIDE: u32 = 8;
/// Height of the modelled air in metres, and the time step in seconds.
const TOP: f64 = 12_000.0;
const STEP: f32 = 60.0;
/// Temperature to a few thousandths of a degree, water to a millionth or a thousandth of it.
const TEMPERATURE: Tolerance = Tolerance {
    absolute: 0.0,
    relative: 2e-5,
    ulp: 0,
};
const WATER: Tolerance = Tolerance {
    absolute: 2e-6,
    relative: 1e-3,
    ulp: 0,
};
const FALLEN: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 2e-3,
    ulp: 0,
};

static INFO: Info = Info {
    name: "wp",
    algorithm: "one time step of cloud microphysics: conversions among vapour, cloud, rain, ice and snow, then fall",
    known_for: "long code with a branch for each process, many registers",
    shape: "8x8 threads per block, one thread per column of the atmosphere",
    papers: &["tbc: WP (coherent)"],
    comparison: "temperature within 2e-5 of the value, water within 2e-6 or 1e-3 of the value, what fell within 1e-3 or 2e-3 of the value, against double precision",
    parameters: &[
        Parameter::new(
            "width",
            "columns from west to east",
            [12, 72, 128],
            (1, 1024),
        ),
        Parameter::new(
            "depth",
            "columns from south to north",
            [9, 64, 128],
            (1, 1024),
        ),
        Parameter::new("levels", "levels of a column", [4, 27, 27], (1, 100)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("wp"),
};

/// The workload.
pub struct Wp;

/// A sum of waves: a smooth random field between about -1 and 1.
struct Smooth(Vec<[f64; 3]>);

impl Smooth {
    fn new(random: &mut Random) -> Smooth {
        let wave = |_| {
            let mut turns = || random.float(-2.0, 2.0);
            [turns(), turns(), random.float(0.0, TAU)]
        };
        Smooth((0..5).map(wave).collect())
    }

    /// At a place of the domain, both coordinates from 0 to 1.
    fn at(&self, x: f64, y: f64) -> f64 {
        let wave = |w: &[f64; 3]| (TAU * (w[0] * x + w[1] * y) + w[2]).sin();
        self.0.iter().map(wave).sum::<f64>() / 3.0
    }
}

/// The atmosphere, level by level from the ground, each row by row.
fn atmosphere(width: u32, depth: u32, levels: u32, random: &mut Random) -> Vec<Level> {
    let [warm, moist, cloudy, high] = [(); 4].map(|()| Smooth::new(random));
    let mut all = Vec::with_capacity((width * depth * levels) as usize);
    for k in 0..levels {
        let height = TOP * (f64::from(k) + 0.5) / f64::from(levels);
        for (j, i) in (0..depth).flat_map(|j| (0..width).map(move |i| (j, i))) {
            let (x, y) = (
                f64::from(i) / f64::from(width),
                f64::from(j) / f64::from(depth),
            );
            let temperature = 289.0 + 5.0 * warm.at(x, y) - 0.0065 * height;
            let pressure = 1.0e5 * (1.0 - 2.2558e-5 * height).powf(5.2559);
            // Where clouds are: between a base and a top that vary.
            let base = 1500.0 + 800.0 * high.at(x, y);
            let thickness = 7000.0 * cloudy.at(x, y);
            let part = (height - base) / thickness.max(1.0);
            let depth_in = if thickness > 0.0 && (0.0..1.0).contains(&part) {
                cloudy.at(x, y) * (part * (1.0 - part)).sqrt()
            } else {
                0.0
            };
            let below = thickness > 3000.0 && height < base;
            let cold = temperature < 268.0;
            let humidity = 0.75 + 0.15 * moist.at(x, y) + 0.3 * depth_in;
            let noise = random.float(0.9, 1.1);
            let condensed = 3e-3 * depth_in * noise;
            let falling = if below {
                1.5e-3 * cloudy.at(x, y) * noise
            } else {
                0.5 * condensed
            };
            let level = Level {
                temperature,
                vapour: humidity * over_water(temperature, pressure),
                cloud: if temperature > 238.0 { condensed } else { 0.0 },
                rain: if cold { 0.0 } else { falling },
                ice: if cold { 0.3 * condensed } else { 0.0 },
                snow: if temperature < 275.0 { falling } else { 0.0 },
                pressure,
                density: pressure / (287.0 * temperature),
            };
            all.push(level.in_single_precision());
        }
    }
    all
}

/// A field of every level.
type Field = fn(&Level) -> f64;

/// What changes, then what stays.
const CHANGING: [(&str, Field); 6] = [
    ("temperature", |l| l.temperature),
    ("vapour", |l| l.vapour),
    ("cloud", |l| l.cloud),
    ("rain", |l| l.rain),
    ("ice", |l| l.ice),
    ("snow", |l| l.snow),
];
const GIVEN: [(&str, Field); 2] = [("pressure", |l| l.pressure), ("density", |l| l.density)];

impl Workload for Wp {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [width, depth, levels] =
            ["width", "depth", "levels"].map(|name| parameters.get_u32(name));
        let mut random = Random::new(seed, "wp");
        let mut air = atmosphere(width, depth, levels, &mut random);
        let layer = (width * depth) as usize;
        let dz = (TOP / f64::from(levels)) as f32;

        let module = session.load(&INFO.kernel)?;
        let single = |air: &[Level], field: Field| -> Vec<f32> {
            air.iter().map(|l| field(l) as f32).collect()
        };
        let mut pointers = Vec::new();
        for (label, field) in CHANGING.into_iter().chain(GIVEN) {
            pointers.push(session.upload_f32(label, &single(&air, field))?);
        }
        for label in ["rain_speeds", "snow_speeds"] {
            pointers.push(session.zeroed(label, 4 * air.len() as u64)?);
        }
        let fallen = session.zeroed("fallen", 4 * layer as u64)?;
        pointers.push(fallen);
        let mut scalars = [width, depth, levels].map(Arg::u32).to_vec();
        scalars.extend([dz, STEP].map(float));
        let shape = Shape {
            grid: [width.div_ceil(SIDE), depth.div_ceil(SIDE), 1],
            block: [SIDE, SIDE, 1],
        };
        session.launch(&module, "wp", shape, &arguments(&pointers, &scalars))?;

        let mut ground = Vec::with_capacity(layer);
        for at in 0..layer {
            let mut tower: Vec<Level> = air.iter().skip(at).step_by(layer).copied().collect();
            ground.push(column(&mut tower, f64::from(dz), f64::from(STEP)) as f32);
            for (k, level) in tower.into_iter().enumerate() {
                air[k * layer + at] = level;
            }
        }
        let mut outcomes = vec![check_f32(session, "fallen", fallen, &ground, &FALLEN)?];
        for ((label, field), address) in CHANGING.into_iter().zip(pointers) {
            let tolerance = if label == "temperature" {
                &TEMPERATURE
            } else {
                &WATER
            };
            let expected = single(&air, field);
            outcomes.push(check_f32(session, label, address, &expected, tolerance)?);
        }
        Ok(Outcome::of(outcomes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weather_repeats_and_has_all_kinds_of_water() {
        let make = |seed| atmosphere(32, 32, 12, &mut Random::new(seed, "wp"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        for (name, field) in CHANGING {
            let some = make(1).iter().filter(|l| field(l) > 1e-6).count();
            assert!(some > 100, "{name}: {some}");
        }
    }
}
