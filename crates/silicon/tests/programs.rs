//! Random programs against what a real GPU computed for them, under every divergence model.

use warpsim_silicon::RECORDED_PROGRAMS;
use warpsim_silicon::programs::emit::ptx;
use warpsim_silicon::programs::record::{Entry, read};
use warpsim_silicon::programs::recorded::{check, check_all};
use warpsim_silicon::programs::run::{functional, models, sized_warps, virtual_blocks};
use warpsim_silicon::programs::{NEWER, program};

/// Programs that are run on every machine, and by the long tests. All that are recorded take minutes:
/// `warpsim selftest --recorded`.
const SAMPLE: usize = 16;
const LONG_SAMPLE: usize = 96;

fn under_every_model(size: usize) {
    let record = read(RECORDED_PROGRAMS).expect("the committed results can be read");
    let mut targets = vec![functional().expect("a machine")];
    let mut machines = models().expect("machines");
    machines.retain(|t| !t.name.ends_with("-ref"));
    targets.extend(machines);
    let sample = &record.entries[..size.min(record.entries.len())];
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let wrong = check_all(sample, &targets, threads);
    println!(
        "{} (driver {}): {} of {} recorded programs in {} places, {} mismatches",
        record.gpu,
        record.driver,
        sample.len(),
        record.entries.len(),
        targets.len(),
        wrong.len()
    );
    assert_eq!(sample.len(), size, "too few programs are recorded");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sample_computes_what_the_gpu_computed_under_every_model() {
    under_every_model(SAMPLE);
}

#[test]
#[ignore = "long: .ci/run"]
fn a_larger_sample_computes_what_the_gpu_computed_under_every_model() {
    under_every_model(LONG_SAMPLE);
}

/// Programs that each way to size warps runs, each another share of them.
const SHARE: usize = 12;

#[test]
fn a_share_computes_what_the_gpu_computed_however_warps_are_sized() {
    let record = read(RECORDED_PROGRAMS).expect("the committed results can be read");
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    for (i, target) in sized_warps().expect("machines").into_iter().enumerate() {
        let share: Vec<Entry> = record
            .entries
            .iter()
            .skip(i)
            .step_by(11)
            .take(SHARE)
            .copied()
            .collect();
        assert_eq!(share.len(), SHARE, "too few programs are recorded");
        let wrong = check_all(&share, &[target], threads);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Programs with functions that call themselves, calls through registers, copies that are not waited
/// for, textures and matrices.
const NEWER_SAMPLE: usize = 24;

#[test]
fn programs_of_later_seeds_compute_what_the_gpu_computed_under_every_model() {
    let record = read(RECORDED_PROGRAMS).expect("the committed results can be read");
    let newer = record.entries.iter().filter(|e| e.seed >= NEWER);
    let sample: Vec<Entry> = newer.take(NEWER_SAMPLE).copied().collect();
    assert_eq!(sample.len(), NEWER_SAMPLE, "too few programs are recorded");
    let mut targets = vec![functional().expect("a machine")];
    let mut machines = models().expect("machines");
    machines.retain(|t| !t.name.ends_with("-ref"));
    targets.extend(machines);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let wrong = check_all(&sample, &targets, threads);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let texts: String = sample.iter().map(|e| ptx(&program(e.seed))).collect();
    for part in [
        "call (z", ", deep,", ", TWO", "cp.async", "tex.2d", "mma.sync", "vadd4",
    ] {
        assert!(texts.contains(part), "no program has {part}");
    }
}

#[test]
fn another_output_is_noticed() {
    let record = read(RECORDED_PROGRAMS).expect("the committed results can be read");
    let targets = [functional().expect("a machine")];
    let recorded = record.entries[0];
    assert_eq!(check(&recorded, &targets), Vec::<String>::new());
    let other = Entry {
        output: recorded.output ^ 1,
        ..recorded
    };
    assert!(check(&other, &targets)[0].contains("differs from the GPU"));
    let another = Entry {
        text: recorded.text ^ 1,
        ..recorded
    };
    assert!(check(&another, &targets)[0].contains("another program"));
}

fn with_virtual_blocks(size: usize) {
    let record = read(RECORDED_PROGRAMS).expect("the committed results can be read");
    let targets = virtual_blocks().expect("machines");
    let sample = &record.entries[..size.min(record.entries.len())];
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut wrong = check_all(sample, &targets, threads);
    let all = sample.len() * targets.len();
    // Refused before anything runs, with the reason: programs return from all kinds of places.
    let failed = wrong.len();
    wrong.retain(|text| !text.contains("cannot have virtual blocks"));
    let refused = failed - wrong.len();
    println!(
        "{} of {all} runs differ, {refused} were refused",
        wrong.len()
    );
    assert!(5 * refused < 2 * all, "{refused} of {all} were refused");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sample_computes_what_the_gpu_computed_with_virtual_blocks() {
    with_virtual_blocks(SAMPLE);
}

#[test]
#[ignore = "long: .ci/run"]
fn a_larger_sample_computes_what_the_gpu_computed_with_virtual_blocks() {
    with_virtual_blocks(LONG_SAMPLE);
}
