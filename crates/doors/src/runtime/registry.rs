//! What a program registers before `main`: its fat binaries, and which of its own addresses stand for which kernels and variables.
//! Nothing of it is handed to the simulator before it is used: a program may carry hundreds of kernels.

use super::{Dim3, Pointer, bytes, error, handle};
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A kernel that the simulator knows.
#[derive(Debug, Default)]
pub struct Function {
    /// The simulator's number of it.
    pub handle: u64,
    /// Offset and bytes of each parameter.
    pub parameters: Vec<(usize, usize)>,
    /// Bytes of all.
    pub bytes: usize,
}

/// A registered fat binary.
struct Binary {
    wrapper: usize,
    module: Option<u64>,
    /// Managed variables: where the program keeps the pointer to each.
    managed: Vec<(usize, Vec<u8>)>,
}

/// A kernel or variable of a binary, by its name.
#[derive(Clone)]
struct Named {
    binary: usize,
    name: Vec<u8>,
}

#[derive(Default)]
struct Registry {
    binaries: HashMap<usize, Binary>,
    next: usize,
    functions: HashMap<usize, Named>,
    variables: HashMap<usize, Named>,
    textures: HashMap<usize, Named>,
    /// By address in the program and by the simulator's number.
    known: HashMap<usize, Arc<Function>>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

fn with<T>(body: impl FnOnce(&mut Registry) -> T) -> T {
    let mut guard: MutexGuard<_> = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    body(guard.get_or_insert_default())
}

/// What the compiler leaves of a translation unit, `.nvFatBinSegment`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    others: *const *const u8,
}

const WRAPPER: u32 = 0x4662_43b1;
const CONTAINER: u32 = 0xba55_ed50;
const ELF: u32 = u32::from_le_bytes(*b"\x7fELF");

/// Bytes of a fat binary or an ELF file that lies in memory, whose length is in itself.
///
/// # Safety
/// It can be read as far as its own header says.
unsafe fn whole<'a>(data: *const u8) -> Result<&'a [u8]> {
    if data.is_null() {
        return Err(status::INVALID_IMAGE);
    }
    // SAFETY: a header is 16 bytes, one of ELF 64.
    unsafe {
        let word = |at: usize| data.add(at).cast::<u64>().read_unaligned();
        let half = |at: usize| usize::from(data.add(at).cast::<u16>().read_unaligned());
        let bytes = match word(0) as u32 {
            CONTAINER => half(6) + word(8) as usize,
            // The table of sections stands last in what compilers write; segments may, too.
            ELF => {
                let sections = word(40) as usize + half(58) * half(60);
                sections.max(word(32) as usize + half(54) * half(56))
            }
            // PTX as a text.
            _ => std::ffi::CStr::from_ptr(data.cast()).to_bytes().len(),
        };
        Ok(std::slice::from_raw_parts(data, bytes))
    }
}

/// Loads the image that a program points at: a wrapper, a fat binary, machine code or PTX.
///
/// # Safety
/// It points at such a thing.
pub unsafe fn load(image: *const c_void) -> Result<u64> {
    let mut parts: Vec<&[u8]> = Vec::new();
    // SAFETY: as the caller says.
    unsafe {
        let first: u32 = super::take(image.cast())?;
        if first == WRAPPER {
            let wrapper: Wrapper = super::take(image.cast())?;
            parts.push(whole(wrapper.data)?);
            if wrapper.version == 2 && !wrapper.others.is_null() {
                let mut at = wrapper.others;
                while !at.read_unaligned().is_null() {
                    parts.push(whole(at.read_unaligned())?);
                    at = at.add(1);
                }
            }
        } else {
            parts.push(whole(image.cast())?);
        }
    }
    load_parts(&parts)
}

/// Loads these images as one module.
pub fn load_parts(parts: &[&[u8]]) -> Result<u64> {
    let mut payload = Vec::with_capacity(parts.iter().map(|p| p.len() + 8).sum());
    for part in parts {
        payload.extend_from_slice(&(part.len() as u64).to_le_bytes());
        payload.extend_from_slice(part);
    }
    number(
        &Request::LoadModule {
            parts: parts.len() as u32,
        },
        &payload,
    )
}

