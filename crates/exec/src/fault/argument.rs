//! Which argument of the kernel a pointer came from.

use crate::memory::image::{AccessError, GlobalMemory};
use warpsim_present::mangled::Function;
use warpsim_ptx::analysis::{Array, arrays_at};
use warpsim_ptx::kernel::{Kernel, Pc};

/// Says which argument the pointer of the access at `pc` came from, and what the launch gave there; where that cannot be told,
/// which argument the nearest buffer was passed as.
pub(super) fn of_pointer(
    kernel: &Kernel,
    pc: Pc,
    params: &[u8],
    cause: &AccessError,
    memory: &GlobalMemory,
) -> Option<String> {
    let touched = arrays_at(kernel, pc);
    let offsets = touched.arrays.iter().filter_map(|array| match array {
        Array::Parameter(at) => Some(*at),
        Array::Symbol(_) => None,
    });
    let offsets: Vec<u32> = offsets.collect();
    if !touched.others && !offsets.is_empty() && offsets.len() == touched.arrays.len() {
        let all = offsets.iter().filter_map(|&at| {
            let value = pointer(params, at)?;
            Some(format!("{}, {}", name(kernel, at)?, given(value, memory)))
        });
        let all: Vec<String> = all.collect();
        return (!all.is_empty()).then(|| format!("the pointer came from {}", all.join(", or ")));
    }
    let AccessError::OutOfBounds {
        nearest: Some(nearest),
    } = cause
    else {
        return None;
    };
    let inside = |value: u64| (nearest.start..nearest.start + nearest.size).contains(&value);
    let passed = kernel
        .params
        .iter()
        .find(|param| param.size == 8 && pointer(params, param.offset).is_some_and(inside))?;
    let name = name(kernel, passed.offset)?;
    Some(format!("\"{}\" was passed as {name}", nearest.label))
}

fn pointer(params: &[u8], at: u32) -> Option<u64> {
    let bytes = params.get(at as usize..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// The argument that holds this byte of the parameters: `argument 2 (out: float*)`.
fn name(kernel: &Kernel, at: u32) -> Option<String> {
    let holds = |p: &&warpsim_ptx::kernel::Param| (p.offset..p.offset + p.size).contains(&at);
    let index = kernel.params.iter().position(|p| holds(&p))?;
    let param = &kernel.params[index];
    let name = kernel.short_name(param);
    // Compilers number what they have no name for.
    let named = !name.starts_with("param_");
    let types = Function::of(&kernel.name).map(|function| function.parameters);
    let types = types.filter(|types| types.len() == kernel.params.len());
    let described = match (named, types) {
        (true, Some(types)) => format!(" ({name}: {})", types[index]),
        (true, None) => format!(" ({name})"),
        (false, Some(types)) => format!(" ({})", types[index]),
        (false, None) => String::new(),
    };
    let inside = match at - param.offset {
        0 => String::new(),
        byte => format!("byte {byte} of "),
    };
    Some(format!("{inside}argument {}{described}", index + 1))
}

/// What the launch gave for it.
fn given(value: u64, memory: &GlobalMemory) -> String {
    let mut all = memory.allocations().iter();
    match all.find(|a| (a.start..=a.end()).contains(&value)) {
        Some(a) if a.start == value => format!("which is \"{}\"", a.label),
        Some(a) => format!("which is byte {} of \"{}\"", value - a.start, a.label),
        None => format!("which is {value:#x}, in no buffer"),
    }
}
