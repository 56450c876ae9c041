//! The files of each process: the first has the names that were asked for, the others a number before the ending.

use crate::run::outputs::OutputArguments;
use std::path::{Path, PathBuf};

/// A file's name for the `number`th process.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 || path.as_os_str() == "-" {
        return path.to_path_buf();
    }
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let name = match path.extension() {
        Some(ending) => format!("{stem}-{number}.{}", ending.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    path.with_file_name(name)
}

/// What is written of the `number`th process that launches anything.
pub fn of_process(outputs: &OutputArguments, number: u32) -> OutputArguments {
    let mut outputs = outputs.clone();
    let profile = outputs.profile.as_mut().and_then(Option::as_mut);
    let files = [
        outputs.stats.as_mut(),
        outputs.report.as_mut(),
        outputs.trace.as_mut(),
        outputs.phases.as_mut(),
        outputs.gangs.as_mut(),
        outputs.watts.as_mut(),
        profile,
    ];
    for file in files.into_iter().flatten() {
        *file = numbered(file, number);
    }
    outputs
}

#[cfg(test)]
mod tests {
    use super::numbered;
    use std::path::Path;

    #[test]
    fn files_of_later_processes_have_a_number() {
        let name = |file: &str, number| numbered(Path::new(file), number).display().to_string();
        assert_eq!(name("out/a.json", 1), "out/a.json");
        assert_eq!(name("out/a.json", 2), "out/a-2.json");
        assert_eq!(name("a", 3), "a-3");
        assert_eq!(name("-", 2), "-");
    }
}
