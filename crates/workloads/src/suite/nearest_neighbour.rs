//! Distances of records to a target.
//!
//! Stands for NNC: 16 threads per block, each reads latitude and longitude from a line of text and
//! computes a distance. Nothing diverges, but half of each warp's lanes do not exist, so SIMD
//! efficiency is 50% by construction; the thread-block-compaction paper counts it as coherent all
//! the same, and so does this suite.
//!
//! First measurement (`small`, pdom, lrr): SIMD efficiency 50.0% on fx5800 and gtx480, 6.5
//! million thread instructions, no barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Bytes of a record, and where its numbers stand.
const RECORD: usize = 49;
const LATITUDE: usize = 28;
const LONGITUDE: usize = 34;

/// The target: somewhere in the north Atlantic.
const TARGET: [f32; 2] = [30.0, 90.0];

const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-4,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "nearest-neighbour",
    algorithm: "distance of every record of a text file to a target, numbers read digit by digit",
    known_for: "16 threads per block: half of each warp's lanes do not exist, none diverges",
    shape: "16 threads per block, one thread per record",
    papers: &["tbc: NNC (coherent, by exception)", "vws: figure 19"],
    comparison: "within 1e-4 or 1e-5 of the value, against double precision",
    parameters: &[Parameter::new(
        "records",
        "records",
        [500, 98_304, 1_000_000],
        (1, 1_048_560),
    )],
    sets: &[Set::Coherent],
    exceptions: &[(
        Set::Coherent,
        "no branch diverges: blocks of 16 threads leave half of every warp empty (tbc lists it so)",
    )],
    kernel: kernel!("nearest-neighbour"),
};

/// The workload.
pub struct NearestNeighbour;

/// Lines such as weather services give out for storms: date and hour, number, name, latitude,
/// longitude, speed and pressure, in fixed columns.
fn storms(records: u32, random: &mut Random) -> Vec<u8> {
    const NAMES: [&str; 6] = ["ALBERTO", "BERYL", "CHRIS", "DEBBY", "ERNESTO", "FLORENCE"];
    let mut text = Vec::with_capacity(records as usize * RECORD);
    for _ in 0..records {
        let mut pick = |low: i128, high: i128| random.between(low, high);
        let line = format!(
            "{:4} {:2} {:2} {:2} {:3} {:10}{:5.1} {:5.1} {:3} {:4}",
            pick(1950, 2008),
            pick(1, 12),
            pick(1, 28),
            pick(0, 3) * 6,
            pick(1, 999),
            NAMES[pick(0, 5) as usize],
            pick(70, 600) as f64 / 10.0,
            pick(100, 3599) as f64 / 10.0,
            pick(10, 165),
            pick(880, 1016),
        );
        text.extend(line.bytes());
        text.push(b'\n');
    }
    text
}

fn reference(text: &[u8]) -> Vec<f32> {
    let number = |field: &[u8]| -> f64 {
        let digits = String::from_utf8_lossy(field);
        digits.trim().parse().unwrap_or(f64::NAN)
    };
    text.chunks_exact(RECORD)
        .map(|line| {
            let x = number(&line[LATITUDE..LATITUDE + 5]) - f64::from(TARGET[0]);
            let y = number(&line[LONGITUDE..LONGITUDE + 5]) - f64::from(TARGET[1]);
            (x * x + y * y).sqrt() as f32
        })
        .collect()
}

impl Workload for NearestNeighbour {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let records = parameters.get_u32("records");
        let text = storms(records, &mut Random::new(seed, "nearest-neighbour"));
        let module = session.load(&INFO.kernel)?;
        let input = session.upload("records", &text)?;
        let bytes = 4 * u64::from(records);
        let distance = session.zeroed("distance", bytes)?;
        let float = |x: f32| Arg::Scalar("f32", x.to_le_bytes().to_vec());
        let arguments = [
            Arg::Pointer(input),
            Arg::Pointer(distance),
            Arg::u32(records),
            float(TARGET[0]),
            float(TARGET[1]),
        ];
        session.launch(&module, "distances", Shape::cover(records, 16), &arguments)?;
        let got = session.device.read(distance, bytes)?;
        Ok(Outcome::of([compare(
            "distance",
            Element::F32,
            &f32_bytes(&reference(&text)),
            &got,
            &TOLERANCE,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_repeat_and_have_their_columns() {
        let make = |seed| storms(50, &mut Random::new(seed, "nearest-neighbour"));
        let text = make(1);
        assert_eq!(text, make(1));
        assert_ne!(text, make(2));
        assert_eq!(text.len(), 50 * RECORD);
        for line in text.chunks_exact(RECORD) {
            assert_eq!(line[RECORD - 1], b'\n');
            assert_eq!((line[LATITUDE + 3], line[LONGITUDE + 3]), (b'.', b'.'));
        }
    }

    #[test]
    fn distances_are_euclidean() {
        let mut line = [b' '; RECORD];
        line[LATITUDE..LATITUDE + 5].copy_from_slice(b" 33.0");
        line[LONGITUDE..LONGITUDE + 5].copy_from_slice(b" 94.0");
        assert_eq!(reference(&line), [5.0]);
    }
}
