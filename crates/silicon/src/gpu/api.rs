//! The part of the CUDA driver's interface that is used, found at run time in the driver's
//! library. Everything here is unsafe to call; [`super::driver`] is the safe way.

use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;
use warpsim_ptx::outside;

/// What every function of the driver returns; 0 is success.
pub(super) type Status = c_int;
/// A module, a function, a context, a stream, an array.
pub(super) type Handle = *mut c_void;

/// `CUDA_RESOURCE_DESC`: what a texture or surface lies in.
#[repr(C)]
pub(super) struct ResourceDescription {
    /// 0 an array, 2 linear memory.
    pub(super) kind: c_uint,
    pub(super) resource: ResourceUnion,
    pub(super) flags: c_uint,
}

#[repr(C)]
pub(super) union ResourceUnion {
    pub(super) array: Handle,
    pub(super) linear: LinearResource,
    pub(super) reserved: [c_int; 32],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct LinearResource {
    pub(super) address: u64,
    pub(super) format: c_uint,
    pub(super) channels: c_uint,
    pub(super) bytes: usize,
}

/// `CUDA_TEXTURE_DESC`: how a texture is sampled.
#[repr(C)]
#[derive(Default)]
pub(super) struct TextureDescription {
    pub(super) address_mode: [c_uint; 3],
    pub(super) filter_mode: c_uint,
    /// 1: integers stay integers, 2: coordinates from 0 to 1.
    pub(super) flags: c_uint,
    pub(super) anisotropy: c_uint,
    pub(super) mipmap_filter: c_uint,
    pub(super) mipmap: [f32; 3],
    pub(super) border: [f32; 4],
    pub(super) reserved: [c_int; 12],
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
pub(super) struct ArrayDescription {
    /// Width, height, depth; 0 for dimensions it has not.
    pub(super) size: [usize; 3],
    pub(super) format: c_uint,
    pub(super) channels: c_uint,
    pub(super) flags: c_uint,
}

/// One side of a `CUDA_MEMCPY3D`.
#[repr(C)]
pub(super) struct CopySide {
    pub(super) offset: [usize; 4],
    /// 2 device memory, 3 an array.
    pub(super) kind: c_uint,
    pub(super) host: Handle,
    pub(super) device: u64,
    pub(super) array: Handle,
    pub(super) reserved: Handle,
    pub(super) pitch: usize,
    pub(super) height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
pub(super) struct Copy3d {
    pub(super) from: CopySide,
    pub(super) to: CopySide,
    /// Bytes, rows, slices.
    pub(super) extent: [usize; 3],
}

macro_rules! api {
    ($($name:ident $symbol:literal ($($argument:ty),*);)*) => {
        /// The driver's functions.
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> Status,)*
            /// Keeps the code above in memory.
            _library: Library,
        }

        impl Api {
            /// Loads the driver's library; the error says what is missing.
            pub(super) fn load(file: &str) -> Result<Api, String> {
                let place = outside::library(Path::new(file))
                    .map_err(|e| format!("no NVIDIA driver here: {file} cannot be loaded ({e})"))?;
                outside::loads(&place);
                // SAFETY: the driver's initialisers have no preconditions.
                let library = unsafe { Library::new(&place) }
                    .map_err(|e| format!("no NVIDIA driver here: {file} cannot be loaded ({e})"))?;
                $(
                    // SAFETY: the signature is the one the driver's manual gives for the symbol,
                    // and the pointer lives no longer than `_library` beside it.
                    let $name = unsafe {
                        *library
                            .get::<unsafe extern "C" fn($($argument),*) -> Status>($symbol)
                            .map_err(|e| format!("{file} is no driver this can use: {e}"))?
                    };
                )*
                Ok(Api { $($name,)* _library: library })
            }
        }
    };
}

api! {
    init b"cuInit" (c_uint);
    device b"cuDeviceGet" (*mut c_int, c_int);
    device_name b"cuDeviceGetName" (*mut c_char, c_int, c_int);
    attribute b"cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    version b"cuDriverGetVersion" (*mut c_int);
    retain b"cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    current b"cuCtxSetCurrent" (Handle);
    load_module b"cuModuleLoadDataEx" (*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    unload b"cuModuleUnload" (Handle);
    function b"cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    global b"cuModuleGetGlobal_v2" (*mut u64, *mut usize, Handle, *const c_char);
    function_attribute b"cuFuncSetAttribute" (Handle, c_int, c_int);
    alloc b"cuMemAlloc_v2" (*mut u64, usize);
    free b"cuMemFree_v2" (u64);
    to_device b"cuMemcpyHtoD_v2" (u64, *const c_void, usize);
    from_device b"cuMemcpyDtoH_v2" (*mut c_void, u64, usize);
    within b"cuMemcpyDtoD_v2" (u64, u64, usize);
    fill b"cuMemsetD8_v2" (u64, u8, usize);
    launch b"cuLaunchKernel" (Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void);
    query b"cuStreamQuery" (Handle);
    error_text b"cuGetErrorString" (Status, *mut *const c_char);
    array b"cuArray3DCreate_v2" (*mut Handle, *const ArrayDescription);
    free_array b"cuArrayDestroy" (Handle);
    copy b"cuMemcpy3D_v2" (*const Copy3d);
    texture b"cuTexObjectCreate" (*mut u64, *const ResourceDescription, *const TextureDescription, *const c_void);
    free_texture b"cuTexObjectDestroy" (u64);
    surface b"cuSurfObjectCreate" (*mut u64, *const ResourceDescription);
    free_surface b"cuSurfObjectDestroy" (u64);
}
