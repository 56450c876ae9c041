//! Launches, with arguments one by one or as one block of bytes.

use super::context::current;
use crate::client::{Result, ask};
use crate::runtime::launch::gather;
use crate::runtime::{Handle, number as of, registry, take};
use crate::wire::{Request, status};
use std::ffi::c_void;

/// What the words of `extra` say: the end, a block of arguments, where its size stands.
const END: usize = 0;
const BLOCK: usize = 1;
const BLOCK_BYTES: usize = 2;

/// How a kernel is launched.
#[derive(Clone, Copy, Default)]
struct How {
    grid: [u32; 3],
    block: [u32; 3],
    cluster: [u32; 3],
    shared: u32,
    stream: u64,
    cooperative: bool,
}

/// The parameters of a launch as one block.
///
/// # Safety
/// `arguments` is null or a list of pointers, one to each argument; `extra` is null or a list that ends.
pub unsafe fn parameters(
    function: &registry::Function,
    arguments: *const *const c_void,
    extra: *const *const c_void,
) -> Result<Vec<u8>> {
    if extra.is_null() {
        // SAFETY: as the caller says.
        return unsafe { gather(function, arguments) };
    }
    if !arguments.is_null() {
        return Err(status::INVALID_VALUE);
    }
    let (mut block, mut bytes) = (std::ptr::null::<u8>(), 0);
    let mut at = extra;
    // SAFETY: as the caller says.
    unsafe {
        loop {
            match at.read() as usize {
                END => break,
                BLOCK => block = at.add(1).read().cast(),
                BLOCK_BYTES => bytes = take(at.add(1).read().cast::<usize>())?,
                _ => return Err(status::INVALID_VALUE),
            }
            at = at.add(2);
        }
        if block.is_null() && bytes > 0 || bytes > function.bytes {
            return Err(status::INVALID_VALUE);
        }
        let mut all = match bytes {
            0 => Vec::new(),
            _ => std::slice::from_raw_parts(block, bytes).to_vec(),
        };
        // Compilers leave out what only aligns at the end.
        all.resize(function.bytes, 0);
        Ok(all)
    }
}

/// # Safety
/// As for [`parameters`].
unsafe fn launch(
    function: Handle,
    how: How,
    arguments: *const *const c_void,
    extra: *const *const c_void,
) -> Result<()> {
    current()?;
    let function = registry::function(function)?;
    // SAFETY: as the caller says.
    let block = unsafe { parameters(&function, arguments, extra)? };
    let request = Request::Launch {
        function: function.handle,
        grid: how.grid,
        block: how.block,
        cluster: how.cluster,
        shared: how.shared,
        flags: u32::from(how.cooperative),
        stream: how.stream,
    };
    ask(&request, &block).map(drop)
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Attribute {
    id: u32,
    _pad: u32,
    value: [u32; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Handle,
    attributes: *const Attribute,
    count: u32,
}

const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;

impl Config {
    /// # Safety
    /// Its list of attributes is one.
    unsafe fn read(&self) -> Result<How> {
        let mut how = How {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            stream: of(self.stream),
            ..How::default()
        };
        for index in 0..self.count as usize {
            // SAFETY: as the caller says.
            let attribute = unsafe { take(self.attributes.wrapping_add(index))? };
            let [x, y, z, ..] = attribute.value;
            match attribute.id {
                COOPERATIVE => how.cooperative = x != 0,
                CLUSTER => how.cluster = [x, y, z],
                // The others say how memory and order are to be treated, which changes nothing here.
                _ => {}
            }
        }
        Ok(how)
    }
}

driver! {
    fn cuLaunchKernel(function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32, stream: Handle, arguments: *const *const c_void, extra: *const *const c_void) {
        let how = How { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared, stream: of(stream), ..How::default() };
        launch(function, how, arguments, extra)
    }

    fn cuLaunchKernelEx(config: *const Config, function: Handle, arguments: *const *const c_void, extra: *const *const c_void) {
        let how = take(config)?.read()?;
        launch(function, how, arguments, extra)
    }

    fn cuLaunchCooperativeKernel(function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32, stream: Handle, arguments: *const *const c_void) {
        let how = How { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared, stream: of(stream), cooperative: true, ..How::default() };
        launch(function, how, arguments, std::ptr::null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_one_by_one_or_as_a_block() {
        let function = registry::Function {
            handle: 7,
            parameters: vec![(0, 8), (8, 4)],
            bytes: 16,
        };
        let (first, second) = (5u64, 6u32);
        let list = [(&raw const first).cast(), (&raw const second).cast()];
        // SAFETY: as many pointers as parameters.
        let one_by_one = unsafe { parameters(&function, list.as_ptr(), std::ptr::null()) };
        let block: Vec<u8> = [5u64.to_le_bytes(), 6u64.to_le_bytes()].concat();
        assert_eq!(one_by_one, Ok(block.clone()));
        let bytes = 12usize;
        let extra: [*const c_void; 5] = [
            BLOCK as *const c_void,
            block.as_ptr().cast(),
            BLOCK_BYTES as *const c_void,
            (&raw const bytes).cast(),
            END as *const c_void,
        ];
        // SAFETY: the list ends.
        let together = unsafe { parameters(&function, std::ptr::null(), extra.as_ptr()) };
        assert_eq!(together, Ok(block));
        let bytes = 17usize;
        let extra = [
            extra[0],
            extra[1],
            extra[2],
            (&raw const bytes).cast(),
            extra[4],
        ];
        // SAFETY: the list ends.
        let too_many = unsafe { parameters(&function, std::ptr::null(), extra.as_ptr()) };
        assert_eq!(too_many, Err(status::INVALID_VALUE));
    }
}
