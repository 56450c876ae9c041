//! Every setting of a machine, and every parameter of a mechanism, is read somewhere: for each
//! there is another legal value with which the same program has other statistics.

mod probe;

use probe::Probe;
use std::collections::HashMap;
use warpsim_sim::config::model::rule::Rule;
use warpsim_sim::config::{Machine, OpClass, ReadMachine, SECTIONS, Work};
use warpsim_sim::mechanism::{Kind, MECHANISMS};
use warpsim_sim::stats::LaunchReport;

/// Machines to look for a difference on: preset and settings. Each has something that the ones
/// before do not show.
const MACHINES: &[(&str, &[&str])] = &[
    // Little enough cache that everything below it is used.
    ("gtx480", &["gpu.sms=2", "l2.sets=4", "l1d.sets=8"]),
    // Enough that data stays from one launch to the next.
    ("gtx480", &["gpu.sms=2", "l1d.sets=64", "l1d.ways=16"]),
    // Several fetches per cycle, which go on while there is room, and caches where the place of
    // each line matters.
    (
        "gtx480",
        &[
            "gpu.sms=2",
            "fetch.ports=4",
            "fetch.eligible=room",
            "l1i.sets=32",
            "l1i.ways=1",
            "constant.sets=32",
            "constant.ways=1",
        ],
    ),
    // Caches of few sets, where it matters which line makes room, and a prefetcher that wants more than its queue takes.
    (
        "gtx480",
        &[
            "gpu.sms=2",
            "l1d.sets=4",
            "l1i.sets=2",
            "constant.sets=4",
            "constant.ways=4",
            "texture.sets=1",
            "texture.ways=4",
            "l2.sets=2",
            "l1d.prefetch=next-line",
            "l1d.prefetch.degree=8",
        ],
    ),
    // Hardly any registers, so that some are spilled.
    ("gtx480", &["gpu.sms=2", "sm.registers_per_thread=16"]),
    // Virtual blocks, fewer than fit.
    (
        "gtx480",
        &["gpu.sms=2", "virtual.mode=hardware", "virtual.blocks=5"],
    ),
    // The simple model of DRAM.
    ("vws", &[]),
    // Narrow warps, for what joins them.
    (
        "vws",
        &[
            "sm.warp_width=4",
            "scheduler.gangs.reform=sync",
            "scheduler.gangs.memory_split=impatient",
        ],
    ),
    // Lanes that are switched off, as often as they may be, and warps that are folded, less often.
    (
        "gtx480",
        &[
            "gpu.sms=2",
            "scheduler=gates",
            "gating=conventional",
            "gating.blackout.coordinated=false",
            "gating.blackout.epoch=100",
            "gating.blackout.critical=0",
        ],
    ),
    (
        "gtx480",
        &["gpu.sms=2", "power=origami", "folding.phases.cutoff=20"],
    ),
];

/// Settings that cannot be changed alone: a class of operations that one unit no longer takes,
/// another must (there is a test below), there is one load/store unit, and of the lanes' pipelines
/// one does what the other does not (another test).
const NOT_ALONE: &[&str] = &[
    "pipes.fp",
    "pipes.int",
    "unit.mem.count",
    "unit.mem.takes",
    "unit.sfu.takes",
    "unit.sp.takes",
];

/// Settings that take a larger program than the probe to make a difference (code or constants of
/// more than 8 KB, several instruction misses at once, rows of DRAM that are closed at once, more
/// requests and replies than the network's buffers hold), or a race between SMs. The sources are searched for who reads them.
const UNSEEN: &[&str] = &[
    "constant.hashed_index",
    "constant.miss_queue",
    "dram.timing.ras",
    "gpu.store_visibility",
    "interconnect.credits",
    "interconnect.last_buffer",
    "interconnect.reply_queue",
    "l1i.hashed_index",
    "l1i.miss_queue",
    "l1i.mshrs",
    "l2.line",
    "texture.miss_queue",
];

