//! CUDA's headers, which NVRTC comes without: where they are, and what brings them.

use super::clang::cudas;
use std::path::{Path, PathBuf};

/// The folder of Python packages that the library came in, or the toolkit's.
fn home(library: &Path) -> Option<&Path> {
    library.parent().and_then(Path::parent)
}

/// Python packages with CUDA's headers: what each is called, and where its headers lie beside the library's package.
const PACKAGES: [(&str, &str); 3] = [
    ("nvidia-cuda-runtime", "cuda_runtime/include"),
    ("nvidia-cuda-cccl", "cuda_cccl/include"),
    ("nvidia-cuda-nvcc", "cuda_nvcc/include"),
];

/// Folders with CUDA's headers near the library: in a toolkit, or in Python packages beside it.
pub(super) fn includes(library: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(home) = home(library) {
        places.push(home.join("include"));
        places.push(home.join("include/cccl"));
        if let Some(packages) = home.parent() {
            places.extend(PACKAGES.map(|(_, place)| packages.join(place)));
        }
    }
    places.retain(|place| place.is_dir());
    places
}

/// What helps, for the mistakes that are not the kernel's.
pub(super) fn hint(said: &str, library: &Path) -> Option<String> {
    let header = said.split_once("open source file \"");
    if let Some((name, _)) = header.and_then(|(_, rest)| rest.split_once('"')) {
        if !cudas(name) && !name.starts_with("crt/") {
            return Some(format!(
                "NVRTC takes kernels only: where `{name}` is for host code, `#ifndef __CUDACC_RTC__` leaves it out, and \
                 --cuda-compiler nvcc or --cuda-compiler clang reads it; where it is yours, \
                 `--cuda-flag --include-path=DIR` names its folder"
            ));
        }
        let packages = packages(library);
        return Some(match packages.is_empty() {
            true => format!(
                "the installed headers of CUDA have no `{name}`: `--cuda-flag --include-path=DIR` names another folder"
            ),
            false => format!(
                "`{name}` is CUDA's, and NVRTC comes without headers: `pip install {packages}` brings them, and \
                 `--cuda-flag --include-path=DIR` names a folder that has them"
            ),
        });
    }
    // Functions of the runtime, which only host code calls.
    if said.contains("identifier \"cuda") {
        return Some(
            "NVRTC takes kernels only: `#ifndef __CUDACC_RTC__` leaves host code out, and `--cuda-compiler nvcc` or \
             `--cuda-compiler clang` reads it"
                .into(),
        );
    }
    None
}

/// The Python packages with headers that are not there yet, of this version of the library: from 13 on their names say no
/// version, and what the compiler has for its own use is another one.
fn packages(library: &Path) -> String {
    let file = library
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let version = file.split_once(".so.").map_or("", |(_, version)| version);
    let suffix = match version.split('.').next() {
        Some("11") => "-cu11",
        Some("12") => "-cu12",
        _ => "",
    };
    let beside = home(library).and_then(Path::parent);
    let lacking = PACKAGES.iter().filter(|(_, place)| {
        let there = beside.is_some_and(|beside| beside.join(place).is_dir());
        !there
    });
    let names = lacking.map(|(name, _)| match (*name, suffix) {
        ("nvidia-cuda-nvcc", "") => "nvidia-cuda-crt".to_string(),
        (name, suffix) => format!("{name}{suffix}"),
    });
    names.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_about_what_nvrtc_does_not_take() {
        let header = "k.cu(2): catastrophic error: cannot open source file \"cuda/std/array\"";
        let with = |library: &str| hint(header, Path::new(library)).unwrap_or_default();
        assert!(with("/x/lib/libnvrtc.so.12").contains("nvidia-cuda-cccl-cu12 "));
        assert!(with("/x/lib/libnvrtc.so.11.2").contains("nvidia-cuda-cccl-cu11 "));
        assert!(with("/x/lib/libnvrtc.so.13").contains("nvidia-cuda-cccl nvidia-cuda-crt`"));
        let hint = |said| hint(said, Path::new("libnvrtc.so"));
        let host = "k.cu(9): error: identifier \"cudaMalloc\" is undefined";
        assert!(hint(host).is_some_and(|h| h.contains("__CUDACC_RTC__")));
        let host = "k.cu(1): catastrophic error: cannot open source file \"iostream\"";
        let said = hint(host).unwrap_or_default();
        assert!(said.contains("`iostream` is for host code") && !said.contains("pip"));
        assert_eq!(hint("k.cu(9): error: expected a \";\""), None);
    }

    #[test]
    fn packages_that_are_there_are_not_asked_for() {
        let packages = tempfile::tempdir().expect("a folder");
        let beside = packages.path().join("nvidia");
        std::fs::create_dir_all(beside.join("cuda_runtime/include")).expect("made");
        let library = beside.join("cuda_nvrtc/lib/libnvrtc.so.12");
        let missing = |name: &str| {
            let said = format!("k.cu(1): catastrophic error: cannot open source file \"{name}\"");
            hint(&said, &library).unwrap_or_default()
        };
        let said = missing("crt/mma.h");
        assert!(
            said.contains("`pip install nvidia-cuda-cccl-cu12 nvidia-cuda-nvcc-cu12`"),
            "{said}"
        );
        for place in ["cuda_cccl/include", "cuda_nvcc/include"] {
            std::fs::create_dir_all(beside.join(place)).expect("made");
        }
        let said = missing("cub/none.cuh");
        assert!(said.contains("have no `cub/none.cuh`"), "{said}");
    }

    #[test]
    fn headers_are_found_beside_the_library() {
        let packages = tempfile::tempdir().expect("a folder");
        let home = packages.path().join("nvidia/cu13");
        std::fs::create_dir_all(home.join("include/cccl")).expect("made");
        let found = includes(&home.join("lib/libnvrtc.so.13"));
        assert_eq!(found, [home.join("include"), home.join("include/cccl")]);
    }
}
