//! The persistent-thread ray tracer relies on a static warp's implicit synchronisation: right under
//! every divergence model that keeps it, wrong under plain dynamic warp formation, and its result
//! check notices.

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, find};
use warpsim_workloads::{Outcome, Session};

fn run(model: &str) -> Outcome {
    let set = [format!("divergence=\"{model}\"")];
    let machine = Machine::resolve("fx5800", &set).unwrap_or_else(|e| panic!("{model}: {e}"));
    let mut device = Simulated::new(machine, Options::default()).expect("a device");
    let workload = find("raytrace-persistent").expect("a workload");
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    workload
        .run(&parameters.expect("sizes"), 1, &mut session)
        .unwrap_or_else(|e| panic!("{model}: {e}"))
}

#[test]
fn only_lanes_that_run_ahead_of_their_warp_miss_rays() {
    for model in MODELS {
        let outcome = run(model.info.name);
        if model.info.name == "dwf" {
            assert!(
                matches!(&outcome, Outcome::Wrong(m) if m[0].what == "hits" && m[0].differing > 0),
                "lanes read an obsolete index: {outcome:?}"
            );
        } else {
            let right = matches!(outcome, Outcome::Correct { checked: 768 });
            assert!(right, "{}: {outcome:?}", model.info.name);
        }
    }
}
