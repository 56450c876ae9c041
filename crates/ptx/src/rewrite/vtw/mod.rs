//! Virtual thread blocks and warps: kernels whose blocks run again and again, each time for
//! another block of the grid.
//!
//! Thread and block indices become registers, the body is wrapped in a loop, every return jumps to
//! the loop's tail, and the tail asks for the next logical block. In the hardware variant it asks
//! with two instructions that no GPU has (`vtw.next_tb`, `vtw.next_tid`); the software variant
//! strides by the number of virtual blocks and is plain PTX. Code that depends on no index is
//! hoisted out of the loop.
//!
//! | file | what |
//! |---|---|
//! | `indices` | which index registers are read, and what takes their place |
//! | `hoist` | what depends on no index and may run once |
//! | `budget` | how much of it, where registers are short |
//! | `barriers` | the barrier that the software variant adds, from the lowered code |
//! | `functions` | device functions that read indices are given them |
//! | `refuse` | kernels that cannot be rewritten, with the reason |
//! | `apart` | numbers of blocks and threads taken apart into indices, without a division |
//! | `kernel` | the loop around a kernel |

mod apart;
mod barriers;
mod budget;
mod functions;
mod hoist;
mod indices;
mod kernel;
mod refuse;
mod walk;

use crate::ast::{Item, Module};
use crate::diagnostic::Diagnostic;
use crate::kernel::{Kernel, Program, VirtualForm, Virtualised};

/// How a virtual block comes to its next logical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The hardware hands it out: `vtw.next_tb`, `vtw.next_tid`.
    Hardware,
    /// By a stride of the number of virtual blocks; plain PTX.
    Software,
}

/// What became of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The kernel's name.
    pub kernel: String,
    /// What the launch has to know, or why the kernel is as it was.
    pub result: Result<Form, String>,
}

/// A kernel that was rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Dimensions of the grid that it takes apart: those behind must be 1.
    pub grid_dimensions: u8,
    /// Dimensions of the block that it takes apart.
    pub block_dimensions: u8,
    /// Instructions that were hoisted out of the loop.
    pub hoisted: usize,
    /// The barrier that was added, in words.
    pub barrier: &'static str,
}

/// Parameters that the rewrite appends to a kernel's own, in this order: logical blocks in all,
/// and in x, y and z; each `.u32`.
pub const PARAMETERS: [&str; 4] = ["blocks", "nctaid_x", "nctaid_y", "nctaid_z"];

/// The name of an appended parameter.
pub(crate) fn parameter(kernel: &str, which: &str) -> String {
    format!("{kernel}_vtw_{which}")
}

/// A module in which every kernel that can be is rewritten.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The module.
    pub module: Module,
    /// What became of each kernel, in file order.
    pub outcomes: Vec<Outcome>,
}

pub use budget::rewrite_within;

/// Rewrites every kernel of a module that can be. Fails only where the module itself does not
/// lower.
pub fn rewrite(module: &Module, variant: Variant) -> Result<Rewritten, Vec<Diagnostic>> {
    rewrite_hoisting(module, variant, |_| usize::MAX)
}

/// Rewrites, hoisting from each kernel at most what `most` says of its name.
fn rewrite_hoisting(
    module: &Module,
    variant: Variant,
    most: impl Fn(&str) -> usize,
) -> Result<Rewritten, Vec<Diagnostic>> {
    // Printed, every instruction has a line of its own, by which lowered code finds back to it.
    let mut module = crate::parse(&crate::print(module))?;
    let program = crate::lower(&module)?;
    let needs = functions::needs(&module);
    let mut outcomes = Vec::new();
    for item in &mut module.items {
        let Item::Function(function) = item else {
            continue;
        };
        if !function.entry || function.body.is_none() {
            continue;
        }
        let name = function.name.name.clone();
        let lowered = program.kernels.iter().find(|k| k.name == name);
        let result = match lowered {
            None => Err(rejected(&program, &name)),
            Some(lowered) => match refuse::reason(function, lowered, &needs) {
                Some(why) => Err(why),
                None => kernel::rewrite(function, lowered, variant, &needs, most(&name)),
            },
        };
        outcomes.push(Outcome {
            kernel: name.to_string(),
            result,
        });
    }
    if outcomes.iter().any(|o| o.result.is_ok()) {
        functions::pass_indices(&mut module, &needs);
        if outcomes
            .iter()
            .flat_map(|o| &o.result)
            .any(barriers::drains)
        {
            barriers::raise_target(&mut module);
        }
    }
    Ok(Rewritten { module, outcomes })
}

/// Why a kernel did not lower, as how a sentence about it goes on.
fn rejected(program: &Program, name: &str) -> String {
    let found = program.rejected.iter().find(|r| r.0 == name);
    let why = found.and_then(|r| r.1.first());
    why.map_or_else(
        || "cannot be run".into(),
        |d| format!("cannot be run: {}", d.message),
    )
}

/// Tells the kernels of a program, compiled from a rewritten module, what they are: their appended
/// parameters are no longer the host's business.
pub fn mark(program: &mut Program, outcomes: &[Outcome], variant: Variant) {
    for kernel in &mut program.kernels {
        let Some(outcome) = outcomes.iter().find(|o| o.kernel == kernel.name) else {
            continue;
        };
        kernel.virtualised = match &outcome.result {
            Err(why) => Virtualised::Refused(why.clone()),
            Ok(form) => Virtualised::Form(hide_parameters(kernel, form, variant)),
        };
    }
}

fn hide_parameters(kernel: &mut Kernel, form: &Form, variant: Variant) -> VirtualForm {
    let own = kernel.params.len() - PARAMETERS.len();
    let offset = kernel.params[own].offset;
    kernel.params.truncate(own);
    kernel.param_bytes = kernel.params.last().map_or(0, |p| p.offset + p.size);
    VirtualForm {
        hardware: variant == Variant::Hardware,
        grid_dimensions: form.grid_dimensions,
        block_dimensions: form.block_dimensions,
        parameters_at: offset,
    }
}
