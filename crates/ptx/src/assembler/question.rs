//! What the assembler is given and what it says.

use super::Usage;
use crate::ast::{Directive, Item, Module, Statement};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// `11.8.89` out of `… release 11.8, V11.8.89`.
pub fn version(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("release ")?;
    let (_, rest) = rest.split_once(", V")?;
    Some(rest.split_whitespace().next()?.to_string())
}

/// The oldest `sm_` of the help text.
pub fn oldest_target(help: &str) -> Option<u32> {
    let numbers = help.split("sm_").skip(1);
    let leading = numbers.filter_map(|text| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    leading.min()
}

/// The architecture that a module is written for.
pub fn target_of(module: &Module) -> Option<u32> {
    module.target.iter().find_map(|name| {
        let digits = name.strip_prefix("sm_")?;
        let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
        digits.parse().ok()
    })
}

/// The newest `.version` of PTX that a release of the assembler reads, where that matters: CUDA
/// 11.x reads up to 7.x, 12.x up to 8.x. The minor number lags by one in 11 (11.8 has 7.8).
fn newest_language(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split('.').map(|p| p.parse::<u32>().ok());
    let (major, minor) = (parts.next()??, parts.next()??);
    match major {
        9.. => Some((major.saturating_sub(4), minor)),
        _ => None,
    }
}

/// A module with one kernel left and `target` as its architecture, without what says nothing
/// about registers: other kernels, debug data, initial values.
pub fn alone(module: &Module, kernel: &str, target: u32, release: &str) -> String {
    let mut alone = module.clone();
    alone.target.retain(|name| name != "debug");
    for name in &mut alone.target {
        if name.starts_with("sm_") && target_of(module) != Some(target) {
            *name = format!("sm_{target}");
        }
    }
    if let Some(newest) = newest_language(release) {
        alone.version = alone.version.min(newest);
    }
    alone.items.retain_mut(|item| match item {
        Item::Function(function) => {
            function.directives.retain(|d| *d != Directive::Noreturn);
            if let Some(body) = &mut function.body {
                forget_places(body);
            }
            !function.entry || function.name.name == kernel
        }
        Item::Variable(variable) => {
            variable.init = None;
            true
        }
        Item::File { .. } | Item::Section { .. } => false,
        _ => true,
    });
    crate::print(&alone)
}

fn forget_places(body: &mut Vec<Statement>) {
    body.retain_mut(|statement| match statement {
        Statement::Loc { .. } => false,
        Statement::Block(inner) => {
            forget_places(inner);
            true
        }
        _ => true,
    });
}

/// Reads `-v` output: a kernel's name, its spills, its registers.
pub fn usages(said: &str, target: u32) -> BTreeMap<String, Usage> {
    let mut found = BTreeMap::new();
    let mut kernel = None;
    let mut spills = (0, 0);
    let number_before = |line: &str, what: &str| -> Option<u32> {
        let (before, _) = line.split_once(what)?;
        before.split_whitespace().next_back()?.parse().ok()
    };
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().map(str::to_string);
            spills = (0, 0);
        } else if let Some(stores) = number_before(line, " bytes spill stores") {
            let loads = number_before(line, " bytes spill loads").unwrap_or(0);
            spills = (stores, loads);
        } else if let Some((_, rest)) = line.split_once("Used ")
            && let Some(registers) = number_before(rest, " registers")
            && let Some(name) = kernel.take()
        {
            let usage = Usage {
                registers,
                spills,
                target,
            };
            found.insert(name, usage);
        }
    }
    found
}

/// A source file for the assembler, and a place for its result; both are removed afterwards.
pub struct Scratch {
    stem: PathBuf,
}

impl Scratch {
    pub fn new(text: &str) -> Result<Scratch, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("warpsim-{}-{number}", std::process::id());
        let scratch = Scratch {
            stem: std::env::temp_dir().join(name),
        };
        std::fs::write(scratch.source(), text)
            .map_err(|e| format!("cannot write {}: {e}", scratch.source().display()))?;
        Ok(scratch)
    }
    pub fn source(&self) -> PathBuf {
        self.stem.with_extension("ptx")
    }
    pub fn result(&self) -> PathBuf {
        self.stem.with_extension("cubin")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is gone already need not be removed.
        let _ = std::fs::remove_file(self.source());
        let _ = std::fs::remove_file(self.result());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
ptxas info    : 12 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_35'
ptxas info    : Function properties for first
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 20 registers, 348 bytes cmem[0]
ptxas info    : Compiling entry function 'second' for 'sm_35'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 1 barriers, 348 bytes cmem[0]
";

    #[test]
    fn what_it_says_about_each_kernel_is_read() {
        let found = usages(SAID, 35);
        let first = Usage {
            registers: 20,
            spills: (12, 20),
            target: 35,
        };
        assert_eq!(found["first"], first);
        assert_eq!(
            (found["second"].registers, found["second"].spills),
            (8, (0, 0))
        );
    }

    #[test]
    fn version_and_targets_are_read() {
        let said = "Cuda compilation tools, release 11.8, V11.8.89\nBuild cuda_11.8.r11.8";
        assert_eq!(version(said).as_deref(), Some("11.8.89"));
        assert_eq!(
            oldest_target("'compute_37','sm_37','sm_35','sm_90a'"),
            Some(35)
        );
        assert_eq!((version("no"), oldest_target("no")), (None, None));
        assert_eq!(newest_language("11.8.89"), Some((7, 8)));
        assert_eq!(newest_language("13.0.1"), Some((9, 0)));
    }

    #[test]
    fn a_kernel_alone_has_an_older_target_and_no_neighbours() {
        let text = ".version 9.0\n.target sm_90\n.address_size 64\n\
            .file 1 \"a.cu\"\n.global .u32 g = 5;\n\
            .visible .entry a() { .loc 1 2 3\n ret; }\n.visible .entry b() { ret; }\n";
        let module = crate::parse(text).unwrap();
        let alone = alone(&module, "a", 35, "11.8.89");
        assert!(
            alone.contains(".version 7.8") && alone.contains("sm_35"),
            "{alone}"
        );
        assert!(!alone.contains(".entry b") && !alone.contains(".loc"));
        assert!(!alone.contains("= 5") && !alone.contains(".file"));
    }
}
