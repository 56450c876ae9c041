//! `cudaGetDeviceProperties`: one table of fields, from which the structures of all majors are written.

use super::Pointer;
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};
use std::ffi::c_int;

/// A field's value.
#[derive(Clone, Copy)]
enum Value {
    /// The device's name, in so many bytes.
    Name(usize),
    /// So many bytes that say nothing but are the same every time.
    Zeros(usize),
    /// The GPU's memory, as a `size_t`.
    Memory,
    /// One of the numbered attributes as an `int`.
    Int(u32),
    /// Several of them.
    Ints(&'static [u32]),
    /// One as a `size_t`.
    Size(u32),
    /// A number.
    Is(i32),
}

use Value::{Int, Ints, Is, Memory, Name, Size, Zeros};

/// The structure up to 11, from 12 on, and of 13.
const OLD: u8 = 1;
const NEW: u8 = 2;
const LATEST: u8 = 4;
const ALL: u8 = 7;

/// Each field in its order, with the structures that have it.
const FIELDS: &[(u8, Value)] = &[
    (ALL, Name(256)),
    (ALL, Zeros(16)), // uuid
    (ALL, Zeros(8)),  // luid
    (ALL, Is(0)),     // luidDeviceNodeMask
    (ALL, Memory),    // totalGlobalMem
    (ALL, Size(8)),   // sharedMemPerBlock
    (ALL, Int(12)),   // regsPerBlock
    (ALL, Int(10)),   // warpSize
    (ALL, Size(11)),  // memPitch
    (ALL, Int(1)),    // maxThreadsPerBlock
    (ALL, Ints(&[2, 3, 4])),
    (ALL, Ints(&[5, 6, 7])),
    (OLD | NEW, Int(13)),   // clockRate
    (ALL, Size(9)),         // totalConstMem
    (ALL, Ints(&[75, 76])), // major, minor
    (ALL, Size(14)),        // textureAlignment
    (ALL, Size(51)),        // texturePitchAlignment
    (OLD | NEW, Int(15)),   // deviceOverlap
    (ALL, Int(16)),         // multiProcessorCount
    (OLD | NEW, Int(17)),   // kernelExecTimeoutEnabled
    (ALL, Ints(&[18, 19])), // integrated, canMapHostMemory
    (OLD | NEW, Int(20)),   // computeMode
    (ALL, Ints(&[21, 77])), // maxTexture1D, maxTexture1DMipmap
    (OLD | NEW, Int(69)),   // maxTexture1DLinear
    (
        ALL,
        Ints(&[22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49]),
    ),
    (ALL, Ints(&[52, 42, 43, 27, 28, 29, 53, 54])),
    (
        ALL,
        Ints(&[55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68]),
    ),
    (ALL, Size(30)), // surfaceAlignment
    (ALL, Ints(&[31, 32, 33, 34, 50, 35, 40, 41])),
    (OLD | NEW, Int(36)), // memoryClockRate
    (ALL, Ints(&[37, 38, 108, 39, 78, 79, 80])),
    (ALL, Size(81)), // sharedMemPerMultiprocessor
    (ALL, Ints(&[82, 83, 84, 85, 86])),
    (OLD | NEW, Int(87)), // singleToDoublePrecisionPerfRatio
    (ALL, Ints(&[88, 89, 90, 91, 95])),
    (OLD | NEW, Is(0)), // cooperativeMultiDeviceLaunch
    (ALL, Size(97)),    // sharedMemPerBlockOptin
    (ALL, Ints(&[100, 101, 106, 109])),
    (ALL, Size(111)), // reservedSharedMemPerBlock
    (
        NEW | LATEST,
        Ints(&[99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120]),
    ),
    (NEW | LATEST, Is(0)), // unifiedFunctionPointers
    (LATEST, Ints(&[130, 131, 133, 134, 139, 140, 143])),
    (NEW, Zeros(63 * 4)),
    (LATEST, Zeros(56 * 4)),
];

/// The structure's bytes, where attributes are asked for so.
fn structure(
    which: u8,
    name: &[u8],
    memory: u64,
    attribute: &mut dyn FnMut(u32) -> Result<i32>,
) -> Result<Vec<u8>> {
    let mut out: Vec<u8> = Vec::with_capacity(1024);
    let size = |out: &mut Vec<u8>, value: u64| {
        out.resize(out.len().next_multiple_of(8), 0);
        out.extend_from_slice(&value.to_le_bytes());
    };
    for (structures, value) in FIELDS {
        if structures & which == 0 {
            continue;
        }
        match *value {
            Name(length) => {
                let shown = name.len().min(length - 1);
                let end = out.len() + length;
                out.extend_from_slice(&name[..shown]);
                out.resize(end, 0);
            }
            Zeros(length) => out.resize(out.len() + length, 0),
            Memory => size(&mut out, memory),
            Int(number) => out.extend_from_slice(&attribute(number)?.to_le_bytes()),
            Ints(numbers) => {
                for number in numbers {
                    out.extend_from_slice(&attribute(*number)?.to_le_bytes());
                }
            }
            Size(number) => size(&mut out, attribute(number)? as u32 as u64),
            Is(number) => out.extend_from_slice(&number.to_le_bytes()),
        }
    }
    out.resize(out.len().next_multiple_of(8), 0);
    Ok(out)
}

/// Writes the structure of one of the majors.
///
/// # Safety
/// `to` is null or such a structure.
unsafe fn properties(to: Pointer, device: c_int, which: u8) -> Result<()> {
    super::device::check(device)?;
    let name = ask(&Request::DeviceName {}, &[])?.payload;
    let memory = *ask(&Request::MemoryInfo {}, &[])?
        .words
        .get(1)
        .ok_or(status::UNKNOWN)?;
    let mut attribute =
        |attribute| Ok(number(&Request::DeviceAttribute { attribute }, &[])? as u32 as i32);
    let bytes = structure(which, &name, memory, &mut attribute)?;
    if to.is_null() {
        return Err(status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
    Ok(())
}

api! {
    fn cudaGetDeviceProperties(to: Pointer, device: c_int) {
        properties(to, device, if super::major() == 13 { LATEST } else { OLD })
    }

    fn cudaGetDeviceProperties_v2(to: Pointer, device: c_int) {
        properties(to, device, NEW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the headers' structures take, and where a late field of each lies, as a C compiler has them.
    #[test]
    fn structures_are_as_large_as_the_headers_have_them() {
        let made = |which| {
            let mut attribute = |number: u32| Ok(number as i32);
            structure(which, b"a device", 1 << 30, &mut attribute).expect("made")
        };
        let int = |s: &[u8], at: usize| i32::from_le_bytes(s[at..at + 4].try_into().expect("four"));
        for (which, bytes, sms, blocks) in LAYOUTS {
            let s = made(which);
            assert_eq!(s.len(), bytes);
            assert_eq!((int(&s, sms), int(&s, blocks)), (16, 106));
            assert_eq!(&s[..9], b"a device\0");
        }
    }

    /// Which structure; its bytes; offsets of `multiProcessorCount` and `maxBlocksPerMultiProcessor`.
    const LAYOUTS: [(u8, usize, usize, usize); 3] = [
        (OLD, 728, 388, 712),
        (NEW, 1032, 388, 712),
        (LATEST, 1008, 384, 688),
    ];
}
