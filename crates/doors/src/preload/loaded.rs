//! Libraries that a program loads while it runs and that have a runtime of their own linked in, as Python packages do.
//!
//! The system's loader calls an empty function when it has placed what it was asked for and before any of it runs, for debuggers to stop
//! at; where that function is, it says in a structure of its own that every program has. Here that function becomes a jump to one that
//! looks at what is new.

use super::elf::Elf;
use super::{jump, library, redirect};
use crate::client::posix::{NOW, PRIVATE, READ, dlopen, mmap, munmap};
use crate::wire::FOLDER;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Mutex;

/// What the loader says to debuggers.
#[repr(C)]
struct Debug {
    version: c_int,
    first: *const Map,
    /// The function that it calls.
    called: usize,
    state: c_int,
    base: usize,
}

/// Something that is loaded.
#[repr(C)]
struct Map {
    base: usize,
    name: *const c_char,
    dynamic: *const c_void,
    next: *const Map,
}

/// Nothing is being placed or taken away.
const CONSISTENT: c_int = 0;
/// The function is empty and begins where code is aligned to this, so that there is room up to the next.
const ALIGNED: usize = 16;

unsafe extern "C" {
    static _r_debug: Debug;
}

/// Libraries of the runtime that are loaded, so that nothing has to be when another library has just been placed.
static OURS: Mutex<Vec<(&'static str, usize)>> = Mutex::new(Vec::new());
/// Names and places that were looked at.
static SEEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// From now on looks at all that is loaded.
pub fn watch() -> Option<()> {
    let folder = PathBuf::from(std::env::var_os(FOLDER)?);
    let mut ours = Vec::new();
    for name in super::LIBRARIES {
        let path = CString::new(folder.join(name).into_os_string().into_vec()).ok()?;
        // SAFETY: loading the library runs nothing of the program's.
        let library = unsafe { dlopen(path.as_ptr(), NOW) };
        if !library.is_null() {
            ours.push((name, library as usize));
        }
    }
    *OURS.lock().ok()? = ours;
    // SAFETY: the loader has filled it in before anything runs.
    let called = unsafe { _r_debug.called };
    if called == 0 || called % ALIGNED != 0 {
        return None;
    }
    // SAFETY: it is code, which can be read.
    let code = unsafe { std::slice::from_raw_parts(called as *const u8, ALIGNED) };
    if !is_empty(code) {
        return None;
    }
    // What is there already is the program's own.
    let mut seen = SEEN.lock().ok()?;
    // SAFETY: nothing is being loaded now.
    seen.extend(unsafe { maps() }.map(|map| map as usize));
    drop(seen);
    jump::write(&[(called, changed as *const () as usize, ALIGNED)])
}

/// Whether code does nothing but return, and only fills up behind that.
#[cfg(target_arch = "x86_64")]
fn is_empty(code: &[u8]) -> bool {
    const RETURN: u8 = 0xc3;
    let code = code.strip_prefix(b"\xf3\x0f\x1e\xfa").unwrap_or(code);
    // What instructions that do nothing are made of, however long they are.
    let fills = |b: &u8| b"\x00\x0f\x1f\x2e\x40\x44\x66\x80\x84\x90\xcc".contains(b);
    matches!(code, [RETURN, rest @ ..] if rest.iter().all(fills))
}

/// Whether code does nothing but return, and only fills up behind that.
#[cfg(target_arch = "aarch64")]
fn is_empty(code: &[u8]) -> bool {
    let mut words = code
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    let mut first = words.next();
    if first == Some(0xd503_245f) {
        first = words.next();
    }
    first == Some(0xd65f_03c0) && words.all(|w| w == 0xd503_201f || w == 0)
}

/// All that is loaded.
///
/// # Safety
/// The loader's list is consistent as long as it is gone through.
unsafe fn maps() -> impl Iterator<Item = *const Map> {
    // SAFETY: as the caller says.
    let mut at = unsafe { _r_debug.first };
    std::iter::from_fn(move || {
        let map = at;
        if map.is_null() {
            return None;
        }
        // SAFETY: as the caller says.
        at = unsafe { (*map).next };
        Some(map)
    })
}

/// Called by the loader in place of its empty function.
extern "C" fn changed() {
    // SAFETY: the loader calls this; it changes nothing meanwhile.
    if unsafe { (&raw const _r_debug.state).read_volatile() } == CONSISTENT {
        // Nothing that goes wrong here may end the program.
        let _ = std::panic::catch_unwind(look);
    }
}

fn look() -> Option<()> {
    let mut seen = SEEN.lock().ok()?;
    // SAFETY: the loader's list is consistent, as it says.
    let now: Vec<_> = unsafe { maps() }.collect();
    for &map in now.iter().filter(|map| !seen.contains(&(**map as usize))) {
        // SAFETY: it is one of the loader's.
        let (base, name) = unsafe { ((*map).base, CStr::from_ptr((*map).name)) };
        if !name.is_empty() {
            // One that cannot be read is left as it is.
            let _ = treat(OsStr::from_bytes(name.to_bytes()), base);
        }
    }
    *seen = now.into_iter().map(|map| map as usize).collect();
    Some(())
}

/// Redirects the runtime of a library that has one.
fn treat(path: &OsStr, base: usize) -> Option<()> {
    let file = File::open(path).ok()?;
    let bytes = usize::try_from(file.metadata().ok()?.len()).ok()?;
    let null = std::ptr::null_mut();
    // SAFETY: a new mapping at any place. Libraries are large: only what is looked at is read.
    let at = unsafe { mmap(null, bytes, READ, PRIVATE, file.as_raw_fd(), 0) };
    if bytes == 0 || at as isize == -1 {
        return None;
    }
    // SAFETY: that many bytes are mapped, until below.
    let contents = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), bytes) };
    let done = Elf::read(contents).and_then(|elf| {
        let wanted = |name: &[u8]| name.starts_with(b"cuda") || name.starts_with(b"__cuda");
        let functions = elf.functions(wanted);
        let is_runtime = |f: &super::elf::Function| f.name == b"__cudaRegisterFatBinary";
        if !functions.iter().any(is_runtime) {
            return None;
        }
        let name = library(&functions);
        let ours = OURS.lock().ok()?;
        let (_, library) = ours.iter().find(|(n, _)| *n == name)?;
        redirect(&functions, *library as *mut c_void, base)
    });
    // SAFETY: it was mapped above.
    unsafe { munmap(at, bytes) };
    done
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_function_is_empty_and_others_are_not() {
        // SAFETY: the loader has filled it in, and it is code.
        let code = unsafe { std::slice::from_raw_parts(_r_debug.called as *const u8, ALIGNED) };
        assert!(is_empty(code), "{code:x?}");
        assert!(is_empty(
            b"\xf3\x0f\x1e\xfa\xc3\x66\x2e\x0f\x1f\x84\0\0\0\0\0\x90"
        ));
        assert!(!is_empty(
            b"\xc3\x90\x90\x90\x55\x48\x89\xe5\x90\x90\x90\x90\x90\x90\x90\x90"
        ));
    }
}
