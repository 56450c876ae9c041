//! Face detection by a cascade of classifiers.
//!
//! Stands for FCDT (Visbench's face detection), a cascade of boosted Haar-like features evaluated
//! on integral images in 32x6 blocks, one thread per window, in two kernels. A window that fails a
//! stage is done, so lanes drop out of a warp one after the other while neighbours go on: most
//! windows of a real image look nothing like a face, some look a little like one, few are one. The
//! image is generated with that structure, and the cascade is trained on generated faces and
//! background rather than drawn at random, so that the shares that pass each stage are a
//! detector's. The first kernel runs the cheap stages on all windows, the second the expensive
//! ones on those that are left (what was recommended for SIMD efficiency, as the paper says).
//!
//! First measurement (`small`, pdom): SIMD efficiency 49.8% on fx5800 and gtx480, 12.1 million
//! thread instructions, no barriers. Since then `small` is twice the picture, so that its ends, where
//! few blocks are left, count less: 46.3%, 26.9 million.

mod cascade;
mod image;

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use cascade::{COUNTS, Cascade, Feature, Window};
use image::{Image, WINDOW};

/// Stages of the first kernel.
const EARLY: usize = 4;

static INFO: Info = Info {
    name: "face-detect",
    algorithm: "cascade of boosted Haar-like features over every window of an image, two kernels",
    known_for: "windows leave the cascade at their own stage: lanes drop out one by one",
    shape: "32x6 threads per block, one thread per window",
    papers: &[
        "tbc: FCDT (divergent)",
        "vws: FCDT (figure 19), ObjClassifier",
    ],
    comparison: "exact: the stage each window fails",
    parameters: &[
        Parameter::new(
            "width",
            "pixels in a row",
            [48, 480, 640],
            (WINDOW as u64, 4096),
        ),
        Parameter::new(
            "height",
            "rows of pixels",
            [32, 320, 480],
            (WINDOW as u64, 4096),
        ),
        Parameter::new("faces", "faces in the image", [1, 36, 60], (0, 10_000)),
        Parameter::off(
            "turned",
            "whether each row of a block is turned by five lanes against the one before",
        ),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("face-detect"),
};

/// The workload.
pub struct FaceDetect;

/// Sums of everything above and left of each pixel, with a row and a column of zeroes before.
/// They wrap for large images; differences within a window are right all the same.
fn integral(image: &Image, of: impl Fn(u32) -> u32) -> Vec<u32> {
    let pitch = image.width as usize + 1;
    let mut sums = vec![0u32; pitch * (image.height as usize + 1)];
    for (y, row) in image.pixels.chunks_exact(image.width as usize).enumerate() {
        let mut along = 0u32;
        for (x, pixel) in row.iter().enumerate() {
            along = along.wrapping_add(of(u32::from(*pixel)));
            sums[(y + 1) * pitch + x + 1] = sums[y * pitch + x + 1].wrapping_add(along);
        }
    }
    sums
}

/// A feature as the kernel's constant memory holds it.
fn words(feature: &Feature) -> [u32; 12] {
    let corner = |p: [u32; 2]| p[1] << 16 | p[0];
    let r = &feature.rects;
    [
        corner(r[0].low),
        corner(r[1].low),
        corner(r[2].low),
        corner(r[0].high),
        corner(r[1].high),
        corner(r[2].high),
        r[0].weight as u32,
        r[1].weight as u32,
        r[2].weight as u32,
        feature.threshold.to_bits(),
        feature.below.to_bits(),
        feature.above.to_bits(),
    ]
}

fn reference(image: &Image, cascade: &Cascade) -> Vec<u32> {
    let all = |size: u32| 0..=size - WINDOW;
    all(image.height)
        .flat_map(|y| all(image.width).map(move |x| Window { image, x, y }))
        .map(|window| cascade.failed(&window) as u32)
        .collect()
}

impl Workload for FaceDetect {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let mut random = Random::new(seed, "face-detect");
        let (width, height) = (parameters.get_u32("width"), parameters.get_u32("height"));
        let training = image::scene(96, 96, 0, &mut random);
        let cascade = Cascade::train(&training, &mut random);
        let image = image::scene(width, height, parameters.get_u32("faces"), &mut random);

        let module = session.load(&INFO.kernel)?;
        let features: Vec<u32> = cascade.features.iter().flat_map(words).collect();
        let stages: Vec<u32> = cascade
            .stages
            .iter()
            .flat_map(|s| [s.first as u32, s.count as u32, s.threshold.to_bits()])
            .collect();
        session.set_symbol(&module, "features", &u32_bytes(&features))?;
        session.set_symbol(&module, "stages", &u32_bytes(&stages))?;
        let sums = session.upload_u32("sums", &integral(&image, |p| p))?;
        let squares = session.upload_u32("squares", &integral(&image, |p| p * p))?;
        let (columns, rows) = (width - WINDOW + 1, height - WINDOW + 1);
        let bytes = 4 * u64::from(columns) * u64::from(rows);
        let failed = session.zeroed("failed", bytes)?;
        let shape = Shape {
            grid: [columns.div_ceil(32), rows.div_ceil(6), 1],
            block: [32, 6, 1],
        };
        let mut arguments = vec![
            Arg::Pointer(sums),
            Arg::Pointer(squares),
            Arg::Pointer(failed),
            Arg::u32(width + 1),
            Arg::u32(columns),
            Arg::u32(rows),
            Arg::u32(EARLY as u32),
        ];
        let [early, late] = match parameters.on("turned") {
            false => ["detect_early", "detect_late"],
            true => ["detect_early_turned", "detect_late_turned"],
        };
        session.launch(&module, early, shape, &arguments)?;
        arguments.push(Arg::u32(COUNTS.len() as u32));
        session.launch(&module, late, shape, &arguments)?;
        let got = session.device.read(failed, bytes)?;
        Ok(Outcome::of([compare(
            "failed stage",
            Element::U32,
            &u32_bytes(&reference(&image, &cascade)),
            &got,
            &Tolerance::EXACT,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_images_sum() {
        let image = Image {
            width: 3,
            height: 2,
            pixels: vec![1, 2, 3, 4, 5, 6],
        };
        let sums = integral(&image, |p| p);
        assert_eq!(sums, [0, 0, 0, 0, 0, 1, 3, 6, 0, 5, 12, 21]);
        assert_eq!(integral(&image, |p| p * p)[11], 91);
    }
}
