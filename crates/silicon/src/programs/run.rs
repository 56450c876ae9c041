//! Runs programs on simulated machines, and on a real one.

use std::sync::Arc;

use warpsim_ptx::rewrite::vtw::Variant;
use warpsim_sim::config::warps::NAMES;
use warpsim_sim::config::{Machine, ReadMachine, VirtualMode};
use warpsim_sim::divergence::MODELS;
use warpsim_sim::gpu::api::{Launch, TexelKind, Texture};
use warpsim_sim::gpu::{Gpu, Options};
use warpsim_sim::occupancy::hoist_limit;
use warpsim_sim::stats::LaunchReport;
use warpsim_workloads::virtual_blocks::Rewritten;

use super::emit::{ACCUMULATORS, OWN, ptx};
use super::judge::Refusal;
use super::newer::TEXTURE;
use super::tree::Program;
use crate::gpu::driver::{Driver, Level, Shape};
use crate::gpu::texture::Bound;
use crate::random::Random;

/// Words of input, and more behind them that `ld` with an offset reaches.
const INPUT_WORDS: usize = 4096;
/// No program takes this many cycles (warp instructions, without timing).
const LIMIT: u64 = 30_000_000;

/// A simulated machine that programs run on.
#[derive(Clone, Debug)]
pub struct Target {
    /// What to call it.
    pub name: String,
    machine: Machine,
    functional: bool,
}

/// Machines every model runs on: preset and settings.
const MACHINES: &[(&str, &[&str])] = &[
    ("gtx480", &["gpu.sms=2"]),
    ("gtx480-ref", &["gpu.sms=1", "scheduler=\"gto\""]),
    ("fx5800", &["gpu.sms=2"]),
];

/// Execution without timing.
pub fn functional() -> Result<Target, String> {
    Ok(Target {
        name: "functional".into(),
        machine: Machine::preset("gtx480").map_err(|e| e.to_string())?,
        functional: true,
    })
}

/// Every divergence model on every machine that takes it.
pub fn models() -> Result<Vec<Target>, String> {
    let mut all = Vec::new();
    for model in MODELS {
        let before = all.len();
        let mut reason = String::new();
        for (preset, settings) in MACHINES {
            let mut set: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
            set.push(format!("divergence=\"{}\"", model.info.name));
            match Machine::resolve(preset, &set) {
                Ok(machine) => all.push(Target {
                    name: format!("{} on {preset}", model.info.name),
                    machine,
                    functional: false,
                }),
                Err(e) => reason = e.to_string(),
            }
        }
        if all.len() == before {
            return Err(format!(
                "no machine takes model {}: {reason}",
                model.info.name
            ));
        }
    }
    Ok(all)
}

/// Every way to size warps: fixed sizes and gangs, on the machine they are made for and on one whose
/// lanes are used several times.
pub fn sized_warps() -> Result<Vec<Target>, String> {
    let named = NAMES.iter().map(|n| n.name.replace("<N>", "30"));
    let wider = ["i-vws-8", "e-vws-impatient-8"].map(String::from);
    let on_vws = named.chain(wider).map(|name| ("vws", name));
    let names = ["ws4", "i-vws", "e-vws-impatient", "i-vws-group-8"].map(String::from);
    let on_fx5800 = names.map(|name| ("fx5800", name));
    let mut all = Vec::new();
    for (preset, name) in on_vws.chain(on_fx5800) {
        let set = [format!("warps={name}"), "gpu.sms=1".to_string()];
        let machine = Machine::resolve(preset, &set).map_err(|e| e.to_string())?;
        all.push(Target {
            name: format!("{name} on {preset}"),
            machine,
            functional: false,
        });
    }
    Ok(all)
}

