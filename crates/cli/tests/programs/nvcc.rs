//! NVIDIA's compilers that are installed, and what they make of a program.

use super::kept;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpsim_workloads::cuda::CudaCompiler;

/// How the runtime gets into a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// Linked into it, nvcc's default.
    Static,
    /// A library beside it.
    Shared,
}

/// A compiler.
#[derive(Clone, Debug)]
pub struct Nvcc {
    path: PathBuf,
    /// "13.0".
    pub version: String,
}

impl Nvcc {
    /// Those that `WARPSIM_NVCC` names, else the one that is installed.
    pub fn all() -> Vec<Nvcc> {
        let named = std::env::var_os("WARPSIM_NVCC").filter(|list| !list.is_empty());
        let paths: Vec<PathBuf> = match named {
            Some(list) => std::env::split_paths(&list).collect(),
            None => match CudaCompiler::choose(Some("nvcc".as_ref())) {
                Ok(CudaCompiler::Nvcc(path)) => vec![path],
                _ => Vec::new(),
            },
        };
        paths.into_iter().filter_map(Nvcc::of).collect()
    }

    fn of(path: PathBuf) -> Option<Nvcc> {
        let said = Command::new(&path).arg("--version").output().ok()?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = said.split_once("release ")?.1.split(',').next()?;
        let version = version.to_string();
        Some(Nvcc { path, version })
    }

    /// The program that comes of these sources and flags. Sources are compiled once, whatever runtime they are linked with.
    pub fn compile(
        &self,
        name: &str,
        folder: &Path,
        arguments: &[String],
        runtime: Runtime,
    ) -> Result<PathBuf, String> {
        let place = kept().join(format!("programs-{}", self.version));
        std::fs::create_dir_all(&place).map_err(|e| e.to_string())?;
        let (sources, flags): (Vec<_>, Vec<_>) = arguments.iter().partition(|w| w.ends_with(".cu"));
        let said = contents(folder);
        let mut objects = Vec::new();
        for source in sources {
            let object = place.join(format!("{name}-{source}.o"));
            let mut nvcc = self.command(folder, &flags);
            nvcc.args(["-c", source, "-o"]).arg(&object);
            make(nvcc, &object, &said)?;
            objects.push(object);
        }
        let binary = place.join(format!("{name}-{runtime:?}").to_lowercase());
        let mut nvcc = self.command(folder, &flags);
        if runtime == Runtime::Shared {
            nvcc.args(["-cudart", "shared", "-L"])
                .arg(self.libraries(&place)?);
        }
        nvcc.args(&objects).arg("-o").arg(&binary);
        make(nvcc, &binary, &said)?;
        Ok(binary)
    }

    fn command(&self, folder: &Path, flags: &[&String]) -> Command {
        let mut nvcc = Command::new(&self.path);
        // Host compilers that are newer than nvcc knows have compiled these.
        nvcc.current_dir(folder)
            .args(flags)
            .arg("-allow-unsupported-compiler");
        nvcc
    }

    /// A folder in which a linker finds the shared runtime: Python packages have it without the name that linkers ask for.
    fn libraries(&self, place: &Path) -> Result<PathBuf, String> {
        let folder = place.join("lib");
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let home = self
            .path
            .parent()
            .and_then(Path::parent)
            .unwrap_or(Path::new("/"));
        for candidate in ["lib64", "lib"].map(|lib| home.join(lib)) {
            let Ok(entries) = candidate.read_dir() else {
                continue;
            };
            let mut files: Vec<_> = entries.flatten().map(|e| e.path()).collect();
            files.sort();
            let named = |f: &&PathBuf| {
                let name = f.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("libcudart.so.")
            };
            if let Some(library) = files.iter().find(named) {
                let link = folder.join("libcudart.so");
                // It may be there from a run before, or from another thread.
                let _ = std::os::unix::fs::symlink(library, &link);
                break;
            }
        }
        Ok(folder)
    }
}

/// Runs a compiler, unless what it made before was made in the same way of the same.
fn make(mut nvcc: Command, made: &Path, sources: &str) -> Result<(), String> {
    let from = format!("{nvcc:?}\n{sources}");
    let mut note = made.as_os_str().to_owned();
    note.push(".from");
    if made.is_file() && std::fs::read_to_string(&note).is_ok_and(|n| n == from) {
        return Ok(());
    }
    let output = nvcc.output().map_err(|e| format!("{nvcc:?}: {e}"))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        return Err(format!("{nvcc:?}: {}", String::from_utf8_lossy(&said)));
    }
    std::fs::write(&note, from).map_err(|e| e.to_string())
}

/// All sources of a folder, as text.
fn contents(folder: &Path) -> String {
    let entries = folder.read_dir().expect("a folder");
    let mut files: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    files.sort();
    let code = files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "cu" || e == "h"));
    let texts = code.map(|f| std::fs::read_to_string(f).expect("readable"));
    texts.collect()
}
