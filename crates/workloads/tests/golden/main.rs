//! Fingerprints of runs all over the simulator: a change that should change no result changes none
//! of them. `fingerprints.txt` lists the runs with what came of each, and `counts.txt` has what it was made of. After an
//! intended change, and for new lines, which are written without what is behind the colon:
//! `WARPSIM_BLESS=1 cargo test -p warpsim-workloads --test golden` rewrites both.

mod counts;
mod line;
mod reference;
mod take;

use counts::ByHash;
use line::{Fingerprint, How, Line, Run};
use std::path::PathBuf;
use warpsim_workloads::suite::WORKLOADS;

const REWRITE: &str = "WARPSIM_BLESS=1 cargo test -p warpsim-workloads --test golden";

/// Fewer would leave too much unwatched.
const LEAST_RUNS: usize = 200;

/// So many are made both with and without an observer.
const LEAST_OBSERVED: usize = 15;

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(file)
}

fn read(file: &str) -> String {
    let text = std::fs::read_to_string(path(file));
    text.unwrap_or_else(|e| panic!("{file} cannot be read: {e}"))
}

fn write(file: &str, text: &str) {
    std::fs::write(path(file), text).unwrap_or_else(|e| panic!("{file} cannot be written: {e}"));
}

fn recorded() -> Vec<Line> {
    let text = read("fingerprints.txt");
    let parse = |(at, line)| {
        Line::parse(line).unwrap_or_else(|e| panic!("fingerprints.txt, line {}: {e}", at + 1))
    };
    text.lines().enumerate().map(parse).collect()
}

fn runs(lines: &[Line]) -> Vec<&Run> {
    let mut runs = Vec::new();
    for line in lines {
        if let Line::Run(run, _) = line {
            runs.push(run);
        }
    }
    runs
}

/// The counts that the recorded fingerprints were made of.
fn recorded_counts() -> ByHash {
    counts::read(&read("counts.txt")).unwrap_or_else(|e| panic!("counts.txt: {e}"))
}

/// The same runs with what came of them now, on so many threads; failures as text.
fn made_again(lines: &[Line], threads: usize) -> Result<(Vec<Line>, ByHash), String> {
    let runs = runs(lines);
    let results = take::take_all(&runs, threads);
    let failed = runs.iter().zip(&results);
    let failed = failed.filter_map(|(run, r)| Some(format!("{run}\n  {}", r.as_ref().err()?)));
    let failed: Vec<String> = failed.collect();
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    let (mut results, mut counts) = (results.into_iter().flatten(), ByHash::new());
    let again = |line: &Line| match line {
        Line::Run(run, _) => {
            let result = results.next().map(|(fingerprint, its)| {
                counts.insert(fingerprint.statistics.clone(), its);
                fingerprint
            });
            Line::Run(run.clone(), result)
        }
        text => text.clone(),
    };
    let lines = lines.iter().map(again).collect();
    Ok((lines, counts))
}

/// Runs that an observer listened to or that were stepped through, and whose statistics are not those
/// of the plain run.
fn disturbed(lines: &[Line]) -> Vec<String> {
    let plain = |run: &Run| {
        lines.iter().find_map(|line| match line {
            Line::Run(other, Some(result)) if *other == run.made(How::Plain) => Some(result),
            _ => None,
        })
    };
    let differs = |line: &&Line| match line {
        Line::Run(run, Some(result)) => plain(run)
            .is_some_and(|p| (p.cycles, &p.statistics) != (result.cycles, &result.statistics)),
        _ => false,
    };
    lines.iter().filter(differs).map(Line::to_string).collect()
}

#[test]
fn statistics_are_as_recorded() {
    let before = recorded();
    let made = made_again(&before, 1);
    let (after, counts) = made.unwrap_or_else(|failures| panic!("runs failed:\n{failures}"));
    let disturbed = disturbed(&after);
    assert!(
        disturbed.is_empty(),
        "these differ from the same run made plainly:\n{}",
        disturbed.join("\n")
    );
    if std::env::var_os("WARPSIM_BLESS").is_some() {
        let text: String = after.iter().map(|line| format!("{line}\n")).collect();
        write("fingerprints.txt", &text);
        write("counts.txt", &counts::write(&counts));
        return;
    }
    let recorded = recorded_counts();
    let changed = changed(&before, &after, &recorded, &counts);
    assert!(
        changed.is_empty(),
        "{} of {} runs have changed:\n{}\nif that is intended:\n{REWRITE}",
        changed.len(),
        runs(&before).len(),
        changed.join("\n")
    );
    assert!(
        recorded == counts,
        "counts.txt is not what fingerprints.txt was made of:\n{REWRITE}"
    );
}

