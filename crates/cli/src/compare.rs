//! `warpsim compare`.

use crate::console::failure::{Failure, print};
use crate::console::terminal;
use std::path::PathBuf;
use std::process::ExitCode;
use warpsim_study::compare::{self, Folder};

/// Lines shown without `--all`.
const MOST: usize = 40;

/// Arguments of `warpsim compare`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  warpsim compare lrr.json gto.json
  warpsim compare results-before/baws results/baws")]
pub struct Arguments {
    /// Files of `warpsim run --stats`; the others are compared with the first. Or two folders: of such
    /// files, which belong together by their names, or what a study or sweep left before and after a change.
    #[arg(value_name = "STATS.json|DIR", num_args = 2.., required = true)]
    files: Vec<PathBuf>,
    /// Show every statistic that moved, or every run of the folders, not only those that moved most.
    #[arg(long)]
    all: bool,
}

/// Says which run is faster, and which statistics moved, by how much, worst first.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let most = if arguments.all { usize::MAX } else { MOST };
    let width = terminal::width();
    let folders = arguments.files.iter().filter(|f| f.is_dir()).count();
    if folders == 0 {
        let runs = arguments.files.iter().map(|f| compare::read(f));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        print(&compare::text(&runs, most, width))?;
        return Ok(ExitCode::SUCCESS);
    }
    let [a, b] = &arguments.files[..] else {
        return Err(Failure::bad_input(
            "folders are compared two at a time: the first with the second",
        ));
    };
    if folders == 1 {
        return Err(Failure::bad_input(format!(
            "{} and {} cannot be compared: one is a folder, the other is not",
            a.display(),
            b.display()
        )));
    }
    let (a, b) = (Folder::read(a)?, Folder::read(b)?);
    print(&compare::compared(&a, &b, most, width)?)?;
    Ok(ExitCode::SUCCESS)
}
