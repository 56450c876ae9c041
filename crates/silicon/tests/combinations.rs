//! Everything with everything: random combinations run correctly or are refused as the rules say.
//! `WARPSIM_COMBINATIONS` says how many are drawn, `WARPSIM_SEED` where to begin; `warpsim selftest
//! --combinations N` does the same.

use warpsim_silicon::combinations::check_many;

/// Drawn where the environment does not say how many; and by the long test.
const COMBINATIONS: u64 = 40;
const MANY: u64 = 300;

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|t| t.parse().ok()).unwrap_or(default)
}

fn check(count: u64) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let tally = check_many(number("WARPSIM_SEED", 1), count, threads, None);
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert_eq!(tally.ran + tally.refused, count);
    assert!(
        tally.ran > count / 5 && tally.refused > count / 20,
        "{tally:?}"
    );
}

#[test]
fn random_combinations_run_correctly_or_are_refused() {
    check(number("WARPSIM_COMBINATIONS", COMBINATIONS));
}

#[test]
#[ignore = "long: .ci/run"]
fn many_random_combinations_run_correctly_or_are_refused() {
    check(MANY);
}
