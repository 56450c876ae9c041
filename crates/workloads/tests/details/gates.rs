//! Gates of lanes, and instructions that are folded.

use super::{machine, run};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use warpsim_sim::observe::{Detail, Gate, Observer, Wants, WarpEvent};
use warpsim_sim::stats::LaunchReport;
use warpsim_sim::time::Cycle;
use warpsim_sim::{GatedPipe, gated_pipes};

/// What is heard of the gates and of folded instructions.
#[derive(Default)]
struct Lanes {
    pipes: Vec<GatedPipe>,
    /// Gates that are not on: what they are, and since when.
    gates: BTreeMap<(u16, u16, u16), (Gate, Cycle)>,
    /// Lane-cycles off, by side, and lanes that were switched off.
    off: [u64; 2],
    switched: [u64; 2],
    waking: [u64; 2],
    /// Cycles in which each warp issued.
    issues: BTreeSet<(u64, u16, u16)>,
    folded: u64,
}

impl Lanes {
    /// A gate has been what it was up to this cycle.
    fn count(&mut self, pipe: u16, was: (Gate, Cycle), cycle: Cycle) {
        let pipe = &self.pipes[usize::from(pipe)];
        let side = usize::from(pipe.name.ends_with("fp"));
        let lanes = u64::from(pipe.lanes / pipe.gates);
        let (gate, since) = was;
        assert!(
            since <= cycle,
            "{}: back from {since} to {cycle}",
            pipe.name
        );
        match gate {
            Gate::On => {}
            Gate::Off(_) => self.off[side] += lanes * (cycle - since),
            Gate::Waking(_) => self.waking[side] += lanes * (cycle - since),
        }
    }
}

#[derive(Clone, Default)]
struct Gates(Rc<RefCell<Lanes>>);

impl Observer for Gates {
    fn wants(&self, _: u16) -> Wants {
        Wants::Details
    }

    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        if let WarpEvent::Issued { .. } = event {
            let issue = (cycle.get(), sm, slot);
            self.0.borrow_mut().issues.insert(issue);
        }
    }

    fn detail(&mut self, cycle: Cycle, sm: u16, slot: u16, detail: Detail) {
        if let Detail::Folded { issued, cycles } = detail {
            let mut all = self.0.borrow_mut();
            all.folded += 1;
            assert!(cycles >= 2 && cycles % 2 == 0, "{cycles}");
            assert!(issued < cycle, "{issued} {cycle}");
            let issue = (issued.get(), sm, slot);
            assert!(all.issues.contains(&issue), "{issue:?} issued nothing");
        }
    }

    fn lanes(&mut self, cycle: Cycle, sm: u16, pipe: u16, number: u16, gate: Gate) {
        let mut all = self.0.borrow_mut();
        let its = &all.pipes[usize::from(pipe)];
        assert!(u32::from(number) < its.gates, "{}: {number}", its.name);
        let (side, lanes) = (its.name.ends_with("fp"), u64::from(its.lanes / its.gates));
        let before = all.gates.insert((sm, pipe, number), (gate, cycle));
        let was = before.map_or(Gate::On, |(gate, _)| gate);
        let follows = matches!(
            (was, gate),
            (Gate::On, Gate::Off(_)) | (Gate::Off(_), Gate::Waking(_)) | (_, Gate::On)
        );
        assert!(follows, "{cycle}: {gate:?} after {was:?}");
        if let Gate::Off(_) = gate {
            all.switched[usize::from(side)] += lanes;
        }
        if let Some(before) = before {
            all.count(pipe, before, cycle);
        }
    }

    fn ended(&mut self, cycle: Cycle) {
        let mut all = self.0.borrow_mut();
        let gates = std::mem::take(&mut all.gates);
        for ((_, pipe, _), was) in gates {
            all.count(pipe, was, cycle);
        }
    }
}

#[test]
fn gates_are_off_as_long_as_is_counted() {
    for (preset, set, folds) in [
        ("gtx480-v3", &["power=conventional"][..], false),
        ("gtx480-v3", &["power=warped-gates"], false),
        ("gtx480-v3", &["power=origami"], true),
        ("gtx480", &["power=origami", "gating.wake_up=0"], true),
        ("vws", &["power=folding"], true),
    ] {
        let machine = machine(preset, set);
        let mut folded = 0;
        for name in ["vecadd", "reduction", "matmul"] {
            for skip in [true, false] {
                let what = format!("{name} on {preset} {set:?}");
                let gates = Gates::default();
                gates.0.borrow_mut().pipes = gated_pipes(&machine);
                let reports = run(name, &machine, skip, Some(Box::new(gates.clone())));
                let all = gates.0.borrow();
                let pipes = |of: fn(&LaunchReport) -> [u64; 2]| {
                    reports
                        .iter()
                        .map(of)
                        .fold([0; 2], |[a, b], [c, d]| [a + c, b + d])
                };
                let off = pipes(|r| {
                    let sm = &r.totals.sm;
                    [&sm.int_pipe, &sm.fp_pipe].map(|side| side.gated + side.gated_early)
                });
                assert_eq!(all.off, off, "{what}: off");
                let waking = pipes(|r| [r.totals.sm.int_pipe.waking, r.totals.sm.fp_pipe.waking]);
                assert_eq!(all.waking, waking, "{what}: waking");
                let switched =
                    pipes(|r| [r.totals.sm.int_pipe.gatings, r.totals.sm.fp_pipe.gatings]);
                assert_eq!(all.switched, switched, "{what}: switched off");
                assert!(off[0] > 0 && switched[0] > 0, "{what}");
                let count = pipes(|r| [r.totals.sm.int_pipe.folded, r.totals.sm.fp_pipe.folded]);
                assert_eq!(all.folded, count[0] + count[1], "{what}: folded");
                folded += all.folded;
            }
        }
        assert_eq!(folded > 0, folds, "{preset} {set:?}");
    }
}
