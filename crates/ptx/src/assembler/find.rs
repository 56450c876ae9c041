//! Where assemblers are looked for.

use crate::outside;
use std::path::{Path, PathBuf};

/// Places inside a folder of Python packages.
const IN_PACKAGES: [&str; 4] = [
    "nvidia/cuda_nvcc/bin/ptxas",
    "nvidia/cu13/bin/ptxas",
    "triton/backends/nvidia/bin/ptxas",
    "triton/third_party/cuda/bin/ptxas",
];

/// Every file that may be an assembler, in the order in which they are preferred.
pub fn candidates() -> Vec<PathBuf> {
    let mut places = Vec::new();
    let on_path = outside::folders("PATH").into_iter();
    places.extend(on_path.map(|folder| folder.join("ptxas")));
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(folder) = outside::variable(name) {
            places.push(Path::new(&folder).join("bin/ptxas"));
        }
    }
    places.push(PathBuf::from("/usr/local/cuda/bin/ptxas"));
    for folder in python_packages() {
        places.extend(IN_PACKAGES.iter().map(|place| folder.join(place)));
    }
    places.retain(|place| place.is_file());
    places.dedup();
    places
}

/// The folders where Python looks for packages, as Python says.
pub fn python_packages() -> Vec<PathBuf> {
    let ask = ["-c", "import sys; print('\\n'.join(sys.path))"].map(Into::into);
    let Ok(said) = outside::run(Path::new("python3"), &ask) else {
        return Vec::new();
    };
    String::from_utf8_lossy(&said.stdout)
        .lines()
        .filter(|line| !line.is_empty())
        .map(PathBuf::from)
        .collect()
}
