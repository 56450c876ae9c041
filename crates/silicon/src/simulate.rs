//! Runs a form on the simulator, without timing.

use std::sync::Arc;

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::api::{Launch, Texture};
use warpsim_sim::gpu::{Gpu, Options};

use crate::form::Form;
use crate::operands::Operands;

/// Threads of a block.
pub const BLOCK: u32 = 256;

/// The results of a form: for each result, the value of each vector; what it left in a surface
/// is behind those that it stored. The error says why the
/// form does not run.
pub fn simulate(form: &Form, operands: &Operands) -> Result<Vec<Vec<u64>>, String> {
    let text = form.ptx();
    let all = |errors: Vec<warpsim_ptx::Diagnostic>| {
        let shown: Vec<String> = errors.iter().map(|e| e.render(&form.name, &text)).collect();
        shown.join("\n")
    };
    let module = warpsim_ptx::parse(&text).map_err(all)?;
    let program = warpsim_ptx::lower(&module).map_err(all)?;
    if let Some((_, reasons)) = program.rejected.first() {
        return Err(all(reasons.clone()));
    }
    let machine = Machine::preset("gtx480").map_err(|e| e.to_string())?;
    let options = Options {
        functional: true,
        ..Options::default()
    };
    let mut gpu = Gpu::new(machine, options).map_err(|e| e.to_string())?;
    let module = gpu.load(Arc::new(program)).map_err(|e| e.to_string())?;
    let count = operands.vectors.len();
    let mut params = Vec::new();
    let mut outputs = Vec::new();
    for (i, kind) in form.sources.iter().enumerate() {
        let bytes = column(operands, i, kind.bytes());
        let address = gpu.alloc(bytes.len() as u64, "source").ok_or("no memory")?;
        gpu.write(address, &bytes).map_err(|e| e.to_string())?;
        params.extend(address.to_le_bytes());
    }
    for kind in &form.results {
        let bytes = (kind.bytes() * count) as u64;
        let address = gpu.alloc(bytes, "result").ok_or("no memory")?;
        params.extend(address.to_le_bytes());
        outputs.push((address, bytes, kind.bytes()));
    }
    if let Some(form) = &form.texture {
        let (handle, _) = bind(&mut gpu, &form.texture, &form.contents)?;
        params.extend(handle.to_le_bytes());
    }
    let mut changed = None;
    if let Some(form) = &form.surface {
        let (handle, address) = bind(&mut gpu, &form.texture, &form.contents)?;
        params.extend(handle.to_le_bytes());
        let bytes = form.contents.len() as u64;
        changed = form.cells.map(|cells| (cells, address, bytes));
    }
    params.extend((count as u32).to_le_bytes());
    let launch = Launch {
        kernel: 0,
        grid: [(count as u32).div_ceil(BLOCK), 1, 1],
        block: [BLOCK, 1, 1],
        dynamic_shared: 0,
        params,
        registers: None,
    };
    gpu.launch(module, &launch).map_err(|e| e.to_string())?;
    let mut results = Vec::new();
    for (address, bytes, size) in outputs {
        let read = gpu.read(address, bytes).map_err(|e| e.to_string())?;
        results.push(read.chunks(size).map(word).collect());
    }
    if let Some((cells, address, bytes)) = changed {
        let left = gpu.read(address, bytes).map_err(|e| e.to_string())?;
        results.extend(cells.columns(count, &left));
    }
    Ok(results)
}

/// Puts texels into memory. The handle of a texture or surface of them, and where they are.
fn bind(gpu: &mut Gpu, texture: &Texture, contents: &[u8]) -> Result<(u64, u64), String> {
    let address = gpu.alloc(contents.len() as u64, "texels");
    let address = address.ok_or("no memory")?;
    gpu.write(address, contents).map_err(|e| e.to_string())?;
    let texture = Texture {
        address,
        ..texture.clone()
    };
    Ok((gpu.make_texture(texture), address))
}

/// One operand of every vector, as it lies in memory.
pub fn column(operands: &Operands, index: usize, size: usize) -> Vec<u8> {
    (operands.vectors.iter())
        .flat_map(|v| v[index].to_le_bytes().into_iter().take(size))
        .collect()
}

/// A little-endian value of up to eight bytes.
pub fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}
