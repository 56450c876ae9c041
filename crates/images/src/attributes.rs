//! `.nv.info`: what NVIDIA's assembler says about kernels, as a list of attributes.
//!
//! An attribute is a byte that says how its value is stored, a byte that says which it is, and two bytes that are
//! the value or the size of what follows.

use crate::bytes::Bytes;
use crate::error::Error;

/// The value follows, and its size is given.
const SIZED: u8 = 4;

/// One attribute: which, and its value.
pub(crate) struct Attribute<'a> {
    pub(crate) which: u8,
    pub(crate) value: Bytes<'a>,
}

/// Most threads of a block, in three directions.
pub(crate) const MAX_THREADS: u8 = 0x05;
/// Where parameters begin in constant memory, and their size.
pub(crate) const PARAM_CBANK: u8 = 0x0a;
/// A function's frame in local memory.
pub(crate) const FRAME_SIZE: u8 = 0x11;
/// What local memory a kernel takes with all it calls.
pub(crate) const MIN_STACK_SIZE: u8 = 0x12;
/// A parameter: its number, offset and size.
pub(crate) const PARAM: u8 = 0x17;
/// Registers of a function.
pub(crate) const REGISTERS: u8 = 0x2f;

/// All attributes of a section.
pub(crate) fn read(section: Bytes) -> Result<Vec<Attribute>, Error> {
    let what = "an attribute of `.nv.info`";
    let mut found = Vec::new();
    let mut at = 0;
    while at < section.all.len() {
        let head = section.part(at, 4, what)?;
        let (value, next) = match head[0] {
            SIZED => {
                let count = usize::from(u16::from_le_bytes([head[2], head[3]]));
                ((at + 4, section.part(at + 4, count, what)?), at + 4 + count)
            }
            1..=3 => ((at + 2, &head[2..]), at + 4),
            other => {
                return Err(section.broken(at, format!("{other} is no kind of attribute")));
            }
        };
        found.push(Attribute {
            which: head[1],
            value: Bytes {
                all: value.1,
                before: section.before + value.0,
            },
        });
        at = next;
    }
    Ok(found)
}
