//! `warpsim compare`.

use crate::failure::{Failure, print};
use std::path::PathBuf;
use std::process::ExitCode;
use warpsim_study::compare;

/// Lines shown without `--all`.
const MOST: usize = 40;

/// Arguments of `warpsim compare`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Files of `warpsim run --stats`; the others are compared with the first.
    #[arg(value_name = "STATS.json", num_args = 2.., required = true)]
    files: Vec<PathBuf>,
    /// Show every statistic that moved, not only those that moved most.
    #[arg(long)]
    all: bool,
}

/// Says which statistics moved, by how much, worst first.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let runs = arguments.files.iter().map(|f| compare::read(f));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let most = if arguments.all { usize::MAX } else { MOST };
    print(&compare::text(&runs, most))?;
    Ok(ExitCode::SUCCESS)
}
