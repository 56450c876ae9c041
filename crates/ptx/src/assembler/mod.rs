//! NVIDIA's assembler, where one is installed: how many registers it gives a kernel.
//!
//! [`Assembler::find`] looks for `ptxas`, [`Assembler::ask`] runs it. The question is always the
//! same: the oldest architecture that the assembler knows, default options. The modelled machines
//! are older than any assembler that can still be had, and the oldest is the nearest.

mod find;
pub use find::python_packages;
mod question;

use crate::ast::{Item, Module};
use crate::outside;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An assembler that answered when it was asked for its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembler {
    /// Where it is.
    pub path: PathBuf,
    /// As it says, e.g. `11.8.89`.
    pub version: String,
    /// The oldest architecture it knows, e.g. 35.
    pub oldest: u32,
}

/// What the assembler made of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of spill stores and of spill loads in the code.
    pub spills: (u32, u32),
    /// The architecture it was asked for.
    pub target: u32,
}

/// Answers by kernel name: what it uses, or why the assembler refused it.
pub type Answers = BTreeMap<String, Result<Usage, String>>;

impl Assembler {
    /// The assembler at `path`; otherwise the one that `WARPSIM_PTXAS` names; otherwise, of those
    /// on `PATH`, in a CUDA toolkit or in a Python wheel, the one that knows the oldest
    /// architecture (the first of several).
    pub fn find(path: Option<&Path>) -> Result<Assembler, String> {
        if let Some(path) = path {
            return Assembler::at(path);
        }
        if let Some(path) = outside::variable("WARPSIM_PTXAS") {
            return Assembler::at(Path::new(&path))
                .map_err(|why| format!("{why} (named by WARPSIM_PTXAS)"));
        }
        let usable = find::candidates();
        let mut usable: Vec<Assembler> = usable
            .iter()
            .filter_map(|path| Assembler::at(path).ok())
            .collect();
        usable.sort_by_key(|assembler| assembler.oldest);
        usable.into_iter().next().ok_or_else(|| {
            "no assembler (ptxas) found: not on PATH, in CUDA_HOME, in /usr/local/cuda or in a \
             Python package; `pip install nvidia-cuda-nvcc-cu11` has one, or name it in WARPSIM_PTXAS"
                .into()
        })
    }

    fn at(path: &Path) -> Result<Assembler, String> {
        let say = |option: &str| {
            let output = outside::run(path, &[option.into()]);
            let output = output.map_err(|e| format!("cannot run {}: {e}", path.display()))?;
            Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let version = question::version(&say("--version")?);
        let oldest = question::oldest_target(&say("--help")?);
        match (version, oldest) {
            (Some(version), Some(oldest)) => Ok(Assembler {
                path: path.to_path_buf(),
                version,
                oldest,
            }),
            _ => Err(format!("{} is not an assembler for PTX", path.display())),
        }
    }

    /// Asks about every kernel of a file: the file as it is where its `.target` allows; kernel by
    /// kernel under the older target where it does not; under its own target where a kernel needs
    /// what is newer.
    pub fn ask(&self, text: &str, module: &Module) -> Result<Answers, String> {
        let own = question::target_of(module).unwrap_or(0);
        let mut answers = Answers::new();
        if own <= self.oldest
            && let Ok(usages) = self.assemble(text, self.oldest)?
        {
            answers.extend(usages.into_iter().map(|(name, usage)| (name, Ok(usage))));
        }
        for item in &module.items {
            let Item::Function(function) = item else {
                continue;
            };
            let name = &function.name.name;
            if !function.entry || function.body.is_none() || answers.contains_key(name.as_str()) {
                continue;
            }
            answers.insert(name.to_string(), self.ask_alone(module, name, own)?);
        }
        Ok(answers)
    }

    fn ask_alone(
        &self,
        module: &Module,
        kernel: &str,
        own: u32,
    ) -> Result<Result<Usage, String>, String> {
        let mut refused = String::new();
        let mut targets = vec![self.oldest];
        targets.extend((own > self.oldest).then_some(own));
        for target in targets {
            let text = question::alone(module, kernel, target, &self.version);
            match self.assemble(&text, target)? {
                Ok(usages) => match usages.get(kernel) {
                    Some(usage) => return Ok(Ok(*usage)),
                    None => refused = "it said nothing about this kernel".into(),
                },
                Err(why) => refused = why,
            }
        }
        Ok(Err(refused))
    }

    /// Assembles a text. The outer error is ours (it could not be run), the inner one the
    /// assembler's.
    fn assemble(
        &self,
        text: &str,
        target: u32,
    ) -> Result<Result<BTreeMap<String, Usage>, String>, String> {
        let file = question::Scratch::new(text)?;
        let arguments = [
            "-v".into(),
            format!("-arch=sm_{target}").into(),
            "-o".into(),
            file.result().into(),
            file.source().into(),
        ];
        let output = outside::run(&self.path, &arguments)
            .map_err(|e| format!("cannot run {}: {e}", self.path.display()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            return Ok(Ok(question::usages(&said, target)));
        }
        let complaint = said
            .lines()
            .find(|line| line.contains("error") || line.contains("fatal"));
        let complaint = complaint
            .and_then(|line| line.split_once(" : "))
            .map_or("it gave no reason", |(_, why)| why.trim());
        Ok(Err(complaint.to_string()))
    }
}
