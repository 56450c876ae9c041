//! What is run and loaded from outside: compilers, assemblers, NVIDIA's libraries. Where they are looked
//! for, and saying what is used.
//!
//! Nothing comes from the current folder unless a user names it. The system's own search takes an empty
//! part of `PATH` or `LD_LIBRARY_PATH` for that folder; here it means nothing, and programs that are run
//! get these variables without it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Variables that hold lists of folders.
const LISTS: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "PYTHONPATH"];

/// Where the system keeps libraries.
const LIBRARIES: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/wsl/lib",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
];

static SAY: OnceLock<fn(&str)> = OnceLock::new();

/// From now on `say` is told of everything that is run or loaded.
pub fn announce(say: fn(&str)) {
    // The first that was set is kept.
    let _ = SAY.set(say);
}

fn tell(text: impl FnOnce() -> String) {
    if let Some(say) = SAY.get() {
        say(&text());
    }
}

/// The value of an environment variable; an empty one is none.
pub fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The folders that an environment variable lists.
pub fn folders(name: &str) -> Vec<PathBuf> {
    env::var_os(name).map_or(Vec::new(), |list| listed(&list))
}

/// A list of folders without its empty parts.
fn listed(list: &OsStr) -> Vec<PathBuf> {
    let parts = env::split_paths(list);
    parts.filter(|part| !part.as_os_str().is_empty()).collect()
}

/// The program of a name: itself where the name is a path, else the first on `PATH`.
pub fn program(name: &Path) -> Option<PathBuf> {
    match name.components().count() {
        1 if !name.is_absolute() => {
            let mut places = folders("PATH").into_iter().map(|folder| folder.join(name));
            places.find(|place| is_program(place))
        }
        _ => Some(name.to_path_buf()),
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Runs a program by its name or path, with these arguments, to its end.
pub fn run(name: &Path, arguments: &[OsString]) -> io::Result<Output> {
    let not_found = || io::Error::new(io::ErrorKind::NotFound, "it is not on PATH");
    let program = program(name).ok_or_else(not_found)?;
    let mut command = Command::new(&program);
    command.args(arguments);
    for variable in LISTS {
        let Some(list) = env::var_os(variable) else {
            continue;
        };
        match env::join_paths(listed(&list)) {
            Ok(list) if !list.is_empty() => command.env(variable, list),
            _ => command.env_remove(variable),
        };
    }
    tell(|| {
        let words = arguments.iter().map(|word| word.to_string_lossy());
        let words: Vec<_> = std::iter::once(program.to_string_lossy())
            .chain(words)
            .collect();
        format!("runs {}", words.join(" "))
    });
    command.output()
}

/// The file of a library: a path stays itself, a name is looked for in `LD_LIBRARY_PATH`, then where the
/// system keeps libraries. A name that is in none of these is left to the system's own search, unless
/// that would look in the current folder.
pub fn library(name: &Path) -> Result<PathBuf, String> {
    if name.components().count() > 1 || name.is_absolute() {
        return Ok(name.to_path_buf());
    }
    let places = folders("LD_LIBRARY_PATH").into_iter();
    let mut places = places.chain(LIBRARIES.map(PathBuf::from));
    if let Some(found) = places.find(|folder| folder.join(name).is_file()) {
        return Ok(found.join(name));
    }
    let list = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    match !list.is_empty() && env::split_paths(&list).any(|part| part.as_os_str().is_empty()) {
        true => Err("it is in no folder of LD_LIBRARY_PATH".to_string()),
        false => Ok(name.to_path_buf()),
    }
}

/// Says that a library is loaded.
pub fn loads(library: &Path) {
    tell(|| format!("loads {}", library.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_parts_of_lists_are_no_folders() {
        let found = listed(OsStr::new(":/usr/bin::/bin:"));
        assert_eq!(found, [PathBuf::from("/usr/bin"), PathBuf::from("/bin")]);
        assert!(listed(OsStr::new("")).is_empty());
    }

    #[test]
    fn a_path_is_itself_and_a_name_is_looked_for() {
        let path = Path::new("./bin/nvcc");
        assert_eq!(program(path), Some(path.to_path_buf()));
        assert_eq!(library(path), Ok(path.to_path_buf()));
        assert_eq!(program(Path::new("no-such-program-here")), None);
        let found = program(Path::new("sh")).expect("there is a shell");
        assert!(found.is_absolute(), "{found:?}");
    }
}
