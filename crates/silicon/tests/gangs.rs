//! Random programs, with operations among some threads of a warp, exits and barriers, end and are right under every way to
//! size warps and every kind of fetch. `WARPSIM_GANG_PROGRAMS` says how many are drawn, `WARPSIM_SEED` where to begin.

use warpsim_silicon::programs::program;
use warpsim_silicon::programs::run::{functional, simulate, simulate_on};
use warpsim_sim::config::warps::NAMES;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;

/// Drawn where the environment does not say how many.
const PROGRAMS: u64 = 40;

/// What decides what is in warps' buffers when they part and meet.
const FETCH: &[&[&str]] = &[
    &["fetch.wait_for_branch=true"],
    &["fetch.oracle=true"],
    &["fetch.buffer=4", "fetch.width=2", "fetch.eligible=room"],
    &["fetch.cache_ports=2", "fetch.l0_bytes=256"],
    &[
        "fetch.buffer=4",
        "fetch.width=3",
        "fetch.wait_for_branch=true",
    ],
    &["scheduler.reform_turn=split", "scheduler.reform_width=all"],
];

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|t| t.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_end_and_are_right_under_all_gangs_and_fetch_settings() {
    let gangs: Vec<String> = NAMES
        .iter()
        .filter(|named| named.name.contains("vws"))
        .flat_map(|named| [named.example(), format!("{}-8", named.example())])
        .collect();
    let first = number("WARPSIM_SEED", 1);
    for seed in first..first + number("WARPSIM_GANG_PROGRAMS", PROGRAMS) {
        let program = program(seed);
        let expected = simulate(&program, &functional().expect("a machine")).expect("it runs");
        let (name, fetch) = (
            &gangs[seed as usize % gangs.len()],
            FETCH[seed as usize % FETCH.len()],
        );
        let mut set = vec![format!("warps={name}")];
        set.extend(fetch.iter().map(|s| s.to_string()));
        let what = format!("program {seed} with {set:?}");
        let machine = Machine::resolve("vws", &set).unwrap_or_else(|e| panic!("{what}: {e}"));
        let run = |skip| {
            let options = Options {
                skip,
                ..Options::default()
            };
            simulate_on(&program, &machine, options).unwrap_or_else(|e| panic!("{what}: {e}"))
        };
        let (skipped, stepped) = (run(true), run(false));
        assert!(skipped.output == expected, "{what}");
        assert!(skipped.reports == stepped.reports, "{what}, stepped");
    }
}
