//! The page in a real browser: what it says is what was recorded, and it opens in time.
//!
//! Skipped with a message where there is no Chromium; under `CI=true` one must be there.

use crate::common::chromium::browser;
use crate::common::visit::visit;
use crate::common::{ROOM, machine, record, records};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use warpsim_sim::stats::WarpState;
use warpsim_view::Window;
use warpsim_view::format::{Run, Track};
use warpsim_view::page::{BYTES, page};

/// The last record of a list that is not behind a cycle.
fn last(track: &Track, list: &[i64], width: usize, cycle: u64) -> Option<(u64, Vec<i64>)> {
    let known = records(track, list, width);
    known.into_iter().rev().find(|(at, _)| *at <= cycle)
}

/// What the page has to say of a cycle and a warp.
fn expected(run: &Run, cycle: u64, track: usize) -> Value {
    let here = |t: &&Track| (t.from..t.to).contains(&cycle);
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for t in run.tracks.iter().filter(here) {
        if let Some((_, code)) = last(t, &t.states, 2, cycle) {
            *states.entry(run.states[code[0] as usize].name).or_default() += 1;
        }
    }
    let issued = |scheduler: u16| {
        let mut its = run
            .tracks
            .iter()
            .enumerate()
            .filter(|(_, t)| t.scheduler == scheduler);
        its.find_map(|(index, t)| {
            let (_, issue) = last(t, &t.issues, 3, cycle).filter(|(at, _)| *at == cycle)?;
            Some(json!({"track": index, "pc": issue[0]}))
        })
    };
    let track = &run.tracks[track];
    let issues = records(track, &track.issues, 3);
    let next = issues.iter().find(|(at, _)| *at > cycle);
    json!({
        "states": states,
        "issued": (0..run.schedulers).map(issued).collect::<Vec<_>>(),
        "last": last(track, &track.issues, 3, cycle).map(|(at, issue)| json!([at, issue[0]])),
        "next": next.map(|(at, issue)| json!([at, issue[0]])),
    })
}

const SAYS: &str = "return ASKED.map(([cycle, track]) => { const look = viewAt(cycle, track); return { \
    states: look.states, issued: look.schedulers.map((s) => s.issued), \
    last: look.warp.last && [look.warp.last.cycle, look.warp.last.pc], \
    next: look.warp.next && [look.warp.next.cycle, look.warp.next.pc] }; });";

#[test]
fn the_page_says_what_was_recorded() {
    let Some(browser) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    for (workload, preset, settings) in [
        ("bfs", "gtx480", &["divergence=pdom"][..]),
        ("reduction", "fx5800", &["divergence=tbc"]),
        ("reduction", "vws", &["warps=i-vws"]),
        ("merge-sort", "gtx480-v3", &["power=origami"]),
    ] {
        let machine = machine(preset, settings);
        let (run, _) = record(workload, &machine, Window::default(), ROOM);
        let chosen: Vec<(u64, usize)> = (0..20)
            .map(|n| {
                let track = n * 7 % run.tracks.len();
                let t = &run.tracks[track];
                (t.from + (t.to - t.from) * (n as u64 * 13 % 20) / 20, track)
            })
            .collect();
        let wanted: Vec<Value> = chosen.iter().map(|(c, t)| expected(&run, *c, *t)).collect();
        let asked = serde_json::to_string(&chosen).expect("JSON");
        let said = visit(
            browser,
            folder.path(),
            &page(vec![run]),
            &SAYS.replace("ASKED", &asked),
        );
        for (n, wanted) in wanted.iter().enumerate() {
            assert_eq!(
                &said[n], wanted,
                "{workload}: cycle and track {:?}",
                chosen[n]
            );
        }
    }
}

#[test]
fn all_cycles_of_the_page_add_up_to_the_statistics() {
    let Some(browser) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let machine = machine("gtx480", &["scheduler=lrr"]);
    let (run, totals) = record("vecadd", &machine, Window::default(), ROOM);
    let script = format!(
        "const sum = {{}}; for (let c = 0; c < {}; c++) {{ const {{ states }} = viewAt(c, 0); \
         for (const s in states) sum[s] = (sum[s] || 0) + states[s]; }} return sum;",
        run.cycles[1]
    );
    let said = visit(browser, folder.path(), &page(vec![run]), &script);
    let counted = totals.to_json();
    for state in WarpState::ALL {
        let said = said[state.name()].as_u64().unwrap_or(0);
        assert_eq!(
            Some(said),
            counted["warp_states"][state.name()].as_u64(),
            "{}",
            state.name()
        );
    }
}

#[test]
fn two_runs_stand_beside_each_other() {
    let Some(browser) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let of = |scheduler| {
        let machine = machine("gtx480", &[scheduler]);
        record("reduction", &machine, Window::default(), ROOM).0
    };
    let runs = vec![of("scheduler=gto"), of("scheduler=lrr")];
    let script = "return { rasters: document.querySelectorAll('#runs canvas').length, \
        states: [0, 1].map((run) => viewAt(1000, 3, run).states) };";
    let wanted = json!([
        expected(&runs[0], 1000, 3)["states"],
        expected(&runs[1], 1000, 3)["states"]
    ]);
    let said = visit(browser, folder.path(), &page(runs), script);
    assert_eq!(said["states"], wanted);
    assert!(said["rasters"].as_u64() >= Some(2), "{said}");
}

#[test]
fn names_cannot_leave_their_place() {
    let machine = machine("gtx480", &[]);
    let (mut run, _) = record("vecadd", &machine, Window::default(), ROOM);
    run.title = "</script><script>alert(1)</script>{{view}}".into();
    run.kernels[0].name = "<img src=x>".into();
    run.kernels[0].code[0].text = "<img src=x>".into();
    run.files[0].name = "<img src=x>".into();
    run.files[0].text = Some("<img src=x>".into());
    let text = page(vec![run]);
    assert!(!text.contains("<script>alert"));
    assert!(text.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    let Some(browser) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let script = "return [document.querySelectorAll('main img, main script, #panel b').length, \
        document.body.textContent.includes('<img src=x>')];";
    assert_eq!(
        visit(browser, folder.path(), &text, script),
        json!([0, true])
    );
}

/// A run again and again, until it takes so many bytes.
fn long(mut run: Run, bytes: usize) -> Run {
    let once = serde_json::to_string(&run.tracks).expect("JSON").len();
    let tracks = run.tracks.clone();
    for time in 1..(bytes / once) as u64 {
        let later = tracks.iter().cloned().map(|track| Track {
            from: track.from + time * run.whole,
            to: track.to + time * run.whole,
            ..track
        });
        run.tracks.extend(later);
        run.cycles[1] += run.whole;
    }
    Run {
        whole: run.cycles[1],
        ..run
    }
}

#[test]
fn twenty_megabytes_open_in_three_seconds() {
    let Some(browser) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let machine = machine("gtx480", &[]);
    let (run, _) = record("face-detect", &machine, Window::default(), ROOM);
    let text = page(vec![long(run, BYTES)]);
    assert!(
        text.len().abs_diff(BYTES) < BYTES / 8,
        "{} bytes",
        text.len()
    );
    // The page counts from when it was asked for; the best of two tries, as other things run beside it.
    let script = "return [performance.now(), document.querySelectorAll('#runs canvas').length];";
    let tries = (0..2).map(|_| visit(browser, folder.path(), &text, script));
    let times: Vec<f64> = tries
        .map(|said| said[0].as_f64().expect("milliseconds"))
        .collect();
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    eprintln!("{} bytes open in {best} ms", text.len());
    assert!(best < 3000.0, "{times:?} ms");
}
