//! What an observer that asks for details hears of the divergence model: the paths of every warp, at every change.

mod formed;
mod stacks;

use crate::common::generate::Generator;
use crate::common::{Bench, kernel, machine};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Detail, Observer, Path, PathKind, Wants, WarpEvent};
use warpsim_sim::place::Layout;
use warpsim_sim::time::Cycle;

#[derive(Clone, Debug)]
enum Heard {
    Warp(WarpEvent),
    Paths(Vec<Path>),
}

/// Cycle, slot and what was heard.
type All = Rc<RefCell<Vec<(u64, u16, Heard)>>>;

/// Writes down what it hears of warps and their paths.
struct Listener(All);

impl Observer for Listener {
    fn warp(&mut self, cycle: Cycle, _: u16, slot: u16, event: WarpEvent) {
        let heard = (cycle.get(), slot, Heard::Warp(event));
        self.0.borrow_mut().push(heard);
    }

    fn wants(&self, _: u16) -> Wants {
        Wants::Details
    }

    fn detail(&mut self, cycle: Cycle, _: u16, slot: u16, detail: Detail) {
        if let Detail::Paths(paths) = detail {
            let heard = (cycle.get(), slot, Heard::Paths(paths.to_vec()));
            self.0.borrow_mut().push(heard);
        }
    }
}

struct Run {
    bench: Bench,
    layout: Layout,
    heard: Vec<(u64, u16, Heard)>,
    /// Where threads exit.
    exits: Vec<u32>,
}

/// Runs a kernel on one SM of a machine.
fn run(preset: &str, set: &[&str], ptx: &str, grid: u32, threads: u32, skip: bool) -> Run {
    let all = All::default();
    let options = Options {
        observer: Some(Box::new(Listener(all.clone()))),
        skip,
        ..Options::default()
    };
    let set: Vec<&str> = ["gpu.sms=1"].iter().chain(set).copied().collect();
    let machine = machine(preset, &set);
    let layout = Layout::of(&machine);
    let mut bench = Bench::unobserved(machine, ptx, options);
    bench.launch(grid, threads);
    let code = bench.code();
    let exits = (0..)
        .zip(&code)
        .filter(|(_, text)| ["exit", "ret"].contains(&text.as_str()));
    let exits = exits.map(|(pc, _)| pc).collect();
    let heard = all.take();
    Run {
        bench,
        layout,
        heard,
        exits,
    }
}

const LOOPS: &str = "mad.lo.u32 %r2, %r1, 2654435761, 77; shr.u32 %r2, %r2, 29; mov.u32 %r6, 0;
    and.b32 %r4, %r1, 3; setp.eq.u32 %p1, %r4, 1; @%p1 bra OUT;
    LOOP: setp.eq.u32 %p2, %r2, 0; @%p2 bra DONE; sub.u32 %r2, %r2, 1; and.b32 %r5, %r2, 1;
    setp.eq.u32 %p3, %r5, 0; @%p3 bra EVEN; add.u32 %r6, %r6, 3; bra LOOP;
    EVEN: ld.global.u32 %r7, [%rd2]; add.u32 %r6, %r6, %r7; bra LOOP;
    OUT: exit;
    DONE: and.b32 %r4, %r1, 8; setp.eq.u32 %p4, %r4, 0; @%p4 bra LAST; exit;
    LAST: mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r6;";

/// Follows what was heard: at every issue the running path is where the warp issues, and has its lanes. `look` is called then
/// with what is known of the paths of the slots.
fn follow(run: &Run, mut look: impl FnMut(u64, u16, u32, &BTreeMap<u16, Vec<Path>>)) {
    let mut paths: BTreeMap<u16, Vec<Path>> = BTreeMap::new();
    let mut issues = 0;
    for (cycle, slot, heard) in &run.heard {
        match heard {
            Heard::Paths(told) => {
                let before = paths.insert(*slot, told.clone());
                assert!(
                    before.as_ref() != Some(told),
                    "{cycle}: nothing new for {slot}"
                );
            }
            Heard::Warp(WarpEvent::Launched { .. } | WarpEvent::Formed | WarpEvent::Dissolved) => {
                paths.remove(slot);
            }
            Heard::Warp(WarpEvent::Issued { pc, lanes }) => {
                issues += 1;
                let its = paths.get(slot).map_or(&[][..], |all| &all[..]);
                let running = its.first().map(|p| (p.kind, p.pc, p.lanes));
                let expected = (PathKind::Runs, *pc, *lanes);
                assert_eq!(
                    running,
                    Some(expected),
                    "cycle {cycle}, slot {slot}: {its:?}"
                );
                look(*cycle, *slot, *lanes, &paths);
                if let Some([first, ..]) = paths.get_mut(slot).map(|all| &mut all[..]) {
                    first.pc += 1;
                }
            }
            Heard::Warp(_) => {}
        }
    }
    assert!(issues > 100, "{issues}");
}

fn union(paths: &[Path]) -> u32 {
    paths.iter().fold(0, |all, path| all | path.lanes)
}

#[test]
fn every_issue_is_on_the_running_path_under_every_model() {
    for model in MODELS {
        let name = model.info.name;
        let divergence = format!("divergence={name}");
        let scheduler = match model.pools {
            true => "scheduler=majority",
            false => "scheduler=age",
        };
        for seed in 0..6 {
            let ptx = kernel(4 * 96, &Generator::body_with_breaks(seed, 96));
            let run = run(
                "fx5800",
                &[&divergence, scheduler],
                &ptx,
                3,
                96,
                seed % 2 == 0,
            );
            follow(&run, |_, _, _, _| {});
        }
    }
    let set = ["virtual.mode=hardware", "virtual.blocks=2"];
    let run = run("gtx480", &set, &kernel(0, LOOPS), 9, 64, true);
    follow(&run, |_, _, _, _| {});
}
