//! What many compilers make of the same small kernels (`tests/compilers`) parses, lowers and
//! computes what it should, without timing and with it.
//!
//! `tests/compilers/generate.py` makes far more than is kept here: `WARPSIM_COMPILERS=FOLDER` runs
//! what it made.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::api::Launch;
use warpsim_sim::gpu::{Gpu, Options};

const BLOCK: u32 = 64;
const BLOCKS: u32 = 4;
/// Numbers that a kernel is given, not a multiple of the block's.
const COUNT: usize = 200;
const WEIGHTS: [i32; 8] = [3, -1, 4, 1, -5, 9, 2, 6];

/// Numbers of both signs, small enough that no sum overflows.
fn input() -> Vec<i32> {
    (0..BLOCK * BLOCKS)
        .map(|i| (i.wrapping_mul(2_654_435_761).rotate_left(7) & 0x1ff_ffff) as i32 - 0x100_0000)
        .collect()
}

fn cases(x: i32) -> i32 {
    match x & 7 {
        0 => x + 11,
        1 => x * 3 - 5,
        2 => -5,
        3 => x ^ 0x55,
        4 => x / 3,
        5 => x % 10,
        6 => -x,
        _ => WEIGHTS[(x >> 3 & 7) as usize],
    }
}

fn collatz(x: i32) -> i32 {
    let (mut x, mut steps) = ((x & 1023) + 1, 0);
    while x != 1 {
        x = if x % 2 != 0 { 3 * x + 1 } else { x / 2 };
        steps += 1;
        if steps > 60 {
            break;
        }
    }
    steps * 1000 + x % 1000
}

fn array(x: i32) -> i32 {
    let mut held: [i32; 16] = std::array::from_fn(|k| x + (k * k) as i32);
    let mut at = (x & 15) as usize;
    for k in 0..20 {
        let other = (at * 5 + 3) & 15;
        let swap = held[at];
        held[at] = held[other];
        held[other] = swap + k;
        at = other;
    }
    held[(x >> 4 & 15) as usize]
}

fn calls(x: i32) -> i32 {
    let (mut first, mut second) = (x, i64::from(x) * i64::from(x));
    for by in 0..3 {
        let turned = ((second >> 3) as i32).wrapping_sub(by);
        second = i64::from(first) * 1_000_003 + i64::from(by);
        first = turned;
    }
    first
        .wrapping_add(second as i32)
        .wrapping_add(3i32.pow((x & 7) as u32))
}

fn numbers(x: i32) -> i32 {
    let (f, y) = ((x & 255) as f32, f64::from(x >> 8 & 255));
    let (z, w) = (f * 0.5 + 3.0, y * 0.25 - 7.0);
    let a = (z * 4.0) as i32 + i32::from(f64::from(z) > w);
    let b = (w * 8.0) as i32 - if f == 3.0 { 9 } else { 0 };
    a * 4096 + b
}

fn widths(x: i32) -> i32 {
    let [b0, _, b2, b3] = x.to_le_bytes();
    let half = i32::from(u16::from_le_bytes([b2, b3]));
    let mut wide = u64::from(x as u32) * 0x1_0000_0001;
    wide ^= wide >> 17;
    let sum = i32::from(b0 as i8) + i32::from(b3 as i8) * 5 + half * 7;
    sum.wrapping_add((wide >> 40) as i32)
        .wrapping_add((wide % 1000) as i32)
}

/// What a kernel leaves in its output; nothing beyond `count`.
fn expected(kernel: &str, input: &[i32], count: usize) -> Vec<i32> {
    let block = |i: usize| i / BLOCK as usize * BLOCK as usize;
    let sum = |i: usize| -> i32 {
        let end = (block(i) + BLOCK as usize).min(count);
        input[block(i)..end].iter().sum()
    };
    let low = |i: usize| input[i] & 0xffff;
    let total = |i: usize| -> i32 {
        let all = block(i)..block(i) + BLOCK as usize;
        all.map(|i| low(i ^ 5) - low(i) / 2).sum()
    };
    let one = |i: usize| match kernel {
        "affine" => input[i] * 7 - 3,
        "reduce" => sum(i) + (i - block(i)) as i32,
        "cases" => cases(input[i]),
        "collatz" => collatz(input[i]),
        "array" => array(input[i]),
        "calls" => calls(input[i]),
        "numbers" => numbers(input[i]),
        "widths" => widths(input[i]),
        "together" => total(i) + low(i ^ 5),
        other => panic!("`{other}` is none of the kernels"),
    };
    let mut all: Vec<i32> = (0..count).map(one).collect();
    all.resize(input.len(), 0);
    all
}

