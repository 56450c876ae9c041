//! Deferred shading of a picture, with few lights and with many.
//!
//! Stands for the two games of the variable-warp-sizing paper's convergent set, of which nothing but
//! their behaviour is public: they lose with narrow warps, because what a wide warp reads in one access becomes many.
//! All lanes read side by side from planes of the picture, and the same light at the same time. With few
//! lights the 25 texels around a pixel in two planes count most, with many the lights of its tile and the
//! shadow of each. 32x4 threads per block.

mod picture;

use super::host::check_f32;
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::element::f32_bytes;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use picture::{Kind, MARGIN, Picture, SUN};

/// Threads of a block in x and y.
const BLOCK: [u32; 2] = [32, 4];

/// Approximate powers and roots in single precision against double precision; results lie between
/// zero and one.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 2e-4,
    relative: 1e-3,
    ulp: 0,
};

const fn info(
    name: &'static str,
    papers: &'static [&'static str],
    parameters: &'static [Parameter],
) -> Info {
    Info {
        name,
        algorithm: "deferred shading: depth, normal, colour and material of a pixel, depths and shadows around it, the lights of its tile",
        known_for: "convergent: all lanes do the same on what lies side by side; wide warps coalesce it",
        shape: "32x4 threads per block, one thread per pixel",
        papers,
        comparison: "within 2e-4 or 1e-3 of the value, against shading in double precision",
        parameters,
        sets: &[Set::Coherent],
        exceptions: &[],
        kernel: kernel!("shading"),
    }
}

const WIDTH: Parameter = Parameter::new("width", "pixels in a row", [64, 320, 1024], (1, 4096));
const HEIGHT: Parameter = Parameter::new("height", "rows of pixels", [16, 216, 768], (1, 4096));

static FEW: Info = info(
    "shading-few",
    &["vws: Game 1 (convergent)"],
    &[
        WIDTH,
        HEIGHT,
        Parameter::new("lights", "lights listed for a tile", [2, 4, 4], (1, 256)),
    ],
);

static MANY: Info = info(
    "shading-many",
    &["vws: Game 2 (convergent)"],
    &[
        WIDTH,
        HEIGHT,
        Parameter::new("lights", "lights listed for a tile", [8, 24, 48], (1, 256)),
    ],
);

/// The workload with few lights.
pub struct ShadingFew;
/// The workload with many lights.
pub struct ShadingMany;

impl Workload for ShadingFew {
    fn info(&self) -> &'static Info {
        &FEW
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        shade(&FEW, Kind::Few, parameters, seed, session)
    }
}

impl Workload for ShadingMany {
    fn info(&self) -> &'static Info {
        &MANY
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        shade(&MANY, Kind::Many, parameters, seed, session)
    }
}

fn shade(
    info: &Info,
    kind: Kind,
    parameters: &Parameters,
    seed: u64,
    session: &mut Session<'_>,
) -> Result<Outcome, DeviceError> {
    let [width, height, lights] =
        ["width", "height", "lights"].map(|name| parameters.get_u32(name));
    let mut random = Random::new(seed, info.name);
    let picture = Picture::new([width, height], lights, kind, &mut random);
    let module = session.load(&info.kernel)?;
    let pixels = u64::from(width) * u64::from(height);
    let mut planes = vec![
        session.upload_f32("depths", &picture.depths.wide())?,
        session.upload_f32("sun's shadows", &picture.suns.wide())?,
        session.upload_f32("normals in x", &picture.normals_x)?,
        session.upload_f32("normals in y", &picture.normals_y)?,
        session.upload_u32("colours", &picture.colours)?,
        session.upload_u32("surfaces", &picture.surfaces)?,
        session.upload_f32("materials", picture.materials.as_flattened())?,
        session.upload_f32("lights", picture.lights.as_flattened())?,
        session.upload_u32("first", &picture.first)?,
        session.upload_u32("listed", &picture.listed)?,
        session.upload("shadows", &picture.shadows)?,
    ];
    let mut results = Vec::new();
    for channel in ["red", "green", "blue"] {
        results.push(session.zeroed(channel, 4 * pixels)?);
    }
    planes.extend(&results);
    let planes = planes.iter().flat_map(|p| p.to_le_bytes()).collect();
    let mut view: Vec<u8> = [width, height, width + 2 * MARGIN, MARGIN]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    view.extend(f32_bytes(&[picture.step]));
    view.extend(f32_bytes(&SUN));
    let shape = Shape {
        grid: [width.div_ceil(BLOCK[0]), height.div_ceil(BLOCK[1]), 1],
        block: [BLOCK[0], BLOCK[1], 1],
    };
    let args = [Arg::Bytes(planes), Arg::Bytes(view)];
    session.launch(&module, kind.kernel(), shape, &args)?;
    let mut outcomes = Vec::new();
    for ((channel, address), expected) in ["red", "green", "blue"]
        .iter()
        .zip(results)
        .zip(picture.shaded())
    {
        outcomes.push(check_f32(session, channel, address, &expected, &TOLERANCE)?);
    }
    Ok(Outcome::of(outcomes))
}
