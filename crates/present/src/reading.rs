//! Files that people name, read whole: regular ones, and no larger than what they are for can use.

use std::fs::{File, FileType, Metadata};
use std::io::{Error, Read, Result};
use std::path::Path;

/// Texts that people write: launch files, machine files, studies, CUDA C.
pub const TEXT: u64 = 64 << 20;

/// Data: arrays and tables.
pub const DATA: u64 = 4 << 30;

/// What a file is, where it is not a regular one; `None` where it is.
fn special(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        None
    } else if kind.is_dir() {
        Some("it is a folder, not a file")
    } else {
        Some("it is a pipe or a device; what is read here is a file")
    }
}

fn refusal(there: &Metadata, most: u64) -> Option<Error> {
    if let Some(what) = special(there.file_type()) {
        return Some(Error::other(what));
    }
    (there.len() > most).then(|| too_large(there.len(), most))
}

fn too_large(bytes: u64, most: u64) -> Error {
    Error::other(format!("it has {bytes} bytes, and {most} are the most"))
}

/// Refuses what [`read`] refuses, without reading.
pub fn check(path: &Path, most: u64) -> Result<()> {
    refusal(&std::fs::metadata(path)?, most).map_or(Ok(()), Err)
}

/// The bytes of a regular file of at most so many. A pipe is not waited for, and a device that never
/// ends is not read from.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    // Opening a pipe would wait for its writer.
    check(path, most)?;
    let mut file = File::open(path)?;
    let there = file.metadata()?;
    if let Some(why) = refusal(&there, most) {
        return Err(why);
    }
    let mut bytes = Vec::new();
    if !crate::memory::try_reserve(&mut bytes, there.len() as usize) {
        return Err(Error::other(format!(
            "the host has no {} bytes left for it",
            there.len()
        )));
    }
    // It may grow while it is read, and files of the system's do not say how large they are.
    file.by_ref().take(most).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == most && file.read(&mut [0])? > 0 {
        return Err(too_large(most + 1, most));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_files_up_to_a_size_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "four").expect("written");
        assert_eq!(read(&file, 4).expect("read"), b"four");
        let error = read(&file, 3).expect_err("too large").to_string();
        assert_eq!(error, "it has 4 bytes, and 3 are the most");
        let error = read(folder.path(), 3).expect_err("a folder").to_string();
        assert_eq!(error, "it is a folder, not a file");
        assert!(read(&folder.path().join("missing"), 3).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_neither_read_nor_waited_for() {
        for endless in ["/dev/zero", "/dev/null"] {
            let error = read(Path::new(endless), 1 << 40).expect_err("a device");
            assert!(error.to_string().contains("a device"), "{error}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        let error = read(&pipe, 4).expect_err("a pipe").to_string();
        assert!(error.contains("a pipe"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_does_not_say_its_size_is_limited_too() {
        // The system says that it has 0 bytes.
        let status = Path::new("/proc/self/status");
        assert!(!read(status, 1 << 20).expect("read").is_empty());
        assert!(read(status, 8).is_err());
    }
}
