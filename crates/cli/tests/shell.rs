//! What helps at a command line: completions, manual pages, versions, data for scripts, suggestions.

use crate::common;

use common::{Scratch, fails, succeeds};
use serde_json::Value;

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "zsh", "fish"] {
        let text = succeeds(&["completions", shell]);
        assert!(
            text.contains("selftest") && text.contains("scheduler"),
            "{shell}"
        );
        // Names of a workload, a machine, a scheduler, a model, widths, power, a setting, a study.
        for name in [
            "matmul",
            "gtx480-v3",
            "gto",
            "tbc",
            "i-vws",
            "origami",
            "sm.schedulers",
            "baws",
        ] {
            assert!(text.contains(name), "{shell}: {name}");
        }
    }
}

#[test]
fn completions_say_what_names_are_where_the_shell_shows_it() {
    let shown = |shell| succeeds(&["completions", shell]);
    let (bash, zsh, fish) = (shown("bash"), shown("zsh"), shown("fish"));
    // A workload, a machine, a scheduler, a setting, a study: name and the begin of what is said.
    for (name, about) in [
        ("matmul", "C = A * B of square"),
        ("fx5800", "Quadro FX 5800"),
        ("gto", "greedy then oldest"),
        ("sm.schedulers", "Warp schedulers"),
        ("baws", "Barrier-aware"),
    ] {
        assert!(zsh.contains(&format!("{name}\\:\"{about}")), "zsh: {name}");
        let fish_has = fish.contains(&format!("{name}\\t'{about}"));
        assert!(fish_has, "fish: {name}");
    }
    assert!(!bash.contains("greedy then oldest"), "bash");
}

#[test]
fn a_command_without_a_name_lists_what_there_is() {
    let lists = succeeds(&["list"]);
    for name in ["machines", "schedulers", "studies", "kernels-vtw"] {
        assert!(lists.contains(&format!("  {name} ")), "{lists}");
    }
    assert!(
        lists.lines().all(|line| line.chars().count() <= 80),
        "{lists}"
    );
    let studies = succeeds(&["study"]);
    assert!(
        studies.contains("baws") && studies.contains("`warpsim study NAME`"),
        "{studies}"
    );
    assert!(succeeds(&["inspect", "matmul"]).contains("occupancy"));
    let shown = fails(2, &["rn", "matmul"]);
    assert!(shown.contains("did you mean `run`?"), "{shown}");
    let shown = fails(2, &["run", "missing.ptx"]);
    assert!(
        shown.contains("cannot read missing.ptx: No such file"),
        "{shown}"
    );
}

#[test]
fn mistakes_quote_what_was_typed() {
    let shown = fails(2, &["run", "vecadd", "--scheduler", "grr"]);
    assert!(
        shown.contains("--> --scheduler:1:1") && !shown.contains("--set"),
        "{shown}"
    );
    assert!(
        shown
            .trim_end()
            .lines()
            .next_back()
            .is_some_and(|l| l.contains("type: --scheduler ")),
        "{shown}"
    );
    let shown = fails(
        2,
        &["run", "vecadd", "--divergence", "tbc", "--warps", "ws4"],
    );
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let typed = lines
        .iter()
        .position(|l| l.ends_with("typed: --warps ws4 --divergence tbc"));
    let instead = lines.iter().rposition(|l| l.contains("type: --warps "));
    assert!(
        typed.is_some() && instead == Some(lines.len() - 1),
        "{shown}"
    );
    let shown = fails(2, &["run", "vecadd", "--set", "foo=1"]);
    assert!(shown.contains("`warpsim list settings`"), "{shown}");
}

#[test]
fn mistakes_end_with_what_to_type() {
    for (typed, ends) in [
        (&["show", "gtx480"][..], "type: warpsim show machine gtx480"),
        (&["transform", "k.ptx"], "type: warpsim transform vtw k.ptx"),
        (&["run"], "for example: warpsim run matmul --size tiny"),
        (
            &["inspect", "matmull"],
            "`warpsim list workloads` lists the workloads",
        ),
    ] {
        let shown = fails(2, typed);
        assert!(shown.trim_end().ends_with(ends), "{shown}");
    }
    let shown = fails(2, &["inspect", "matmull"]);
    assert!(shown.contains("did you mean `matmul`?"), "{shown}");
    assert!(fails(2, &["inspect", "none.ptx"]).contains("cannot read none.ptx"));
}

#[test]
fn there_is_a_manual_page_per_command() {
    let scratch = Scratch::new("man");
    succeeds(&["man", "-o", &scratch.path("man1")]);
    let page = std::fs::read_to_string(scratch.path("man1/warpsim-run.1")).expect("a page");
    assert!(
        page.contains("\\-\\-machine") && page.contains("warpsim\\-run"),
        "{page}"
    );
    assert!(std::path::Path::new(&scratch.path("man1/warpsim.1")).exists());
}

