//! The kept corpus runs without a panic, and so do some inputs made from it. More:
//! `WARPSIM_FUZZ=100000 cargo test -p warpsim-fuzz-targets`, or the program `warpsim-fuzz`.

use std::time::Duration;
use warpsim_fuzz_targets::TARGETS;
use warpsim_fuzz_targets::explore::explore;

#[test]
fn what_was_found_once_stays_found() {
    for target in TARGETS {
        let corpus = target.corpus();
        assert!(!corpus.is_empty(), "{} has a corpus", target.name);
        for (name, bytes) in corpus {
            println!("{} {name}", target.name);
            (target.run)(&bytes);
        }
        for seed in (target.seeds)() {
            (target.run)(&seed);
        }
    }
}

#[test]
fn made_inputs_do_not_panic() {
    let given = std::env::var("WARPSIM_FUZZ").ok();
    let count = given.map_or(300, |text| text.parse().expect("a number"));
    for target in TARGETS {
        let found = explore(&target, 1, count, Duration::from_secs(24 * 3600));
        let texts = found.failures.iter().map(|f| String::from_utf8_lossy(f));
        let texts: Vec<_> = texts.collect();
        assert!(texts.is_empty(), "{}: {texts:?}", target.name);
        println!(
            "{}: {} executions, slowest {:?}",
            target.name, found.executions, found.slowest.0
        );
    }
}
