//! How well `gtx480-ref` agrees with the reference simulator: the bars below which it must not
//! fall. `warpsim agreement` shows every launch, `docs/agreement.md` sums it up.

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_workloads::DeviceError;
use warpsim_workloads::agreement::figures::Figures;
use warpsim_workloads::agreement::{Compared, Program, Set, compare_all, programs};

/// The first set has launches of many seconds: those of more cycles are left to the command.
const LONGEST: u64 = 8_000;

fn machine(scheduler: &str) -> Result<Machine, DeviceError> {
    machine_with(scheduler, &[])
}

fn machine_with(scheduler: &str, settings: &[&str]) -> Result<Machine, DeviceError> {
    let mut all: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    all.push(format!("scheduler={scheduler}"));
    Ok(Machine::resolve("gtx480-ref", &all)?)
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

/// These programs of the second set, in one shape each, take the reference's cycles under both policies.
#[track_caller]
fn to_the_cycle(which: &[&str], shape: &str, settings: &[&str]) {
    let (mut programs, _) = programs(Set::Series).expect("what was recorded can be read");
    programs.retain(|p| which.contains(&p.name.as_str()) && p.shape.starts_with(shape));
    assert_eq!(programs.len(), 2 * which.len(), "each under two policies");
    let machine = |scheduler: &str| machine_with(scheduler, settings);
    for one in compare_all(&programs, &machine).expect("everything runs") {
        for pair in &one.launches {
            let Program {
                name, scheduler, ..
            } = &one.program;
            assert_eq!(pair.ours, pair.reference, "{name} under {scheduler}");
        }
    }
}

/// A fence takes the one place for memory instructions that a cycle has, so that two schedulers do not
/// issue one each.
#[test]
fn fences_take_the_references_cycles() {
    for shape in ["1x32", "4x256", "15x256"] {
        to_the_cycle(&["membar_cta"], shape, &[]);
    }
}

/// On some of 15 SMs more instructions are complete in a cycle than may leave their collectors: which of them
/// waits decides the cycles. Stores at the end need the network that counts flits.
#[test]
fn arithmetic_on_all_sms_takes_the_references_cycles() {
    let kernels = ["cvt_chain", "rem_u32", "fadd_fmul", "fmin_selp", "ld_u8"];
    to_the_cycle(&kernels, "15x256", &["interconnect.credits=true"]);
}

#[test]
fn launches_in_a_row_agree() {
    let compared = compared(Set::Series);
    within(by_launch(&compared), 2.0, 12.0);
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
