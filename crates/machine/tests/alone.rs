//! Machines are read and checked where no mechanism is known.

use warpsim_machine::Machine;
use warpsim_machine::mechanism::NONE;
use warpsim_machine::read::load::{Origin, load};
use warpsim_machine::read::presets;

fn read(preset: &str, set: &[&str]) -> Result<Machine, String> {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let origin = Origin::Preset(preset.to_string());
    load(&origin, &set, &NONE).map_err(|e| e.to_string())
}

#[test]
fn every_preset_is_a_machine_and_keeps_the_names_it_chose() {
    for name in presets::names() {
        let machine = read(name, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!machine.scheduler.name.is_empty(), "{name}");
        assert_eq!(machine.scheduler.values.iter().count(), 0, "{name}");
    }
    let other = read("gtx480", &["scheduler=unheard-of", "scheduler.depth=4"]).expect("taken");
    assert_eq!(other.scheduler.name, "unheard-of");
}

#[test]
fn names_for_settings_that_go_together_set_them() {
    let machine = read("vws", &["warps=ws8"]).expect("a machine");
    assert_eq!(machine.sm.warp_width, 8);
    let machine = read("vws", &["warps=i-vws-8"]).expect("a machine");
    assert_eq!(
        (machine.sm.warp_width, &*machine.scheduler.name),
        (8, "gangs")
    );
    let machine = read("gtx480", &["power=folding"]).expect("a machine");
    assert_eq!(
        (&*machine.gating.name, &*machine.folding.name),
        ("conventional", "phases")
    );
}

#[test]
fn settings_are_checked_without_them() {
    for (set, reason) in [
        ("sm.shcedulers=2", "did you mean `sm.schedulers`?"),
        ("l2.ways=0", "must lie between"),
        ("l2.line=32", "an L2 line is only 32 bytes"),
        ("pipes.fp=[\"logic\"]", "is in `pipes.int`, too"),
        ("warps=ws5", "is no way to size warps"),
    ] {
        let text = read("gtx480", &[set]).expect_err(set);
        assert!(text.contains(reason), "{set}: {text}");
    }
}