#[test]
fn the_version_begins_with_the_number() {
    let shown = succeeds(&["--version"]);
    assert!(
        shown.starts_with(concat!("warpsim ", env!("CARGO_PKG_VERSION"))),
        "{shown}"
    );
}

#[test]
fn statistics_go_to_standard_output() {
    for how in [&["--json"][..], &["--stats", "-"]] {
        let mut arguments = vec!["run", "vecadd", "--size", "tiny"];
        arguments.extend(how);
        let json: Value = serde_json::from_str(&succeeds(&arguments)).expect("nothing but JSON");
        assert_eq!(json["result"], "correct");
    }
    assert!(!std::path::Path::new("-").exists());
}

#[test]
fn every_list_is_there_as_data() {
    for what in [
        "machines",
        "settings",
        "schedulers",
        "fetch",
        "divergence",
        "warps",
        "power",
        "workloads",
        "kernels-vtw",
        "stats",
        "studies",
    ] {
        let json: Value = serde_json::from_str(&succeeds(&["list", what, "--json"])).expect(what);
        let full = json
            .as_array()
            .map_or(json.is_object(), |list| !list.is_empty());
        assert!(full, "{what}");
    }
    let json: Value =
        serde_json::from_str(&succeeds(&["list", "settings", "--json"])).expect("JSON");
    let list = json.as_array().expect("a list");
    let sms = list
        .iter()
        .find(|s| s["key"] == "gpu.sms")
        .expect("gpu.sms");
    assert_eq!(
        (&sms["type"], &sms["default"]),
        (&"integer".into(), &"15".into())
    );
}

#[test]
fn a_machine_is_shown_with_its_sources() {
    let shown = succeeds(&["show", "machine", "gtx480-v3", "--set", "sm.schedulers=1"]);
    let line = |key: &str| {
        let line = shown
            .lines()
            .find(|l| l.split_whitespace().next() == Some(key));
        line.unwrap_or_else(|| panic!("{key}: {shown}"))
    };
    assert!(line("l1d.mshrs").contains("= 32") && line("l1d.mshrs").contains("gtx480-v3"));
    assert!(line("dram.queue").contains("= 16"));
    assert!(
        line("dram.queue").contains("gtx480-v3: [v322] -gpgpu_frfcfs_dram_sched_queue_size 16")
    );
    let inherited = line("sm.registers_per_thread");
    assert!(inherited.contains("= 63") && inherited.contains("gtx480: [nv]"));
    assert!(line("sm.schedulers").contains("= 1 ") && line("sm.schedulers").contains("--set"));
}

#[test]
fn suggestions_are_what_was_meant() {
    let shown = fails(2, &["run", "MATMUL"]);
    assert!(shown.contains("did you mean `matmul`?"), "{shown}");
    let shown = fails(2, &["run", "matmul", "--set", "l1d.size=4"]);
    assert!(shown.contains("`l1d.sets` sets of `l1d.ways`"), "{shown}");
}

#[test]
fn a_gpgpusim_configuration_becomes_a_machine() {
    let scratch = Scratch::new("import");
    let (config, machine) = (scratch.path("gpgpusim.config"), scratch.path("mine.toml"));
    std::fs::write(
        &config,
        "-gpgpu_n_clusters 4\n-gpgpu_shader_core_pipeline 1024:32\n-gpgpu_scheduler lrr\n\
         -gpgpu_cache:dl1 N:32:128:8,L:L:m:N:H,A:64:8,8\n-gpgpu_dram_timing_opt nbk=8:RCD=11\n-network_mode 1\n",
    )
    .expect("written");
    succeeds(&["import", &config, "-o", &machine]);
    let shown = succeeds(&["show", "machine", &machine]);
    let has = |key: &str, value: &str| {
        let line = shown
            .lines()
            .find(|l| l.split_whitespace().next() == Some(key));
        line.is_some_and(|l| l.contains(&format!("= {value} ")) && l.contains("mine.toml"))
    };
    assert!(
        has("gpu.sms", "4") && has("l1d.ways", "8") && has("dram.timing.rcd", "11"),
        "{shown}"
    );
    let text = std::fs::read_to_string(&machine).expect("a machine file");
    assert!(text.contains("# -network_mode 1"), "{text}");
    let run = succeeds(&["run", "vecadd", "--size", "tiny", "--machine", &machine]);
    assert!(run.contains("4 SMs"), "{run}");
}

#[test]
fn recorded_programs_can_be_run_in_parts_and_for_a_time() {
    let run = |more: &[&str]| {
        let those = [
            "selftest",
            "--recorded",
            "--programs",
            "5",
            "--places",
            "functional",
        ];
        succeeds(&[&those[..], more].concat())
    };
    for (part, programs) in [("1/2", "3 programs"), ("2/2", "2 programs")] {
        let shown = run(&["--part", part]);
        assert!(shown.starts_with(programs), "{shown}");
        assert!(shown.trim_end().ends_with("0 differ"), "{shown}");
    }
    let shown = run(&["--seconds", "0"]);
    assert!(shown.starts_with("0 programs"), "{shown}");
}