/// The module of a registered binary, loaded now if it is not.
fn module(binary: usize) -> Result<u64> {
    let (wrapper, known) = with(|r| match r.binaries.get(&binary) {
        Some(binary) => Ok((binary.wrapper, binary.module)),
        None => Err(status::INVALID_FUNCTION),
    })?;
    if let Some(module) = known {
        return Ok(module);
    }
    // SAFETY: it was registered as such.
    let module = unsafe { load(wrapper as *const c_void) }?;
    let managed = with(|r| {
        let binary = r.binaries.get_mut(&binary)?;
        binary.module = Some(module);
        Some(binary.managed.clone())
    });
    for (pointer, name) in managed.unwrap_or_default() {
        let address = number(&Request::Managed { module }, &name)?;
        // SAFETY: the program registered this place for the pointer.
        unsafe { (pointer as *mut u64).write_unaligned(address) };
    }
    Ok(module)
}

/// A kernel of a module by its name.
pub fn named_function(module: u64, name: &[u8]) -> Result<Arc<Function>> {
    let words = ask(&Request::Function { module }, name)?.words;
    let [handle, bytes, parameters @ ..] = words.as_slice() else {
        return Err(status::UNKNOWN);
    };
    let parameters = parameters.chunks_exact(2);
    let function = Arc::new(Function {
        handle: *handle,
        bytes: *bytes as usize,
        parameters: parameters.map(|p| (p[0] as usize, p[1] as usize)).collect(),
    });
    with(|r| r.known.insert(function.handle as usize, function.clone()));
    Ok(function)
}

/// The kernel that an address of the program, or a handle, stands for.
pub fn function(of: *const c_void) -> Result<Arc<Function>> {
    let key = of as usize;
    let (known, named) = with(|r| (r.known.get(&key).cloned(), r.functions.get(&key).cloned()));
    if let Some(known) = known {
        return Ok(known);
    }
    let named = named.ok_or(status::INVALID_FUNCTION)?;
    let module = module(named.binary)?;
    let function = named_function(module, &named.name).map_err(|code| match code {
        status::NOT_FOUND => status::INVALID_FUNCTION,
        code => code,
    })?;
    with(|r| r.known.insert(key, function.clone()));
    Ok(function)
}

/// Address and bytes of the variable that an address of the program stands for.
pub fn variable(of: *const c_void) -> Result<(u64, u64)> {
    let named = with(|r| r.variables.get(&(of as usize)).cloned());
    let named = named.ok_or(status::INVALID_SYMBOL)?;
    let module = module(named.binary)?;
    let words = ask(&Request::Global { module }, &named.name)?.words;
    match words.as_slice() {
        [address, bytes, ..] => Ok((*address, *bytes)),
        _ => Err(status::UNKNOWN),
    }
}

/// Binds the texture reference that an address of the program stands for.
pub fn bind_texture(of: *const c_void, texture: u64) -> Result<()> {
    let named = with(|r| r.textures.get(&(of as usize)).cloned());
    let named = named.ok_or(status::INVALID_TEXTURE)?;
    let module = module(named.binary)?;
    ask(&Request::BindTexture { module, texture }, &named.name).map(drop)
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const c_void) -> *mut Pointer {
    let number = with(|r| {
        r.next += 1;
        let binary = Binary {
            wrapper: wrapper as usize,
            module: None,
            managed: Vec::new(),
        };
        r.binaries.insert(r.next, binary);
        r.next
    });
    // The program keeps it as a pointer to pointers, and may look at what it points to.
    Box::into_raw(Box::new(handle(number as u64)))
}

