//! What is run: a workload of the suite or a launch file.

use super::kernels::{MADE_UP, kernels_job};
use crate::console::failure::Failure;
use crate::setup::cuda::CudaArguments;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use warpsim_present::{nearest, reading};
use warpsim_workloads::folder;
use warpsim_workloads::launchfile::{self, LaunchFile};
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::suite::{self, Parameters, Size, Workload};
use warpsim_workloads::{Compiler, DeviceError, Outcome, Session};

/// A workload's size on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum SizeName {
    /// For tests.
    Tiny,
    /// The default.
    Small,
    /// For patient people.
    Large,
}

impl From<SizeName> for Size {
    fn from(name: SizeName) -> Size {
        match name {
            SizeName::Tiny => Size::Tiny,
            SizeName::Small => Size::Small,
            SizeName::Large => Size::Large,
        }
    }
}

/// Why a launch file has no size to choose.
pub const SIZE_OF_A_FILE: &str = "--size is for workloads of the suite; a launch file says its sizes itself, \
    and --param changes those that it declares under [param]";

/// What is to run, checked before a device is built.
pub enum Job {
    /// A workload of the suite with its parameters and seed.
    Workload(&'static dyn Workload, Parameters, u64),
    /// A launch file, the directory its names refer to, and a seed.
    File(Box<LaunchFile>, PathBuf, Option<u64>),
}

impl Job {
    /// The same, without files for what it computes.
    pub fn that_writes_nothing(&self) -> Job {
        match self {
            Job::Workload(workload, parameters, seed) => {
                Job::Workload(*workload, parameters.clone(), *seed)
            }
            Job::File(file, directory, seed) => {
                let mut file = file.clone();
                file.outputs.iter_mut().for_each(|o| o.write = None);
                Job::File(file, directory.clone(), *seed)
            }
        }
    }

    /// What is run, in words.
    pub fn name(&self) -> String {
        match self {
            Job::Workload(workload, parameters, seed) => {
                let values: Vec<String> = parameters
                    .iter()
                    .map(|(n, v)| format!("{n} = {v}"))
                    .collect();
                format!(
                    "{} ({}, seed {seed})",
                    workload.info().name,
                    values.join(", ")
                )
            }
            Job::File(file, ..) => file.source.name.to_string(),
        }
    }
}

/// What a command line says of a job.
pub struct Wanted<'a> {
    /// A workload's name, a launch file, a folder with one, or CUDA C.
    pub what: &'a str,
    /// A folder with workloads of the user's own.
    pub workload_dir: Option<&'a Path>,
    /// Size of a workload.
    pub size: Option<SizeName>,
    /// Its size where none is asked for.
    pub usual_size: Size,
    /// Seed of generated input.
    pub seed: Option<u64>,
    /// Parameters.
    pub param: &'a [String],
    /// A launch file may write outside of its folder.
    pub allow_outside: bool,
    /// How `.cu` files are compiled.
    pub cuda: &'a CudaArguments,
}

/// What is to be said of a fault where warpsim made up what the kernels are given.
pub fn made_up(job: &Job) -> Option<String> {
    let Job::File(file, ..) = job else {
        return None;
    };
    let kernels = file.source.name.strip_suffix(MADE_UP)?.trim_end();
    Some(format!(
        "note: this launch was made up: its sizes and contents may be what the kernel does not expect\n\
         `warpsim new {kernels}` writes them down for you to change"
    ))
}

/// What the arguments ask for.
pub fn job(wanted: &Wanted) -> Result<Job, Failure> {
    let what = wanted.what;
    if let Some(folder) = wanted.workload_dir {
        let found = folder::workloads(folder)?;
        if let Some(workload) = found.iter().find(|w| w.name == what) {
            return file_job(wanted, &workload.launch_file);
        }
        if suite::find(what).is_err() && !what.ends_with(".toml") {
            let names: Vec<&str> = found.iter().map(|w| w.name.as_str()).collect();
            let hint = nearest(what, names.iter().copied())
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            return Err(Failure::bad_input(format!(
                "no workload is called `{what}`{hint}\nin {}: {}",
                folder.display(),
                names.join(", ")
            )));
        }
    }
    let path = Path::new(what);
    if what.ends_with(".cu") {
        return kernels_job(wanted, path);
    }
    if what.ends_with(".ptx") {
        reading::check(path, warpsim_ptx::MOST_BYTES)
            .map_err(|e| Failure::bad_input(format!("cannot read {what}: {e}")))?;
        return Err(Failure::bad_input(format!(
            "{what} holds kernels, and does not say what they are given\n\
             `warpsim new {what}` writes a launch file to begin with, which `warpsim run` runs; \
             `warpsim inspect {what}` describes the kernels"
        )));
    }
    // A workload's name comes before a folder of that name.
    if path.is_dir() && suite::find(what).is_err() || what.ends_with('/') {
        return file_job(wanted, &only_launch_file(path)?);
    }
    if what.ends_with(".toml") || what.contains(['/', '\\']) {
        return file_job(wanted, path);
    }
    let workload = suite::find(what)?;
    let size = wanted.size.map_or(wanted.usual_size, Size::from);
    let parameters = Parameters::resolve(workload.info().parameters, size, wanted.param)?;
    Ok(Job::Workload(
        workload,
        parameters,
        wanted.seed.unwrap_or(1),
    ))
}

/// The launch file of a folder that has one.
fn only_launch_file(folder: &Path) -> Result<PathBuf, Failure> {
    let shown = folder.display();
    let cannot = |e: std::io::Error| Failure::bad_input(format!("cannot read {shown}: {e}"));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
    found.sort();
    match found.as_slice() {
        [file] => Ok(file.clone()),
        [] => Err(Failure::bad_input(format!(
            "{shown} has no launch file (.toml)"
        ))),
        several => {
            let names: Vec<String> = several.iter().map(|f| f.display().to_string()).collect();
            let names = names.join(", ");
            Err(Failure::bad_input(format!(
                "{shown} has several launch files: {names}"
            )))
        }
    }
}

pub(super) fn file_job(wanted: &Wanted, path: &Path) -> Result<Job, Failure> {
    if wanted.size.is_some() {
        return Err(Failure::bad_input(SIZE_OF_A_FILE));
    }
    let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let mut file = launchfile::read_with(path, wanted.param)?;
    file.allow_outside = wanted.allow_outside;
    file.cuda = wanted.cuda.options();
    Ok(Job::File(Box::new(file), directory, wanted.seed))
}

/// Runs a job on a device.
pub fn execute(
    job: &Job,
    device: &mut Simulated,
    compiler: &dyn Compiler,
) -> Result<Outcome, DeviceError> {
    let mut session = Session { device, compiler };
    let result = match job {
        Job::Workload(workload, parameters, seed) => workload.run(parameters, *seed, &mut session),
        Job::File(file, directory, seed) => launchfile::run(file, directory, *seed, &mut session),
    };
    result.map_err(|mut error| {
        if let Some(note) = made_up(job) {
            error.text = format!("{}\n{note}", error.text.trim_end());
        }
        error
    })
}
