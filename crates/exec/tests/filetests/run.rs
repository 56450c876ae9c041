//! Runs a file on a device and compares.

use super::directive::{Plan, TexturePlan};
use super::value;
use std::sync::Arc;
use warpsim_exec::grid::Texture;
use warpsim_ptx::kernel::{Kernel, Program};
use warpsim_ptx::lower;

/// A launch of a kernel of the program that was loaded last.
pub struct Launch {
    pub kernel: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub params: Vec<u8>,
}

/// What runs kernels: without timing here, a whole GPU in `crates/sim`.
pub trait Device {
    fn load(&mut self, program: Arc<Program>) -> Result<(), String>;
    fn alloc(&mut self, bytes: u64, name: &str) -> Option<u64>;
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String>;
    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, String>;
    fn free(&mut self, address: u64) -> Result<(), String>;
    /// Where a variable of the program lies.
    fn symbol(&self, name: &str) -> Option<u64>;
    fn bind(&mut self, name: &str, texture: Texture) -> Result<(), String>;
    fn make_texture(&mut self, texture: Texture) -> u64;
    fn launch(&mut self, launch: &Launch) -> Result<(), String>;
    /// All that kernels have printed.
    fn printed(&self) -> String;
}

/// Parses and lowers; the error has every message.
pub fn compile(text: &str) -> Result<Program, String> {
    compile_with(text, lower::Options::default())
}

/// The same as the options say.
pub fn compile_with(text: &str, options: lower::Options) -> Result<Program, String> {
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

/// Runs a file on a device, if it is to run on such a one; the error is the first difference.
pub fn run_file<D: Device>(
    text: &str,
    device: &mut dyn FnMut(&Plan) -> Option<D>,
) -> Result<(), String> {
    let plan = Plan::parse(text)?;
    let program = match compile(text) {
        Ok(_) if !plan.errors.is_empty() => return Err("compiles, but must not".into()),
        Ok(program) => Arc::new(program),
        Err(message) => return contains_all(&message, &plan.errors, "refused"),
    };
    device(&plan).map_or(Ok(()), |device| run_once(&plan, &program, device))
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

/// Runs a compiled file on a device; the error is the first difference.
pub fn run_once<D: Device>(
    plan: &Plan,
    program: &Arc<Program>,
    mut device: D,
) -> Result<(), String> {
    device.load(program.clone())?;
    let mut session = Session {
        addresses: Vec::new(),
        handles: Vec::new(),
    };
    for (name, bytes) in &plan.buffers {
        let address = device.alloc(bytes.len() as u64, name).ok_or("no memory")?;
        device.write(address, bytes)?;
        session.addresses.push((name.clone(), address));
    }
    for (name, texture) in &plan.textures {
        let texture = session.texture(texture)?;
        if program.textures.contains(name) {
            device.bind(name, texture)?;
        } else {
            session
                .handles
                .push((name.clone(), device.make_texture(texture)));
        }
    }
    for name in &plan.freed {
        device.free(session.address(name)?)?;
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
    };
    let result = device.launch(&launch);
    let printed = device.printed();
    let lines: Vec<&str> = printed.lines().collect();
    match result {
        Err(e) => contains_all(&e, &plan.faults, "fails")?,
        Ok(()) if !plan.faults.is_empty() => return Err("ends, but must fail".into()),
        Ok(()) => {}
    }
    if lines != plan.prints {
        return Err(format!("prints {lines:?}, not {:?}", plan.prints));
    }
    for (line, expected) in &plan.expected {
        let address = match session.address(&expected.name) {
            Ok(address) => address,
            Err(e) => device.symbol(&expected.name).ok_or(e)?,
        };
        let size = expected.kind.bytes;
        let bytes = device
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
