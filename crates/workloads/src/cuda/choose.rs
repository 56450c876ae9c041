//! Which compiler a `.cu` file gets.

use crate::host::device::DeviceError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use warpsim_ptx::assembler::python_packages;
use warpsim_ptx::outside;

/// What to do without a compiler.
pub(super) const ADVICE: &str = "install clang 14 or later, NVRTC (`pip install nvidia-cuda-nvrtc-cu12`) or nvcc, \
     or name a compiler with --cuda-compiler or in the environment variable WARPSIM_CUDA_COMPILER; \
     or compile the file yourself and let the launch file name the .ptx";

/// The versions of clang that are looked for, newest first.
const CLANGS: std::ops::RangeInclusive<u32> = 14..=21;

/// The library's names, newest first.
const LIBRARIES: [&str; 4] = [
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so.11.2",
    "libnvrtc.so",
];

/// A compiler of CUDA C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CudaCompiler {
    /// NVIDIA's compiler.
    Nvcc(PathBuf),
    /// NVIDIA's compiler as a library, which needs no toolkit.
    Nvrtc(PathBuf),
    /// clang, with our headers.
    Clang(PathBuf),
}

impl CudaCompiler {
    /// The compiler that was asked for, by argument or environment, or the best that is installed.
    pub fn choose(asked: Option<&OsStr>) -> Result<CudaCompiler, DeviceError> {
        if let Some(name) = asked {
            return CudaCompiler::named(name);
        }
        if let Some(name) = outside::variable("WARPSIM_CUDA_COMPILER") {
            return CudaCompiler::named(&name);
        }
        if let Some(name) = outside::variable("CLANG") {
            return Ok(CudaCompiler::Clang(name.into()));
        }
        static INSTALLED: OnceLock<Option<CudaCompiler>> = OnceLock::new();
        let installed = INSTALLED.get_or_init(|| {
            let nvcc = nvcc().map(CudaCompiler::Nvcc);
            let nvcc = nvcc.or_else(|| nvrtc().map(CudaCompiler::Nvrtc));
            nvcc.or_else(|| clang().map(CudaCompiler::Clang))
        });
        let none =
            || DeviceError::bad_input(format!("no compiler of CUDA C is installed\n{ADVICE}"));
        installed.clone().ok_or_else(none)
    }

    /// A compiler by its name or path: what it is called says what it is.
    fn named(name: &OsStr) -> Result<CudaCompiler, DeviceError> {
        let missing = |what: &str| DeviceError::bad_input(format!("no {what} was found\n{ADVICE}"));
        match name.to_str() {
            Some("nvcc") => nvcc()
                .map(CudaCompiler::Nvcc)
                .ok_or_else(|| missing("nvcc")),
            Some("nvrtc") => nvrtc()
                .map(CudaCompiler::Nvrtc)
                .ok_or_else(|| missing("library of NVRTC")),
            Some("clang") => clang()
                .map(CudaCompiler::Clang)
                .ok_or_else(|| missing("clang")),
            _ => {
                let path = PathBuf::from(name);
                let file = path
                    .file_name()
                    .unwrap_or(name)
                    .to_string_lossy()
                    .into_owned();
                Ok(if file.contains("nvrtc") || file.contains(".so") {
                    CudaCompiler::Nvrtc(path)
                } else if file.contains("nvcc") {
                    CudaCompiler::Nvcc(path)
                } else {
                    CudaCompiler::Clang(path)
                })
            }
        }
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    outside::program(Path::new(name))
}

/// Folders that may hold a CUDA toolkit.
fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(outside::variable);
    let usual = PathBuf::from("/usr/local/cuda");
    named.map(PathBuf::from).chain([usual]).collect()
}

fn nvcc() -> Option<PathBuf> {
    let in_toolkit = || {
        toolkits()
            .into_iter()
            .map(|t| t.join("bin/nvcc"))
            .find(|f| f.is_file())
    };
    on_path("nvcc")
        .or_else(in_toolkit)
        .or_else(|| python_packages().iter().find_map(|p| packaged_nvcc(p)))
}

/// nvcc in a folder of Python packages. It comes in several: without one of them it does not work.
fn packaged_nvcc(packages: &Path) -> Option<PathBuf> {
    let root = packages.join("nvidia/cu13");
    let parts = [
        "bin/cudafe++",
        "nvvm/bin/cicc",
        "include/crt/host_config.h",
        "include/cuda_runtime.h",
    ];
    let nvcc = root.join("bin/nvcc");
    let whole = nvcc.is_file() && parts.iter().all(|part| root.join(part).is_file());
    whole.then_some(nvcc)
}

fn clang() -> Option<PathBuf> {
    let numbered = || CLANGS.rev().find_map(|n| on_path(&format!("clang-{n}")));
    on_path("clang").or_else(numbered)
}

fn nvrtc() -> Option<PathBuf> {
    let mut folders = outside::folders("LD_LIBRARY_PATH");
    for toolkit in toolkits() {
        folders.push(toolkit.join("lib64"));
        folders.push(toolkit.join("lib"));
    }
    let in_folder = |folder: &Path| {
        LIBRARIES
            .iter()
            .map(|n| folder.join(n))
            .find(|f| f.is_file())
    };
    folders.iter().find_map(|f| in_folder(f)).or_else(|| {
        let packages = python_packages();
        let places = packages
            .iter()
            .flat_map(|p| ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"].map(|place| p.join(place)));
        places.into_iter().find_map(|folder| in_folder(&folder))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvcc_in_python_packages_counts_when_all_of_it_is_there() {
        let packages = tempfile::tempdir().expect("a folder");
        let root = packages.path().join("nvidia/cu13");
        let mut seen = Vec::new();
        for part in [
            "bin/nvcc",
            "bin/cudafe++",
            "nvvm/bin/cicc",
            "include/crt/host_config.h",
            "include/cuda_runtime.h",
        ] {
            let file = root.join(part);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(&file, "").expect("written");
            seen.push(packaged_nvcc(packages.path()));
        }
        assert_eq!(seen[..4], [None, None, None, None]);
        assert_eq!(seen[4], Some(root.join("bin/nvcc")));
    }

    #[test]
    fn a_compilers_name_says_what_it_is() {
        let named = |name: &str| CudaCompiler::named(OsStr::new(name)).expect("a compiler");
        assert_eq!(
            named("/opt/cuda/bin/nvcc"),
            CudaCompiler::Nvcc("/opt/cuda/bin/nvcc".into())
        );
        assert_eq!(
            named("/x/libnvrtc.so.12"),
            CudaCompiler::Nvrtc("/x/libnvrtc.so.12".into())
        );
        assert_eq!(named("clang-17"), CudaCompiler::Clang("clang-17".into()));
    }
}
