//! How a machine chooses mechanisms and sets their parameters.

use std::path::PathBuf;
use warpsim_sim::config::check::validate::validate;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::mechanism::{Choice, Kind, MECHANISMS, Values};

/// The machine that extends gtx480 with this text, with settings from the command line.
fn machine(text: &str, set: &[&str]) -> Result<Machine, String> {
    let directory = tempfile(text);
    let path = directory.join("m.toml");
    let whole = format!("schema = 1\nextends = \"gtx480\"\n{text}");
    std::fs::write(&path, whole).unwrap();
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let machine = Machine::resolve(&path.display().to_string(), &set);
    std::fs::remove_dir_all(&directory).unwrap();
    machine.map_err(|e| e.to_string().replace(&path.display().to_string(), "m.toml"))
}

fn tempfile(text: &str) -> PathBuf {
    let sum = text
        .bytes()
        .fold(7u64, |h, b| h * 31 % 1_000_003 + b as u64);
    let name = format!(
        "warpsim-choices-{}-{:?}-{sum}",
        std::process::id(),
        std::thread::current().id()
    );
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Name and values, as TOML.
fn scheduler(text: &str, set: &[&str]) -> String {
    let machine = machine(text, set).unwrap_or_else(|e| panic!("{e}"));
    let choice = toml::to_string(&machine.scheduler).unwrap();
    choice.trim().replace('\n', "; ")
}

const TLS: &str = "[scheduler]\nname = \"tls\"\nactive = 8\n";

#[test]
fn parameters_stand_below_the_name_and_have_defaults() {
    assert_eq!(scheduler(TLS, &[]), "name = \"tls\"; active = 8");
    assert_eq!(
        scheduler("", &["scheduler=tls"]),
        "name = \"tls\"; active = 6"
    );
    assert_eq!(
        scheduler("", &["scheduler.name=tls"]),
        "name = \"tls\"; active = 6"
    );
    assert_eq!(scheduler("scheduler = \"lrr\"\n", &[]), "name = \"lrr\"");
    let fetch = machine(
        "[fetch]\npolicy = { name = \"cff\", waiters = \"last\" }\n",
        &[],
    );
    let fetch = toml::to_string(&fetch.unwrap().fetch.policy).unwrap();
    assert_eq!(fetch, "name = \"cff\"\nwaiters = \"last\"\n");
}

#[test]
fn the_order_on_a_command_line_does_not_matter() {
    for set in [
        ["scheduler=tls", "scheduler.active=3"],
        ["scheduler.active=3", "scheduler=tls"],
        ["scheduler.tls.active=3", "scheduler=tls"],
    ] {
        assert_eq!(scheduler("", &set), "name = \"tls\"; active = 3");
    }
    assert_eq!(
        scheduler(TLS, &["scheduler.active=3"]),
        "name = \"tls\"; active = 3"
    );
}

#[test]
fn choosing_another_leaves_the_values_of_the_first_for_when_it_is_chosen() {
    assert_eq!(scheduler(TLS, &["scheduler=gto"]), "name = \"gto\"");
    assert_eq!(
        scheduler(TLS, &["scheduler=tls"]),
        "name = \"tls\"; active = 8"
    );
    let kept = "[scheduler.tls]\nactive = 9\n";
    assert_eq!(scheduler(kept, &[]), "name = \"gto\"");
    assert_eq!(
        scheduler(kept, &["scheduler=tls"]),
        "name = \"tls\"; active = 9"
    );
}

#[test]
fn mistakes_are_shown_where_they_are_with_what_there_is() {
    let cases = [
        (
            "[scheduler]\nactive = 6\n",
            "the scheduler `gto` has no parameter `active`",
            "m.toml:4:1",
            "`active` is a parameter of tls, gates and origami: choose one of them, or write `scheduler.tls.active`",
        ),
        (
            "[scheduler]\nname = \"tls\"\nactiv = 6\n",
            "the scheduler `tls` has no parameter `activ`",
            "m.toml:5:1",
            "did you mean `active`?",
        ),
        (
            "[scheduler]\nname = \"tls\"\nactive = 65\n",
            "`scheduler.tls.active` is 65: it must lie between 1 and 64",
            "m.toml:5:10",
            "",
        ),
        (
            "[scheduler.tls]\nactive = 0\n",
            "`scheduler.tls.active` is 0",
            "m.toml:4:10",
            "",
        ),
        (
            "[scheduler.tls]\nactive = \"many\"\n",
            "`scheduler.tls.active` takes an integer, not a string",
            "m.toml:4:10",
            "",
        ),
        (
            "[scheduler.tlss]\nactive = 6\n",
            "no scheduler is called `tlss`",
            "m.toml:3:12",
            "did you mean `tls`?",
        ),
        (
            "[scheduler]\nname = \"tlss\"\n",
            "no scheduler is called `tlss`",
            "m.toml:4:8",
            "did you mean `tls`?",
        ),
        (
            "[scheduler]\nname = 3\n",
            "`scheduler.name` takes a string, not an integer",
            "m.toml:4:8",
            "",
        ),
        (
            "scheduler = 3\n",
            "`scheduler` is a section, not an integer",
            "m.toml:3:13",
            "",
        ),
        (
            "[fetch.policy]\nname = \"cff\"\nwaiters = \"first\"\n",
            "`fetch.policy.cff.waiters` is \"first\": it must be \"never\" or \"last\"",
            "m.toml:5:11",
            "",
        ),
        (
            "[fetch.policy]\nname = \"fef\"\n",
            "`fef` chooses by how full buffers are and needs \"room\"",
            "preset gtx480",
            "",
        ),
        (
            "[divergence]\nname = \"dwf\"\n[scheduler]\nname = \"mwf-gto\"\n",
            "ranks warps by their block",
            "m.toml:4:8",
            "",
        ),
        // What these settings were called before.
        (
            "[sm]\nscheduler = \"tls\"\n",
            "`sm.scheduler` is no setting any more",
            "m.toml:4:1",
            "[scheduler]",
        ),
        (
            "[sm]\ntls_active = 6\n",
            "`sm.tls_active` is no setting any more",
            "m.toml:4:1",
            "scheduler.tls.active",
        ),
        (
            "[sm]\nblock_ties = \"age\"\n",
            "no setting any more",
            "m.toml:4:1",
            "ties = \"age\"",
        ),
        (
            "[sm]\nmwf_counts_exited = true\n",
            "no setting any more",
            "m.toml:4:1",
            "counts_exited",
        ),
        (
            "[sm]\ndivergence = \"tbc\"\n",
            "no setting any more",
            "m.toml:4:1",
            "[divergence]",
        ),
        (
            "[sm]\ntbc_compaction = true\n",
            "no setting any more",
            "m.toml:4:1",
            "compaction = true",
        ),
        (
            "[fetch]\ncff_waiters = \"last\"\n",
            "no setting any more",
            "m.toml:4:1",
            "[fetch.policy]",
        ),
    ];
    for (text, message, place, help) in cases {
        let e = machine(text, &[]).expect_err(text);
        assert!(
            e.contains(message) && e.contains(place) && e.contains(help),
            "{text}\n{e}"
        );
    }
    let e = machine("", &["scheduler.active=6", "scheduler=lrr"]).unwrap_err();
    assert!(
        e.contains("the scheduler `lrr` has no parameter `active`"),
        "{e}"
    );
    assert!(e.contains("--set:1:1"), "{e}");
    let e = machine("", &["sm.scheduler=lrr"]).unwrap_err();
    assert!(e.contains("--set scheduler=gto"), "{e}");
}

#[test]
fn a_machine_made_by_hand_is_checked_as_well() {
    let base = Machine::preset("gtx480").unwrap();
    let problem = |name: &str, parameter: Option<(&str, i64)>| {
        let mut values = Values::default();
        if let Some((name, value)) = parameter {
            values.set(name, value.into());
        }
        let name = name.to_string();
        let machine = Machine {
            scheduler: Choice { name, values },
            ..base.clone()
        };
        validate(&machine).map_err(|p| format!("{}: {}", p.key, p.message))
    };
    assert_eq!(problem("tls", None), Ok(()), "defaults");
    assert_eq!(problem("tls", Some(("active", 64))), Ok(()));
    for (name, parameter, expected) in [
        (
            "tlss",
            None,
            "scheduler.name: no scheduler is called `tlss`",
        ),
        (
            "tls",
            Some(("active", 65)),
            "scheduler.active: `scheduler.active` is 65",
        ),
        (
            "lrr",
            Some(("active", 6)),
            "the scheduler `lrr` has no parameter `active`",
        ),
    ] {
        let e = problem(name, parameter).unwrap_err();
        assert!(e.contains(expected), "{e}");
    }
}

#[test]
fn every_declaration_is_consistent() {
    for kind in Kind::ALL {
        let all = MECHANISMS.of(kind);
        for (i, info) in all.iter().enumerate() {
            let first = all.iter().position(|other| other.name == info.name);
            assert_eq!(first, Some(i), "{} is there twice", info.name);
            for (j, p) in info.parameters.iter().enumerate() {
                let what = format!("{} of {}", p.name(), info.name);
                assert_eq!(p.rule().check(&p.default()), Ok(()), "{what}");
                assert!(!p.description().is_empty(), "{what}");
                let same = info.parameters.iter().position(|q| q.name() == p.name());
                assert_eq!(same, Some(j), "{what} is there twice");
                // `scheduler.tls` and `scheduler.name` mean something else.
                assert!(
                    MECHANISMS.find(kind, p.name()).is_none() && p.name() != "name",
                    "{what}"
                );
            }
        }
    }
}
