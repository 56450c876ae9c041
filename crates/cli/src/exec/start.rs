//! Starting the program, serving it, and ending as it does.

use super::Arguments;
use super::folder::Folders;
use super::reporter::Reporter;
use crate::console::failure::{Failure, tell};
use crate::run::check_writable;
use crate::run::simulation::HostThreads;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;
use warpsim_cuda::choice::Choice;
use warpsim_cuda::server::Server;
use warpsim_cuda::session::Settings;
use warpsim_cuda::why::nothing_launched;
use warpsim_doors::wire::{FOLDER, SOCKET};
use warpsim_images::Capability;
use warpsim_workloads::lowering::Lowering;

/// Runs the program.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let machine = arguments.machine.resolve()?;
    for file in arguments.outputs.files()? {
        check_writable(file)?;
    }
    if arguments.simulation.untimed() && arguments.sample {
        return Err(Failure::bad_input(
            "--sample is for launches that are timed",
        ));
    }
    if let Some(note) = HostThreads::of(arguments.simulation.threads)
        .note
        .filter(|_| !arguments.quiet)
    {
        tell!("note: {note}");
    }
    let settings = Settings {
        lowering: Lowering {
            registers: arguments.registers.resolve()?,
            options: arguments.inlining.options(),
        },
        choice: Choice {
            launches: arguments.launches.clone(),
            kernel: arguments.kernel.clone(),
            first: arguments.first,
            sample: arguments.sample,
        },
        functional: arguments.simulation.untimed(),
        capability: capability(&arguments.capability)?,
        heap: arguments.simulation.heap,
    };
    let what: Vec<String> = arguments
        .program
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let folders = Folders::make()?;
    let broken = |e: std::io::Error| Failure::bad_input(format!("cannot serve the program: {e}"));
    let mut server = Server::new(&folders.socket(), &folders.memory, settings).map_err(broken)?;
    let mut reporter = Reporter::new(arguments, &machine, what.join(" "));
    let mut child = start(arguments, &folders)?;
    let (ended, ends) = UnixStream::pair().map_err(broken)?;
    let process = child.id();
    let waiter = thread::spawn(move || {
        let status = child.wait();
        drop(ends);
        status
    });
    let served = server.serve(&ended, &mut reporter);
    let status = waiter
        .join()
        .unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()))
        .map_err(broken)?;
    served.map_err(broken)?;
    if reporter.launches == 0 {
        let mut seen = server.seen.iter();
        let own = seen
            .clone()
            .find(|s| s.process == process)
            .or_else(|| seen.next());
        tell!("{}", nothing_launched(own.map(|s| s.facts), server.calls));
    }
    if let Some(failure) = reporter.failure {
        return Err(failure);
    }
    Ok(code(status))
}

/// Starts the program with the libraries before its own.
fn start(arguments: &Arguments, folders: &Folders) -> Result<Child, Failure> {
    let mut words = arguments.program.iter();
    let program = words
        .next()
        .ok_or_else(|| Failure::bad_input("no program is named"))?;
    Command::new(program)
        .args(words)
        .env("LD_PRELOAD", folders.preloaded())
        .env("LD_LIBRARY_PATH", folders.searched())
        .env(SOCKET, folders.socket())
        .env(FOLDER, &folders.libraries)
        .spawn()
        .map_err(|e| Failure::bad_input(format!("cannot start {}: {e}", program.to_string_lossy())))
}

/// The program's exit code, or 128 and the signal that ended it.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s));
    ExitCode::from(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(1))
}

/// A compute capability, as in 8.0 or sm_80.
fn capability(text: &str) -> Result<Capability, Failure> {
    let found = match text.split_once('.') {
        Some((major, minor)) if minor.len() == 1 => Capability::parse(&format!("{major}{minor}")),
        _ => Capability::parse(text),
    };
    let known = found.filter(|c| (10..1000).contains(&c.number));
    known.ok_or_else(|| Failure::bad_input(format!("--capability {text}: write it as in 8.0")))
}
