//! Workloads in a folder of the user's (`--workload-dir`): a launch file with its PTX or CUDA each.

use crate::host::device::DeviceError;
use std::path::{Path, PathBuf};

/// A launch file that can be run by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderWorkload {
    /// Its name: the folder's, or folder/file where a folder has several launch files. Those
    /// directly in the folder given are called as the file.
    pub name: String,
    /// The launch file.
    pub launch_file: PathBuf,
}

/// Finds the workloads of a folder: launch files in it and in its sub-folders (one level), by
/// name.
pub fn workloads(folder: &Path) -> Result<Vec<FolderWorkload>, DeviceError> {
    let mut found: Vec<FolderWorkload> = Vec::new();
    for file in launch_files(folder)? {
        found.push(FolderWorkload {
            name: stem(&file),
            launch_file: file,
        });
    }
    for sub in entries(folder)?.into_iter().filter(|p| p.is_dir()) {
        let files = launch_files(&sub)?;
        let folder_name = stem(&sub);
        let alone = files.len() == 1;
        for file in files {
            let name = if alone {
                folder_name.clone()
            } else {
                format!("{folder_name}/{}", stem(&file))
            };
            found.push(FolderWorkload {
                name,
                launch_file: file,
            });
        }
    }
    if found.is_empty() {
        return Err(DeviceError::bad_input(format!(
            "{}: no launch file (.toml) in it or in its sub-folders\na workload is a folder with a \
             .ptx or .cu file and a launch file, see docs/launch-files.md",
            folder.display()
        )));
    }
    found.sort();
    if let Some(pair) = found.windows(2).find(|w| w[0].name == w[1].name) {
        return Err(DeviceError::bad_input(format!(
            "two workloads are called `{}`: {} and {}",
            pair[0].name,
            pair[0].launch_file.display(),
            pair[1].launch_file.display()
        )));
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, DeviceError> {
    let error = |e: std::io::Error| {
        DeviceError::bad_input(format!("cannot read the folder {}: {e}", folder.display()))
    };
    let mut paths = std::fs::read_dir(folder)
        .map_err(error)?
        .map(|entry| entry.map(|e| e.path()).map_err(error))
        .collect::<Result<Vec<_>, _>>()?;
    // What the system lists first differs between machines.
    paths.sort();
    Ok(paths)
}

fn launch_files(folder: &Path) -> Result<Vec<PathBuf>, DeviceError> {
    let is_launch_file = |p: &PathBuf| p.is_file() && p.extension().is_some_and(|e| e == "toml");
    Ok(entries(folder)?
        .into_iter()
        .filter(is_launch_file)
        .collect())
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Result<Vec<String>, String> {
        workloads(folder)
            .map(|found| found.into_iter().map(|w| w.name).collect())
            .map_err(|e| e.text)
    }

    #[test]
    fn named_by_folder_and_file() {
        let scratch = tempfile::tempdir().unwrap();
        let put = |name: &str| {
            let path = scratch.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        assert!(
            names(scratch.path())
                .unwrap_err()
                .contains("no launch file")
        );
        put("sort/launch.toml");
        put("sort/sort.ptx");
        put("scan/small.toml");
        put("scan/big.toml");
        put("alone.toml");
        let expected = ["alone", "scan/big", "scan/small", "sort"];
        assert_eq!(names(scratch.path()).unwrap(), expected);
        put("sort.toml");
        let error = names(scratch.path()).unwrap_err();
        assert!(error.contains("two workloads are called `sort`"), "{error}");
        let missing = names(&scratch.path().join("missing")).unwrap_err();
        assert!(missing.contains("cannot read the folder"), "{missing}");
    }
}
