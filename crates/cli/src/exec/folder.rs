//! The folders of a run: one for the libraries and the socket, one for memory that is shared. They go away with the run.

use crate::console::failure::Failure;
use crate::console::interrupt;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use warpsim_doors::libraries::{LIBRARIES, PRELOADED};

/// Bytes that a socket's path may have.
const LONGEST: usize = 107;
/// Where memory is shared without a disk, if there is such a place.
const MEMORY: &str = "/dev/shm";

/// The folders.
pub struct Folders {
    /// Libraries and socket.
    pub libraries: PathBuf,
    /// Files of shared memory.
    pub memory: PathBuf,
}

impl Folders {
    /// Makes them, with the libraries.
    pub fn make() -> Result<Folders, Failure> {
        if LIBRARIES.is_empty() {
            return Err(Failure::bad_input(
                "this warpsim was built without the libraries for programs: they are there on x86-64 and AArch64 with glibc",
            ));
        }
        let name = format!("warpsim-exec-{}", std::process::id());
        let folders = Folders {
            libraries: std::env::temp_dir().join(&name),
            memory: match Path::new(MEMORY).is_dir() {
                true => Path::new(MEMORY).join(&name),
                false => std::env::temp_dir().join(format!("{name}-memory")),
            },
        };
        interrupt::remove(&[&folders.libraries, &folders.memory]);
        for folder in [&folders.libraries, &folders.memory] {
            // Nobody else may connect or look.
            let made = fs::DirBuilder::new().mode(0o700).create(folder);
            made.map_err(|e| cannot(folder, &e))?;
        }
        if folders.socket().as_os_str().len() > LONGEST {
            return Err(Failure::bad_input(format!(
                "the folder for temporary files has too long a name for a socket in it: {}; TMPDIR says which it is",
                folders.libraries.display()
            )));
        }
        for library in LIBRARIES {
            let path = folders.libraries.join(library.name);
            fs::write(&path, library.bytes).map_err(|e| cannot(&path, &e))?;
        }
        Ok(folders)
    }

    /// Where the server listens.
    pub fn socket(&self) -> PathBuf {
        self.libraries.join("socket")
    }

    /// What is loaded before the program's own libraries: the part that redirects runtimes, then all that programs could find elsewhere.
    pub fn preloaded(&self) -> OsString {
        let others = LIBRARIES
            .iter()
            .map(|l| l.name)
            .filter(|name| *name != PRELOADED);
        let names = [PRELOADED].into_iter().chain(others);
        let mut list = OsString::new();
        for name in names {
            list.push(self.libraries.join(name));
            list.push(":");
        }
        list.push(std::env::var_os("LD_PRELOAD").unwrap_or_default());
        list
    }

    /// Where the loader looks first.
    pub fn searched(&self) -> OsString {
        let mut list = self.libraries.clone().into_os_string();
        if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|o| !o.is_empty()) {
            list.push(":");
            list.push(others);
        }
        list
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // What cannot be removed lies among other temporary files.
        let _ = fs::remove_dir_all(&self.libraries);
        let _ = fs::remove_dir_all(&self.memory);
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::bad_input(format!("cannot write {}: {error}", path.display()))
}