/// Parameters as the compiler of a kernel wants them.
fn parameters(sizes: &[u32], input: u64, output: u64, count: usize) -> Vec<u8> {
    let array = |address: u64| {
        let length = count as u64;
        // Two owners that the kernel does not read, length, size, the numbers, shape, stride.
        [0, 0, length, 4, address, length, 4].map(u64::to_le_bytes)
    };
    let mut bytes = Vec::new();
    if sizes.len() == 15 {
        // Numba's arrays.
        bytes.extend(array(input).concat());
        bytes.extend(array(output).concat());
    } else {
        bytes.extend(input.to_le_bytes());
        bytes.extend(output.to_le_bytes());
    }
    bytes.extend((count as u32).to_le_bytes());
    if sizes.len() == 5 {
        // Triton's two scratch pads, which these kernels do not use.
        bytes.extend([0; 20]);
    }
    bytes
}

/// Runs every kernel of a module; how many there were.
fn run(name: &str, text: &str, functional: bool, inline_limit: Option<usize>) -> usize {
    let rendered = |errors: Vec<warpsim_ptx::Diagnostic>| {
        let shown: Vec<String> = errors.iter().map(|e| e.render(name, text)).collect();
        shown.join("\n")
    };
    let module = warpsim_ptx::parse(text).unwrap_or_else(|e| panic!("{}", rendered(e)));
    let options = warpsim_ptx::lower::Options { inline_limit };
    let program = warpsim_ptx::lower::lower_with(&module, options);
    let program = program.unwrap_or_else(|e| panic!("{}", rendered(e)));
    if let Some((kernel, reasons)) = program.rejected.first() {
        panic!("{name}: {kernel} is refused: {}", rendered(reasons.clone()));
    }
    let kernels: Vec<(String, Vec<u32>)> = (program.kernels.iter())
        .map(|k| (k.name.clone(), k.params.iter().map(|p| p.size).collect()))
        .collect();
    let machine = Machine::preset("gtx480").expect("a preset");
    let options = Options {
        functional,
        ..Options::default()
    };
    let mut gpu = Gpu::new(machine, options).expect("a machine");
    let module = gpu.load(Arc::new(program)).expect("room");
    let input = input();
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
    for (index, (kernel, sizes)) in kernels.iter().enumerate() {
        let [from, to] = ["in", "out"].map(|what| {
            let size = bytes.len() as u64;
            gpu.alloc(size, what).expect("memory")
        });
        gpu.write(from, &bytes).expect("written");
        gpu.write(to, &vec![0; bytes.len()]).expect("written");
        // Numba's names are long ones with the function's inside.
        let known = ["affine", "reduce", "collatz"];
        let short = known
            .iter()
            .find(|k| kernel.starts_with("_Z") && kernel.contains(*k));
        let short = short.map_or(kernel.as_str(), |k| k);
        let count = if short == "together" {
            input.len()
        } else {
            COUNT
        };
        let launch = Launch {
            kernel: index,
            grid: [BLOCKS, 1, 1],
            block: [BLOCK, 1, 1],
            dynamic_shared: 1024,
            params: parameters(sizes, from, to, count),
            registers: None,
        };
        gpu.launch(module, &launch)
            .unwrap_or_else(|e| panic!("{name}: {kernel}: {e}"));
        let found = gpu.read(to, bytes.len() as u64).expect("read");
        let found: Vec<i32> = (found.chunks(4))
            .map(|c| i32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect();
        assert_eq!(found, expected(short, &input, count), "{name}: {kernel}");
    }
    kernels.len()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .collect();
    files.sort();
    files
}

fn run_folder(folder: &Path, functional: bool, inline_limit: Option<usize>) -> usize {
    let mut kernels = 0;
    for path in files(folder) {
        let name = path.file_name().expect("a name").to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("PTX");
        // Python's compilers make a module for each kernel.
        let modules: Vec<&str> = text
            .split("//@@")
            .filter(|m| !m.trim().is_empty())
            .collect();
        for module in modules {
            let module = if text.contains("//@@") {
                module.split_once('\n').map_or(module, |(_, rest)| rest)
            } else {
                module
            };
            kernels += run(&name, module, functional, inline_limit);
        }
    }
    kernels
}

fn kept() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/compilers")
}

#[test]
fn what_compilers_make_computes_what_it_should() {
    let folder = std::env::var_os("WARPSIM_COMPILERS").map_or_else(kept, PathBuf::from);
    let kernels = run_folder(&folder, true, None);
    println!("{} files, {kernels} kernels", files(&folder).len());
    assert!(kernels >= 90, "{kernels}");
}

#[test]
fn and_with_timing_too() {
    assert!(run_folder(&kept(), false, None) >= 90);
}

#[test]
fn and_with_functions_that_keep_their_bodies() {
    for functional in [true, false] {
        assert!(run_folder(&kept(), functional, Some(0)) >= 90);
    }
}
