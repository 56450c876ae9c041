//! `warpsim import`: a machine file from another simulator's configuration.

mod gpgpusim;

use crate::console::failure::{Failure, print};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use warpsim_present::Source;
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
    let bytes = std::fs::read(&arguments.file)
        .map_err(|e| Failure::bad_input(format!("cannot read {name}: {e}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let imported =
        gpgpusim::import(&text).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
    let machine = file_text(&name, &imported);
    // What it says must be a machine.
    from_source(&Source::new("the machine file", &machine), &[]).map_err(|e| {
        Failure::bad_input(format!(
            "{name} describes no machine that can be simulated: {e}"
        ))
    })?;
    let known = imported.settings.len();
    let unknown = imported.unknown.len();
    match &arguments.output {
        None => print(&machine)?,
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

fn file_text(name: &str, imported: &gpgpusim::Imported) -> String {
    let mut out = format!(
        "# From {name} by `warpsim import`. What it does not say is as on gtx480.\nschema = 1\nextends = \"gtx480\"\n\
         name = \"imported\"\ndescription = \"imported from a gpgpusim.config\"\n"
    );
    // Dotted keys need no tables, and each keeps its source beside it. Writing to a String cannot fail.
    for (key, value, from) in &imported.settings {
        let _ = writeln!(out, "{:40} # -{from}", format!("{key} = {value}"));
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
