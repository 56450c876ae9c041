//! What is heard of the SMs that an observer wants, and of no others.

use super::{machine, run};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use warpsim_sim::observe::{Detail, Gate, Observer, Wants, WarpEvent};
use warpsim_sim::time::Cycle;

/// What was heard of each SM: of its warps, and in detail.
type Heard = BTreeMap<u16, [Vec<String>; 2]>;

/// Wants this of each SM, and writes down what it hears.
struct Listener([Wants; 3], Rc<RefCell<Heard>>);

impl Listener {
    fn heard(&self, sm: u16, kind: usize, what: String) {
        let mut heard = self.1.borrow_mut();
        heard.entry(sm).or_default()[kind].push(what);
    }
}

impl Observer for Listener {
    fn wants(&self, sm: u16) -> Wants {
        self.0[usize::from(sm)]
    }

    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        self.heard(sm, 0, format!("{cycle} {slot} {event:?}"));
    }

    fn detail(&mut self, cycle: Cycle, sm: u16, slot: u16, detail: Detail) {
        self.heard(sm, 1, format!("{cycle} {slot} {detail:?}"));
    }

    fn lanes(&mut self, cycle: Cycle, sm: u16, pipe: u16, number: u16, gate: Gate) {
        self.heard(sm, 1, format!("{cycle} {pipe} {number} {gate:?}"));
    }
}

#[test]
fn an_observer_hears_of_the_sms_that_it_wants_as_if_it_wanted_all() {
    use Wants::{Details, Nothing, Warps};
    for (preset, set) in [
        ("gtx480", &["divergence=pdom"][..]),
        ("fx5800", &["divergence=tbc", "scheduler=age"]),
        ("gtx480-v3", &["power=origami"]),
    ] {
        let mut machine = machine(preset, set);
        machine.gpu.sms = 3;
        for skip in [true, false] {
            let listen = |wants: [Wants; 3]| {
                let heard = Rc::new(RefCell::new(Heard::new()));
                let listener = Listener(wants, heard.clone());
                let reports = run("merge-sort", &machine, skip, Some(Box::new(listener)));
                (reports, heard.take())
            };
            let (plain, all) = listen([Details; 3]);
            for kind in [0, 1] {
                assert!(all.values().all(|of| of[kind].len() > 500));
            }
            let (reports, some) = listen([Warps, Nothing, Details]);
            assert_eq!(reports, plain);
            assert_eq!(reports, run("merge-sort", &machine, skip, None));
            assert_eq!(some.keys().collect::<Vec<_>>(), [&0, &2]);
            assert_eq!((&some[&0][0], &some[&0][1]), (&all[&0][0], &Vec::new()));
            assert_eq!(some[&2], all[&2], "{preset} {set:?}");
        }
    }
}
