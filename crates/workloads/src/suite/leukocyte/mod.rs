//! Leukocytes in video: circles against gradients, dilation, and gradient vector flow around cells.
//!
//! Stands for Rodinia's leukocyte: blocks of 175 threads, a frame's rows without its borders of 22
//! pixels. A block of the first kernel is a column and walks along circles around its pixels, reading
//! gradients through textures and offsets from constant memory: long loops that all threads take
//! alike, with a branch at their end. The second spreads the answers over a disc, with borders. The
//! third has one block per cell, whose picture of 41x81 fills shared memory (one block per SM on
//! fx5800), and iterates with barriers until the field rests. Fewer circles, points and iterations than
//! the original (7, 150 and up to 500) keep `small` small; its 36 cells are fewer than four waves.
//!
//! First measurement (small, `lrr`, gtx480-v3): 201.5 million thread instructions, SIMD efficiency
//! 90.9% (the last warp of a block has 15 threads), 0.3% of warp time at barriers.

mod reference;
mod vessel;

use super::host::{arguments, check_f32, check_u32, float, read_f32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::element::{f32_bytes, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use std::f64::consts::TAU;
use vessel::Frame;

/// Threads per block, and rows of a frame between its borders.
const ROWS: u32 = 175;
/// Rows and columns around a frame in which no circle is centred: the largest radius and two more.
const BORDER: u32 = 22;
/// The smallest circle.
const LEAST_RADIUS: u32 = 8;
/// Points for which the kernel has room in each circle.
const POINTS: usize = 150;
/// A cell's picture.
const HEIGHT: usize = 41;
const WIDTH: usize = 81;
/// Direction in which edges flow.
const DIRECTION: (f32, f32) = (1.0, 0.5);
/// The field rests below this mean change.
const REST: f32 = 2e-4;
/// Ratios of small sums, and fields with steps.
const ANSWERS: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 1e-3,
    ulp: 0,
};

static INFO: Info = Info {
    name: "leukocyte",
    algorithm: "leukocytes in video: inverse coefficient of variation of gradients on circles, dilation, gradient vector flow",
    known_for: "long coherent loops over textures and constant memory; a block per cell with a picture in shared memory",
    shape: "175 threads per block: one thread per pixel, then one block per cell",
    papers: &[
        "tbc: LKYT (coherent)",
        "baws: leukocyte (not barrier-intensive)",
    ],
    comparison: "within 1e-3 or 1e-3 of the value, against double precision; dilation exact",
    parameters: &[
        Parameter::new(
            "columns",
            "columns of a frame between its borders",
            [4, 600, 600],
            (1, 4096),
        ),
        Parameter::new(
            "circles",
            "radii tried, from 8 in steps of 2",
            [2, 2, 7],
            (1, 7),
        ),
        Parameter::new("points", "points on a circle", [8, 16, 150], (3, 150)),
        Parameter::new(
            "disc",
            "radius of the disc that dilates",
            [1, 2, 12],
            (0, 12),
        ),
        Parameter::new("cells", "cells", [1, 36, 36], (1, 1000)),
        Parameter::new(
            "steps",
            "iterations of a field at most",
            [2, 3, 100],
            (1, 500),
        ),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("leukocyte"),
};

/// The workload.
pub struct Leukocyte;

/// Circles of several radii as the kernel walks them.
struct Circles {
    /// Sine and cosine of each point's direction.
    directions: Vec<(f32, f32)>,
    /// Down and right of the centre, circle by circle.
    places: Vec<(i32, i32)>,
}

impl Circles {
    fn new(count: u32, points: u32) -> Circles {
        let angle = |n: u32| TAU * f64::from(n) / f64::from(points);
        let place = |k: u32, n: u32| {
            let radius = f64::from(LEAST_RADIUS + 2 * k);
            let (sine, cosine) = angle(n).sin_cos();
            (
                (radius * sine).round() as i32,
                (radius * cosine).round() as i32,
            )
        };
        let direction = |n| (angle(n).sin() as f32, angle(n).cos() as f32);
        Circles {
            directions: (0..points).map(direction).collect(),
            places: (0..count)
                .flat_map(|k| (0..points).map(move |n| place(k, n)))
                .collect(),
        }
    }

    /// The kernel's constant `circles`.
    fn bytes(&self) -> Vec<u8> {
        let count = self.places.len() / self.directions.len();
        let floats = |of: fn(&(f32, f32)) -> f32| {
            let mut all: Vec<f32> = self.directions.iter().map(of).collect();
            all.resize(POINTS, 0.0);
            f32_bytes(&all)
        };
        let words = |of: fn(&(i32, i32)) -> i32| {
            let mut all: Vec<u32> = self.places.iter().map(|p| of(p).cast_unsigned()).collect();
            all.resize(7 * POINTS, 0);
            u32_bytes(&all)
        };
        [
            u32_bytes(&[count as u32, self.directions.len() as u32]),
            floats(|d| d.0),
            floats(|d| d.1),
            words(|p| p.0),
            words(|p| p.1),
        ]
        .concat()
    }
}

/// Offsets under a disc, and the kernel's constant `disc`.
fn disc(radius: isize) -> (Vec<(isize, isize)>, Vec<u8>) {
    let side = 2 * radius + 1;
    let all = (0..side * side).map(|at| (at / side - radius, at % side - radius));
    let within = |(x, y): &(isize, isize)| x * x + y * y <= radius * radius;
    let mut words = vec![side as u32];
    words.extend(all.clone().map(|place| u32::from(within(&place))));
    (all.filter(within).collect(), u32_bytes(&words))
}

impl Workload for Leukocyte {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [blocks, cells, most] =
            ["columns", "cells", "steps"].map(|name| parameters.get_u32(name));
        let (rows, columns) = (ROWS + 2 * BORDER, blocks + 2 * BORDER);
        let mut random = Random::new(seed, "leukocyte");
        let frame = Frame::generate(rows as usize, columns as usize, &mut random);
        let gradient = frame.gradient();
        let circles = Circles::new(parameters.get_u32("circles"), parameters.get_u32("points"));
        let (offsets, disc) = disc(parameters.get("disc") as isize);
        // Cells are looked at wherever they may be.
        let edges: Vec<Vec<f32>> = (0..cells)
            .map(|_| {
                let left = random.below(u64::from(columns)) as isize - WIDTH as isize / 2;
                let top = random.below(u64::from(rows)) as isize - HEIGHT as isize / 2;
                frame.edges(left, top, WIDTH, HEIGHT)
            })
            .collect();

        let module = session.load(&INFO.kernel)?;
        session.set_symbol(&module, "circles", &circles.bytes())?;
        session.set_symbol(&module, "disc", &disc)?;
        let pixels = rows * columns;
        let mut handles = Vec::new();
        for (label, gradient) in [("gradient_x", &gradient.0), ("gradient_y", &gradient.1)] {
            let address = session.upload_f32(label, &gradient.pixels)?;
            handles.push(session.linear_texture(&module, address, pixels, (1, 32))?);
        }
        let answers = session.zeroed("answers", 4 * u64::from(pixels))?;
        let args = arguments(
            &[handles[0], handles[1], answers],
            &[rows, BORDER].map(Arg::u32),
        );
        let shape = Shape::linear(blocks, ROWS);
        session.launch(&module, "leukocyte_gicov", shape, &args)?;

        let texture = session.linear_texture(&module, answers, pixels, (1, 32))?;
        let dilated = session.zeroed("dilated", 4 * u64::from(pixels))?;
        let args = arguments(&[texture, dilated], &[rows, columns].map(Arg::u32));
        let shape = Shape::cover(pixels, ROWS);
        session.launch(&module, "leukocyte_dilate", shape, &args)?;

        let given = session.upload_f32("edges", &edges.concat())?;
        let fields = session.zeroed("fields", 4 * edges.concat().len() as u64)?;
        let steps = session.zeroed("steps", 4 * u64::from(cells))?;
        let scalars = [
            float(DIRECTION.0),
            float(DIRECTION.1),
            Arg::u32(most),
            float(REST),
        ];
        let args = arguments(&[given, fields, steps], &scalars);
        let shape = Shape::linear(cells, ROWS);
        session.launch(&module, "leukocyte_field", shape, &args)?;

        let got = read_f32(session, answers, pixels as usize)?;
        let gradient = (&gradient.0, &gradient.1);
        let expected = reference::gicov(gradient, &circles, BORDER as usize, &got);
        // What is spread is what was found, so that it can be compared exactly.
        let found = Frame {
            pixels: got,
            ..frame
        };
        let spread = reference::dilated(&found, &offsets);
        let (mut all, mut counts) = (Vec::new(), Vec::new());
        for (cell, edges) in edges.iter().enumerate() {
            let got = session.read_u32(steps + 4 * cell as u64)?;
            let direction = (f64::from(DIRECTION.0), f64::from(DIRECTION.1));
            let (field, count) = reference::field(edges, direction, (most, f64::from(REST)), got);
            all.extend(field);
            counts.push(count);
        }
        Ok(Outcome::of([
            check_f32(session, "answers", answers, &expected, &ANSWERS)?,
            check_f32(session, "dilated", dilated, &spread, &Tolerance::EXACT)?,
            check_f32(session, "fields", fields, &all, &ANSWERS)?,
            check_u32(session, "steps", steps, &counts)?,
        ]))
    }
}
