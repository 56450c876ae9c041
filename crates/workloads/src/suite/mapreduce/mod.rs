//! MapReduce on a GPU in the manner of Mars, as three workloads use it.
//!
//! Count, prefix sum, emit without atomics, bitonic sort, groups: `kernels/mapreduce.cuh`. The input
//! is many jobs of two or four tiles at `small`, each sorted by itself: to sort all of it by one network
//! would take most of the time in passes over global memory, which have no barriers.

mod page_view_count;
mod page_view_rank;
mod similarity_score;
mod text;

pub use page_view_count::PageViewCount;
pub use page_view_rank::PageViewRank;
pub use similarity_score::SimilarityScore;

use super::host::arguments;
use super::{Kernel, Parameter};
use crate::host::args::Arg;
use crate::host::device::DeviceError;
use crate::host::session::{Module, Session, Shape};

/// Threads per block and records of a tile, as in the kernels.
const TILE: u32 = 256;

/// Tiles of a job: what a workload of this kind has as its last parameter.
const TILES_PER_JOB: Parameter = Parameter::new(
    "passes",
    "a job has 2^passes tiles of 256 records",
    [1, 1, 4],
    (0, 6),
);

/// A record as the kernels have it.
type Record = [u32; 4];

/// Kernels, and the buffers that every step needs.
struct MapReduce {
    module: Module,
    records: u32,
    /// Records of a job, a power of two.
    job: u32,
    /// What the workload's order compares beyond the first number, or anything.
    data: u64,
    /// What each record emits, or whether a group begins there.
    counts: u64,
    /// What those before it emit.
    places: u64,
    sums: u64,
}

impl MapReduce {
    /// For so many jobs of 2^`passes` tiles.
    fn new(
        kernel: &Kernel,
        jobs: u32,
        passes: u32,
        data: u64,
        session: &mut Session<'_>,
    ) -> Result<MapReduce, DeviceError> {
        let module = session.load(kernel)?;
        let job = TILE << passes;
        let records = jobs * job;
        let bytes = 4 * u64::from(records);
        Ok(MapReduce {
            module,
            records,
            job,
            data,
            counts: session.zeroed("counts", bytes)?,
            places: session.zeroed("places", bytes)?,
            sums: session.zeroed("sums", bytes / u64::from(TILE))?,
        })
    }

    /// A buffer of records, all padding.
    fn padding(&self, label: &str, session: &mut Session<'_>) -> Result<u64, DeviceError> {
        let bytes = 16 * u64::from(self.records);
        let records = session.zeroed(label, bytes)?;
        session.device.fill(records, bytes, 0xff)?;
        Ok(records)
    }

    /// Launches a kernel with a thread per record.
    fn launch(
        &self,
        kernel: &str,
        pointers: &[u64],
        scalars: &[Arg],
        session: &mut Session<'_>,
    ) -> Result<(), DeviceError> {
        let shape = Shape::linear(self.records / TILE, TILE);
        let arguments = arguments(pointers, scalars);
        session.launch(&self.module, kernel, shape, &arguments)
    }

    /// The places that follow from the counts.
    fn scan(&self, session: &mut Session<'_>) -> Result<(), DeviceError> {
        let buffers = [self.counts, self.places, self.sums];
        self.launch("scan_tiles", &buffers, &[], session)?;
        let tiles = [Arg::u32(self.records / TILE)];
        let arguments = arguments(&[self.sums], &tiles);
        session.launch(
            &self.module,
            "scan_sums",
            Shape::linear(1, TILE),
            &arguments,
        )?;
        self.launch("scan_add", &buffers[1..], &[], session)
    }

    /// Sorts each job.
    fn sort(&self, records: u64, session: &mut Session<'_>) -> Result<(), DeviceError> {
        let buffers = [self.data, records];
        self.launch("sort_tiles", &buffers, &[Arg::u32(self.job)], session)?;
        let mut size = 2 * TILE;
        while size <= self.job {
            let mut distance = size / 2;
            while distance >= TILE {
                let scalars = [self.job, size, distance].map(Arg::u32);
                self.launch("sort_step", &buffers, &scalars, session)?;
                distance /= 2;
            }
            let scalars = [self.job, size].map(Arg::u32);
            self.launch("sort_merge", &buffers, &scalars, session)?;
            size *= 2;
        }
        Ok(())
    }

    /// Marks where groups of sorted records begin, in `counts`, and counts them, in `places`.
    fn group(&self, records: u64, session: &mut Session<'_>) -> Result<(), DeviceError> {
        let buffers = [self.data, records, self.counts];
        self.launch("mark_groups", &buffers, &[Arg::u32(self.job)], session)?;
        self.scan(session)
    }
}
