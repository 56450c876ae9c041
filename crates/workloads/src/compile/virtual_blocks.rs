//! Kernels with virtual blocks: PTX rewritten before it is compiled.

use crate::host::device::DeviceError;
use std::sync::Arc;
use warpsim_ptx::diagnostic::render_all;
use warpsim_ptx::kernel::{Kernel, Program};
use warpsim_ptx::rewrite::vtw::{Outcome, Variant, mark, rewrite_within};

/// A rewritten text.
pub struct Rewritten {
    /// The PTX.
    pub text: String,
    outcomes: Vec<Outcome>,
    variant: Variant,
}

impl Rewritten {
    /// Rewrites PTX; `name` is what messages call it. Kernels that cannot be rewritten stay as
    /// they are, and say why when they are launched. `limit` says how many registers a thread of
    /// a kernel may have: what would not fit is not hoisted.
    pub fn new(
        name: &str,
        ptx: &str,
        variant: Variant,
        limit: &dyn Fn(&Kernel) -> u32,
    ) -> Result<Rewritten, DeviceError> {
        let module = warpsim_ptx::parse(ptx);
        let done = module.and_then(|module| rewrite_within(&module, variant, limit));
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
