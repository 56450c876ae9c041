//! Libraries: images that the program loads itself.

use super::{Handle, Pointer, bytes, give, handle, number as of, offer, registry};
use crate::client::{Result, ask};
use crate::wire::{Request, status};
use std::ffi::{OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;

fn functions(library: Handle) -> Result<Vec<u64>> {
    Ok(ask(
        &Request::Functions {
            module: of(library),
        },
        &[],
    )?
    .words)
}

/// A variable's address and bytes.
///
/// # Safety
/// `to` and `size` are null or can be written, `name` is a text.
unsafe fn variable(
    to: *mut Pointer,
    size: *mut usize,
    name: *const c_char,
    request: Request,
) -> Result<()> {
    // SAFETY: as the caller says.
    unsafe {
        match ask(&request, bytes(name)?)?.words[..] {
            [address, bytes, ..] => {
                offer(to, handle(address));
                offer(size, bytes as usize);
                Ok(())
            }
            _ => Err(status::UNKNOWN),
        }
    }
}

api! {
    fn cudaLibraryLoadData(library: *mut Handle, code: *const c_void, _options: Pointer, _values: Pointer, _count: u32, _library_options: Pointer, _library_values: Pointer, _library_count: u32) {
        give(library, handle(registry::load(code)?))
    }

    fn cudaLibraryLoadFromFile(library: *mut Handle, name: *const c_char, _options: Pointer, _values: Pointer, _count: u32, _library_options: Pointer, _library_values: Pointer, _library_count: u32) {
        let image = std::fs::read(OsStr::from_bytes(bytes(name)?)).map_err(|_| status::FILE_NOT_FOUND)?;
        give(library, handle(registry::load_parts(&[&image])?))
    }

    fn cudaLibraryUnload(library: Handle) {
        ask(&Request::UnloadModule { module: of(library) }, &[]).map(drop)
    }

    fn cudaLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char) {
        give(kernel, handle(registry::named_function(of(library), bytes(name)?)?.handle))
    }

    fn cudaLibraryGetKernelCount(count: *mut u32, library: Handle) {
        give(count, functions(library)?.len() as u32)
    }

    fn cudaLibraryEnumerateKernels(kernels: *mut Handle, most: u32, library: Handle) {
        for (index, function) in functions(library)?.into_iter().take(most as usize).enumerate() {
            let name = ask(&Request::FunctionName { function }, &[])?.payload;
            let known = registry::named_function(of(library), &name)?;
            give(kernels.add(index), handle(known.handle))?;
        }
        Ok(())
    }

    fn cudaLibraryGetGlobal(to: *mut Pointer, size: *mut usize, library: Handle, name: *const c_char) {
        variable(to, size, name, Request::Global { module: of(library) })
    }

    fn cudaLibraryGetManaged(to: *mut Pointer, size: *mut usize, library: Handle, name: *const c_char) {
        variable(to, size, name, Request::Managed { module: of(library) })
    }
}
