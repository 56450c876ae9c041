//! What runs: a workload of the suite, or a launch file.

use crate::results::key::sha256;
use std::path::{Path, PathBuf};
use warpsim_present::reading;
use warpsim_workloads::cuda;
use warpsim_workloads::launchfile::{self, Contents, LaunchFile, Output};
use warpsim_workloads::suite::{self, Parameters, Size, Workload};
use warpsim_workloads::{DeviceError, Outcome, Session};

/// Something that can run.
pub enum Subject {
    /// A workload of the suite.
    Workload(&'static dyn Workload),
    /// A launch file, and the folder its paths are relative to.
    File(Box<LaunchFile>, PathBuf),
}

impl Subject {
    /// A workload's name, or a launch file relative to `directory`.
    pub fn find(name: &str, directory: Option<&Path>) -> Result<Subject, DeviceError> {
        if !name.ends_with(".toml") {
            return suite::find(name).map(Subject::Workload);
        }
        let path = directory.unwrap_or(Path::new("")).join(name);
        let mut file = launchfile::read(&path)?;
        file.outputs = without_writing(file.outputs);
        let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Subject::File(Box::new(file), parent))
    }

    /// Its parameters; of a launch file those that are changed.
    pub fn parameters(&self, size: Size, changes: &[String]) -> Result<Parameters, DeviceError> {
        match self {
            Subject::Workload(workload) => {
                Parameters::resolve(workload.info().parameters, size, changes)
            }
            Subject::File(file, _) => {
                // What is wrong with a change is said by the code that reads the file with it.
                launchfile::parse_with(&file.source, changes)?;
                Parameters::of_file(changes)
            }
        }
    }

    /// Whether a seed decides anything: a launch file without random buffers has the same input
    /// with every seed.
    pub fn random_input(&self) -> bool {
        match self {
            Subject::Workload(_) => true,
            Subject::File(file, _) => file.buffers.iter().chain(&file.symbols).any(|buffer| {
                let contents = &buffer.contents.value;
                matches!(
                    contents,
                    Contents::RandomIntegers(..) | Contents::RandomFloats(..)
                )
            }),
        }
    }

    /// The seed to use when `asked` is what the study says.
    pub fn seed(&self, asked: Option<u64>) -> u64 {
        asked.unwrap_or(match self {
            Subject::Workload(_) => 1,
            Subject::File(file, _) => file.seed,
        })
    }

    /// Its kernels; those of a launch file are known when it runs.
    pub fn kernels(&self) -> Option<Vec<&str>> {
        let Subject::Workload(workload) = self else {
            return None;
        };
        let entries = workload.info().kernel.ptx.split(".entry ").skip(1);
        let name = |text: &'static str| text.split(['(', '\n', ' ']).next();
        Some(entries.filter_map(name).collect())
    }

    /// Hash of its kernels and, for a launch file, of the file itself and its data.
    pub fn contents(&self) -> Result<String, DeviceError> {
        match self {
            Subject::Workload(workload) => Ok(sha256(workload.info().kernel.ptx.as_bytes())),
            Subject::File(file, directory) => {
                let mut hashes = sha256(file.source.text.as_bytes());
                for name in file.reads() {
                    let path = directory.join(name);
                    if name.ends_with(".cu") {
                        // What counts is what the compiler made of it.
                        hashes += &sha256(cuda::compile(&path, &file.cuda)?.as_bytes());
                        continue;
                    }
                    let bytes = reading::read(&path, reading::DATA).map_err(|e| {
                        DeviceError::bad_input(format!("cannot read {}: {e}", path.display()))
                    })?;
                    hashes += &sha256(&bytes);
                }
                Ok(sha256(hashes.as_bytes()))
            }
        }
    }

    /// Runs it.
    pub fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        match self {
            Subject::Workload(workload) => workload.run(parameters, seed, session),
            Subject::File(file, directory) => {
                let changes: Vec<String> =
                    parameters.iter().map(|(n, v)| format!("{n}={v}")).collect();
                let mut changed = launchfile::parse_with(&file.source, &changes)?;
                changed.outputs = without_writing(changed.outputs);
                changed.cuda = file.cuda.clone();
                launchfile::run(&changed, directory, Some(seed), session)
            }
        }
    }
}

/// Runs of a study go side by side: none of them writes where another may read.
fn without_writing(outputs: Vec<Output>) -> Vec<Output> {
    let silent = outputs.into_iter().map(|output| Output {
        write: None,
        ..output
    });
    silent.collect()
}