/// Other values that a rule may allow, those likely to make a difference first.
fn others(rule: Rule, current: &toml::Value) -> Vec<toml::Value> {
    let candidates: Vec<toml::Value> = match (rule, current) {
        (Rule::Number { low, high, .. }, &toml::Value::Integer(n)) => {
            let (low, high) = (i64::from(low), i64::from(high));
            [2 * n, n / 2, n + 1, n - 1, low, high]
                .map(toml::Value::Integer)
                .to_vec()
        }
        (Rule::Flag, toml::Value::Boolean(flag)) => vec![toml::Value::Boolean(!flag)],
        (Rule::Words(words), _) => words.iter().map(|w| toml::Value::from(*w)).collect(),
        (Rule::Timing, toml::Value::Array(pair)) => {
            let part = |i: usize| pair[i].as_integer().expect("two integers");
            let (latency, initiation) = (part(0), part(1));
            [[2 * latency + 20, initiation], [latency, latency]]
                .map(|pair| toml::Value::from(pair.to_vec()))
                .to_vec()
        }
        // A class that one unit no longer takes, another must: there is a test below.
        (Rule::Several(_), _) => Vec::new(),
        (rule, value) => panic!("{rule:?} does not allow {value}"),
    };
    let legal = |v: &toml::Value| v != current && rule.check(v).is_ok();
    candidates.into_iter().filter(legal).collect()
}

type Outcome = Result<Vec<LaunchReport>, String>;

/// Runs the probe, once on each machine.
struct Runs {
    probe: Probe,
    seen: HashMap<Vec<String>, Outcome>,
}

impl Runs {
    fn new() -> Runs {
        Runs {
            probe: Probe::new(),
            seen: HashMap::new(),
        }
    }

    fn on(&mut self, preset: &str, set: &[String], machine: &Machine) -> Outcome {
        let name = [&[preset.to_string()], set].concat();
        let run = || self.probe.run(machine);
        self.seen.entry(name).or_insert_with(run).clone()
    }

    /// Whether a value of `key` that is not the current one changes the statistics of a run on
    /// one of the machines.
    fn differs(&mut self, key: &str, rule: Rule, base: &[String]) -> bool {
        for (preset, set) in MACHINES {
            let mut set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
            set.extend_from_slice(base);
            let Ok(machine) = Machine::resolve(preset, &set) else {
                continue;
            };
            let before = self.on(preset, &set, &machine);
            assert!(before.is_ok(), "{preset} {set:?}: {before:?}");
            for value in others(rule, &lookup(&machine, key)) {
                let changed = [&set[..], &[format!("{key}={value}")]].concat();
                if let Ok(machine) = Machine::resolve(preset, &changed)
                    && self.probe.run(&machine) != before
                {
                    return true;
                }
            }
        }
        false
    }
}

/// The value that a machine has for a dotted key.
fn lookup(machine: &Machine, key: &str) -> toml::Value {
    let mut value = toml::Value::try_from(machine).expect("plain data");
    for part in key.split('.') {
        let next = value.get(part).unwrap_or_else(|| panic!("{key}")).clone();
        value = next;
    }
    value
}

/// Of the settings that one of several threads looks at, those that change nothing.
fn changing_nothing(of: impl Iterator<Item = (String, Rule)>) -> Vec<String> {
    let mut runs = Runs::new();
    of.filter(|(key, rule)| !runs.differs(key, *rule, &[]))
        .map(|(key, _)| key)
        .collect()
}

/// Checks each setting whose place in the list is a multiple of `every`.
fn check_settings(every: usize) {
    let settings = SECTIONS.iter().flat_map(|(section, settings)| {
        let one = move |s: &warpsim_sim::config::model::settings::Setting| {
            (format!("{section}.{}", s.name), s.rule)
        };
        settings.iter().map(one)
    });
    let seen = settings.filter(|(key, _)| !UNSEEN.contains(&key.as_str()));
    let settings: Vec<(String, Rule)> = seen.step_by(every).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut unread: Vec<String> = std::thread::scope(|scope| {
        let part = |t: usize| settings.iter().skip(t).step_by(threads).cloned();
        let spawn = |t: usize| scope.spawn(move || changing_nothing(part(t)));
        let parts: Vec<_> = (0..threads).map(spawn).collect();
        let ended = parts.into_iter().map(|p| p.join().expect("no panic"));
        ended.flatten().collect()
    });
    unread.sort();
    let mut expected = NOT_ALONE.to_vec();
    expected.retain(|key| settings.iter().any(|(name, _)| name == key));
    assert_eq!(unread, expected, "no value of these changes anything");
}

#[test]
fn one_setting_of_twelve_changes_something() {
    check_settings(12);
}

