//! Similarity score.
//!
//! Stands for Mars's SS: 8 warps per block, 6 blocks per SM. The map computes the cosine between the term vectors of new and of stored
//! documents, 16x16 pairs per block with two barriers per 16 terms; similar pairs are emitted and
//! sorted by their score, with a barrier after each step. Documents are of a few topics.
//!
//! First measurement (small, `lrr`, gtx480-v3): 110 million thread instructions, SIMD efficiency 65.6%, 9.0% of warp
//! time at barriers (12 to 13% in the sort, 6% in the map). The barrier paper counts it as barrier-intensive; here a
//! comparison is one of numbers, so that the warps of a block reach a barrier close together, and it is not listed as
//! such.

use super::super::host::check_u32;
use super::super::{Info, Parameter, Parameters, Set, Workload, kernel};
use super::{MapReduce, Record};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::Session;
use crate::input::random::Random;

/// Documents along a side of a block's square of pairs, as in the kernel.
const SIDE: u32 = 16;
/// Pairs of a lower score, in per cent, are not emitted.
const THRESHOLD: u32 = 35;
/// Topics that documents are of.
const TOPICS: u64 = 5;

static INFO: Info = Info {
    name: "similarity-score",
    algorithm: "MapReduce over pairs of documents: cosine of their term vectors, similar pairs sorted by score",
    known_for: "two barriers per tile of terms, a barrier after each step of a bitonic sort; large code",
    shape: "256 threads per block, one thread per pair",
    papers: &["baws: SS (barrier-intensive, 8 warps per block, 6 blocks per SM)"],
    comparison: "exact: every similar pair and its score in per cent, computed in the same order",
    parameters: &[
        Parameter::new("jobs", "collections", [1, 90, 128], (1, 1 << 12)),
        Parameter::new(
            "doubled",
            "a collection has 16 x 2^doubled new and as many stored documents",
            [1, 1, 2],
            (0, 3),
        ),
        Parameter::new("terms", "terms of a vector", [32, 64, 128], (16, 4096))
            .multiple_of(SIDE as u64),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("similarity-score"),
};

/// The workload.
pub struct SimilarityScore;

/// Term vectors: every document has the common terms, and more of those of its topic.
fn documents(count: u32, terms: u32, random: &mut Random) -> Vec<f32> {
    let mut vectors = Vec::with_capacity((count * terms) as usize);
    for _ in 0..count {
        let topic = random.below(TOPICS);
        for term in 0..u64::from(terms) {
            let typical = if term % TOPICS == topic { 4.0 } else { 1.0 };
            vectors.push((typical * random.unit()) as f32);
        }
    }
    vectors
}

/// The cosine between two vectors, in the kernel's order.
fn score(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| {
        let pairs = a.iter().zip(b);
        pairs.fold(0.0f32, |sum, (x, y)| x.mul_add(*y, sum))
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Similar pairs of documents `first` to `first + count`, the highest score first.
fn similar(fresh: &[f32], stored: &[f32], first: usize, count: usize, terms: usize) -> Vec<Record> {
    let mut pairs = Vec::new();
    for i in first..first + count {
        for j in first..first + count {
            let [a, b] = [(fresh, i), (stored, j)].map(|(v, n)| &v[n * terms..(n + 1) * terms]);
            let score = (100.0 * score(a, b)) as u32;
            if score >= THRESHOLD {
                pairs.push([!score, i as u32, j as u32, score]);
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

impl Workload for SimilarityScore {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [jobs, doubled, terms] =
            ["jobs", "doubled", "terms"].map(|name| parameters.get_u32(name));
        let across = 1 << doubled;
        let documents_per_job = SIDE * across;
        let mut random = Random::new(seed, "similarity-score");
        let mut make = || documents(jobs * documents_per_job, terms, &mut random);
        let (fresh, stored) = (make(), make());
        let new = session.upload_f32("new documents", &fresh)?;
        let old = session.upload_f32("stored documents", &stored)?;
        let reduce = MapReduce::new(&INFO.kernel, jobs, 2 * doubled, new, session)?;
        let scores = session.zeroed("scores", 4 * u64::from(reduce.records))?;
        let records = reduce.padding("records", session)?;

        let scalars = [terms, across, THRESHOLD].map(Arg::u32);
        let buffers = [new, old, reduce.counts, scores];
        reduce.launch("map_count", &buffers, &scalars, session)?;
        reduce.scan(session)?;
        let scalars = [reduce.job, across, THRESHOLD].map(Arg::u32);
        let buffers = [scores, reduce.places, records];
        reduce.launch("map_emit", &buffers, &scalars, session)?;
        reduce.sort(records, session)?;

        let mut expected = vec![[u32::MAX; 4]; reduce.records as usize];
        for (n, expected) in expected.chunks_mut(reduce.job as usize).enumerate() {
            let count = documents_per_job as usize;
            let pairs = similar(&fresh, &stored, n * count, count, terms as usize);
            expected[..pairs.len()].copy_from_slice(&pairs);
        }
        let pairs = check_u32(session, "similar pairs", records, expected.as_flattened())?;
        Ok(Outcome::of([pairs]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_of_equal_directions_is_one() {
        assert_eq!(score(&[1.0, 2.0, 2.0], &[2.0, 4.0, 4.0]), 1.0);
        assert_eq!(score(&[1.0, 0.0], &[0.0, 1.0]), 0.0);
    }

    #[test]
    fn documents_repeat_and_some_are_similar() {
        let make = |seed| documents(16, 64, &mut Random::new(seed, "similarity-score"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let pairs = similar(&make(1), &make(2), 0, 16, 64);
        assert!(pairs.len() > 200 && pairs.len() < 256, "{}", pairs.len());
        assert!(pairs.windows(2).all(|w| w[0][3] >= w[1][3]));
        assert_eq!(super::super::TILE, SIDE * SIDE);
    }
}
