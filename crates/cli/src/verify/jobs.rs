//! Random programs in several processes.
//!
//! The driver compiles one program after the other in a process, a second or so for each, and
//! that is nearly all the time that they take. So each process takes a part of the programs and
//! leaves what it found in a directory of its own, also when it is stopped.

use super::{Arguments, keep, recorded, targets};
use crate::failure::{Failure, print};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use warpsim_silicon::gpu::driver::Driver;
use warpsim_silicon::programs::record;

/// A process and where it leaves what it finds.
struct Job {
    child: Child,
    directory: PathBuf,
}

/// A directory for all processes, removed at the end unless it belongs to the record.
struct Scratch {
    path: PathBuf,
    temporary: bool,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.temporary {
            // What is left behind in the system's temporary directory hurts nobody.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn failed(doing: &str, path: &Path, e: &std::io::Error) -> Failure {
    Failure::bad_input(format!("cannot {doing} {}: {e}", path.display()))
}

fn scratch(arguments: &Arguments) -> Scratch {
    match &arguments.record {
        Some(directory) => Scratch {
            path: directory.join("jobs"),
            temporary: false,
        },
        None => Scratch {
            path: std::env::temp_dir().join(format!("warpsim-jobs-{}", std::process::id())),
            temporary: true,
        },
    }
}

/// Starts process `number` of `jobs`.
fn start(
    arguments: &Arguments,
    directory: PathBuf,
    number: usize,
    jobs: usize,
) -> Result<Job, Failure> {
    std::fs::create_dir_all(&directory).map_err(|e| failed("make", &directory, &e))?;
    let log = directory.join("log.txt");
    let file = File::create(&log).map_err(|e| failed("write", &log, &e))?;
    let errors = file.try_clone().map_err(|e| failed("write", &log, &e))?;
    let program = std::env::current_exe()
        .map_err(|e| Failure::bad_input(format!("cannot find this program to run it: {e}")))?;
    let asked = &arguments.programs;
    let part = asked.part.piece(number as u64, jobs as u64);
    let mut command = Command::new(&program);
    command
        .args(["verify-on-gpu", "--only", "programs", "--jobs", "1"])
        .args(["--threads", "1"])
        .args(["--part", &part.to_string()])
        .args(["--seed", &asked.seed.to_string()])
        .arg("--record")
        .arg(&directory)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors);
    if let Some(programs) = asked.programs {
        command.args(["--programs", &programs.to_string()]);
    }
    if let Some(seconds) = asked.seconds {
        command.args(["--seconds", &seconds.to_string()]);
    }
    if !asked.places.is_empty() {
        command.args(["--places", &asked.places.join(",")]);
    }
    if let Some(save) = &asked.save {
        command.arg("--save").arg(save);
    }
    let child = (command.spawn()).map_err(|e| failed("run", &program, &e))?;
    Ok(Job { child, directory })
}

/// Runs random programs in `jobs` processes. True when something is wrong.
pub(super) fn programs(
    arguments: &Arguments,
    driver: &Driver,
    jobs: usize,
) -> Result<bool, Failure> {
    let targets = targets(arguments)?;
    let scratch = scratch(arguments);
    let mut running = Vec::new();
    let mut refused = None;
    for number in 0..jobs {
        let directory = scratch.path.join((number + 1).to_string());
        match start(arguments, directory, number, jobs) {
            Ok(job) => running.push(job),
            Err(e) => {
                refused = Some(e);
                break;
            }
        }
    }
    if let Some(e) = refused {
        for job in &mut running {
            // One that has ended already is what is wanted.
            let _ = job.child.kill();
            let _ = job.child.wait();
        }
        return Err(e);
    }
    let mut entries = Vec::new();
    let mut wrong = 0;
    for job in &mut running {
        let status = (job.child.wait()).map_err(|e| failed("wait for", &job.directory, &e))?;
        let read = std::fs::read_to_string(job.directory.join("programs.txt"));
        let found = read.ok().map(|text| record::read(&text)).transpose();
        let found = found.map_err(Failure::bad_input)?.unwrap_or_default();
        entries.extend(found.entries);
        if !status.success() {
            wrong += 1;
            let log = std::fs::read_to_string(job.directory.join("log.txt"));
            print(&log.unwrap_or_else(|e| format!("{}: {e}\n", job.directory.display())))?;
        }
    }
    let names: Vec<&str> = targets.iter().map(|t| t.name.as_str()).collect();
    print(&format!(
        "{} random programs on the GPU and {}, in {jobs} processes: {} comparisons, {}\n",
        entries.len(),
        names.join(", "),
        entries.len() * targets.len(),
        match wrong {
            0 => "0 differ".into(),
            n => format!("{n} processes report what is wrong above"),
        }
    ))?;
    keep(arguments, "programs.txt", &recorded(driver, entries))?;
    Ok(wrong > 0)
}
