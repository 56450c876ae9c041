//! What the page says of a warp is what was told of it: lanes, paths, registers, barriers and gangs.
//!
//! Skipped with a message where there is no Chromium; under `CI=true` one must be there.

use crate::common::chromium::browser;
use crate::common::visit::visit;
use crate::common::witness::Said;
use crate::common::{machine, record_with_witness};
use serde_json::{Value, json};
use warpsim_view::format::{Run, Track};
use warpsim_view::page::page;

/// Machines that differ in what warps are and in what holds them up.
const MACHINES: [(&str, &str, &[&str]); 9] = [
    ("bfs", "gtx480", &["divergence=pdom"]),
    ("collatz", "gtx480", &["divergence=pdom-lcp"]),
    ("reduction", "gtx480", &[]),
    ("bfs", "fx5800", &["divergence=tbc"]),
    (
        "merge-sort",
        "fx5800",
        &["divergence=dwf", "scheduler=majority"],
    ),
    ("bfs", "fx5800", &["divergence=dwf-wb"]),
    ("reduction", "vws", &["warps=i-vws"]),
    ("histogram", "gtx480", &["virtual.mode=hardware"]),
    ("merge-sort", "gtx480-v3", &["power=origami"]),
];

/// So many cycles of each.
const CHOSEN: usize = 60;

const SAYS: &str = "return ASKED.map(([cycle, track]) => { const { warp } = viewAt(cycle, track); \
    const { active, guarded, other, exited } = warp.lanes; \
    const names = (list) => list.map((w) => [w.register, w.since]).sort((a, b) => (a[0] < b[0] ? -1 : 1)); \
    return { here: warp.here, lanes: [active, guarded, other, exited], \
    paths: warp.paths.map((p) => [p.pc, p.until, p.lanes, p.kind]), \
    waits: names(warp.waitsFor), flying: names(warp.inFlight), \
    barrier: warp.barrier ? warp.barrier.waits.map((a) => a.track).sort((a, b) => a - b) : [], gang: warp.gang }; });";

/// The same of a warp in a cycle by the witness.
fn expected(run: &Run, cycle: u64, said: Option<Said>) -> Value {
    let Some(said) = said else {
        return json!({ "here": false });
    };
    let here = |slot: u16| {
        let is_it = |t: &Track| t.slot == slot && (t.from..t.to).contains(&cycle);
        run.tracks.iter().position(is_it).expect("a track")
    };
    let mut barrier: Vec<usize> = said.at_barrier.into_iter().map(here).collect();
    barrier.sort_unstable();
    json!({
        "here": true, "lanes": said.lanes, "paths": said.paths, "waits": said.waits,
        "flying": said.flying, "barrier": barrier, "gang": said.gang,
    })
}

/// Cycles with a warp for each, spread over a run, in order.
fn chosen(run: &Run) -> Vec<(u64, usize)> {
    let spread = (0..CHOSEN).map(|n| {
        let track = n * 7 % run.tracks.len();
        let t = &run.tracks[track];
        let (long, part) = (t.to - t.from, (n * 13 % CHOSEN) as u64);
        (t.from + long * part / CHOSEN as u64, track)
    });
    let mut chosen: Vec<(u64, usize)> = spread.collect();
    chosen.sort_unstable();
    chosen
}

const PARTS: [&str; 7] = [
    "here", "lanes", "paths", "waits", "flying", "barrier", "gang",
];

#[test]
fn lanes_paths_registers_barriers_and_gangs_are_those_that_were_told() {
    let Some(browser) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    // How often there was something to say, over all machines.
    let mut met = [0; 6];
    for (workload, preset, settings) in MACHINES {
        let machine = machine(preset, settings);
        let (run, witness) = record_with_witness(workload, &machine);
        let chosen = chosen(&run);
        let slots = chosen
            .iter()
            .map(|(c, track)| (*c, run.tracks[*track].slot));
        let told = witness.asked(&slots.collect::<Vec<_>>());
        let told = chosen
            .iter()
            .zip(told)
            .map(|((c, _), said)| expected(&run, *c, said));
        let told: Vec<Value> = told.collect();
        let asked = serde_json::to_string(&chosen).expect("JSON");
        let script = SAYS.replace("ASKED", &asked);
        let said = visit(browser, folder.path(), &page(vec![run]), &script);
        for ((n, told), chosen) in told.iter().enumerate().zip(&chosen) {
            let parts = match told["here"] == true {
                true => &PARTS[..],
                false => &PARTS[..1],
            };
            for part in parts {
                let at = format!("{workload} on {preset} {settings:?}, cycle and track {chosen:?}");
                assert_eq!(said[n][part], told[*part], "{part}: {at}");
            }
            let is_some = |part: &str| told[part].as_array().is_some_and(|list| !list.is_empty());
            met[0] += usize::from(told["lanes"][1] != 0);
            met[1] += usize::from(told["lanes"][2] != 0);
            for (count, part) in met[2..]
                .iter_mut()
                .zip(["paths", "waits", "barrier", "gang"])
            {
                *count += usize::from(is_some(part));
            }
        }
    }
    eprintln!("guards, other paths, paths, waits, barriers, gangs: {met:?}");
    assert!(met.iter().all(|count| *count > 5), "{met:?}");
}
