//! Machine files: presets load, mistakes are named with their place, nothing panics.

use proptest::prelude::*;
use std::path::PathBuf;
use warpsim_sim::config::read::load::{Origin, load};
use warpsim_sim::config::read::presets::{BASE, PRESETS, names};
use warpsim_sim::config::{DramModel, Machine, OpClass, ReadMachine, Scoreboard};

/// A scratch directory that goes away with the test.
struct Scratch(PathBuf);
impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("warpsim-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_preset_loads_under_its_own_name() {
    for name in names() {
        let machine = Machine::preset(name).unwrap_or_else(|e| panic!("{name}:\n{e}"));
        assert_eq!(machine.name, name);
        assert!(!machine.description.is_empty());
    }
    assert_eq!(PRESETS[0].0, BASE);
}

#[test]
fn presets_differ_where_their_tables_say() {
    let reference = Machine::preset("gtx480-ref").unwrap();
    assert_eq!(reference.latency.fp32_fma, [1, 1]);
    assert!(reference.unit["sp"].takes.contains(&OpClass::IntRem));
    assert!(reference.sm.atomics_ignore_address_hazard);
    assert_eq!(reference.latency.int_mad, [5, 1]);
    let v3 = Machine::preset("gtx480-v3").unwrap();
    assert_eq!(
        (v3.l1d.cache.mshrs, v3.l2.mshrs, v3.dram.queue),
        (32, 32, 16)
    );
    let fx = Machine::preset("fx5800").unwrap();
    assert_eq!(
        (fx.gpu.sms, fx.unit["sp"].lanes, fx.sm.schedulers),
        (30, 8, 1)
    );
    assert_eq!(fx.sm.scoreboard, Scoreboard::OneInFlight);
    assert_eq!(
        fx.l1d.cache.sets * fx.l1d.cache.line * fx.l1d.cache.ways,
        32 << 10
    );
    assert_eq!(fx.l2.sets * fx.l2.line * fx.l2.ways, 1 << 20);
    assert_eq!(
        fx.texture.sets * fx.texture.line * fx.texture.ways,
        32 << 10
    );
    let vws = Machine::preset("vws").unwrap();
    assert_eq!((vws.gpu.sms, vws.dram.model), (1, DramModel::Simple));
    assert_eq!(
        vws.l1d.cache.sets * vws.l1d.cache.line * vws.l1d.cache.ways,
        64 << 10
    );
    assert_eq!(vws.l1i.sets * vws.l1i.line * vws.l1i.ways, 64 << 10);
    assert_eq!(vws.l2.sets * vws.l2.line * vws.l2.ways, 128 << 10);
}

#[test]
fn a_file_extends_a_file_that_extends_a_preset() {
    let dir = Scratch::new("extends");
    dir.file(
        "base.toml",
        "schema = 1\nextends = \"gtx480-ref\"\n[sm]\nschedulers = 4\nmax_blocks = 3\n",
    );
    let path = dir.file(
        "top.toml",
        "schema = 1\nextends = \"base.toml\"\nname = \"mine\"\nsm.max_blocks = 5\n",
    );
    let machine = Machine::from_file(&path).unwrap();
    assert_eq!(machine.name, "mine");
    assert_eq!((machine.sm.schedulers, machine.sm.max_blocks), (4, 5));
    assert_eq!(machine.latency.fp32_fma, [1, 1]);
}

#[test]
fn a_circle_of_files_is_an_error() {
    let dir = Scratch::new("circle");
    let path = dir.file("a.toml", "schema = 1\nextends = \"b.toml\"\n");
    dir.file("b.toml", "schema = 1\nextends = \"a.toml\"\n");
    let error = Machine::from_file(&path).unwrap_err();
    assert!(error.message.contains("circle"), "{error}");
}

/// The error of a machine file with this text.
fn error_of(text: &str) -> String {
    let dir = Scratch::new(&format!(
        "error-{:x}",
        text.len() * 31 + text.bytes().map(usize::from).sum::<usize>()
    ));
    let path = dir.file("m.toml", text);
    let error = Machine::from_file(&path).expect_err("this file has a mistake");
    error
        .to_string()
        .replace(&path.display().to_string(), "m.toml")
}

