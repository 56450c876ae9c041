//! A window into a run shows what the whole recording shows there.

use crate::common::{ROOM, machine, record, records};
use std::collections::BTreeMap;
use warpsim_view::Window;
use warpsim_view::format::{Run, Track};

/// What a list says in each cycle of a window: the last record that is not behind it.
fn held(track: &Track, list: &[i64], cycles: [u64; 2]) -> BTreeMap<u64, Vec<i64>> {
    let changes = records(track, list, 2);
    let (from, to) = (cycles[0].max(track.from), cycles[1].min(track.to));
    let at = |cycle: u64| changes.iter().rev().find(|(at, _)| *at <= cycle);
    (from..to)
        .filter_map(|c| at(c).map(|(_, record)| (c, record.clone())))
        .collect()
}

fn key(track: &Track) -> (usize, i64, i64, u16, u64) {
    (track.launch, track.block, track.warp, track.slot, track.to)
}

/// That a part shows in its cycles what the whole shows there.
fn compare(part: &Run, whole: &Run) {
    let window = part.cycles;
    let cut = |track: &Track| {
        (
            track.launch,
            track.block,
            track.warp,
            track.slot,
            track.to.min(window[1]),
        )
    };
    let of_whole: BTreeMap<_, &Track> = whole.tracks.iter().map(|t| (cut(t), t)).collect();
    assert!(!part.tracks.is_empty());
    for track in &part.tracks {
        let same = of_whole[&key(track)];
        assert_eq!(
            held(track, &track.states, window),
            held(same, &same.states, window),
            "warp {} of block {}",
            track.warp,
            track.block
        );
        let within = |(at, _): &(u64, Vec<i64>)| (window[0]..window[1]).contains(at);
        let issues = |t: &Track| -> Vec<_> {
            records(t, &t.issues, 3)
                .into_iter()
                .filter(within)
                .collect()
        };
        assert_eq!(issues(track), issues(same));
        let whole_paths = crate::common::paths(same);
        // Those that were told last, the running one where it has come to since.
        let before = |at: u64| {
            let (told, mut paths) = whole_paths
                .iter()
                .rev()
                .find(|(told, _)| *told <= at)?
                .clone();
            let issued = records(same, &same.issues, 3);
            let since = issued.iter().rev().find(|(i, _)| *i > told && *i < at);
            if let (Some((_, issue)), Some(running)) = (since, paths.first_mut())
                && running[3] == 0
            {
                running[0] = issue[0] + 1;
            }
            Some(paths)
        };
        for (at, paths) in crate::common::paths(track) {
            if at > window[0] && at < window[1] {
                assert!(whole_paths.contains(&(at, paths)));
            } else if at == window[0] && at > track.from {
                assert_eq!(Some(paths), before(at));
            }
        }
    }
    let here = |t: &&Track| t.from < window[1] && t.to > window[0];
    assert_eq!(part.tracks.len(), whole.tracks.iter().filter(here).count());
}

#[test]
fn a_window_shows_what_the_whole_shows_there() {
    for (workload, preset, settings) in [
        ("bfs", "gtx480", &["divergence=pdom"][..]),
        ("reduction", "gtx480", &["divergence=tbc"]),
        ("reduction", "vws", &["warps=i-vws"]),
    ] {
        let machine = machine(preset, settings);
        let (whole, _) = record(workload, &machine, Window::default(), ROOM);
        let window = Window {
            from: 700,
            to: 1900,
        };
        let (part, _) = record(workload, &machine, window, ROOM);
        assert_eq!(part.cycles, [700, 1900]);
        assert_eq!(
            (part.whole, &part.map.issued),
            (whole.whole, &whole.map.issued)
        );
        compare(&part, &whole);
    }
}

#[test]
fn a_full_page_ends_early_and_says_so() {
    let machine = machine("gtx480", &[]);
    let (whole, _) = record("reduction", &machine, Window::default(), ROOM);
    let (part, _) = record("reduction", &machine, Window::default(), 20_000);
    assert!(part.cycles[1] < whole.cycles[1]);
    assert_eq!(part.notes.len(), 1);
    let said = format!(
        "The page is full: cycles from {} on are not here",
        part.cycles[1]
    );
    assert!(part.notes[0].starts_with(&said), "{:?}", part.notes);
    let lists = serde_json::to_string(&part.tracks).expect("JSON");
    assert!(
        (15_000..40_000).contains(&lists.len()),
        "{} bytes",
        lists.len()
    );
    compare(&part, &whole);
}

#[test]
fn a_window_behind_the_end_has_nothing_and_says_so() {
    let machine = machine("gtx480", &[]);
    let window = Window {
        from: 1 << 40,
        to: 1 << 41,
    };
    let (run, _) = record("vecadd", &machine, window, ROOM);
    assert!(run.tracks.is_empty());
    assert!(
        run.notes[0].contains("The run ended in cycle"),
        "{:?}",
        run.notes
    );
}

#[test]
fn what_comes_before_a_window_takes_no_room_in_it() {
    let machine = machine("gtx480", &[]);
    let (whole, _) = record("bfs", &machine, Window::default(), ROOM);
    let window = Window {
        from: whole.whole - 2000,
        to: u64::MAX,
    };
    let all = serde_json::to_string(&whole.tracks).expect("JSON").len();
    assert!(
        all > 500_000,
        "what comes before takes more than there is: {all} bytes"
    );
    let (part, _) = record("bfs", &machine, window, 120_000);
    assert_eq!(part.notes, Vec::<String>::new());
    assert_eq!(part.cycles[0], window.from);
    compare(&part, &whole);
}