/// The number of a registered binary.
///
/// # Safety
/// `binary` is what `__cudaRegisterFatBinary` gave.
unsafe fn registered(binary: *const Pointer) -> usize {
    // SAFETY: as the caller says.
    unsafe { super::take(binary) }.map_or(0, |p| p as usize)
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_binary: *const Pointer) {}

#[cfg_attr(inside, unsafe(no_mangle))]
pub unsafe extern "C" fn __cudaUnregisterFatBinary(binary: *const Pointer) {
    // SAFETY: the program hands back what it was given. The program ends or unloads a library; what the simulator has of it is
    // kept for the report.
    let number = unsafe { registered(binary) };
    with(|r| {
        r.binaries.remove(&number);
        r.functions.retain(|_, f| f.binary != number);
        r.variables.retain(|_, v| v.binary != number);
        r.textures.retain(|_, t| t.binary != number);
    });
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub unsafe extern "C" fn __cudaInitModule(binary: *const Pointer) -> c_char {
    // SAFETY: the program hands back what it was given.
    let number = unsafe { registered(binary) };
    c_char::from(error::call(|| module(number).map(drop)) == status::SUCCESS)
}

/// Keeps that `key` stands for `name`.
///
/// # Safety
/// `binary` is what `__cudaRegisterFatBinary` gave, `name` a text.
unsafe fn keep(
    binary: *const Pointer,
    name: *const c_char,
    into: impl FnOnce(&mut Registry, Named),
) {
    // SAFETY: as the caller says.
    let (number, name) = unsafe { (registered(binary), bytes(name)) };
    if let Ok(name) = name {
        let named = Named {
            binary: number,
            name: name.to_vec(),
        };
        with(|r| into(r, named));
    }
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub unsafe extern "C" fn __cudaRegisterFunction(
    binary: *const Pointer,
    host: *const c_void,
    _device: *mut c_char,
    name: *const c_char,
    _threads: c_int,
    _tid: *mut Dim3,
    _bid: *mut Dim3,
    _block: *mut Dim3,
    _grid: *mut Dim3,
    _warp: *mut c_int,
) {
    // SAFETY: the compiler wrote the call.
    unsafe {
        keep(binary, name, |r, named| {
            drop(r.functions.insert(host as usize, named))
        })
    };
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub unsafe extern "C" fn __cudaRegisterVar(
    binary: *const Pointer,
    host: *const c_void,
    _device: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: the compiler wrote the call.
    unsafe {
        keep(binary, name, |r, named| {
            drop(r.variables.insert(host as usize, named))
        })
    };
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    binary: *const Pointer,
    pointer: *mut Pointer,
    _device: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    let kept = |r: &mut Registry, named: Named| {
        if let Some(binary) = r.binaries.get_mut(&named.binary) {
            binary.managed.push((pointer as usize, named.name.clone()));
        }
        r.variables.insert(pointer as usize, named);
    };
    // SAFETY: the compiler wrote the call.
    unsafe { keep(binary, name, kept) };
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub unsafe extern "C" fn __cudaRegisterTexture(
    binary: *const Pointer,
    host: *const c_void,
    _device: *const Pointer,
    name: *const c_char,
    _dimensions: c_int,
    _normalized: c_int,
    _external: c_int,
) {
    // SAFETY: the compiler wrote the call.
    unsafe {
        keep(binary, name, |r, named| {
            drop(r.textures.insert(host as usize, named))
        })
    };
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub unsafe extern "C" fn __cudaRegisterSurface(
    binary: *const Pointer,
    host: *const c_void,
    _device: *const Pointer,
    name: *const c_char,
    _dimensions: c_int,
    _external: c_int,
) {
    // SAFETY: the compiler wrote the call.
    unsafe {
        keep(binary, name, |r, named| {
            drop(r.textures.insert(host as usize, named))
        })
    };
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn __cudaRegisterHostVar(
    _binary: *const Pointer,
    _name: *const c_char,
    _host: *mut c_char,
    _bytes: usize,
) {
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn __cudaRegisterUnifiedTable(_binary: *const Pointer, _table: *mut c_void) {}