#[test]
fn an_unknown_key_is_named_with_its_nearest() {
    let e = error_of("schema = 1\nextends = \"gtx480\"\n[sm]\nshcedulers = 4\n");
    assert_eq!(
        e,
        "unknown key `sm.shcedulers`\n --> m.toml:4:1\n  |\n4 | shcedulers = 4\n  | ^^^^^^^^^^\n  = help: did you mean `sm.schedulers`?"
    );
    let e = error_of("schema = 1\nextends = \"gtx480\"\nschedulers = 4\n");
    assert!(e.contains("did you mean `sm.schedulers`?"), "{e}");
}

#[test]
fn wrong_kinds_ranges_and_words_point_at_their_line() {
    let cases = [
        (
            "[sm]\nschedulers = \"4\"\n",
            "`sm.schedulers` takes an integer, not a string",
            "m.toml:4:14",
        ),
        ("[sm]\nschedulers = 0\n", "between 1 and 16", "m.toml:4:14"),
        ("[sm]\nschedulers = -1\n", "sm.schedulers", "m.toml:4:14"),
        (
            "[sm]\nschedulers = 16\nwarp_width = 4\n",
            "128 groups of warps",
            "m.toml:4:14",
        ),
        (
            "[sm]\nscoreboard = \"magic\"\n",
            "one-in-flight",
            "m.toml:4:14",
        ),
        ("[dram]\nbanks = 128\n", "between 1 and 64", "m.toml:4:9"),
        (
            "[dram]\nbanks = 1\nbank_groups = 1\n",
            "2 L2 slices",
            "m.toml:4:9",
        ),
        (
            "[dram]\ninterleave = 64\n",
            "between 128 and 1048576",
            "m.toml:4:14",
        ),
        ("[dram]\nrow_bytes = 32\n", "a burst is 64", "m.toml:4:13"),
        (
            "[l2]\nqueue = 3\n",
            "has 4 sectors and would never fit",
            "m.toml:4:9",
        ),
        (
            "[interconnect]\ninjection_queue = 3\n",
            "would never fit",
            "m.toml:4:19",
        ),
        (
            "[latency]\nint_add = [1]\n",
            "latency.int_add",
            "m.toml:4:11",
        ),
        (
            "[latency]\nint_add = [4, 5]\n",
            "initiation interval",
            "m.toml:4:11",
        ),
        ("[l1d]\nsets = 33\n", "power of two", "m.toml:4:8"),
        ("[l1i]\nsets = 0\n", "only the data cache", "m.toml:4:8"),
        (
            "[constant]\nsets = 0\n",
            "only the data cache",
            "m.toml:4:8",
        ),
        ("[texture]\nsets = 0\n", "only the data cache", "m.toml:4:8"),
        ("[gpu]\nquantum = 7\n", "here 6 core cycles", "m.toml:4:11"),
        (
            "[interconnect]\nlatency = 0\n",
            "interconnect.latency",
            "m.toml:4:11",
        ),
        ("sm = 3\n", "`sm` is a section", "m.toml:3:6"),
        ("[dram.timing]\nrc = 1\n", "shorter than ras", "m.toml:4:6"),
        (
            "[l2]\nline = 64\n",
            "an L2 line is only 64 bytes",
            "preset gtx480",
        ),
    ];
    for (text, message, place) in cases {
        let e = error_of(&format!("schema = 1\nextends = \"gtx480\"\n{text}"));
        assert!(e.contains(message) && e.contains(place), "{text}\n{e}");
    }
}

