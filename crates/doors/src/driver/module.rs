//! Modules and libraries: images that the program loads, kernels and variables in them. A library is a module, a kernel a function.

use super::context::current;
use super::device::initialised;
use crate::client::{Result, ask};
use crate::runtime::{Handle, Pointer, bytes, give, handle, number as of, offer, registry};
use crate::wire::{Request, status};
use std::ffi::{OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;

/// Options of loading with which the caller gives room for what a compiler says.
const INFO_BYTES: u32 = 4;
const ERROR_BYTES: u32 = 6;

/// Says that nothing was written into the room for messages: the simulator's are on standard error.
///
/// # Safety
/// The lists have as many entries as are said, or are null.
unsafe fn no_messages(count: u32, options: *const u32, values: *mut Pointer) {
    if options.is_null() || values.is_null() {
        return;
    }
    for index in 0..count as usize {
        // SAFETY: as the caller says.
        unsafe {
            if matches!(options.add(index).read(), INFO_BYTES | ERROR_BYTES) {
                values.add(index).write(std::ptr::null_mut());
            }
        }
    }
}

fn unload(module: Handle) -> Result<()> {
    let module = of(module);
    ask(&Request::UnloadModule { module }, &[]).map(drop)
}

fn functions(module: Handle) -> Result<Vec<u64>> {
    let module = of(module);
    Ok(ask(&Request::Functions { module }, &[])?.words)
}

/// Hands out the kernels of a module.
///
/// # Safety
/// There is room for so many.
unsafe fn enumerate(to: *mut Handle, most: u32, module: Handle) -> Result<()> {
    let all = functions(module)?.into_iter().take(most as usize);
    for (index, function) in all.enumerate() {
        let name = ask(&Request::FunctionName { function }, &[])?.payload;
        let known = registry::named_function(of(module), &name)?;
        // SAFETY: as the caller says.
        unsafe { give(to.add(index), handle(known.handle))? };
    }
    Ok(())
}

/// A variable's address and bytes.
///
/// # Safety
/// `to` and `size` are null or can be written, `name` is a text.
unsafe fn variable(
    to: *mut u64,
    size: *mut usize,
    name: *const c_char,
    request: Request,
) -> Result<()> {
    // SAFETY: as the caller says.
    unsafe {
        match ask(&request, bytes(name)?)?.words[..] {
            [address, bytes, ..] => {
                offer(to, address);
                offer(size, bytes as usize);
                Ok(())
            }
            _ => Err(status::UNKNOWN),
        }
    }
}

fn from_file(name: &[u8]) -> Result<Handle> {
    let image = std::fs::read(OsStr::from_bytes(name)).map_err(|_| status::FILE_NOT_FOUND)?;
    registry::load_parts(&[&image]).map(handle)
}

/// Hands out a function's name, which lives as long as the program: names are asked for once or twice.
///
/// # Safety
/// `to` is null or can be written.
unsafe fn name(to: *mut *const c_char, function: Handle) -> Result<()> {
    let function = registry::function(function)?.handle;
    let mut text = ask(&Request::FunctionName { function }, &[])?.payload;
    text.push(0);
    // SAFETY: as the caller says.
    unsafe { give(to, Box::leak(text.into_boxed_slice()).as_ptr().cast()) }
}

driver! {
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) {
        current()?;
        give(module, handle(registry::load(image)?))
    }

    fn cuModuleLoadDataEx(module: *mut Handle, image: *const c_void, count: u32, options: *const u32, values: *mut Pointer) {
        current()?;
        no_messages(count, options, values);
        give(module, handle(registry::load(image)?))
    }

    fn cuModuleLoadFatBinary(module: *mut Handle, image: *const c_void) {
        current()?;
        give(module, handle(registry::load(image)?))
    }

    fn cuModuleLoad(module: *mut Handle, file: *const c_char) {
        current()?;
        give(module, from_file(bytes(file)?)?)
    }

    fn cuModuleUnload(module: Handle) {
        current()?;
        unload(module)
    }

    fn cuModuleGetLoadingMode(mode: *mut u32) {
        // Lazy: kernels are looked at when they are used.
        give(mode, 2)
    }

    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        current()?;
        give(function, handle(registry::named_function(of(module), bytes(name)?)?.handle))
    }

    fn cuModuleGetFunctionCount(count: *mut u32, module: Handle) {
        give(count, functions(module)?.len() as u32)
    }

    fn cuModuleEnumerateFunctions(to: *mut Handle, most: u32, module: Handle) {
        enumerate(to, most, module)
    }

    fn cuModuleGetGlobal_v2(to: *mut u64, size: *mut usize, module: Handle, name: *const c_char) {
        variable(to, size, name, Request::Global { module: of(module) })
    }

    fn cuLibraryLoadData(library: *mut Handle, image: *const c_void, options: *const u32, values: *mut Pointer, count: u32, _library_options: Pointer, _library_values: Pointer, _library_count: u32) {
        initialised()?;
        no_messages(count, options, values);
        give(library, handle(registry::load(image)?))
    }

    fn cuLibraryLoadFromFile(library: *mut Handle, file: *const c_char, options: *const u32, values: *mut Pointer, count: u32, _library_options: Pointer, _library_values: Pointer, _library_count: u32) {
        initialised()?;
        no_messages(count, options, values);
        give(library, from_file(bytes(file)?)?)
    }

    fn cuLibraryUnload(library: Handle) {
        unload(library)
    }

    fn cuLibraryGetModule(module: *mut Handle, library: Handle) {
        give(module, library)
    }

    fn cuLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char) {
        give(kernel, handle(registry::named_function(of(library), bytes(name)?)?.handle))
    }

    fn cuLibraryGetKernelCount(count: *mut u32, library: Handle) {
        give(count, functions(library)?.len() as u32)
    }

    fn cuLibraryEnumerateKernels(to: *mut Handle, most: u32, library: Handle) {
        enumerate(to, most, library)
    }

    fn cuLibraryGetGlobal(to: *mut u64, size: *mut usize, library: Handle, name: *const c_char) {
        variable(to, size, name, Request::Global { module: of(library) })
    }

    fn cuLibraryGetManaged(to: *mut u64, size: *mut usize, library: Handle, name: *const c_char) {
        variable(to, size, name, Request::Managed { module: of(library) })
    }

    fn cuKernelGetFunction(function: *mut Handle, kernel: Handle) {
        give(function, handle(registry::function(kernel)?.handle))
    }

    fn cuKernelGetName(to: *mut *const c_char, kernel: Handle) {
        name(to, kernel)
    }

    fn cuFuncGetName(to: *mut *const c_char, function: Handle) {
        name(to, function)
    }

    fn cuFuncIsLoaded(state: *mut u32, _function: Handle) {
        give(state, 1)
    }

    fn cuFuncLoad(_function: Handle) {
        Ok(())
    }
}
