//! Where a launch file may write: into its own folder, over nothing that it reads, and no two
//! outputs into one file. A file that another person wrote is then no more dangerous to run than to
//! read. `docs/launch-files.md` says so to its readers.

use super::model::{Contents, Expected, LaunchFile, Step, StepKind};
use crate::files::identity;
use std::path::{Path, PathBuf};
use warpsim_present::SourceError;

impl LaunchFile {
    /// The files that it names and reads, its PTX first, as it names them.
    pub fn reads(&self) -> Vec<&str> {
        let mut names = vec![self.ptx.value.as_str()];
        names.extend(self.link.iter().map(|file| file.value.as_str()));
        for buffer in self.buffers.iter().chain(&self.symbols) {
            if let Contents::File(name) = &buffer.contents.value {
                names.push(name);
            }
        }
        for output in &self.outputs {
            if let Some(Expected::File(name)) = output.expected.as_ref().map(|e| &e.value) {
                names.push(name);
            }
        }
        // Steps nest: walk them with a list instead of recursion.
        let mut pending: Vec<&Step> = self.steps.iter().rev().collect();
        while let Some(step) = pending.pop() {
            match &step.kind {
                StepKind::Write { file, .. } => names.push(&file.value),
                StepKind::Repeat { steps, .. } | StepKind::While { steps, .. } => {
                    pending.extend(steps.iter().rev());
                }
                StepKind::Launch(_) | StepKind::Fill { .. } | StepKind::Copy { .. } => {}
            }
        }
        names
    }

    /// Every file that it is made of, with names relative to `directory`: itself, and what it reads.
    pub fn inputs(&self, directory: &Path) -> Vec<PathBuf> {
        let itself = PathBuf::from(&*self.source.name);
        let read = self.reads().into_iter().map(|name| directory.join(name));
        std::iter::once(itself).chain(read).collect()
    }

    /// The files that it writes.
    pub fn destinations(&self, directory: &Path) -> Vec<PathBuf> {
        let written = self.outputs.iter().filter_map(|o| o.write.as_ref());
        written.map(|path| directory.join(&path.value)).collect()
    }
}

/// Refuses outputs that would replace an input or each other, or that lie outside of the folder
/// where `file` does not allow that.
pub(super) fn check(file: &LaunchFile, directory: &Path) -> Result<(), SourceError> {
    let inputs: Vec<PathBuf> = file
        .inputs(directory)
        .iter()
        .map(|path| identity(path))
        .collect();
    let folder = if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    };
    let folder = identity(folder);
    let mut taken: Vec<PathBuf> = Vec::new();
    for path in file.outputs.iter().filter_map(|o| o.write.as_ref()) {
        let full = directory.join(&path.value);
        let which = identity(&full);
        let refuse = |message: String, help: &str| {
            let error = file.source.error(path.place.clone(), message);
            Err(error.with_help(help))
        };
        if inputs.contains(&which) {
            let message = format!("writing {} would replace an input", full.display());
            return refuse(message, "give the output a name of its own");
        }
        if taken.contains(&which) {
            let message = format!("two outputs would be written to {}", full.display());
            return refuse(message, "give each output a name of its own");
        }
        // Where there is no folder nothing can be written, which is said elsewhere.
        let exists = full
            .parent()
            .is_some_and(|p| p.as_os_str().is_empty() || p.is_dir());
        if exists && !file.allow_outside && !which.starts_with(&folder) {
            let message = format!(
                "{} is not in the launch file's folder ({})",
                full.display(),
                folder.display()
            );
            return refuse(message, "--allow-outside lets it write there");
        }
        taken.push(which);
    }
    Ok(())
}
