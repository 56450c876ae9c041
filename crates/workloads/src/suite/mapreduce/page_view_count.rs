//! Page view count.
//!
//! Stands for Mars's PVC: 8 warps per block, 6 blocks per SM. Lines of a web server's log are parsed, twice (to count and to emit); sorted by a hash and by what it was made of, since
//! hashes of 16 bits collide; the first of each group goes to a second round, which sorts by URL and
//! counts. The sort of a tile has a barrier after each of its 36 steps, and the threads of half of
//! the warps have nothing to compare in a step. Unrolled by size it has some 700 instructions, more
//! than the instruction cache holds.
//!
//! First measurement (small, `lrr`, gtx480-v3): 318 million thread instructions, SIMD efficiency 53.5%,
//! 20.2% of warp time at barriers (about 29% in the sorts); 6 blocks per SM as in the paper.

use super::super::host::check_u32;
use super::super::{Info, Parameter, Parameters, Set, Workload, kernel};
use super::text::{Text, hash, page, popular};
use super::{MapReduce, Record, TILES_PER_JOB};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::Session;
use crate::input::random::Random;
use std::collections::BTreeMap;

static INFO: Info = Info {
    name: "page-view-count",
    algorithm: "MapReduce over a web log: drop repeated views, then count the views of each page",
    known_for: "a barrier after each step of a bitonic sort, comparisons of text; large code",
    shape: "256 threads per block, one thread per line or record",
    papers: &["baws: PVC (barrier-intensive, 8 warps per block, 6 blocks per SM)"],
    comparison: "exact: every page and its views",
    parameters: &[
        Parameter::new("jobs", "logs", [1, 180, 256], (1, 1 << 10)),
        TILES_PER_JOB,
        Parameter::new("pages", "pages of the site", [100, 300, 300], (1, 1 << 20)),
    ],
    sets: &[Set::Divergent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("page-view-count"),
};

/// The workload.
pub struct PageViewCount;

/// Views and other requests: URL, address, status. Many views come twice.
fn log(lines: u32, pages: u32, random: &mut Random) -> Text {
    let mut last = String::new();
    let mut line = || {
        if random.below(6) > 0 || last.is_empty() {
            let page = page(popular(pages, random));
            let url = match random.below(8) {
                0 => page.replace("html", "png"),
                _ => page,
            };
            let host = random.below(200);
            let status = if random.below(16) == 0 { 404 } else { 200 };
            last = format!("{url} 10.0.{}.{host} {status}", host % 4);
        }
        last.clone()
    };
    Text::new((0..lines).map(|_| line()))
}

/// Offset and length of each page's URL and its different visitors, in the order of the second sort.
fn views(text: &Text, lines: &[u32]) -> Vec<Record> {
    let mut first_seen: BTreeMap<&[u8], (u32, u32)> = BTreeMap::new();
    for &at in lines {
        let words = text.words(at);
        let (address, length) = words[1];
        let is_page = text.part(at, words[0].1).ends_with(b"l");
        if is_page && text.number(words[2]) == 200 {
            let key = text.part(at, address + length - at);
            first_seen.entry(key).or_insert((at, words[0].1));
        }
    }
    let mut pages: BTreeMap<(u32, &[u8]), (u32, u32)> = BTreeMap::new();
    for &(at, length) in first_seen.values() {
        let url = text.part(at, length);
        let (first, count) = pages.entry((hash(url), url)).or_insert((at, 0));
        *first = at.min(*first);
        *count += 1;
    }
    let record =
        |((_, url), (at, count)): (&(u32, &[u8]), &(u32, u32))| [*at, url.len() as u32, *count, 0];
    pages.iter().map(record).collect()
}

impl Workload for PageViewCount {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [jobs, passes, pages] =
            ["jobs", "passes", "pages"].map(|name| parameters.get_u32(name));
        let lines = jobs * (super::TILE << passes);
        let text = log(lines, pages, &mut Random::new(seed, "page-view-count"));
        let data = session.upload("log", &text.bytes)?;
        let reduce = MapReduce::new(&INFO.kernel, jobs, passes, data, session)?;
        let starts = session.upload_u32("lines", &text.lines)?;
        let records = reduce.padding("records", session)?;
        let unique = reduce.padding("unique records", session)?;
        let result = session.zeroed("views", 16 * u64::from(lines))?;
        let (counts, places) = (reduce.counts, reduce.places);
        let job = [Arg::u32(reduce.job)];

        reduce.launch("map_count", &[data, starts, counts], &[], session)?;
        reduce.scan(session)?;
        let buffers = [data, starts, places, records];
        reduce.launch("map_emit", &buffers, &job, session)?;
        reduce.sort(records, session)?;
        reduce.group(records, session)?;
        let buffers = [data, records, counts, places, unique];
        reduce.launch("map_unique", &buffers, &job, session)?;
        reduce.sort(unique, session)?;
        reduce.group(unique, session)?;
        let buffers = [unique, counts, places, result];
        reduce.launch("reduce", &buffers, &job, session)?;

        let mut expected = vec![[0; 4]; lines as usize];
        let job = reduce.job as usize;
        for (lines, expected) in text.lines.chunks(job).zip(expected.chunks_mut(job)) {
            let views = views(&text, lines);
            expected[..views.len()].copy_from_slice(&views);
        }
        let views = check_u32(session, "views", result, expected.as_flattened())?;
        Ok(Outcome::of([views]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_views_count_once_and_pictures_not_at_all() {
        let lines = [
            "/a.html 1.1.1.1 200",
            "/a.html 1.1.1.1 200",
            "/a.html 1.1.1.2 200",
            "/a.png 1.1.1.1 200",
            "/b.html 1.1.1.1 404",
            "/c.html 1.1.1.1 200",
        ];
        let text = Text::new(lines.into_iter().map(String::from));
        let mut found = views(&text, &text.lines);
        found.sort_unstable();
        assert_eq!(found, [[0, 7, 2, 0], [text.lines[5], 7, 1, 0]]);
    }

    #[test]
    fn logs_repeat_from_seed_to_seed_and_have_repeated_lines() {
        let make = |seed| log(500, 50, &mut Random::new(seed, "page-view-count")).bytes;
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let log = log(500, 50, &mut Random::new(1, "page-view-count"));
        let views = views(&log, &log.lines);
        let seen: u32 = views.iter().map(|v| v[2]).sum();
        assert!(views.len() > 20 && views.len() <= 50);
        assert!((250..400).contains(&seen), "{seen}");
    }
}
