//! Shards put together: what several machines ran becomes the folder that one machine would have.

use crate::error::StudyError;
use crate::plan::Plan;
use crate::results::record::Record;
use crate::results::store::Store;
use crate::running::recordings;
use std::path::{Path, PathBuf};
use warpsim_workloads::files::identity;

/// What [`unite`] found.
#[derive(Debug, Default)]
pub struct United {
    /// Runs that were copied into the folder.
    pub copied: usize,
    /// Runs that were there, or in several folders: the same again.
    pub again: usize,
    /// Runs that no folder has, as a person would name them.
    pub missing: Vec<String>,
    /// Files that are not as they were written, and were passed over.
    pub damaged: Vec<PathBuf>,
    /// Folders that another build of warpsim wrote: its results do not count for this one.
    pub other_builds: Vec<PathBuf>,
}

/// Copies what `plan` needs from `folders`, which are not changed, into `into`.
///
/// Two results of one run have to agree in everything but the time that it took: the first is kept.
pub fn unite(plan: &Plan, folders: &[PathBuf], into: &Store) -> Result<United, StudyError> {
    let mut united = United::default();
    let mut sources = Vec::new();
    for folder in folders {
        let source = Store::existing(folder)?;
        source.check_same_study(into)?;
        if !source.same_build() {
            united.other_builds.push(folder.clone());
        }
        if identity(folder) != identity(into.root()) {
            sources.push(source);
        }
    }
    for run in &plan.runs {
        let mut kept: Option<(Record, PathBuf)> = None;
        for source in [into].into_iter().chain(&sources) {
            let (path, record) = match source.look(&run.key) {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(damaged) => {
                    united.damaged.push(damaged);
                    continue;
                }
            };
            match &kept {
                Some((first, at)) => {
                    check_agreement(first, at, &record, &path)?;
                    united.again += 1;
                }
                None => {
                    if source.root() != into.root() {
                        into.put(&record)?;
                        united.copied += 1;
                    }
                    kept = Some((record, path));
                }
            }
        }
        if kept.is_none() {
            united.missing.push(run.shown());
        }
    }
    for wanted in recordings::wanted(plan) {
        let file = wanted.file();
        let there = |store: &&Store| store.look_object(&file).is_some();
        if !there(&into)
            && let Some(source) = sources.iter().find(there)
        {
            into.copy_file(source, &file)?;
        }
    }
    Ok(united)
}

fn check_agreement(a: &Record, at: &Path, b: &Record, other: &Path) -> Result<(), StudyError> {
    let timeless = |r: &Record| Record {
        seconds: 0.0,
        ..r.clone()
    };
    if timeless(a) == timeless(b) {
        return Ok(());
    }
    Err(StudyError::bad_input(format!(
        "two results of one run differ:\n{}\n{}\nwarpsim computes the same everywhere, so one of \
         them was changed: `warpsim compare` shows where they differ. Remove the wrong one",
        at.display(),
        other.display()
    )))
}
