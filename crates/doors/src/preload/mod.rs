//! The part that is loaded before the program's own libraries: it gives a program that has the runtime linked into it the
//! functions of the library instead.
//!
//! Its constructor runs before the program registers anything. In the program's table of symbols it finds the runtime's functions and
//! makes the first bytes of each a jump to the function of the same name in the library of its major. A program whose symbols are stripped
//! has none to find; what is seen of a program is told to the simulator, which says at the end why nothing was launched.

pub mod elf;
mod jump;
mod loaded;

use crate::client::posix::{NOW, dlopen, dlsym};
use crate::client::send_once;
use crate::wire::{FOLDER, Request, facts};
use elf::Elf;
use std::ffi::{CString, c_int, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What this library exports, so that it has something to export.
#[cfg_attr(inside, unsafe(no_mangle))]
#[allow(non_upper_case_globals)] // a name for C
pub static warpsim_preloaded: extern "C" fn() = constructor;

#[cfg(inside)]
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".init_array.00100")]
static warpsim_constructor: extern "C" fn() = constructor;

extern "C" fn constructor() {
    // Nothing that goes wrong here may end the program: what it does by itself is then what happens.
    let _ = std::panic::catch_unwind(look);
}

/// Looks at the program, redirects its runtime if it has one.
fn look() -> Option<()> {
    let program = std::fs::read_link("/proc/self/exe").ok()?;
    let file = std::fs::read("/proc/self/exe").ok()?;
    let elf = Elf::read(&file)?;
    let mut seen = 0;
    if elf.has_section(b".nv_fatbin") {
        seen |= facts::FAT_BINARY;
    }
    if elf.needs(b"libcudart.so") {
        seen |= facts::SHARED_RUNTIME;
    }
    if elf.needs(b"libcuda.so") {
        seen |= facts::DRIVER;
    }
    let functions = elf.functions(|name| name.starts_with(b"cuda") || name.starts_with(b"__cuda"));
    if functions
        .iter()
        .any(|f| f.name == b"__cudaRegisterFatBinary")
    {
        seen |= facts::OWN_RUNTIME;
        if redirect_program(&functions).is_some() {
            seen |= facts::REDIRECTED;
        }
    } else if !elf.has_symbols() {
        seen |= facts::STRIPPED;
    }
    if seen & (facts::FAT_BINARY | facts::SHARED_RUNTIME | facts::OWN_RUNTIME) == 0 {
        // An interpreter, perhaps, that loads what uses a GPU.
        let _ = loaded::watch();
    }
    if seen & !facts::STRIPPED != 0 {
        let process = std::process::id();
        send_once(
            &Request::Seen {
                process,
                facts: seen,
            },
            program.as_os_str().as_bytes(),
        );
    }
    Some(())
}

/// The libraries of the runtime, which are told apart by what is in one major alone.
const LIBRARIES: [&str; 3] = ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"];

/// The name of the library for a runtime that has these functions. What is in one major alone says which it is.
fn library(functions: &[elf::Function]) -> &'static str {
    let has = |name: &[u8]| functions.iter().any(|f| f.name == name);
    match (has(b"cudaGetDeviceProperties_v2"), has(b"__cudaGetKernel")) {
        (true, _) => "libcudart.so.12",
        (false, true) => "libcudart.so.13",
        (false, false) => "libcudart.so.11.0",
    }
}

/// Makes the program's functions jump to those of the library.
fn redirect_program(functions: &[elf::Function]) -> Option<()> {
    let folder = PathBuf::from(std::env::var_os(FOLDER)?);
    let path = CString::new(folder.join(library(functions)).into_os_string().into_vec()).ok()?;
    // SAFETY: loading the library runs nothing of the program's.
    let ours = unsafe { dlopen(path.as_ptr(), NOW) };
    if ours.is_null() {
        return None;
    }
    redirect(functions, ours, base()?)
}

/// Makes all of these functions jump to those of a library; `base` is how far from its own addresses their file is loaded.
fn redirect(functions: &[elf::Function], ours: *mut c_void, base: usize) -> Option<()> {
    let mut jumps = Vec::new();
    for function in functions {
        let name = CString::new(function.name).ok()?;
        // SAFETY: the library is loaded.
        let target = unsafe { dlsym(ours, name.as_ptr()) };
        if !target.is_null() {
            jumps.push((
                base + function.address as usize,
                target as usize,
                function.room as usize,
            ));
        }
    }
    jump::write(&jumps)
}

#[repr(C)]
struct Loaded {
    base: usize,
    name: *const std::ffi::c_char,
}

unsafe extern "C" {
    fn dl_iterate_phdr(
        each: extern "C" fn(*mut Loaded, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// How far from its own addresses the program is loaded: it is the first that the loader has.
fn base() -> Option<usize> {
    extern "C" fn first(info: *mut Loaded, _bytes: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader describes what is loaded; the data is the caller's number.
        unsafe { *data.cast::<Option<usize>>() = Some((*info).base) };
        1
    }
    let mut found: Option<usize> = None;
    // SAFETY: the function is called before this returns.
    unsafe { dl_iterate_phdr(first, (&raw mut found).cast()) };
    found
}
