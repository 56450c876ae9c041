//! Workloads as machine code: listings belong to their PTX, all of their opcodes are known, and results are right.

use std::collections::BTreeSet;
use warpsim_sass::front::{hash, listing};
use warpsim_sass::program::Program;
use warpsim_sass::run::Code;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Kernel, Parameters, Size, WORKLOADS, Workload};
use warpsim_workloads::{Outcome, Session};

fn program(kernel: &Kernel) -> Program {
    let name = format!("{}.sass", kernel.name);
    let text = listing::decompress(&name, kernel.listing).unwrap_or_else(|e| panic!("{e}"));
    listing::read(&name, &text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_listing_belongs_to_its_ptx() {
    for workload in WORKLOADS {
        let kernel = &workload.info().kernel;
        let program = program(kernel);
        let name = kernel.name;
        let made_from = program.source.as_deref();
        let own = hash(kernel.ptx);
        assert_eq!(
            made_from,
            Some(own.as_str()),
            "run kernels/listings.sh {name}"
        );
        assert_eq!(program.architecture, 90);
    }
}

#[test]
fn every_opcode_of_every_kernel_is_known() {
    let mut wrong = BTreeSet::new();
    for workload in WORKLOADS {
        let program = program(&workload.info().kernel);
        let codes = program.kernels.iter().map(|k| Code::new(&program, k));
        wrong.extend(codes.filter_map(Result::err));
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with a workload at size tiny.
fn wrong(workload: &dyn Workload, seed: u64) -> Option<String> {
    let info = workload.info();
    let machine = Machine::resolve("gtx480", &[]).expect("a preset");
    let options = Options {
        functional: true,
        max_cycles: Some(400_000_000),
        ..Options::default()
    };
    let mut device = Simulated::new(machine, options).unwrap_or_else(|e| panic!("{e}"));
    device
        .execute_machine_code()
        .unwrap_or_else(|e| panic!("{e}"));
    let parameters = Parameters::resolve(info.parameters, Size::Tiny, &[]).expect("its own");
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    match workload.run(&parameters, seed, &mut session) {
        Ok(Outcome::Correct { .. }) => None,
        Ok(other) => Some(format!("{} seed {seed}: {other:?}", info.name)),
        Err(error) => Some(format!("{} seed {seed}: {error}", info.name)),
    }
}

fn all_right(names: &[&str], seeds: &[u64]) {
    let chosen = |w: &&&dyn Workload| names.is_empty() || names.contains(&w.info().name);
    let mut failed = Vec::new();
    for workload in WORKLOADS.iter().filter(chosen) {
        failed.extend(seeds.iter().filter_map(|&seed| wrong(*workload, seed)));
    }
    assert!(
        failed.is_empty(),
        "{} wrong:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn a_sample_is_right() {
    // Divisions, divergence, shared memory, atomics, textures, calls by register, votes, local memory.
    let sample = [
        "vecadd",
        "reduction",
        "bfs",
        "collatz",
        "histogram",
        "hotspot",
        "mummer",
        "octree",
        "lighting",
        "nqueens",
        "sha1",
        "raytrace-persistent",
    ];
    all_right(&sample, &[1]);
}

#[test]
#[ignore = "long: .ci/run"]
fn all_workloads_are_right() {
    all_right(&[], &[1, 2, 3]);
}
