//! Addresses of functions by name: programs ask for the name without a version, and for the newest that a version of CUDA has.

use crate::client::Result;
use crate::client::posix::{NOW, dlopen, dlsym};
use crate::runtime::{Pointer, bytes, give, offer};
use crate::wire::status;
use std::ffi::{CString, c_char, c_int};

/// Since which version of CUDA a name means a newer function; `_v2` of what is not here is as old as anything that is asked for.
const SINCE: [(&str, c_int); 18] = [
    ("cuCtxCreate_v4", 12_050),
    ("cuCtxCreate_v3", 11_040),
    ("cuCtxGetDevice_v2", 13_000),
    ("cuCtxSynchronize_v2", 13_000),
    ("cuDeviceGetUuid_v2", 11_040),
    ("cuDevicePrimaryCtxRelease_v2", 11_000),
    ("cuDevicePrimaryCtxReset_v2", 11_000),
    ("cuDevicePrimaryCtxSetFlags_v2", 11_000),
    ("cuEventElapsedTime_v2", 12_080),
    ("cuGetProcAddress_v2", 12_000),
    ("cuGraphAddKernelNode_v2", 12_000),
    ("cuGraphExecKernelNodeSetParams_v2", 12_000),
    ("cuGraphExecUpdate_v2", 12_000),
    ("cuGraphKernelNodeSetParams_v2", 12_000),
    ("cuLaunchHostFunc_v2", 13_010),
    ("cuMemAdvise_v2", 12_020),
    ("cuMemPrefetchAsync_v2", 12_020),
    ("cuStreamGetCaptureInfo_v3", 12_030),
];

/// No name has more versions.
const NEWEST: u32 = 4;

/// Names that a name may mean for a version of CUDA, the best first.
fn candidates(name: &str, version: c_int) -> Vec<String> {
    let newer = (2..=NEWEST).rev().map(|n| format!("{name}_v{n}"));
    let known = newer.filter(|newer| {
        let since = SINCE.iter().find(|(of, _)| of == newer);
        match since {
            Some((_, since)) => version >= *since,
            None => newer.ends_with("_v2"),
        }
    });
    known.chain([name.to_string()]).collect()
}

/// # Safety
/// `name` is a text; `to` can be written.
unsafe fn find(name: *const c_char, to: *mut Pointer, version: c_int) -> Result<()> {
    // SAFETY: as the caller says.
    let text = unsafe {
        give(to, std::ptr::null_mut())?;
        bytes(name)?
    };
    let text = std::str::from_utf8(text).map_err(|_| status::INVALID_VALUE)?;
    // SAFETY: it is this library, which is loaded.
    let library = unsafe { dlopen(c"libcuda.so.1".as_ptr(), NOW) };
    if library.is_null() {
        return Err(status::NOT_FOUND);
    }
    for candidate in candidates(text, version) {
        let name = CString::new(candidate).map_err(|_| status::INVALID_VALUE)?;
        // SAFETY: the library is loaded, the name a text.
        let found = unsafe { dlsym(library, name.as_ptr()) };
        if !found.is_null() {
            // SAFETY: as the caller says.
            return unsafe { give(to, found) };
        }
    }
    Err(status::NOT_FOUND)
}

driver! {
    fn cuGetProcAddress(name: *const c_char, to: *mut Pointer, version: c_int, _flags: u64) {
        find(name, to, version)
    }

    fn cuGetProcAddress_v2(name: *const c_char, to: *mut Pointer, version: c_int, _flags: u64, found: *mut c_int) {
        let result = find(name, to, version);
        offer(found, c_int::from(result.is_err()));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn a_name_means_the_newest_that_a_version_has() {
        let names = |name, version| candidates(name, version).join(" ");
        assert_eq!(names("cuMemAlloc", 11_040), "cuMemAlloc_v2 cuMemAlloc");
        assert_eq!(names("cuCtxGetDevice", 12_000), "cuCtxGetDevice");
        assert_eq!(
            names("cuCtxGetDevice", 13_000),
            "cuCtxGetDevice_v2 cuCtxGetDevice"
        );
        assert_eq!(
            names("cuCtxCreate", 12_050),
            "cuCtxCreate_v4 cuCtxCreate_v3 cuCtxCreate_v2 cuCtxCreate"
        );
    }
}
