//! `warpsim merge`: the shards of a study become what one machine would have made.

use super::{Show, command, concluded, planned, processors, quoted};
use crate::console::failure::{Failure, tell};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsim_study::Request;
use warpsim_study::merge::{United, unite};
use warpsim_study::store::Store;

/// Arguments of `warpsim merge`.
#[derive(clap::Args)]
#[command(
    after_help = "The shards' folders are only read. Report, tables and pictures are those that one \
                  machine would have written, byte for byte. While runs are missing none are written: \
                  the shards that lack something are named by their runs, and running them again \
                  does only that."
)]
pub struct MergeArguments {
    /// Folders of `warpsim study|sweep --shard`; one, where all shards wrote to the same.
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Folder of the whole [default: the one DIR, or results/NAME where there are several].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The study file, where it is not where the shards had it.
    #[arg(long, value_name = "NAME|FILE.toml")]
    study: Option<String>,
    /// Show every figure and claim, not only what was learned.
    #[arg(long)]
    full: bool,
    /// Show nothing but errors and failed runs.
    #[arg(short, long, conflicts_with = "full")]
    quiet: bool,
}

/// Unites the folders of shards, and concludes the study.
pub fn merge(arguments: &MergeArguments) -> Result<ExitCode, Failure> {
    let request = agreed(&arguments.folders)?;
    let study = match &arguments.study {
        Some(file) => super::find(file)?,
        None => request.find()?,
    };
    let plan = planned(study, &request)?;
    let name = &plan.study.name;
    let out = match (&arguments.out, &arguments.folders[..]) {
        (Some(out), _) => out.clone(),
        (None, [only]) => only.clone(),
        (None, _) => Path::new("results").join(name),
    };
    let store = Store::open(&out, name)?;
    let united = unite(&plan, &arguments.folders, &store)?;
    for file in &united.damaged {
        tell!("not as it was written, and passed over: {}", file.display());
    }
    let command = command(&request, &out);
    if !united.missing.is_empty() {
        return Err(incomplete(&united, plan.runs.len(), &command));
    }
    if !arguments.quiet {
        tell!(
            "{} runs from {} folders, {} of them more than once",
            plan.runs.len(),
            arguments.folders.len(),
            united.again
        );
    }
    concluded(
        &plan,
        &store,
        processors(),
        &command,
        Show::of(arguments.quiet, arguments.full),
        None,
    )
}

/// What all folders were asked for.
fn agreed(folders: &[PathBuf]) -> Result<Request, Failure> {
    // There is at least one: the command line asks for it.
    let (at, others) = (&folders[0], &folders[1..]);
    let first = Request::read(at)?;
    for other in others {
        let next = Request::read(other)?;
        // The same study file may be elsewhere on another machine.
        if next.choices != first.choices {
            return Err(Failure::bad_input(format!(
                "{} and {} hold shards of different requests:\n{}\n{}",
                at.display(),
                other.display(),
                command(&first, Path::new("DIR")),
                command(&next, Path::new("DIR"))
            )));
        }
    }
    Ok(first)
}

fn incomplete(united: &United, of: usize, command: &str) -> Failure {
    const SHOWN: usize = 5;
    let missing = &united.missing;
    let mut text = format!(
        "{} of {of} runs are in none of the folders: {}{}",
        missing.len(),
        missing[..missing.len().min(SHOWN)].join(", "),
        if missing.len() > SHOWN { ", ..." } else { "" }
    );
    if !united.other_builds.is_empty() {
        let folders = united.other_builds.iter();
        let folders: Vec<_> = folders.map(|f| quoted(&f.display().to_string())).collect();
        text += &format!(
            "\nanother build of warpsim wrote {}: its results do not count for this one",
            folders.join(", ")
        );
    }
    Failure::bad_input(format!(
        "{text}\nwhat there is was merged, and no report was written: run the shards that were lost \
         again, and merge; or run what is missing here:\n{command}"
    ))
}
