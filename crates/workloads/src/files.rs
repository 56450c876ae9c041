//! Writing files so that a failure leaves nothing half-written.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};

/// How to write to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Under a temporary name beside it first, then renamed into place.
    Staged {
        /// The temporary name.
        temporary: PathBuf,
        /// The name in the end: a link is followed, so that it stays a link.
        target: PathBuf,
    },
    /// Straight into it: a device or a pipe, which a rename would replace by a file.
    Direct,
}

/// How to write to `path`.
pub fn route(path: &Path) -> io::Result<Route> {
    let there = std::fs::metadata(path).ok();
    if there.as_ref().is_some_and(|m| !m.is_file() && !m.is_dir()) {
        return Ok(Route::Direct);
    }
    let target = match there {
        Some(_) => std::fs::canonicalize(path)?,
        None => path.to_path_buf(),
    };
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::other("the path does not name a file"))?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{:016x}.tmp", unlike_any_other()));
    Ok(Route::Staged {
        temporary: target.with_file_name(temporary),
        target,
    })
}

/// A number that no other writer has: machines that share a folder have processes with the same
/// number, and a process may write one file from two threads.
fn unlike_any_other() -> u64 {
    // Keyed at random for each process, and otherwise each time.
    RandomState::new().hash_one(std::process::id())
}

/// Which file a path means, so that two spellings of one can be compared: links followed, as far
/// as it exists.
pub fn identity(path: &Path) -> PathBuf {
    if let Ok(there) = std::fs::canonicalize(path) {
        return there;
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    let parent = std::fs::canonicalize(parent.unwrap_or(Path::new(".")));
    match (parent, path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_path_buf(),
    }
}

/// Writes a whole file, or nothing.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (temporary, target) = match route(path)? {
        Route::Staged { temporary, target } => (temporary, target),
        Route::Direct => return std::fs::write(path, bytes),
    };
    let result =
        std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, target));
    if result.is_err() {
        // Best effort: the first error is the one to report.
        let _ = std::fs::remove_file(&temporary);
    }
    result
}

/// Writes files into a folder, which is made where it is missing: all of them, or nothing. None of them is
/// there yet.
pub fn write_folder(folder: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|place| !place.as_os_str().is_empty() && !place.exists())
        .collect();
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut files = files.iter();
        files.try_for_each(|(name, bytes)| write_whole(&folder.join(name), bytes))
    });
    if written.is_err() {
        // Best effort: the first error is the one to report.
        for (name, _) in files {
            let _ = std::fs::remove_file(folder.join(name));
        }
        for place in missing {
            let _ = std::fs::remove_dir(place);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_written_whole_or_not_at_all() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("new/deeper");
        let file = |name: &str| (name.to_string(), vec![1]);
        // There is no folder of that name to write into.
        let bad = [file("first"), file("no-such-folder/second")];
        assert!(write_folder(&folder, &bad).is_err());
        assert!(!scratch.path().join("new").exists());
        std::fs::create_dir_all(&folder).unwrap();
        assert!(write_folder(&folder, &bad).is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        write_folder(&folder, &[file("first"), file("second")]).unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let dir = std::env::temp_dir().join(format!("warpsim-files-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("taken")).unwrap();
        // Renaming a file over a directory fails after the temporary was written.
        assert!(write_whole(&dir.join("taken"), b"x").is_err());
        assert!(write_whole(&dir.join("missing/file"), b"x").is_err());
        write_whole(&dir.join("good"), b"x").unwrap();
        let mut names: Vec<_> = std::fs::read_dir(&dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["good", "taken"]);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_devices_stay_devices() {
        use std::os::unix::fs::FileTypeExt;
        let dir = std::env::temp_dir().join(format!("warpsim-links-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (real, link) = (dir.join("real"), dir.join("link"));
        std::fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        // Only asked, not written: were this wrong, writing would replace the device.
        assert_eq!(route(Path::new("/dev/null")).unwrap(), Route::Direct);
        let null = std::fs::metadata("/dev/null").unwrap();
        assert!(null.file_type().is_char_device());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
