//! Studies that are killed, whose folders are damaged, and that go on: what is reported in the end is what is reported by a study that
//! ran in one go. `WARPSIM_DAMAGED` says how often, `WARPSIM_SEED` where to begin.

use crate::common;

use common::{Scratch, plan};
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use warpsim_study::plan::{Plan, Run};
use warpsim_study::record::Record;
use warpsim_study::runner::Watch;
use warpsim_study::store::Store;
use warpsim_study::{StudyError, conduct};

const STUDY: &str = r#"
schema = 1
name = "t"
title = "Two schedulers"
machine = "gtx480"
size = "tiny"
repeats = { count = 1 }
[groups.g]
workloads = ["vecadd", "reduction"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto" }
[[figures]]
id = "speedup"
title = "Speed-up"
groups = ["g"]
configurations = ["gto"]
metric = "ipc"
normalise = "lrr"
"#;

/// How often where the environment does not say.
const TIMES: u64 = 12;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005))
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Dies when so many runs have ended, if at all.
struct Dies(Option<usize>);

impl Watch for Dies {
    fn begin(&mut self, _: usize, _: usize, _: usize) {}
    fn started(&mut self, _: &Run) {}
    fn finished(&mut self, _: &Run, _: &Record) {
        if let Some(left) = &mut self.0 {
            *left = left.checked_sub(1).expect("the study is killed");
        }
    }
}

fn run(plan: &Plan, out: &Path, dies: Option<usize>) -> Result<(), StudyError> {
    let store = Store::open(out, &plan.study.name)?;
    conduct(plan, &store, 2, "warpsim study t.toml", &mut Dies(dies)).map(drop)
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all.sort();
    all
}

/// What is reported: everything but the runs, which say how long they took.
fn reported(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let shown = |path: &PathBuf| !path.starts_with(out.join("runs"));
    let read = |path: PathBuf| {
        let name = path
            .strip_prefix(out)
            .expect("below it")
            .display()
            .to_string();
        (name, fs::read(path).expect("readable"))
    };
    files(out).into_iter().filter(shown).map(read).collect()
}

/// Damages a file that the study has written, in words.
fn damage(out: &Path, random: &mut Random) -> String {
    let runs = files(&out.join("runs"));
    let path = &runs[random.below(runs.len())];
    let bytes = fs::read(path).expect("readable");
    let at = random.below(bytes.len());
    let (what, changed) = match random.below(7) {
        0 => ("is gone", None),
        1 => ("is empty", Some(Vec::new())),
        2 => ("is cut off", Some(bytes[..at].to_vec())),
        3 => {
            let mut bytes = bytes;
            bytes[at] ^= 1 << random.below(8);
            ("has another bit", Some(bytes))
        }
        4 => (
            "has its beginning twice",
            Some([&bytes[..at], &bytes].concat()),
        ),
        5 => {
            let other = &runs[random.below(runs.len())];
            ("is another's", Some(fs::read(other).expect("readable")))
        }
        _ => {
            let noise = (0..at).map(|_| random.below(256) as u8).collect();
            ("is noise", Some(noise))
        }
    };
    match changed {
        None => fs::remove_file(path),
        Some(bytes) => fs::write(path, bytes),
    }
    .expect("it can be changed");
    format!("{} {what} (at {at})", path.display())
}

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |t| {
        t.parse().unwrap_or_else(|_| panic!("{name} is no number"))
    })
}

#[test]
fn a_study_that_is_killed_and_damaged_reports_the_same_in_the_end() {
    let scratch = Scratch::new("damaged");
    let plan = plan(STUDY).expect("a good study");
    let whole = scratch.path().join("whole");
    run(&plan, &whole, None).expect("it runs");
    let expected = reported(&whole);
    let first = number("WARPSIM_SEED", 1);
    for seed in first..first + number("WARPSIM_DAMAGED", TIMES) {
        let random = &mut Random(seed);
        let out = scratch.path().join(format!("out-{seed}"));
        let mut story = Vec::new();
        for _ in 0..random.below(3) {
            let ends = random.below(4);
            let killed = catch_unwind(AssertUnwindSafe(|| run(&plan, &out, Some(ends))));
            story.push(format!("killed after {ends}: {}", killed.is_err()));
            // What a process leaves that dies while it writes.
            let half = out.join("runs").join(".half-written.tmp");
            if random.below(2) == 0 && out.join("runs").is_dir() {
                fs::write(half, b"{").expect("it can be written");
            }
        }
        run(&plan, &out, None).unwrap_or_else(|e| panic!("seed {seed}: {story:?}: {e}"));
        for _ in 0..1 + random.below(3) {
            story.push(damage(&out, random));
        }
        run(&plan, &out, None).unwrap_or_else(|e| panic!("seed {seed}: {story:?}: {e}"));
        let found = reported(&out);
        let names = |all: &BTreeMap<String, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "seed {seed}: {story:?}");
        for (name, bytes) in &expected {
            assert_eq!(
                found.get(name),
                Some(bytes),
                "seed {seed}: {name}: {story:?}"
            );
        }
        fs::remove_dir_all(out).expect("it goes");
    }
}
