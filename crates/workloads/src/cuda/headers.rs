//! The headers that stand in for CUDA's when clang compiles, and writing them where it finds them.

use std::io;
use std::path::Path;

macro_rules! headers {
    ($($name:literal)*) => {
        /// Names and texts, as they lie in `crates/workloads/cuda`.
        const HEADERS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../cuda/", $name))),)*
        ];
    };
}

headers! {
    "assert.h"
    "bits/shared_ptr_base.h"
    "cassert"
    "cooperative_groups.h"
    "cooperative_groups/reduce.h"
    "cuda.h"
    "cuda_fp16.h"
    "cuda_fp16.hpp"
    "cuda_runtime.h"
    "cuda_runtime_api.h"
    "device_atomic_functions.h"
    "device_functions.h"
    "device_launch_parameters.h"
    "math.h"
    "math_constants.h"
    "math_functions.h"
    "new"
    "sm_30_intrinsics.h"
    "stdio.h"
    "stdlib.h"
    "vector_functions.h"
    "vector_types.h"
    "warpsim.cuh"
    "warpsim/atomics.h"
    "warpsim/attributes.h"
    "warpsim/barriers.h"
    "warpsim/bits.h"
    "warpsim/convert.h"
    "warpsim/error_function.h"
    "warpsim/exponential.h"
    "warpsim/fast_math.h"
    "warpsim/host.h"
    "warpsim/indices.h"
    "warpsim/loads.h"
    "warpsim/math.h"
    "warpsim/min_max.h"
    "warpsim/polynomials.h"
    "warpsim/print.h"
    "warpsim/rounding.h"
    "warpsim/shuffles.h"
    "warpsim/trigonometry.h"
    "warpsim/vectors.h"
    "warpsim/votes.h"
    "warpsim_cuda.h"
}

/// Writes all of them into a folder.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    for sub in ["warpsim", "cooperative_groups", "bits"] {
        std::fs::create_dir_all(folder.join(sub))?;
    }
    for (name, text) in HEADERS {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::HEADERS;
    use std::path::{Path, PathBuf};

    fn files(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                files(&path, into);
            } else {
                into.push(path);
            }
        }
    }

    #[test]
    fn no_header_is_left_behind() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda");
        let mut found = Vec::new();
        files(&root, &mut found);
        let mut found: Vec<String> = found
            .iter()
            .map(|f| f.strip_prefix(&root).expect("below").display().to_string())
            .collect();
        found.sort();
        let mut listed: Vec<&str> = HEADERS.iter().map(|(name, _)| *name).collect();
        listed.sort();
        assert_eq!(found, listed);
    }
}
