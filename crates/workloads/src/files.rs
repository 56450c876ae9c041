//! Writing files so that a failure leaves nothing half-written.

use std::io;
use std::path::Path;

/// Writes a whole file: to a temporary name beside it first, then renamed into place.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("the path does not name a file"))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let result = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if result.is_err() {
        // Best effort: the first error is the one to report.
        let _ = std::fs::remove_file(&temporary);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
