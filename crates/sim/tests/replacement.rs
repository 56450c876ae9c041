//! Replacement policies in whole machines: which line makes room, in each cache that has a choice. The policies by
//! themselves, and the tags against lists, are tested beside them (`src/replacement`).

use crate::common;

use common::{Bench, kernel, machine};
use warpsim_present::Source;
use warpsim_sim::config::read::load::from_source;
use warpsim_sim::config::{Machine, ReadMachine};

/// One warp loads these lines, each when it has the one before.
fn loads(load: &str, lines: &str) -> String {
    let mut body = String::from(
        "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; mov.u32 %r11, 0; bar.sync 0;\n",
    );
    for line in lines.bytes() {
        let at = u32::from(line - b'a') * 128;
        body += &format!("{load} %r10, [%rd4+{at}]; add.u32 %r11, %r11, %r10;\n");
    }
    body
}

/// How many of these loads hit in an L1 of one set of four ways.
fn l1_hits(policy: &str, lines: &str) -> u64 {
    let set = ["gpu.sms=1", "l1d.sets=1", "l1d.ways=4", policy];
    let mut bench = Bench::new(
        machine("gtx480", &set),
        &kernel(0, &loads("ld.global.u32", lines)),
    );
    bench.launch(1, 32);
    bench.report().totals.sm.counters.l1d_hits
}

/// The same in one L2 slice of one set, whose first level is passed by.
fn l2_hits(policy: &str, lines: &str) -> u64 {
    let set = [
        "gpu.sms=1",
        "gpu.flush_l2_between_kernels=true",
        "dram.channels=1",
        "l2.slices_per_channel=1",
        "l2.sets=1",
        "l2.ways=4",
        policy,
    ];
    let ptx = kernel(0, &loads("ld.global.cg.u32", lines));
    let mut bench = Bench::new(machine("gtx480", &set), &ptx);
    // In the second launch the code is in the SM's cache. The parameters are not: their line comes first, and goes
    // first under every policy that has an order.
    bench.launch(1, 32).launch(1, 32);
    let memory = &bench.report().totals.memory;
    assert_eq!(memory.l2_reads, 4 * lines.len() as u64, "four sectors each");
    memory.l2_hits / 4
}

/// h is used again, and then more lines are read than there are other ways.
const SCAN: &str = "hhabcdh";
/// One line more than there are ways, round and round.
const ROUND: &str = "abcdeabcdeabcdeabcde";

#[test]
fn a_scan_pushes_out_what_is_used_again_unless_the_policy_minds() {
    for (policy, hits) in [("lru", 1), ("fifo", 1), ("srrip", 2)] {
        let set = |cache: &str| format!("{cache}.replacement={policy}");
        assert_eq!(l1_hits(&set("l1d"), SCAN), hits, "{policy}");
        assert_eq!(l2_hits(&set("l2"), SCAN), hits, "{policy}");
    }
}

/// First in, first out: a has just been used, and goes nevertheless.
#[test]
fn a_use_keeps_a_line_under_lru_and_not_under_fifo() {
    for (policy, hits) in [("lru", 2), ("fifo", 1)] {
        let set = |cache: &str| format!("{cache}.replacement={policy}");
        assert_eq!(l1_hits(&set("l1d"), "abcdaea"), hits, "{policy}");
        assert_eq!(l2_hits(&set("l2"), "abcdaea"), hits, "{policy}");
    }
}

#[test]
fn round_and_round_only_chance_and_prediction_hit() {
    for (policy, some) in [("lru", false), ("fifo", false), ("random", true)] {
        let set = |cache: &str| format!("{cache}.replacement={policy}");
        assert_eq!(l1_hits(&set("l1d"), ROUND) > 0, some, "{policy}");
        assert_eq!(l2_hits(&set("l2"), ROUND) > 0, some, "{policy}");
    }
}

#[test]
fn random_is_the_same_in_every_run_and_another_with_another_seed() {
    let lines = ROUND.repeat(4);
    let run = |seed: u32| {
        let seed = format!("l1d.replacement.seed={seed}");
        let set = [
            "gpu.sms=1",
            "l1d.sets=1",
            "l1d.ways=4",
            "l1d.replacement=random",
            &seed,
        ];
        let ptx = kernel(0, &loads("ld.global.u32", &lines));
        let mut bench = Bench::new(machine("gtx480", &set), &ptx);
        bench.launch(1, 32);
        bench.report().clone()
    };
    assert_eq!(run(1), run(1));
    let hits = |seed| run(seed).totals.sm.counters.l1d_hits;
    let different = (2..10).filter(|&seed| hits(seed) != hits(1)).count();
    assert!(different > 0);
}

#[test]
fn policies_are_found_by_name_and_their_parameters_checked() {
    for cache in ["l1d", "l1i", "constant", "texture", "l2"] {
        let key = format!("{cache}.replacement");
        let resolve = |set: String| Machine::resolve("gtx480", &[set]);
        for name in ["lru", "fifo", "random", "srrip"] {
            assert!(resolve(format!("{key}={name}")).is_ok(), "{cache} {name}");
        }
        let refused = |set: String, why: &str| {
            let error = resolve(set.clone()).expect_err(&set).to_string();
            assert!(error.contains(why), "{set}: {error}");
        };
        refused(
            format!("{key}=slru"),
            "no replacement policy is called `slru`",
        );
        refused(format!("{key}=slru"), "did you mean `lru`?");
        refused(
            format!("{key}.bits=3"),
            "the replacement policy `lru` has no parameter `bits`",
        );
        refused(format!("{key}.srrip.bits=9"), "must lie between 1 and 7");
        assert!(resolve(format!("{key}.srrip.bits=3")).is_ok());
    }
}

#[test]
fn a_machine_file_chooses_one_for_each_cache() {
    let text = "schema = 1\nextends = \"gtx480\"\nname = \"mine\"\ndescription = \"a test\"\n\
        [l1d]\nreplacement = \"srrip\"\nprefetch.name = \"stride\"\nprefetch.degree = 2\n\
        [l2.replacement]\nname = \"random\"\nseed = 7\n";
    let machine = from_source(&Source::new("mine.toml", text), &[]).expect("a machine");
    assert_eq!(machine.l1d.cache.replacement.name, "srrip");
    assert_eq!(machine.l1d.prefetch.name, "stride");
    assert_eq!(machine.l2.replacement.name, "random");
    assert_eq!(machine.l1i.replacement.name, "lru");
}

#[test]
fn a_prefetcher_needs_a_cache_to_fetch_into() {
    let set = ["l1d.sets=0", "l1d.prefetch=stride"].map(String::from);
    let error = Machine::resolve("gtx480", &set)
        .expect_err("no L1")
        .to_string();
    assert!(error.contains("`l1d.sets` is 0"), "{error}");
}