/// Virtual blocks, one for all the blocks of a program: without timing and with, as the hardware
/// hands blocks out and by a stride.
pub fn virtual_blocks() -> Result<Vec<Target>, String> {
    let ways: [(&[&str], bool); 7] = [
        (&["virtual.mode=software"], true),
        (&["virtual.mode=software"], false),
        (&["virtual.mode=software", "divergence=tbc"], false),
        (&["virtual.mode=hardware"], true),
        (&["virtual.mode=hardware"], false),
        (&["virtual.mode=hardware", "scheduler=progress"], false),
        (
            &["virtual.mode=hardware", "virtual.next_tid=slowest-lane"],
            false,
        ),
    ];
    let target = |(settings, functional): (&[&str], bool)| {
        let few = ["gpu.sms=1", "virtual.blocks=1"];
        let set: Vec<String> = few.iter().chain(settings).map(|s| s.to_string()).collect();
        Ok(Target {
            name: format!(
                "{}{}",
                settings.join(" "),
                if functional { " functional" } else { "" }
            ),
            machine: Machine::resolve("gtx480", &set).map_err(|e| e.to_string())?,
            functional,
        })
    };
    ways.into_iter().map(target).collect()
}

/// The input of a program.
pub fn input(program: &Program) -> Vec<u8> {
    let mut random = Random::new(&format!("input {}", program.seed));
    (0..INPUT_WORDS + 1024)
        .flat_map(|_| {
            let bits = random.next();
            let word = match bits >> 61 {
                0 => (bits & 0x3f) as u32,
                1 => 0x3f80_0000 | (bits as u32 & 0x00ff_ffff),
                _ => bits as u32,
            };
            word.to_le_bytes()
        })
        .collect()
}

/// Bytes of output.
fn output_bytes(program: &Program) -> u64 {
    u64::from(ACCUMULATORS + program.blocks * program.block_threads() * OWN)
}

/// The texture of a program: the beginning of its input.
fn texture(program: &Program, input: u64) -> Option<Texture> {
    let [across, down] = TEXTURE;
    program.has_texture().then_some(Texture {
        address: input,
        size: [across, down, 1],
        dimensions: 2,
        channels: 1,
        bits: 32,
        kind: TexelKind::Unsigned,
        linear_memory: false,
        filter_linear: false,
        wrap: false,
        normalized: false,
        read_normalized: false,
    })
}

/// The parameter block `(out, in, a, b, c, f)`, and the texture's handle if there is one.
fn parameters(program: &Program, out: u64, input: u64, texture: Option<u64>) -> Vec<u8> {
    let mut random = Random::new(&format!("parameters {}", program.seed));
    let mut block = Vec::new();
    block.extend(out.to_le_bytes());
    block.extend(input.to_le_bytes());
    block.extend((random.next() as u32).to_le_bytes());
    block.extend([0; 4]);
    block.extend(random.next().to_le_bytes());
    block.extend((random.next() as u16).to_le_bytes());
    block.extend([0; 2]);
    block.extend(((random.below(2000) as f32) / 8.0).to_le_bytes());
    block.extend(texture.iter().flat_map(|handle| handle.to_le_bytes()));
    block
}

/// What a program did on a simulated machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// Its output.
    pub output: Vec<u8>,
    /// What was counted.
    pub reports: Vec<LaunchReport>,
}

/// The output of a program on a simulated machine.
pub fn simulate(program: &Program, target: &Target) -> Result<Vec<u8>, String> {
    let options = Options {
        functional: target.functional,
        ..Options::default()
    };
    Ok(simulate_on(program, &target.machine, options)?.output)
}

/// How a machine has kernels rewritten.
fn variant(machine: &Machine) -> Option<Variant> {
    match machine.virtual_blocks.mode {
        VirtualMode::Off => None,
        VirtualMode::Software => Some(Variant::Software),
        VirtualMode::Hardware => Some(Variant::Hardware),
    }
}

/// Whether a machine can run a program: not every one can have virtual blocks.
pub fn can_run(program: &Program, machine: &Machine) -> bool {
    let Some(variant) = variant(machine) else {
        return true;
    };
    let limit = |k: &_| hoist_limit(machine, k);
    let rewritten = Rewritten::new("program", &ptx(program), variant, &limit);
    rewritten.is_ok_and(|r| r.outcomes().iter().all(|o| o.result.is_ok()))
}

