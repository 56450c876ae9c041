//! Page view rank.
//!
//! Stands for Mars's PVR, which takes the result of PVC: 8 warps per block, 6 blocks per SM. Pages are
//! sorted by views, and by URL where these are equal, as they are among the many pages with few; pages with
//! as many views get the same rank. Nearly all of the time goes into the steps of the bitonic sort and the
//! barriers between them.
//!
//! First measurement (small, `lrr`, gtx480-v3): 101 million thread instructions, SIMD efficiency 63.8%,
//! 23.8% of warp time at barriers; 6 blocks per SM as in the paper.

use super::super::host::check_u32;
use super::super::{Info, Parameter, Parameters, Set, Workload, kernel};
use super::text::{Text, page};
use super::{MapReduce, Record, TILES_PER_JOB};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::Session;
use crate::input::random::Random;

/// Pages with fewer views are not ranked, as in the kernel.
const FEWEST: u32 = 200;

static INFO: Info = Info {
    name: "page-view-rank",
    algorithm: "MapReduce over counts of page views: sort by views and URL, equal views share a rank",
    known_for: "a barrier after each step of a bitonic sort; large code",
    shape: "256 threads per block, one thread per page",
    papers: &["baws: PVR (barrier-intensive, 8 warps per block, 6 blocks per SM)"],
    comparison: "exact: every page's place, views and rank",
    parameters: &[
        Parameter::new("jobs", "tables", [1, 180, 256], (1, 1 << 12)),
        TILES_PER_JOB,
    ],
    sets: &[Set::Divergent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("page-view-rank"),
};

/// The workload.
pub struct PageViewRank;

/// URLs, and offset, length and views of each in any order: few pages have many views.
fn table(pages: u32, random: &mut Random) -> (Text, Vec<Record>) {
    let text = Text::new((0..pages).map(page));
    let mut records: Vec<Record> = text
        .lines
        .iter()
        .map(|at| {
            let views = (200.0 / random.float(0.0002, 1.25)) as u32;
            [*at, text.words(*at)[0].1, views, 0]
        })
        .collect();
    for i in (1..records.len()).rev() {
        records.swap(i, random.below(i as u64 + 1) as usize);
    }
    (text, records)
}

/// The pages with their ranks, most views first.
fn ranked(text: &Text, pages: &[Record]) -> Vec<Record> {
    let mut pages = pages.to_vec();
    pages.retain(|page| page[2] >= FEWEST);
    let url = |page: &Record| text.part(page[0], page[1]);
    pages.sort_by(|a, b| b[2].cmp(&a[2]).then_with(|| url(a).cmp(url(b))));
    let (mut rank, mut last) = (0, None);
    for page in &mut pages {
        rank += u32::from(last != Some(page[2]));
        last = Some(page[2]);
        page[3] = rank;
    }
    pages
}

impl Workload for PageViewRank {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [jobs, passes] = ["jobs", "passes"].map(|name| parameters.get_u32(name));
        let lines = jobs * (super::TILE << passes);
        let (text, pages) = table(lines, &mut Random::new(seed, "page-view-rank"));
        let data = session.upload("urls", &text.bytes)?;
        let reduce = MapReduce::new(&INFO.kernel, jobs, passes, data, session)?;
        let table = session.upload_u32("pages", pages.as_flattened())?;
        let records = reduce.padding("records", session)?;
        let result = session.zeroed("ranked pages", 16 * u64::from(lines))?;
        let (counts, places) = (reduce.counts, reduce.places);
        let job = [Arg::u32(reduce.job)];

        reduce.launch("map_count", &[table, counts], &[], session)?;
        reduce.scan(session)?;
        let buffers = [table, places, records];
        reduce.launch("map_emit", &buffers, &job, session)?;
        reduce.sort(records, session)?;
        reduce.group(records, session)?;
        let buffers = [records, counts, places, result];
        reduce.launch("rank", &buffers, &job, session)?;

        let mut expected = vec![[0; 4]; lines as usize];
        let job = reduce.job as usize;
        for (pages, expected) in pages.chunks(job).zip(expected.chunks_mut(job)) {
            let pages = ranked(&text, pages);
            expected[..pages.len()].copy_from_slice(&pages);
        }
        let pages = check_u32(session, "ranked pages", result, expected.as_flattened())?;
        Ok(Outcome::of([pages]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_views_share_a_rank_and_rare_pages_are_left_out() {
        let text = Text::new(["/b", "/a", "/e", "/c", "/d"].into_iter().map(String::from));
        let views = [300, 900, 100, 200, 300];
        let page = |(at, views): (&u32, u32)| [*at, 2, views, 0];
        let pages: Vec<Record> = text.lines.iter().zip(views).map(page).collect();
        let [b, a, _, c, d] = text.lines[..] else {
            panic!("five lines");
        };
        let expected = [
            [a, 2, 900, 1],
            [b, 2, 300, 2],
            [d, 2, 300, 2],
            [c, 2, 200, 3],
        ];
        assert_eq!(ranked(&text, &pages), expected);
    }

    #[test]
    fn tables_repeat_and_few_pages_have_many_views() {
        let make = |seed| table(1000, &mut Random::new(seed, "page-view-rank"));
        assert_eq!(make(1).1, make(1).1);
        assert_ne!(make(1).1, make(2).1);
        let (text, pages) = make(1);
        let pages = ranked(&text, &pages);
        assert!(pages.len() > 700 && pages.len() < 900, "{}", pages.len());
        assert!(pages[0][2] > 50_000 && pages[pages.len() / 2][2] < 1000);
    }
}
