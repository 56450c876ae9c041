//! `warpsim import`: a machine file from another simulator's configuration.

#[cfg(test)]
mod any_text;
mod gpgpusim;

use crate::console::failure::{Failure, print, print_data};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use warpsim_present::{Source, SourceError, reading};
use warpsim_sim::config::read::load::from_source;
use warpsim_workloads::files::write_whole;

/// Arguments of `warpsim import`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  warpsim import gpgpusim.config -o mine.toml
  warpsim run matmul --machine mine.toml")]
pub struct Arguments {
    /// A gpgpusim.config, of GPGPU-Sim or Accel-Sim.
    #[arg(value_name = "gpgpusim.config")]
    file: PathBuf,
    /// The machine file to write [default: shown].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes a machine file with every option that it knows, and lists the others.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let name = arguments.file.display().to_string();
    let bytes = reading::read(&arguments.file, reading::TEXT)
        .map_err(|e| Failure::bad_input(format!("cannot read {name}: {e}")))?;
    let source = Source::new(&name, &String::from_utf8_lossy(&bytes));
    let mut imported = gpgpusim::import(&source)?;
    let mut machine = file_text(&name, &imported);
    // What it says must be a machine. SMs and memory meet after each quantum, of which these files know nothing:
    // it has to be below the delays between them.
    let mut result = resolved(&machine);
    for quantum in (1..=3u32).rev() {
        if !result
            .as_ref()
            .is_err_and(|e| e.message.contains("quantum"))
        {
            break;
        }
        let setting = (
            "gpu.quantum".to_string(),
            quantum.to_string(),
            QUANTUM.to_string(),
        );
        imported.settings.retain(|(key, ..)| key != "gpu.quantum");
        imported.settings.push(setting);
        machine = file_text(&name, &imported);
        result = resolved(&machine);
    }
    result.map_err(|e| in_the_config(&e, &machine, &imported, &source))?;
    let known = imported.settings.len();
    let unknown = imported.unknown.len();
    match &arguments.output {
        None => print_data(&machine)?,
        Some(path) => {
            let shown = path.display();
            write_whole(path, machine.as_bytes())
                .map_err(|e| Failure::bad_input(format!("cannot write {shown}: {e}")))?;
            print(&format!(
                "wrote {shown}: {known} settings; {unknown} options have no counterpart and are listed at its end\n"
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Why a machine has a quantum of its own.
const QUANTUM: &str = "its delays ask for a shorter one";

/// Whether a text is a machine.
fn resolved(machine: &str) -> Result<(), SourceError> {
    from_source(&Source::new("the machine file", machine), &[]).map(|_| ())
}

/// An error in the machine file that was made, shown in the file that it was made of.
fn in_the_config(
    error: &SourceError,
    machine: &str,
    imported: &gpgpusim::Imported,
    source: &Source,
) -> SourceError {
    let message = format!("no machine that can be simulated: {}", error.message);
    let line = error.span.as_ref().and_then(|span| {
        let start = machine[..span.start].rfind('\n').map_or(0, |at| at + 1);
        machine[start..].lines().next()
    });
    let option = line
        .and_then(|line| line.split_once("# -"))
        .map(|(_, option)| option.trim());
    let place = imported
        .places
        .iter()
        .find(|(name, _)| Some(name.as_str()) == option);
    let shown = match place {
        Some((_, place)) => source.error(place.clone(), message),
        None => source.error_without_place(message),
    };
    shown.with_optional_help(error.help.clone())
}

fn file_text(name: &str, imported: &gpgpusim::Imported) -> String {
    let mut out = format!(
        "# From {name} by `warpsim import`. What it does not say is as on gtx480.\nschema = 1\nextends = \"gtx480\"\n\
         name = \"imported\"\ndescription = \"imported from a gpgpusim.config\"\n"
    );
    // Dotted keys need no tables, and each keeps its source beside it. Writing to a String cannot fail.
    for (key, value, from) in &imported.settings {
        // An option's name is one word; a reason of ours is a sentence.
        let dash = if from.contains(' ') { "" } else { "-" };
        let _ = writeln!(out, "{:40} # {dash}{from}", format!("{key} = {value}"));
    }
    for note in &imported.notes {
        let _ = writeln!(out, "# {note}");
    }
    if !imported.unknown.is_empty() {
        out += "\n# Without a counterpart, or not told apart here:\n";
    }
    for (option, value) in &imported.unknown {
        let _ = writeln!(out, "# -{option} {value}");
    }
    out
}
