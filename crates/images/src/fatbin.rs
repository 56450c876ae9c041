//! Fat binaries: containers of code for several architectures, as `nvcc` and `fatbinary` write them.
//!
//! A container is a header and entries. An entry is a header, which may carry the file's name and the compiler's
//! options, and code, which may be compressed. All numbers are little-endian.

use crate::bytes::{Bytes, size};
use crate::capability::Capability;
use crate::compression::{Compression, decompress};
use crate::error::Error;
use crate::text::{self, Origin};
use crate::{Image, cubin};

/// How a container begins.
pub const CONTAINER: u32 = 0xBA55_ED50;
/// How the record begins that host code hands to `__cudaRegisterFatBinary`: this, a version (u32, 1 or 2), the address of
/// a container, and an address that with version 2 is that of further containers (a list that ends in 0).
pub const WRAPPER: u32 = 0x4662_43B1;

/// Sizes of the headers: a container's, and the least of an entry.
const HEADER: usize = 16;
const ENTRY: usize = 64;

const KIND_PTX: u16 = 1;
const KIND_ELF: u16 = 2;

const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;

/// How many bytes the container has that begins with these (16 of them suffice), its header among them.
pub fn container_bytes(start: &[u8]) -> Result<usize, Error> {
    let bytes = Bytes {
        all: start,
        before: 0,
    };
    Ok(container(bytes, 0)?.1)
}

/// Where the entries of a container begin and end, from the container on.
fn container(bytes: Bytes, at: usize) -> Result<(usize, usize), Error> {
    let magic = bytes.u32(at, "the header of a fat binary")?;
    if magic != CONTAINER {
        return Err(bytes.broken(
            at,
            format!("{magic:#010x} is not how a fat binary begins ({CONTAINER:#010x})"),
        ));
    }
    let version = bytes.u16(at + 4, "the version of a fat binary")?;
    if version != 1 {
        return Err(bytes.broken(
            at + 4,
            format!("version {version} of fat binaries is not known, 1 is"),
        ));
    }
    let header = usize::from(bytes.u16(at + 6, "the header of a fat binary")?);
    if header < HEADER {
        return Err(bytes.broken(at + 6, format!("a header of {header} bytes is too short")));
    }
    let entries = size(bytes.u64(at + 8, "the size of a fat binary")?);
    let all = header.checked_add(entries);
    let all = all.ok_or_else(|| bytes.broken(at + 8, "its size is too large"))?;
    Ok((header, all))
}

/// All containers in a row. Zeros between them, and behind the last, only align.
pub(crate) fn read(all: &[u8], image: &mut Image) -> Result<(), Error> {
    let bytes = Bytes { all, before: 0 };
    let mut at = 0;
    while at < all.len() {
        let (header, whole) = container(bytes, at)?;
        let part = bytes.part(at, whole, "a fat binary")?;
        let entries = Bytes {
            all: &part[header..],
            before: at + header,
        };
        read_entries(entries, image)?;
        at += whole;
        let zeros = all[at..].iter().take_while(|&&b| b == 0).count();
        at += zeros;
    }
    Ok(())
}

fn read_entries(entries: Bytes, image: &mut Image) -> Result<(), Error> {
    let mut at = 0;
    while at < entries.all.len() {
        let header = size(u64::from(entries.u32(at + 4, "an entry's header")?));
        if header < ENTRY {
            return Err(entries.broken(
                at + 4,
                format!("an entry's header of {header} bytes is too short"),
            ));
        }
        let whole = entries.part(at, header, "an entry's header")?;
        let head = Bytes {
            all: whole,
            before: entries.before + at,
        };
        let stored = size(entries.u64(at + 8, "an entry's size")?);
        let payload = entries.part(at + header, stored, "an entry's code")?;
        let code = Bytes {
            all: payload,
            before: entries.before + at + header,
        };
        entry(head, code, image)?;
        at += header + stored;
    }
    Ok(())
}

fn entry(head: Bytes, stored: Bytes, image: &mut Image) -> Result<(), Error> {
    let what = "an entry's header";
    let kind = head.u16(0, what)?;
    if kind != KIND_PTX && kind != KIND_ELF {
        image.others += 1;
        return Ok(());
    }
    let flags = head.u64(40, what)?;
    let compression = match (flags & FLAG_LZ4 != 0, flags & FLAG_ZSTD != 0) {
        (false, false) => Compression::None,
        (true, false) => Compression::Lz4,
        (false, true) => Compression::Zstd,
        _ => return Err(head.broken(40, "code compressed in two ways")),
    };
    let code = match compression {
        Compression::None => stored.all.to_vec(),
        // What follows the compressed bytes only aligns.
        _ => {
            let count = size(u64::from(head.u32(16, what)?));
            let part = stored.part(0, count, "compressed code")?;
            let found = decompress(part, compression, size(head.u64(56, what)?));
            found.map_err(|what| stored.broken(0, what))?
        }
    };
    if kind == KIND_ELF {
        return cubin::read(&code, stored.before, image);
    }
    let version = (head.u16(26, what)?, head.u16(24, what)?);
    let capability = Capability::new(head.u32(28, what)?);
    let ptx = text::stored(&code, stored.before, Origin::Entry, version, capability)?;
    image.ptx.push(ptx);
    Ok(())
}
