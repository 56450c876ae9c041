//! A `.cu` file run by itself: what its kernels are given is said by the launch file of the same name
//! beside it, and else made up as `warpsim new` begins one.

use super::job::{Job, Wanted, file_job};
use crate::console::failure::{Failure, tell};
use crate::setup::cuda::source_text;
use std::path::Path;
use warpsim_present::Source;
use warpsim_present::mangled::shown;
use warpsim_workloads::launchfile::parse_with;
use warpsim_workloads::simulated::compile;
use warpsim_workloads::template;

/// What follows the name of a file whose launches are made up.
pub const MADE_UP: &str = "(made-up launches)";

/// What running a file of kernels means.
pub fn kernels_job(wanted: &Wanted, file: &Path) -> Result<Job, Failure> {
    let name = file.display().to_string();
    let beside = file.with_extension("toml");
    if beside.is_file() {
        tell!("{name} is run as {} says", beside.display());
        return file_job(wanted, &beside);
    }
    let ptx = wanted.cuda.read(file)?;
    let program = compile(&name, &ptx)?;
    if program.kernels.is_empty() {
        return Err(Failure::bad_input(format!("{name} has no kernels")));
    }
    let source = source_text(file);
    let host = source.as_deref().unwrap_or_default();
    if let Some(kernel) = template::unknown_shape(&program, host) {
        return Err(Failure::bad_input(format!(
            "{name}: kernel {} numbers its threads or blocks in two dimensions or more, and {name} has no launch \
             of it that can be read: a made-up one would be wrong\n`warpsim new {name}` writes {} for you to \
             complete, and `warpsim run {}` runs it",
            shown(kernel),
            beside.display(),
            beside.display()
        )));
    }
    let own = file.file_name().unwrap_or_default().to_string_lossy();
    let text = template::launch_file(&program, &own, source.as_deref());
    let made_up = Source::new(&format!("{name} {MADE_UP}"), &text);
    let mut launches = parse_with(&made_up, wanted.param)?;
    // The user did not ask for files.
    launches.outputs.clear();
    launches.cuda = wanted.cuda.options();
    if template::has_main(host) {
        tell!("the main of {name} is not run: it is host code, and kernels alone are simulated");
    }
    tell!(
        "{name} has no launch file: launches are as its host code says where that can be read, else made up like \
         all contents, and results are not checked\n--param n=... changes the sizes; `warpsim new {name}` writes all of it into {} for you to change",
        beside.display()
    );
    let directory = file.parent().unwrap_or(Path::new("")).to_path_buf();
    Ok(Job::File(Box::new(launches), directory, wanted.seed))
}
