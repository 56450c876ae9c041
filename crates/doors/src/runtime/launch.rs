//! Launches: how a `<<<>>>` arrives, and the functions that say it in one call.

use super::registry::{self, Function};
use super::{Dim3, Handle, give, number, take};
use crate::client::{Result, ask};
use crate::wire::{Request, status};
use std::cell::RefCell;
use std::ffi::c_void;

/// A launch as its configuration says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Configuration {
    grid: Dim3,
    block: Dim3,
    cluster: Dim3,
    shared: usize,
    stream: u64,
    cooperative: bool,
}

thread_local! {
    /// Configurations that a `<<<>>>` has pushed and its kernel's stub not popped yet.
    static PUSHED: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

#[cfg_attr(inside, unsafe(no_mangle))]
pub extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Handle,
) -> u32 {
    let stream = number(stream);
    let pushed = Configuration {
        grid,
        block,
        shared,
        stream,
        ..Configuration::default()
    };
    PUSHED.with_borrow_mut(|all| all.push(pushed));
    status::SUCCESS
}

/// Gathers the arguments of a launch, each as its parameter lies in the block.
///
/// # Safety
/// `arguments` is a list of pointers, one to each argument.
pub unsafe fn gather(function: &Function, arguments: *const *const c_void) -> Result<Vec<u8>> {
    let mut block = vec![0; function.bytes];
    if arguments.is_null() && !function.parameters.is_empty() {
        return Err(status::INVALID_VALUE);
    }
    for (index, &(offset, bytes)) in function.parameters.iter().enumerate() {
        // SAFETY: as the caller says; the compiler counted the arguments.
        unsafe {
            let argument = take(arguments.add(index))?;
            if argument.is_null() {
                return Err(status::INVALID_VALUE);
            }
            let to = block
                .get_mut(offset..offset + bytes)
                .ok_or(status::INVALID_VALUE)?;
            to.copy_from_slice(std::slice::from_raw_parts(argument.cast(), bytes));
        }
    }
    Ok(block)
}

/// Launches what an address or a handle stands for.
///
/// # Safety
/// As for [`gather`].
unsafe fn launch(
    of: *const c_void,
    how: Configuration,
    arguments: *const *const c_void,
) -> Result<()> {
    let function = registry::function(of)?;
    // SAFETY: as the caller says.
    let block = unsafe { gather(&function, arguments)? };
    let request = Request::Launch {
        function: function.handle,
        grid: how.grid.all(),
        block: how.block.all(),
        cluster: how.cluster.all(),
        shared: u32::try_from(how.shared).map_err(|_| status::INVALID_VALUE)?,
        flags: u32::from(how.cooperative),
        stream: how.stream,
    };
    ask(&request, &block).map(drop)
}

/// An attribute of a launch.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attribute {
    id: u32,
    _pad: u32,
    value: [u32; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Handle,
    attributes: *const Attribute,
    count: u32,
}

const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;

impl LaunchConfig {
    /// What it comes to.
    ///
    /// # Safety
    /// Its list of attributes is one.
    unsafe fn read(&self) -> Result<Configuration> {
        let mut how = Configuration {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            stream: number(self.stream),
            ..Configuration::default()
        };
        for index in 0..self.count as usize {
            // SAFETY: as the caller says.
            let attribute = unsafe { take(self.attributes.wrapping_add(index))? };
            let [x, y, z, ..] = attribute.value;
            match attribute.id {
                COOPERATIVE => how.cooperative = x != 0,
                CLUSTER => how.cluster = Dim3 { x, y, z },
                // The others say how memory and order are to be treated, which changes nothing here.
                _ => {}
            }
        }
        Ok(how)
    }
}

api! {
    fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, stream: *mut Handle) {
        let popped = PUSHED.with_borrow_mut(Vec::pop).ok_or(status::MISSING_CONFIGURATION)?;
        give(grid, popped.grid)?;
        give(block, popped.block)?;
        give(shared, popped.shared)?;
        give(stream, super::handle(popped.stream))
    }

    fn __cudaGetKernel(kernel: *mut Handle, host: *const c_void) {
        give(kernel, super::handle(registry::function(host)?.handle))
    }

    fn cudaGetKernel(kernel: *mut Handle, host: *const c_void) {
        give(kernel, super::handle(registry::function(host)?.handle))
    }

    fn cudaGetFuncBySymbol(function: *mut Handle, host: *const c_void) {
        give(function, super::handle(registry::function(host)?.handle))
    }

    fn __cudaLaunchKernel(kernel: *const c_void, grid: Dim3, block: Dim3, arguments: *const *const c_void, shared: usize, stream: Handle) {
        let stream = number(stream);
        launch(kernel, Configuration { grid, block, shared, stream, ..Configuration::default() }, arguments)
    }

    fn cudaLaunchKernel(host: *const c_void, grid: Dim3, block: Dim3, arguments: *const *const c_void, shared: usize, stream: Handle) {
        let stream = number(stream);
        launch(host, Configuration { grid, block, shared, stream, ..Configuration::default() }, arguments)
    }

    fn cudaLaunchCooperativeKernel(host: *const c_void, grid: Dim3, block: Dim3, arguments: *const *const c_void, shared: usize, stream: Handle) {
        let stream = number(stream);
        let cooperative = true;
        launch(host, Configuration { grid, block, shared, stream, cooperative, ..Configuration::default() }, arguments)
    }

    fn cudaLaunchKernelExC(config: *const LaunchConfig, host: *const c_void, arguments: *const *const c_void) {
        let how = take(config)?.read()?;
        launch(host, how, arguments)
    }
}
