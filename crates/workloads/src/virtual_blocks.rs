//! Kernels with virtual blocks: PTX rewritten before it is compiled.

use crate::device::DeviceError;
use std::sync::Arc;
use warpsim_ptx::diagnostic::render_all;
use warpsim_ptx::kernel::Program;
use warpsim_ptx::rewrite::vtw::{Outcome, Variant, mark, rewrite};

/// A rewritten text.
pub struct Rewritten {
    /// The PTX.
    pub text: String,
    outcomes: Vec<Outcome>,
    variant: Variant,
}

impl Rewritten {
    /// Rewrites PTX; `name` is what messages call it. Kernels that cannot be rewritten stay as
    /// they are, and say why when they are launched.
    pub fn new(name: &str, ptx: &str, variant: Variant) -> Result<Rewritten, DeviceError> {
        let module = warpsim_ptx::parse(ptx);
        let done = module.and_then(|module| rewrite(&module, variant));
        let done = done.map_err(|e| DeviceError::bad_input(render_all(&e, name, ptx)))?;
        Ok(Rewritten {
            text: warpsim_ptx::print(&done.module),
            outcomes: done.outcomes,
            variant,
        })
    }

    /// How.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// What became of each kernel.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The program that was compiled from the text, as launches are to see it.
    pub fn finish(&self, program: &Program) -> Arc<Program> {
        let mut program = program.clone();
        mark(&mut program, &self.outcomes, self.variant);
        Arc::new(program)
    }
}