#[test]
fn schema_and_extends_are_checked() {
    assert!(error_of("extends = \"gtx480\"\n").contains("schema = 1"));
    assert!(error_of("schema = 2\n").contains("reads schema 1"));
    assert!(error_of("schema = 1\nextends = \"gtx48\"\n").contains("did you mean `gtx480`"));
    assert!(error_of("schema = 1\nextends = 3\n").contains("not an integer"));
    assert!(error_of("schema = 1\nextends = \"no/such.toml\"\n").contains("cannot read"));
    assert!(error_of("schema = 1\nname = \"x\"\n").contains("extends = \"gtx480\""));
}

#[test]
fn overrides_change_values_and_their_mistakes_are_shown() {
    let sets = [
        "scheduler=lrr",
        "dram.timing.cl=9",
        "latency.int_add=[6, 2]",
    ];
    let machine = Machine::resolve("gtx480", &sets.map(String::from)).unwrap();
    assert_eq!(machine.scheduler.name, "lrr");
    assert_eq!(
        (machine.dram.timing.cl, machine.latency.int_add),
        (9, [6, 2])
    );
    let error = Machine::resolve("gtx480", &["sheduler=lrr".into()]).unwrap_err();
    assert!(error.to_string().contains("`scheduler`"), "{error}");
    let error = Machine::resolve("gtx480", &["gpu.sms=0".into()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`gpu.sms` is 0: it must lie between 1 and 1024\n --> --set:1:9\n  |\n1 | gpu.sms=0\n  |         ^"
    );
    assert!(Machine::resolve("gtx481", &[]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Damaged machine files are errors or machines, never panics.
    #[test]
    fn damaged_files_do_not_panic(
        preset in 0..PRESETS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..5, any::<u8>()), 1..6),
    ) {
        let mut bytes = PRESETS[preset].1.as_bytes().to_vec();
        for (at, kind, byte) in edits {
            if bytes.is_empty() { break; }
            let i = at.index(bytes.len());
            match kind {
                0 => { bytes.remove(i); }
                1 => bytes.insert(i, byte),
                2 => bytes[i] = byte,
                3 => bytes.truncate(i),
                _ => { let tail = bytes[i..].to_vec(); bytes.extend(tail.into_iter().take(64)); }
            }
        }
        let dir = Scratch::new(&format!("fuzz-{:?}", std::thread::current().id()));
        let path = dir.0.join("m.toml");
        std::fs::write(&path, &bytes).unwrap();
        if let Err(e) = load(&Origin::File(path), &[]) {
            prop_assert!(!e.to_string().is_empty());
        }
    }

    #[test]
    fn any_override_is_handled(text in ".{0,40}") {
        let _ = Machine::resolve("gtx480", &[text]);
    }
}

#[test]
fn a_long_chain_of_files_is_no_circle() {
    let dir = Scratch::new("chain");
    let write = |n: usize, text: String| dir.file(&format!("m{n}.toml"), &text);
    write(
        0,
        "schema = 1\nname = \"m0\"\nextends = \"gtx480\"\n[gpu]\nsms = 3\n".into(),
    );
    for n in 1..100 {
        let text = format!(
            "schema = 1\nname = \"m{n}\"\nextends = \"./m{}.toml\"\n",
            n - 1
        );
        write(n, text);
    }
    let load = |n: usize| Machine::from_file(&dir.0.join(format!("m{n}.toml")));
    assert_eq!(load(40).expect("a machine").gpu.sms, 3);
    let error = load(99).expect_err("too long");
    assert!(error.message.contains("64 files at most"), "{error}");
}

/// Background and the leakage of all lanes are together what the source of these numbers has for an idle SM.
#[test]
fn an_idle_sm_takes_what_its_source_says() {
    for name in names() {
        let machine = Machine::preset(name).expect("a preset");
        let (sp, energy) = (&machine.unit["sp"], &machine.energy);
        let lanes = sp.count * sp.lanes;
        let leakage = lanes * (energy.int_leakage + energy.fp_leakage) / 1000;
        let milliwatts = match name.starts_with("fx5800") {
            true => 1540,
            false => 1590,
        };
        let idle = energy.background_sm + leakage;
        assert!(idle.abs_diff(milliwatts) <= 5, "{name}: {idle} mW");
    }
}
