//! How much is hoisted where registers are short.
//!
//! What is hoisted is kept in a register for as long as the kernel runs. Where that takes more
//! registers than a thread may have, the assembler would put values into local memory, and reading
//! them back costs far more than computing them again: such a kernel hoists only as many
//! instructions as fit, and none if it spills in any case.

use super::{Rewritten, Variant, rewrite, rewrite_hoisting};
use crate::ast::Module;
use crate::diagnostic::Diagnostic;
use crate::kernel::Kernel;
use std::collections::BTreeMap;

/// Numbers of instructions of one kernel: so many fit, so many do not.
#[derive(Clone, Copy, Debug)]
struct Search {
    fits: usize,
    too_many: usize,
}

impl Search {
    fn is_over(self) -> bool {
        self.fits + 1 >= self.too_many
    }

    /// What to try next; when it is over, what was found.
    fn next(self) -> usize {
        self.fits + (self.too_many - self.fits) / 2
    }
}

/// Rewrites every kernel of a module that can be. `limit` says how many registers a thread of a
/// kernel may have; 0 hoists nothing.
pub fn rewrite_within(
    module: &Module,
    variant: Variant,
    limit: &dyn Fn(&Kernel) -> u32,
) -> Result<Rewritten, Vec<Diagnostic>> {
    let all = rewrite(module, variant)?;
    let mut searches: BTreeMap<String, Search> = BTreeMap::new();
    let fits = fitting(&all, limit)?;
    for outcome in &all.outcomes {
        if let Ok(form) = &outcome.result
            && fits.get(&outcome.kernel) == Some(&false)
        {
            let search = Search {
                fits: 0,
                too_many: form.hoisted,
            };
            searches.insert(outcome.kernel.clone(), search);
        }
    }
    if searches.is_empty() {
        return Ok(all);
    }
    loop {
        let most = |name: &str| searches.get(name).map_or(usize::MAX, |s| s.next());
        let tried = rewrite_hoisting(module, variant, most)?;
        if searches.values().all(|s| s.is_over()) {
            return Ok(tried);
        }
        let fits = fitting(&tried, limit)?;
        for (name, search) in &mut searches {
            let tried = search.next();
            match fits.get(name) {
                _ if search.is_over() => {}
                Some(true) => search.fits = tried,
                _ => search.too_many = tried,
            }
        }
    }
}

/// Whether each kernel keeps all its values in the registers it may have.
fn fitting(
    rewritten: &Rewritten,
    limit: &dyn Fn(&Kernel) -> u32,
) -> Result<BTreeMap<String, bool>, Vec<Diagnostic>> {
    let program = crate::lower(&crate::parse(&crate::print(&rewritten.module))?)?;
    let kernels = program.kernels.into_iter();
    Ok(kernels
        .map(|k| (k.register_floor <= limit(&k), k.name.clone()))
        .map(|(fits, name)| (name, fits))
        .collect())
}