/// Runs a program on a machine with these options; returns its statistics, too.
pub fn simulate_on(program: &Program, machine: &Machine, options: Options) -> Result<Ran, String> {
    let text = ptx(program);
    let all = |errors: Vec<warpsim_ptx::Diagnostic>| {
        warpsim_ptx::diagnostic::render_all(&errors, "program", &text)
    };
    let rewritten =
        variant(machine).map(|v| Rewritten::new("program", &text, v, &|k| hoist_limit(machine, k)));
    let rewritten = rewritten.transpose().map_err(|e| e.text)?;
    let ptx = rewritten.as_ref().map_or(&text, |r| &r.text);
    let module = warpsim_ptx::parse(ptx).map_err(all)?;
    let mut lowered = warpsim_ptx::lower(&module).map_err(all)?;
    if let Some(rewritten) = &rewritten {
        lowered = Arc::unwrap_or_clone(rewritten.finish(&lowered));
    }
    if let Some((_, reasons)) = lowered.rejected.first() {
        return Err(all(reasons.clone()));
    }
    let options = Options {
        max_cycles: options.max_cycles.or(Some(LIMIT)),
        ..options
    };
    let failed = |e: warpsim_sim::gpu::SimError| e.to_string();
    let mut gpu = Gpu::new(machine.clone(), options).map_err(failed)?;
    let module = gpu.load(Arc::new(lowered)).map_err(failed)?;
    let input = input(program);
    let bytes = output_bytes(program);
    let no_memory = "no memory";
    let from = gpu.alloc(input.len() as u64, "in").ok_or(no_memory)?;
    let to = gpu.alloc(bytes, "out").ok_or(no_memory)?;
    gpu.write(from, &input).map_err(|e| e.to_string())?;
    let handle = texture(program, from).map(|t| gpu.make_texture(t));
    let launch = Launch {
        kernel: 0,
        grid: [program.blocks, 1, 1],
        block: [program.threads[0], program.threads[1], 1],
        dynamic_shared: 0,
        params: parameters(program, to, from, handle),
        registers: None,
    };
    gpu.launch(module, &launch).map_err(failed)?;
    Ok(Ran {
        output: gpu.read(to, bytes).map_err(|e| e.to_string())?,
        reports: gpu.reports().to_vec(),
    })
}

/// The output of a program on a real GPU, compiled at a level of optimization.
pub fn on_gpu(program: &Program, driver: &Driver, level: Level) -> Result<Vec<u8>, Refusal> {
    driver.attach().map_err(Refusal::Everything)?;
    let module = driver.load_at(&ptx(program), level);
    let module = module.map_err(Refusal::Program)?;
    let run = || {
        let kernel = module.kernel("k")?;
        let from = driver.upload(&input(program))?;
        let to = driver.alloc(output_bytes(program))?;
        let shape = Shape {
            grid: [program.blocks, 1, 1],
            block: [program.threads[0], program.threads[1], 1],
            shared: 0,
        };
        let bound = texture(program, from.address).map(|t| Bound::new(driver, t));
        let bound = bound.transpose()?;
        let handle = bound.as_ref().map(Bound::handle);
        let parameters = parameters(program, to.address, from.address, handle);
        kernel.launch(&shape, &parameters)?;
        to.read()
    };
    run().map_err(Refusal::Everything)
}

/// Where two outputs differ first, in words.
pub fn difference(a: &[u8], b: &[u8]) -> Option<String> {
    let at = (0..a.len().max(b.len())).find(|&i| a.get(i) != b.get(i))? / 4 * 4;
    let word = |bytes: &[u8]| {
        let word = bytes.get(at..at + 4).and_then(|b| b.first_chunk());
        word.map_or(0, |w| u32::from_le_bytes(*w))
    };
    let first = (ACCUMULATORS) as usize;
    let place = if at < first {
        format!("accumulator at byte {at}")
    } else {
        let thread = (at - first) / OWN as usize;
        format!("thread {thread}, byte {}", (at - first) % OWN as usize)
    };
    Some(format!("{place}: {:#010x} and {:#010x}", word(a), word(b)))
}
