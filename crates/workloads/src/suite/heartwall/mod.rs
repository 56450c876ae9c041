//! Tracking of points on the walls of a beating heart in ultrasound frames.
//!
//! Stands for Rodinia's heartwall: a launch per frame, a block of 512 threads per point, 51 points (20
//! on the inner wall, 31 on the outer one), and in a block a chain of phases between barriers
//! (convolution, cumulative sums, normalisation, smoothing, search) that use all threads, one per row,
//! or one. Convolutions of places at a window's border have fewer terms than their neighbours', which
//! leaves warps partly filled for much of the time: 36% of instructions are issued with less than 29
//! active lanes (`small`, `pdom`); in the folding paper 40% of warps are not full. The code is larger than
//! the instruction cache. Templates and windows are smaller than the original's (51 and 81 pixels wide,
//! a hundred times the work). A window of 39x39 gives each of 512 threads three places but for a few.
//!
//! First measurement (small, `lrr`, gtx480-v3): 207.5 million thread instructions, SIMD efficiency
//! 87.3%, 11.4% of warp time at barriers (two blocks per SM).

mod frames;
mod reference;

use super::host::{arguments, check_f32, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::element::{f32_bytes, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use frames::Heart;
use reference::{Sides, cut, track};

/// Threads per block.
const BLOCK: u32 = 512;
/// Registers per thread: a block of the original fits fx5800's SM (the compaction paper's table), so that
/// it has at most as many.
const REGISTERS: u32 = 32;
/// Every so many frames the templates take in a part of the frame.
const RENEWAL: u32 = 2;
/// Templates are exact until renewals need more digits than a float has.
const TEMPLATES: Tolerance = Tolerance {
    relative: 1e-5,
    ..Tolerance::EXACT
};

static INFO: Info = Info {
    name: "heartwall",
    algorithm: "tracking of points on heart walls: normalised correlation of templates with windows of each frame",
    known_for: "phases of very different parallelism between barriers, partly filled warps, large code",
    shape: "512 threads per block, one block per point, one launch per frame",
    papers: &[
        "tbc: HRTWL (coherent)",
        "origami: heartwall (40% of warps not full)",
        "baws: heartwall (not barrier-intensive)",
    ],
    comparison: "exact: every point's place in every frame, of places with scores within 1e-4 of the best, any; templates within 1e-5 of the value",
    parameters: &[
        Parameter::new("points", "points on the walls", [5, 51, 51], (1, 512)),
        Parameter::new("frames", "frames after the first", [2, 1, 10], (1, 100)),
        Parameter::new(
            "size",
            "rows and columns of a frame",
            [64, 160, 320],
            (16, 1024),
        ),
        Parameter::new("template", "side of a template, odd", [5, 17, 25], (3, 25)),
        Parameter::new("window", "side of a window, odd", [15, 39, 61], (5, 81)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("heartwall"),
};

/// The workload.
pub struct Heartwall;

/// Where a point is, and where it moved last: the kernel's `Place`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    row: i32,
    column: i32,
    down: i32,
    right: i32,
}

impl Place {
    fn words(&self) -> [u32; 4] {
        [self.row, self.column, self.down, self.right].map(i32::cast_unsigned)
    }
}

fn read_places(session: &Session<'_>, at: u64, count: usize) -> Result<Vec<Place>, DeviceError> {
    let bytes = session.device.read(at, 16 * count as u64)?;
    let (words, _) = bytes.as_chunks();
    let words: Vec<i32> = words.iter().map(|w| i32::from_le_bytes(*w)).collect();
    let place = |w: &[i32; 4]| Place {
        row: w[0],
        column: w[1],
        down: w[2],
        right: w[3],
    };
    Ok(words.as_chunks().0.iter().map(place).collect())
}

impl Workload for Heartwall {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [points, size, side, window] =
            ["points", "size", "template", "window"].map(|name| parameters.get_u32(name));
        for (name, value) in [("template", side), ("window", window)] {
            if value % 2 == 0 {
                return Err(DeviceError::bad_input(format!(
                    "{name}={value} has no middle: take an odd number"
                )));
            }
        }
        let heart = Heart::new(size, &mut Random::new(seed, "heartwall"));
        // In the original, 20 of 51.
        let inner = points * 20 / 51;
        let start = |(row, column)| Place {
            row,
            column,
            down: 0,
            right: 0,
        };
        let mut expected: Vec<Place> = heart
            .points(inner, points - inner)
            .into_iter()
            .map(start)
            .collect();
        let sides = Sides {
            frame: size as i32,
            template: side as i32,
            window: window as i32,
        };
        let spread = (window / 4).pow(2) as f32;
        let scratch = scratch_floats(side, window);

        let module = session.load(&INFO.kernel)?;
        let constants = [
            size,
            size,
            side,
            side / 2,
            window,
            window / 2,
            inner,
            scratch,
        ];
        let common = [u32_bytes(&constants), f32_bytes(&[spread])].concat();
        session.set_symbol(&module, "common", &common)?;
        let words = |places: &[Place]| places.iter().flat_map(Place::words).collect::<Vec<_>>();
        let frame_buffer = session.zeroed("frame", 4 * u64::from(size * size))?;
        let cells = u64::from(points) * u64::from(side * side);
        let pointers = [
            frame_buffer,
            session.zeroed("templates", 4 * cells)?,
            session.zeroed("scratch", 4 * u64::from(points) * u64::from(scratch))?,
            session.upload_u32("places", &words(&expected))?,
        ];
        let shape = Shape::linear(points, BLOCK);
        let mut templates: Vec<Vec<f32>> = Vec::new();
        let mut outcomes = Vec::new();
        for number in 0..=parameters.get_u32("frames") {
            let frame = heart.frame(number);
            session.device.write(frame_buffer, &f32_bytes(&frame))?;
            let renew = u32::from(number % RENEWAL == 0);
            let args = arguments(&pointers, &[number, renew].map(Arg::u32));
            session.launch_with_registers(&module, "heartwall", shape, &args, REGISTERS)?;
            if number == 0 {
                templates = expected.iter().map(|p| cut(&frame, sides, p)).collect();
                continue;
            }
            let got = read_places(session, pointers[3], expected.len())?;
            for (i, (place, template)) in expected.iter_mut().zip(&mut templates).enumerate() {
                let kind = ((i as u32) < inner, spread);
                *place = track(&frame, sides, template, place, kind, &got[i]);
                if renew == 1 {
                    for (old, new) in template.iter_mut().zip(cut(&frame, sides, place)) {
                        *old = 0.75 * *old + 0.25 * new;
                    }
                }
            }
            outcomes.push(check_u32(
                session,
                "places",
                pointers[3],
                &words(&expected),
            )?);
        }
        let templates: Vec<f32> = templates.concat();
        outcomes.push(check_f32(
            session,
            "templates",
            pointers[1],
            &templates,
            &TEMPLATES,
        )?);
        Ok(Outcome::of(outcomes))
    }
}

/// Floats that the kernel keeps per point: five matrices as large as the window, the template, and sums
/// down the columns of values and of squares.
fn scratch_floats(side: u32, window: u32) -> u32 {
    let wide = window + side;
    5 * window * window + side * side + 2 * wide * window
}
