//! Runs a file on the simulator and compares.

use super::directive::{Plan, TexturePlan};
use super::value;
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use warpsim_ptx::kernel::{Kernel, Program};
use warpsim_ptx::lower;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::api::{Launch, Texture};
use warpsim_sim::gpu::{Gpu, Options};

/// What a kernel printed.
#[derive(Clone, Default)]
struct Printed(Rc<RefCell<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(data);
        Ok(data.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Parses and lowers; the error has every message.
pub fn compile(text: &str) -> Result<Program, String> {
    compile_with(text, lower::Options::default())
}

/// The same as the options say.
fn compile_with(text: &str, options: lower::Options) -> Result<Program, String> {
    let all = |errors: Vec<warpsim_ptx::Diagnostic>| {
        let shown: Vec<String> = errors.iter().map(|e| e.render("file", text)).collect();
        shown.join("\n")
    };
    let module = warpsim_ptx::parse(text).map_err(all)?;
    let program = lower::lower_with(&module, options).map_err(all)?;
    match program.rejected.first() {
        Some((_, reasons)) => Err(all(reasons.clone())),
        None => Ok(program),
    }
}

/// A GPU as the tests use it.
pub fn gpu(functional: bool, limit: u64, output: Box<dyn Write>) -> Result<Gpu, String> {
    changed_gpu(functional, limit, output, &[])
}

/// The same with other settings.
fn changed_gpu(
    functional: bool,
    limit: u64,
    output: Box<dyn Write>,
    set: &[String],
) -> Result<Gpu, String> {
    let machine = Machine::resolve("gtx480", set).map_err(|e| e.to_string())?;
    let options = Options {
        functional,
        max_cycles: Some(limit),
        output,
        ..Options::default()
    };
    Gpu::new(machine, options).map_err(|e| e.to_string())
}

/// Runs a file both ways; the error is the first difference.
pub fn run_file(text: &str) -> Result<(), String> {
    let plan = Plan::parse(text)?;
    let program = match compile(text) {
        Ok(_) if !plan.errors.is_empty() => return Err("compiles, but must not".into()),
        Ok(program) => Arc::new(program),
        Err(message) => return contains_all(&message, &plan.errors, "refused"),
    };
    for (wanted, functional) in [(plan.functional, true), (plan.timed, false)] {
        if wanted {
            let how = if functional { "functional" } else { "timed" };
            run_once(&plan, &program, functional, &[]).map_err(|e| format!("{how}: {e}"))?;
        }
    }
    Ok(())
}

/// Runs a file with timing and these settings; what must not compile, and what runs without timing
/// alone, is left out. Functions of more instructions than the limit are not inlined.
pub fn run_file_with(
    text: &str,
    set: &[String],
    inline_limit: Option<usize>,
) -> Result<(), String> {
    let plan = Plan::parse(text)?;
    match compile_with(text, lower::Options { inline_limit }) {
        Ok(program) if plan.timed => run_once(&plan, &Arc::new(program), false, set),
        _ => Ok(()),
    }
}

fn contains_all(message: &str, wanted: &[String], how: &str) -> Result<(), String> {
    if wanted.is_empty() {
        return Err(format!("{how}: {message}"));
    }
    match wanted.iter().find(|w| !message.contains(w.as_str())) {
        Some(missing) => Err(format!("`{missing}` is not in the message:\n{message}")),
        None => Ok(()),
    }
}

fn run_once(
    plan: &Plan,
    program: &Arc<Program>,
    functional: bool,
    set: &[String],
) -> Result<(), String> {
    let printed = Printed::default();
    let mut gpu = changed_gpu(functional, plan.limit, Box::new(printed.clone()), set)?;
    let module = gpu.load(program.clone()).map_err(|e| e.to_string())?;
    let mut session = Session {
        addresses: Vec::new(),
        handles: Vec::new(),
    };
    for (name, bytes) in &plan.buffers {
        let address = gpu.alloc(bytes.len() as u64, name).ok_or("no memory")?;
        gpu.write(address, bytes).map_err(|e| e.to_string())?;
        session.addresses.push((name.clone(), address));
    }
    for (name, texture) in &plan.textures {
        let texture = session.texture(texture)?;
        if program.textures.contains(name) {
            gpu.bind_texref(module, name, texture)
                .map_err(|e| e.to_string())?;
        } else {
            session
                .handles
                .push((name.clone(), gpu.make_texture(texture)));
        }
    }
    for name in &plan.freed {
        gpu.free(session.address(name)?)
            .map_err(|e| e.to_string())?;
    }
    let kernel = match &plan.kernel {
        None => 0,
        Some(name) => (program.kernels.iter().position(|k| k.name == *name))
            .ok_or_else(|| format!("no kernel `{name}`"))?,
    };
    let described = program
        .kernels
        .get(kernel)
        .ok_or("the file has no kernel")?;
    let launch = Launch {
        kernel,
        grid: plan.grid,
        block: plan.block,
        dynamic_shared: plan.shared,
        params: session.parameters(plan, described)?,
        registers: None,
    };
    let result = gpu.launch(module, &launch);
    let printed = String::from_utf8_lossy(&printed.0.borrow()).into_owned();
    let lines: Vec<&str> = printed.lines().collect();
    match result {
        Err(e) => contains_all(&e.to_string(), &plan.faults, "fails")?,
        Ok(()) if !plan.faults.is_empty() => return Err("ends, but must fail".into()),
        Ok(()) => {}
    }
    if lines != plan.prints {
        return Err(format!("prints {lines:?}, not {:?}", plan.prints));
    }
    for (line, expected) in &plan.expected {
        let address = match session.address(&expected.name) {
            Ok(address) => address,
            Err(e) => gpu.symbol(module, &expected.name).ok_or(e)?.0,
        };
        let size = expected.kind.bytes;
        let bytes = gpu
            .read(address, (expected.words.len() * size) as u64)
            .map_err(|e| format!("line {line}: {e}"))?;
        for (k, (wanted, got)) in expected.words.iter().zip(bytes.chunks(size)).enumerate() {
            let got = value::load(got);
            if !wanted.accepts(expected.kind, got, expected.ulp) {
                let (wanted, got) = (wanted.show(expected.kind), expected.kind.show(got));
                let name = &expected.name;
                return Err(format!("line {line}: {name}[{k}] is {got}, not {wanted}"));
            }
        }
    }
    Ok(())
}

/// Addresses of what a file names.
struct Session {
    addresses: Vec<(String, u64)>,
    handles: Vec<(String, u64)>,
}

impl Session {
    fn address(&self, name: &str) -> Result<u64, String> {
        let found = self.addresses.iter().find(|(n, _)| n == name);
        found
            .map(|f| f.1)
            .ok_or_else(|| format!("there is no buffer `{name}`"))
    }

    fn texture(&self, plan: &TexturePlan) -> Result<Texture, String> {
        let has = |flag: &str| plan.flags.iter().any(|f| f == flag);
        Ok(Texture {
            address: self.address(&plan.buffer)?,
            size: plan.size,
            dimensions: plan.dimensions,
            channels: plan.channels,
            bits: plan.bits,
            kind: plan.kind,
            linear_memory: has("linear_memory"),
            filter_linear: has("filter"),
            wrap: has("wrap"),
            normalized: has("normalized"),
            read_normalized: has("read_normalized"),
        })
    }

    fn argument(&self, text: &str) -> Result<Vec<u8>, String> {
        if let Some(name) = text.strip_prefix("texture ") {
            let found = self.handles.iter().find(|(n, _)| n == name.trim());
            let (_, handle) = found.ok_or_else(|| format!("there is no texture `{name}`"))?;
            return Ok(handle.to_le_bytes().to_vec());
        }
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        if let (Ok(address), Ok(offset)) = (self.address(name), offset.parse::<u64>()) {
            return Ok((address + offset).to_le_bytes().to_vec());
        }
        value::bytes(text)
    }

    /// The parameter block.
    fn parameters(&self, plan: &Plan, kernel: &Kernel) -> Result<Vec<u8>, String> {
        let (given, wanted) = (plan.arguments.len(), kernel.params.len());
        if given != wanted {
            return Err(format!("{given} arguments for {wanted} parameters"));
        }
        let mut block = vec![0; kernel.param_bytes as usize];
        for ((line, text), param) in plan.arguments.iter().zip(&kernel.params) {
            let bytes = self
                .argument(text)
                .map_err(|e| format!("line {line}: {e}"))?;
            if bytes.len() != param.size as usize {
                return Err(format!(
                    "line {line}: {} bytes for the parameter {} of {} bytes",
                    bytes.len(),
                    param.name,
                    param.size
                ));
            }
            let at = param.offset as usize;
            block[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(block)
    }
}
