//! NVIDIA's assembler and disassembler, where the user has them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use warpsim_ptx::assembler::python_packages;
use warpsim_ptx::outside;

/// What to do without a tool.
const ADVICE: &str = "`pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm` has both tools (so have CUDA toolkits, and `pip install \
     triton`), or name them in the environment variables WARPSIM_PTXAS and WARPSIM_NVDISASM";

/// Folders of programs inside a folder of Python packages.
const IN_PACKAGES: [&str; 5] = [
    "nvidia/cu13/bin",
    "nvidia/cuda_nvcc/bin",
    "nvidia/cuda_nvdisasm/bin",
    "triton/backends/nvidia/bin",
    "triton/third_party/cuda/bin",
];

/// The tools.
#[derive(Clone, Debug)]
pub struct Tools {
    /// `ptxas`, where one is needed.
    assembler: Option<Tool>,
    /// `nvdisasm`.
    disassembler: Tool,
}

#[derive(Clone, Debug)]
struct Tool {
    path: PathBuf,
    version: String,
}

impl Tools {
    /// What reading a cubin takes.
    pub fn for_cubins() -> Result<Tools, String> {
        Ok(Tools {
            assembler: None,
            disassembler: find("nvdisasm", "WARPSIM_NVDISASM", "disassembler")?,
        })
    }

    /// What making machine code of PTX takes.
    pub fn for_ptx() -> Result<Tools, String> {
        Ok(Tools {
            assembler: Some(find("ptxas", "WARPSIM_PTXAS", "assembler")?),
            ..Tools::for_cubins()?
        })
    }

    /// The tools and their versions, for the reader.
    pub fn versions(&self) -> String {
        let disassembler = format!("nvdisasm {}", self.disassembler.version);
        match &self.assembler {
            Some(assembler) => format!("ptxas {}, {disassembler}", assembler.version),
            None => disassembler,
        }
    }

    /// Makes a cubin of PTX.
    pub(super) fn assemble(
        &self,
        source: &Path,
        result: &Path,
        architecture: u32,
    ) -> Result<(), String> {
        let assembler = self.assembler.as_ref().ok_or(ADVICE)?;
        let arguments = [
            format!("-arch=sm_{architecture}").into(),
            "-o".into(),
            result.into(),
            source.into(),
        ];
        run(&assembler.path, &arguments).map(drop)
    }

    /// What the disassembler says of a cubin, in JSON.
    pub(super) fn disassemble(&self, cubin: &Path) -> Result<Vec<u8>, String> {
        run(&self.disassembler.path, &["-json".into(), cubin.into()])
    }
}

fn run(program: &Path, arguments: &[OsString]) -> Result<Vec<u8>, String> {
    let output = outside::run(program, arguments)
        .map_err(|e| format!("cannot run {}: {e}", program.display()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    let shown = said.lines().filter(|line| !line.trim().is_empty()).take(12);
    let shown: Vec<&str> = shown.collect();
    Err(format!("{} says\n{}", program.display(), shown.join("\n")))
}

/// The program that the environment names, else the newest of those that are installed.
fn find(name: &str, variable: &str, what: &str) -> Result<Tool, String> {
    if let Some(path) = outside::variable(variable) {
        let path = PathBuf::from(path);
        return answering(&path).ok_or_else(|| {
            format!(
                "{variable} names {}, which is not NVIDIA's {what}\n{ADVICE}",
                path.display()
            )
        });
    }
    let found = candidates(name)
        .into_iter()
        .filter_map(|path| answering(&path));
    // The first of several that are equally new.
    found
        .reduce(|best, next| {
            if number(&next.version) > number(&best.version) {
                next
            } else {
                best
            }
        })
        .ok_or_else(|| format!("NVIDIA's {what} ({name}) is not installed\n{ADVICE}"))
}

/// A version as numbers.
fn number(version: &str) -> Vec<u32> {
    version
        .split('.')
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// The program, if it answers as NVIDIA's do when asked for its version.
fn answering(path: &Path) -> Option<Tool> {
    let said = outside::run(path, &["--version".into()]).ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let (_, rest) = said.split_once("release ")?;
    let (_, rest) = rest.split_once(", V")?;
    Some(Tool {
        path: path.to_path_buf(),
        version: rest.split_whitespace().next()?.to_string(),
    })
}

/// Every file that may be the program, in the order in which they are preferred.
fn candidates(name: &str) -> Vec<PathBuf> {
    let mut folders = outside::folders("PATH");
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(folder) = outside::variable(variable) {
            folders.push(Path::new(&folder).join("bin"));
        }
    }
    folders.push(PathBuf::from("/usr/local/cuda/bin"));
    for packages in python_packages() {
        folders.extend(IN_PACKAGES.iter().map(|place| packages.join(place)));
    }
    let mut files: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
    files.retain(|file| file.is_file());
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(number("13.0.88") > number("12.10.1"));
        assert!(number("12.10.1") > number("12.9.90"));
    }
}
