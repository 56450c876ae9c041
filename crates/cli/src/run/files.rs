//! The files that a run writes: checked before it begins.

use super::job::Job;
use crate::console::failure::Failure;
use std::path::{Path, PathBuf};
use warpsim_workloads::files::identity;

/// Better now than at the end of a long run.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    if path.file_name().is_none() || parent.is_some_and(|p| !p.is_dir()) || path.is_dir() {
        return Err(Failure::bad_input(format!(
            "cannot write {}: not a file in an existing directory",
            path.display()
        )));
    }
    Ok(())
}

/// No file that is written replaces one that is read, or another that is written.
pub fn check_distinct<'a>(
    written: impl Iterator<Item = &'a PathBuf>,
    job: &Job,
    machine: &str,
) -> Result<(), Failure> {
    let mut inputs = Vec::new();
    let mut taken = Vec::new();
    if let Job::File(file, directory, _) = job {
        inputs.extend(file.inputs(directory).iter().map(|path| identity(path)));
        let outputs = file.destinations(directory);
        taken.extend(outputs.iter().map(|path| identity(path)));
    }
    inputs.push(identity(Path::new(machine)));
    for path in written {
        let which = identity(path);
        let refuse = |why: &str| {
            let path = path.display();
            Err(Failure::bad_input(format!("cannot write {path}: {why}")))
        };
        if inputs.contains(&which) {
            return refuse("it is an input of this run");
        }
        // Several kinds of output may go to one device, as to /dev/null.
        if taken.contains(&which) && !is_device(path) {
            return refuse("another output of this run has the same name");
        }
        taken.push(which);
    }
    Ok(())
}

fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// A file that cannot be written.
pub fn unwritable(path: &Path, e: &std::io::Error) -> Failure {
    Failure::bad_input(format!("cannot write {}: {e}", path.display()))
}
