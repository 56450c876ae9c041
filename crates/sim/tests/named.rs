//! Names for settings that go together: ways to size warps, ways to save power.

use warpsim_sim::config::read::presets;
use warpsim_sim::config::{Machine, ReadMachine, power, warps};

fn on_vws(name: &str) -> Machine {
    let set = [format!("warps={name}")];
    Machine::resolve("vws", &set).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_way_to_size_warps_is_a_machine() {
    for named in warps::NAMES {
        let name = named.example();
        let machine = on_vws(&name);
        let fixed = name
            .strip_prefix("ws")
            .map(|width| width.parse().expect("a width"));
        assert_eq!(machine.sm.warp_width, fixed.unwrap_or(4), "{name}");
        assert_eq!(machine.scheduler.name == "gangs", fixed.is_none(), "{name}");
    }
    assert_eq!(on_vws("e-vws-sync30-8").sm.warp_width, 8);
    let one_port = ["fetch.cache_ports=1".to_string()];
    let plain = Machine::resolve("vws", &one_port).expect("a preset");
    assert_eq!(on_vws("ws32"), plain);
}

#[test]
fn what_follows_goes_over_what_a_size_sets() {
    let set = ["warps=\"i-vws\"", "scheduler.gangs_per_cycle=1"].map(String::from);
    let machine = Machine::resolve("vws", &set).expect("both");
    let one = machine
        .scheduler
        .values
        .iter()
        .find(|(k, _)| *k == "gangs_per_cycle");
    assert_eq!(one.map(|(_, v)| v.as_integer()), Some(Some(1)));
}

#[test]
fn other_names_are_refused_with_advice() {
    for (name, advice) in [
        ("ivws", "did you mean `i-vws`?"),
        ("ws4-8", "there are: ws4"),
        ("e-vws-sync", "e-vws-sync<N>"),
        ("e-vws-syncx", "e-vws-sync<N>"),
    ] {
        let error = Machine::resolve("vws", &[format!("warps={name}")]);
        let text = error.expect_err(name).to_string();
        assert!(text.contains("is no way to size warps"), "{text}");
        assert!(text.contains(advice), "{text}");
    }
}

#[test]
fn what_does_not_combine_is_refused_with_the_reason() {
    for (preset, set, reason) in [
        (
            "gtx480",
            "warps=i-vws",
            "to the same lanes (--set sm.schedulers=1)",
        ),
        ("vws", "divergence=dwf", "forms warps of any threads"),
        ("vws", "scheduler=gto", "both choose the scheduler"),
        ("vws", "power=warped-gates", "both choose the scheduler"),
    ] {
        let set = ["warps=i-vws".to_string(), set.to_string()];
        let text = Machine::resolve(preset, &set)
            .expect_err(reason)
            .to_string();
        assert!(text.contains(reason), "{text}");
    }
}

fn resolve(preset: &str, set: &[&str]) -> Result<Machine, String> {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    Machine::resolve(preset, &set).map_err(|e| e.to_string())
}

#[test]
fn every_way_to_save_power_is_a_machine_on_every_preset() {
    for preset in presets::names() {
        for named in power::NAMES {
            let set = format!("power={}", named.name);
            let machine = resolve(preset, &[&set]);
            machine.unwrap_or_else(|e| panic!("{preset} {set}: {e}"));
        }
    }
    let machine = resolve("gtx480-v3", &["power=origami"]).expect("a machine");
    assert_eq!(machine.scheduler.name, "origami");
}

#[test]
fn what_follows_goes_over_what_a_way_to_save_power_sets() {
    let set = [
        "power=conventional",
        "gating.idle_detect=9",
        "scheduler=gto",
    ];
    let machine = resolve("gtx480", &set).expect("a machine");
    assert_eq!(machine.scheduler.name, "gto");
    let nine = machine
        .gating
        .values
        .iter()
        .find(|(k, _)| *k == "idle_detect");
    assert_eq!(nine.map(|(_, v)| v.as_integer()), Some(Some(9)));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    for (preset, set, reason) in [
        ("gtx480", &["power=orgami"][..], "did you mean `origami`?"),
        (
            "vws",
            &["warps=i-vws", "power=origami"],
            "both choose the scheduler",
        ),
        (
            "gtx480",
            &["folding=phases", "gating=conventional"],
            "switches all lanes of a side together",
        ),
        (
            "gtx480",
            &["folding=phases", "gating=blackout"],
            "switches all lanes of a side together",
        ),
        (
            "gtx480",
            &["power=folding", "unit.sp.lanes=2"],
            "fewer than a cluster",
        ),
        (
            "gtx480",
            &["pipes.fp=[\"logic\"]"],
            "is in `pipes.int`, too",
        ),
        (
            "gtx480",
            &["power=folding", "latency.int_add=[900, 200]"],
            "longer than a pipeline can be",
        ),
    ] {
        let text = resolve(preset, set).expect_err(reason);
        assert!(text.contains(reason), "{set:?}: {text}");
    }
}
