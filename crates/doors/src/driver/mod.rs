//! Door 3: the driver API.
//!
//! Functions are those of `cuda.h`, and are documented there. `build.rs` finds them by `fn cu...(` at the beginning of a line within
//! [`driver!`]; names that NVIDIA's library has and that are not here answer "not supported". What the header calls by a name without a
//! version, as `cuMemAlloc`, is exported with one, as `cuMemAlloc_v2`.
//!
//! There is one device, number 0. All contexts are of one address space: a context is a number that a thread has current.
#![allow(missing_docs, non_snake_case, clippy::missing_safety_doc)]

macro_rules! driver {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(inside, unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
                // The block may use what the program has passed, which is why all of these are unsafe to call.
                #[allow(unused_unsafe)]
                $crate::driver::error::call(|| unsafe { $body })
            }
        )*
    };
}

pub mod address;
pub mod array;
pub mod context;
pub mod copy;
pub mod device;
pub mod error;
pub mod event;
pub mod function;
pub mod graph;
pub mod launch;
pub mod memory;
pub mod module;
pub mod pool;
pub mod stream;
