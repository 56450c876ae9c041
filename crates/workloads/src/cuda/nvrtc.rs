//! NVIDIA's compiler as a library, found at run time. It needs neither a toolkit nor a GPU.

use crate::host::device::DeviceError;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use warpsim_present::reading;
use warpsim_ptx::outside;

/// A program of the library's.
type Handle = *mut c_void;

/// Headers that kernels' files include out of habit: what they declare is built into the library.
const BUILT_IN: [&str; 10] = [
    "assert.h",
    "cassert",
    "cmath",
    "cstdio",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "math.h",
    "stdio.h",
    "stdlib.h",
];

/// What `warpsim.cuh` had beside CUDA's names.
const WARPSIM: &str = "#pragma once
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
static __device__ u32 __laneid() { u32 r; asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(r)); return r; }
static __device__ u32 __rotl(u32 x, int by) { return x << by | x >> (32 - by); }
";

macro_rules! api {
    ($($name:ident $symbol:literal ($($argument:ty),*) -> $result:ty;)*) => {
        /// The library's functions.
        struct Api {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
            /// Keeps the code above in memory.
            _library: Library,
        }

        impl Api {
            fn load(file: &Path) -> Result<Api, String> {
                let file = &outside::library(file)
                    .map_err(|e| format!("{} cannot be loaded: {e}", file.display()))?;
                outside::loads(file);
                // SAFETY: the library's initialisers have no preconditions.
                let library = unsafe { Library::new(file) }
                    .map_err(|e| format!("{} cannot be loaded: {e}", file.display()))?;
                $(
                    // SAFETY: the signature is the one the library's manual gives for the symbol,
                    // and the pointer lives no longer than `_library` beside it.
                    let $name = unsafe {
                        *library
                            .get::<unsafe extern "C" fn($($argument),*) -> $result>($symbol)
                            .map_err(|e| format!("{} is not NVRTC: {e}", file.display()))?
                    };
                )*
                Ok(Api { $($name,)* _library: library })
            }
        }
    };
}

api! {
    create b"nvrtcCreateProgram" (*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> c_int;
    destroy b"nvrtcDestroyProgram" (*mut Handle) -> c_int;
    compile b"nvrtcCompileProgram" (Handle, c_int, *const *const c_char) -> c_int;
    ptx_size b"nvrtcGetPTXSize" (Handle, *mut usize) -> c_int;
    ptx b"nvrtcGetPTX" (Handle, *mut c_char) -> c_int;
    log_size b"nvrtcGetProgramLogSize" (Handle, *mut usize) -> c_int;
    log b"nvrtcGetProgramLog" (Handle, *mut c_char) -> c_int;
    error b"nvrtcGetErrorString" (c_int) -> *const c_char;
}

/// A program, destroyed with the value.
struct Program<'a> {
    api: &'a Api,
    handle: Handle,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and is not used afterwards.
        unsafe { (self.api.destroy)(&mut self.handle) };
    }
}

impl Program<'_> {
    /// A text that the library keeps: its size, then itself.
    fn text(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
        text: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    ) -> Option<String> {
        let mut bytes = 0;
        // SAFETY: the handle is valid, and the buffer has as many bytes as the library asks for.
        unsafe {
            if size(self.handle, &mut bytes) != 0 {
                return None;
            }
            let mut buffer = vec![0u8; bytes.max(1)];
            if text(self.handle, buffer.as_mut_ptr().cast()) != 0 {
                return None;
            }
            let end = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
            Some(String::from_utf8_lossy(&buffer[..end]).into_owned())
        }
    }
}

/// Compiles a file.
pub(super) fn compile(
    library: &Path,
    source: &Path,
    flags: &[String],
) -> Result<String, DeviceError> {
    let name = source.display().to_string();
    let api = Api::load(library).map_err(|e| {
        DeviceError::bad_input(format!(
            "cannot compile {name}: {e}\n{}",
            super::choose::ADVICE
        ))
    })?;
    let unreadable = |e: String| DeviceError::bad_input(format!("cannot read {name}: {e}"));
    let text = reading::read(source, reading::TEXT).map_err(|e| unreadable(e.to_string()))?;
    let text = String::from_utf8(text).map_err(|_| unreadable("it is not UTF-8 text".into()))?;
    let c_string = |text: &str| {
        CString::new(text).map_err(|_| {
            DeviceError::bad_input(format!("{name}: there is a zero byte in the text"))
        })
    };
    let mut names = Vec::new();
    let mut texts = Vec::new();
    for header in BUILT_IN {
        names.push(c_string(header)?);
        texts.push(c_string("#pragma once\n")?);
    }
    names.push(c_string("warpsim.cuh")?);
    texts.push(c_string(WARPSIM)?);
    let mut options = vec![
        "--std=c++17".to_string(),
        "--generate-line-info".to_string(),
    ];
    if !flags.iter().any(|flag| super::names_architecture(flag)) {
        options.push("--gpu-architecture=compute_75".to_string());
    }
    if let Some(folder) = source.parent() {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        options.push(format!("--include-path={}", folder.display()));
    }
    for folder in includes(library) {
        options.push(format!("--include-path={}", folder.display()));
    }
    options.extend(flags.iter().cloned());
    let options = options
        .iter()
        .map(|o| c_string(o))
        .collect::<Result<Vec<_>, _>>()?;
    let (c_name, c_text) = (c_string(&name)?, c_string(&text)?);
    let pointers = |strings: &[CString]| strings.iter().map(|s| s.as_ptr()).collect::<Vec<_>>();
    let (name_list, text_list, option_list) =
        (pointers(&names), pointers(&texts), pointers(&options));
    let mut program = Program {
        api: &api,
        handle: null_mut(),
    };
    // SAFETY: every pointer is to a string or list that lives to the end of this function, and the
    // numbers are the lists' lengths.
    let status = unsafe {
        let status = (api.create)(
            &mut program.handle,
            c_text.as_ptr(),
            c_name.as_ptr(),
            name_list.len() as c_int,
            text_list.as_ptr(),
            name_list.as_ptr(),
        );
        match status {
            0 => (api.compile)(
                program.handle,
                option_list.len() as c_int,
                option_list.as_ptr(),
            ),
            failed => failed,
        }
    };
    if status != 0 {
        let said = program.text(api.log_size, api.log).unwrap_or_default();
        // SAFETY: the library returns a constant string for every status.
        let what = unsafe { CStr::from_ptr((api.error)(status)) }.to_string_lossy();
        let said = if said.trim().is_empty() {
            what.into_owned()
        } else {
            said
        };
        return Err(super::failed("NVRTC", source, &said, hint(&said, library)));
    }
    program
        .text(api.ptx_size, api.ptx)
        .ok_or_else(|| DeviceError::bad_input(format!("NVRTC gave no PTX for {name}")))
}

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
fn includes(library: &Path) -> Vec<PathBuf> {
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
fn hint(said: &str, library: &Path) -> Option<String> {
    let header = said.split_once("open source file \"");
    if let Some((name, _)) = header.and_then(|(_, rest)| rest.split_once('"')) {
        if !super::clang::cudas(name) && !name.starts_with("crt/") {
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
    use super::{hint, includes};
    use std::path::Path;

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