/// Lines that are not what they were, as a difference, with the counts that have moved most.
fn changed(before: &[Line], after: &[Line], old: &ByHash, new: &ByHash) -> Vec<String> {
    let counts = |line: &Line, of: &ByHash| match line {
        Line::Run(_, Some(Fingerprint { statistics, .. })) => of.get(statistics).cloned(),
        _ => None,
    };
    let pairs = before.iter().zip(after).filter(|(old, new)| old != new);
    let text = |(line, made): (&Line, &Line)| {
        let moved = match (counts(line, old), counts(made, new)) {
            (Some(old), Some(new)) => counts::moved(&old, &new),
            _ => String::new(),
        };
        format!("- {line}\n+ {made}{moved}")
    };
    pairs.map(text).collect()
}

/// Makes runs again on several threads: for each pair `(threads, every)`, one run of `every`. On more than two threads
/// some are idle, have uneven shares, or no core of their own.
fn on_threads(counts: &[(usize, usize)]) {
    if std::env::var_os("WARPSIM_BLESS").is_some() {
        return;
    }
    let (all, recorded) = (recorded(), recorded_counts());
    for &(threads, every) in counts {
        let runs = all.iter().filter(|line| matches!(line, Line::Run(..)));
        let before: Vec<Line> = runs.skip(threads - 2).step_by(every).cloned().collect();
        let (after, counts) = made_again(&before, threads)
            .unwrap_or_else(|failures| panic!("runs failed:\n{failures}"));
        let changed = changed(&before, &after, &recorded, &counts);
        assert!(
            changed.is_empty(),
            "on {threads} threads:\n{}",
            changed.join("\n")
        );
    }
}

#[test]
fn threads_make_no_difference() {
    on_threads(&[(2, 10), (3, 40), (4, 20), (8, 40)]);
}

#[test]
#[ignore = "long: .ci/run"]
fn threads_make_no_difference_to_any_run() {
    on_threads(&[(2, 1), (4, 4)]);
}

#[test]
fn everything_registered_is_watched() {
    let lines = recorded();
    let runs = runs(&lines);
    assert!(runs.len() >= LEAST_RUNS, "there are only {}", runs.len());
    let check = |kind: &str, name: &str, of: fn(&Run) -> &str| {
        let found = runs.iter().any(|run| of(run) == name);
        assert!(
            found,
            "no run in fingerprints.txt has the {kind} `{name}`: add a line, then {REWRITE}"
        );
    };
    for workload in WORKLOADS {
        check("workload", workload.info().name, |r| &r.workload);
    }
    for name in warpsim_sim::config::read::presets::names() {
        check("machine", name, |r| &r.machine);
    }
    for policy in warpsim_sim::schedule::POLICIES {
        check("issue policy", policy.info.name, |r| &r.issue);
    }
    for policy in warpsim_sim::fetch::POLICIES {
        check("fetch policy", policy.info.name, |r| &r.fetch);
    }
    for model in warpsim_sim::divergence::MODELS {
        check("divergence model", model.info.name, |r| &r.divergence);
    }
    let replacement = warpsim_sim::replacement::POLICIES.iter();
    let prefetch = warpsim_sim::prefetch::PREFETCHERS.iter();
    let set = replacement.map(|p| ("replacement", p.info.name));
    for (kind, name) in set.chain(prefetch.map(|p| ("prefetch", p.info.name))) {
        // Every machine has the first of each unless it says otherwise.
        let chosen = format!(".{kind}={name}");
        let any = ["lru", "none"].contains(&name)
            || runs
                .iter()
                .any(|run| run.settings.iter().any(|s| s.ends_with(&chosen)));
        assert!(
            any,
            "no run in fingerprints.txt sets {chosen} of a cache: add a line, then {REWRITE}"
        );
    }
    for (at, run) in runs.iter().enumerate() {
        assert!(!runs[..at].contains(run), "listed twice: {run}");
        let plainly = run.made(How::Plain);
        assert!(runs.contains(&&plainly), "missing: {plainly}");
    }
    let observed = runs.iter().filter(|run| run.how == How::Observed).count();
    assert!(observed >= LEAST_OBSERVED, "only {observed} are observed");
}

#[test]
fn lines_are_read_as_they_are_written() {
    for line in recorded() {
        assert_eq!(Line::parse(&line.to_string()), Ok(line));
    }
    let new = "vecadd tiny gtx480 gto lrr pdom plain unit.sp.count=1";
    assert!(matches!(Line::parse(new), Ok(Line::Run(_, None))));
    for (wrong, why) in [
        ("vecadd tiny gtx480 gto lrr pdom", "a run is: workload"),
        (
            "vecadd teeny gtx480 gto lrr pdom plain",
            "`teeny` is none of tiny",
        ),
        (
            "vecadd tiny gtx480 gto lrr pdom plain : 12",
            "one or two hashes",
        ),
        (
            "vecadd tiny gtx480 gto lrr pdom plain : x y",
            "no number of cycles",
        ),
    ] {
        let error = Line::parse(wrong).expect_err(wrong);
        assert!(error.contains(why), "{error}");
    }
}
