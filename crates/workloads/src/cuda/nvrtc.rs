//! NVIDIA's compiler as a library, found at run time. It needs neither a toolkit nor a GPU.

use super::packages::{hint, includes};
use crate::host::device::DeviceError;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
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