#[test]
#[ignore = "long: .ci/run"]
fn every_setting_changes_something() {
    check_settings(1);
}

/// What the probe cannot show is read in the sources at least.
#[test]
fn unseen_settings_are_read_somewhere() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut texts = Vec::new();
    for name in ["memory", "sm", "sim"] {
        read_sources(&crates.join(name).join("src"), &mut texts);
    }
    for key in UNSEEN {
        let field = key.rsplit('.').next().expect("a last part");
        let read = format!(".{field}");
        assert!(
            texts.iter().any(|t| t.contains(&read)),
            "no code reads {key}"
        );
    }
}

/// The texts of all sources but those that declare and check settings.
fn read_sources(folder: &std::path::Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.ends_with("config") {
            continue;
        } else if path.is_dir() {
            read_sources(&path, texts);
        } else {
            texts.push(std::fs::read_to_string(&path).expect("a source file"));
        }
    }
}

#[test]
fn which_unit_takes_a_class_changes_something() {
    let probe = Probe::new();
    let plain = Machine::preset("gtx480").expect("a preset");
    let mut moved = plain.clone();
    let class = OpClass::Other;
    moved
        .unit
        .get_mut("sp")
        .expect("there")
        .takes
        .retain(|c| *c != class);
    moved.unit.get_mut("sfu").expect("there").takes.push(class);
    assert_ne!(probe.run(&plain), probe.run(&moved));
}

#[test]
fn which_pipeline_does_a_kind_of_work_changes_something() {
    let probe = Probe::new();
    let watched = ["gpu.sms=2".to_string(), "gating.watch=true".to_string()];
    let plain = Machine::resolve("gtx480", &watched).expect("a machine");
    let mut moved = plain.clone();
    moved.pipes.int.retain(|w| *w != Work::Compare);
    moved.pipes.fp.push(Work::Compare);
    assert_ne!(probe.run(&plain), probe.run(&moved));
}

/// Checks each parameter whose place among those of all mechanisms is a multiple of `every`.
fn check_parameters(every: usize) {
    let mut runs = Runs::new();
    let mechanisms = Kind::ALL.into_iter().flat_map(|kind| {
        let infos = MECHANISMS.of(kind).into_iter();
        infos.map(move |info| (kind, info))
    });
    let parameters = mechanisms.flat_map(|(kind, info)| {
        let all = info.parameters.iter();
        all.map(move |parameter| (kind, info, parameter))
    });
    for (kind, info, parameter) in parameters.step_by(every) {
        let choice = format!("{}={}", kind.key(), info.name);
        let key = format!("{}.{}", kind.key(), parameter.name());
        let differs = runs.differs(&key, parameter.rule(), &[choice]);
        assert!(
            differs,
            "no value of {key} changes anything with {}",
            info.name
        );
    }
}

#[test]
fn one_parameter_of_sixteen_changes_something() {
    check_parameters(16);
}

#[test]
#[ignore = "long: .ci/run"]
fn every_parameter_of_a_mechanism_changes_something() {
    check_parameters(1);
}

/// What is declared is what a machine has.
#[test]
fn every_key_of_a_machine_is_declared() {
    let machine = Machine::preset("gtx480").expect("a preset");
    let table = toml::Table::try_from(&machine).expect("plain data");
    let mut keys = Vec::new();
    flatten(&table, "", &mut keys);
    let settings = SECTIONS.iter().flat_map(|(section, settings)| {
        let key = move |s: &warpsim_sim::config::model::settings::Setting| {
            format!("{section}.{}", s.name)
        };
        settings.iter().map(key)
    });
    let mut declared: Vec<String> = settings.collect();
    declared.extend(["schema", "name", "description"].map(String::from));
    for kind in Kind::ALL {
        declared.push(kind.name_key().to_string());
        let chosen = MECHANISMS
            .find(kind, &kind.chosen(&machine).name)
            .expect("registered");
        let own = chosen.parameters.iter();
        declared.extend(own.map(|p| format!("{}.{}", kind.key(), p.name())));
    }
    declared.sort();
    keys.sort();
    assert_eq!(keys, declared);
}

fn flatten(table: &toml::Table, at: &str, keys: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => flatten(inner, &format!("{at}{key}."), keys),
            _ => keys.push(format!("{at}{key}")),
        }
    }
}
