//! How well `gtx480-ref` agrees with the reference simulator: the bars below which it must not
//! fall. `warpsim agreement` shows every launch, `docs/agreement.md` keeps what it shows.

use warpsim_sim::config::Machine;
use warpsim_workloads::DeviceError;
use warpsim_workloads::agreement::figures::Figures;
use warpsim_workloads::agreement::{Compared, Set, compare_all, programs};

/// Kernels whose blocks all ask for the same L2 slices in the same order. Who is served first
/// decides their cycles: with DRAM a cycle slower they move by tens of per cent, and on the
/// reference from one launch to the next. `docs/agreement.md` has more.
const CHAOTIC: [&str; 6] = [
    "l12cg",
    "s12",
    "st_v4",
    "store128",
    "store8",
    "store_partial_read",
];

/// The first set has launches of many seconds: those of more cycles are left to the command.
const LONGEST: u64 = 8_000;

fn machine(scheduler: &str) -> Result<Machine, DeviceError> {
    let scheduler = format!("scheduler={scheduler}");
    Ok(Machine::resolve("gtx480-ref", &[scheduler])?)
}

fn compared(set: Set) -> Vec<Compared> {
    let (mut programs, _) = programs(set).expect("what was recorded can be read");
    programs.retain(|p| set != Set::Micro || p.reference.iter().all(|c| *c <= LONGEST));
    compare_all(&programs, &machine).expect("everything runs")
}

fn by_launch<'a>(compared: impl IntoIterator<Item = &'a Compared>) -> Figures {
    Figures::of(
        compared
            .into_iter()
            .flat_map(|c| c.launches.iter().copied()),
    )
}

#[track_caller]
fn within(figures: Figures, mean: f64, largest: f64) {
    assert!(
        figures.mean <= mean && figures.largest <= largest,
        "{figures:?}"
    );
}

#[test]
fn launches_of_micro_kernels_agree() {
    within(by_launch(&compared(Set::Micro)), 0.43, 5.2);
}

/// Schedulers look one after the other: one that comes later in a cycle issues for warps that the one
/// before it has let go at a barrier. With that, launches with barriers on one SM agree to the cycle.
#[test]
fn barriers_on_one_sm_take_the_references_cycles() {
    let (mut programs, _) = programs(Set::Micro).expect("what was recorded can be read");
    programs.retain(|p| p.name.starts_with("barrier_") && p.shape.starts_with("1x256"));
    assert_eq!(programs.len(), 4, "two kernels under two policies");
    for one in compare_all(&programs, &machine).expect("everything runs") {
        let pair = one.total();
        assert_eq!(pair.ours, pair.reference, "{}", one.program.name);
    }
}

#[test]
fn launches_in_a_row_agree() {
    let compared = compared(Set::Series);
    let steady = |c: &&Compared| !CHAOTIC.contains(&c.program.name.as_str());
    within(by_launch(&compared), 2.0, 60.0);
    within(by_launch(compared.iter().filter(steady)), 1.0, 12.0);
    let counted = compared.iter().find(|c| !c.same_instructions);
    assert!(counted.is_none(), "instruction counts differ: {counted:?}");
}

#[test]
fn whole_programs_agree() {
    let compared = compared(Set::Workloads);
    assert!(!compared.is_empty(), "all workloads have changed");
    let figures = Figures::of(compared.iter().map(Compared::total));
    within(figures, 1.5, 8.0);
    assert!(
        figures.correlation.is_some_and(|r| r >= 0.999),
        "{figures:?}"
    );
}
