//! `run --profile`: what each instruction and each source line cost, from what an observer hears. Nothing
//! of it runs, and nothing is kept, without the flag.

mod collect;
mod html;
mod rank;
mod text;

pub use collect::{Collected, Profile};
pub use html::{SCRIPT, STYLE};

use crate::console::failure::Failure;
use rank::rank;
use std::path::Path;
use warpsim_workloads::files::write_whole;

/// What `--profile=FILE` makes, by the file's name.
pub fn check(file: &Path) -> Result<(), Failure> {
    let known = file.extension().is_some_and(|e| e == "html" || e == "json");
    match known {
        true => Ok(()),
        false => Err(Failure::bad_input(format!(
            "--profile={}: the name ends in .html (a page) or .json (data); without a name a table is shown",
            file.display()
        ))),
    }
}

/// The table for the terminal.
pub fn table(collected: &Collected) -> String {
    text::table(&rank(collected))
}

/// The page's tables, for a page that has the palette, the [`STYLE`] and, after them, the [`SCRIPT`].
pub fn sections(collected: &Collected) -> String {
    html::sections(&rank(collected))
}

/// Writes the page or the data.
pub fn write(collected: &Collected, what: &str, file: &Path) -> Result<(), Failure> {
    let kernels = rank(collected);
    let text = match file.extension().is_some_and(|e| e == "html") {
        true => html::page(&kernels, what),
        false => format!("{:#}\n", rank::json(&kernels, what)),
    };
    write_whole(file, text.as_bytes())
        .map_err(|e| Failure::bad_input(format!("cannot write {}: {e}", file.display())))
}
