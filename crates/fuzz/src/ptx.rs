//! PTX: any text, and programs of our own generator with lines changed.

use crate::mutate::{Random, mutate};
use std::sync::{Arc, OnceLock};
use warpsim_ptx::kernel::Program;
use warpsim_ptx::lower::lower;
use warpsim_ptx::{parse, print};
use warpsim_silicon::programs::{emit, program};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::api::Launch;
use warpsim_sim::gpu::{Gpu, Options};

/// Any text parses or fails with errors that render; what parses prints back to itself, and is
/// lowered or refused.
pub fn text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    lowered(text);
}

fn lowered(text: &str) -> Option<Program> {
    let module = match parse(text) {
        Ok(module) => module,
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                assert!(error.render("input.ptx", text).contains('^'));
            }
            return None;
        }
    };
    let again = parse(&print(&module)).expect("what is printed parses");
    assert_eq!(module, again);
    match lower(&module) {
        Ok(program) => Some(program),
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                assert!(!error.render("input.ptx", text).is_empty());
            }
            None
        }
    }
}

pub fn text_seeds() -> Vec<Vec<u8>> {
    let all = warpsim_workloads::suite::WORKLOADS.iter();
    let mut texts: Vec<&str> = all.map(|w| w.info().kernel.ptx).collect();
    texts.sort_by_key(|t| t.len());
    texts.dedup();
    texts.truncate(12);
    texts.iter().map(|t| t.as_bytes().to_vec()).collect()
}

/// Warp instructions that a program may take; most that are damaged end before.
const LONGEST: u64 = 20_000;

/// The first eight bytes are the seed of a program, the rest says how its text is changed. What
/// comes out runs, is refused, or fails as programs may.
pub fn structure(data: &[u8]) {
    let Some((seed, changes)) = data.split_first_chunk::<8>() else {
        return;
    };
    let mut text = emit::ptx(&program(u64::from_le_bytes(*seed)));
    if !changes.is_empty() {
        let choice = changes.iter().fold(7u64, |hash, byte| {
            hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(*byte)
        });
        let changed = mutate(&mut Random::new(choice), text.as_bytes(), text.as_bytes());
        text = String::from_utf8_lossy(&changed).into_owned();
    }
    if let Some(program) = lowered(&text) {
        run(Arc::new(program));
    }
}

fn run(program: Arc<Program>) {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    let machine = MACHINE
        .get_or_init(|| Machine::resolve("gtx480", &["gpu.sms=1".to_string()]).expect("a machine"));
    let options = Options {
        functional: true,
        max_cycles: Some(LONGEST),
        ..Options::default()
    };
    let mut gpu = Gpu::new(machine.clone(), options).expect("a machine");
    let Ok(module) = gpu.load(program.clone()) else {
        return;
    };
    let Some(memory) = gpu.alloc(1 << 16, "memory") else {
        return;
    };
    for (index, kernel) in program.kernels.iter().enumerate() {
        let pointers = memory.to_le_bytes().into_iter().cycle();
        let launch = Launch {
            kernel: index,
            grid: [2, 1, 1],
            block: kernel.bounds.req_ntid.unwrap_or([64, 1, 1]),
            dynamic_shared: 0,
            params: pointers.take(kernel.param_bytes as usize).collect(),
            registers: None,
        };
        // A fault is an answer.
        let _ = gpu.launch(module, &launch);
    }
}

pub fn structure_seeds() -> Vec<Vec<u8>> {
    let input = |seed: u64| {
        let mut bytes = seed.to_le_bytes().to_vec();
        bytes.extend([seed as u8; 3]);
        bytes
    };
    (1..40).map(input).collect()
}
