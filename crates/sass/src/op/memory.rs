//! Loads and stores.

use super::args::{Address, Args};
use super::state::{Dst, Reach, Row, Trouble};
use super::value::Value;
use super::{Action, Entry, entry};
use warpsim_exec::fault::FaultKind;
use warpsim_exec::memory::image::AccessError;
use warpsim_exec::state::{LANES, lanes_of};
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::window;

pub const OPS: &[Entry] = &[
    entry("LDG", "loads from global memory", |args| {
        load(args, Space::Global)
    }),
    entry("LD", "loads from any memory", |args| {
        load(args, Space::Generic)
    }),
    entry("LDS", "loads from shared memory", |args| {
        load(args, Space::Shared)
    }),
    entry("LDL", "loads from local memory", |args| {
        load(args, Space::Local)
    }),
    entry("STG", "stores to global memory", |args| {
        store(args, Space::Global)
    }),
    entry("ST", "stores to any memory", |args| {
        store(args, Space::Generic)
    }),
    entry("STS", "stores to shared memory", |args| {
        store(args, Space::Shared)
    }),
    entry("STL", "stores to local memory", |args| {
        store(args, Space::Local)
    }),
];

/// Shared memory that the hardware keeps for itself, before a block's own.
pub const RESERVED_SHARED: usize = 1024;

/// What says how long data stays in caches and who sees it when: all see it at once here.
const WITHOUT_EFFECT: [&str; 18] = [
    "STRONG", "WEAK", "CONSTANT", "GPU", "SYS", "SM", "CTA", "CLUSTER", "EF", "EL", "EU", "EN",
    "NA", "LU", "LTC64B", "LTC128B", "LTC256B", "MMIO",
];

/// Reads what says where an access goes, of an instruction that is for this space.
pub fn goes_to(args: &mut Args<'_>, space: Space) -> Result<(), String> {
    args.without_effect(&WITHOUT_EFFECT);
    let global = matches!(space, Space::Global | Space::Generic);
    if global && !args.modifier("E") {
        return Err(format!(
            "{} with addresses of 32 bits is not known",
            args.instruction().spelling()
        ));
    }
    Ok(())
}

/// An address for an access to this space.
pub fn address(args: &mut Args<'_>, space: Space) -> Result<Address, String> {
    let mut address = args.address()?;
    if matches!(space, Space::Global | Space::Generic) {
        address.wide = true;
        if address.uniform.is_some() {
            return Err(format!(
                "{} with an address in uniform registers is not known",
                args.instruction().spelling()
            ));
        }
    } else if address.wide {
        return Err("an address of 64 bits is not known here".into());
    }
    Ok(address)
}

/// The address of each lane.
#[inline(always)]
pub fn addresses(address: &Address, r: &Reach<'_, '_>) -> [u64; LANES] {
    let part = |number: Option<u8>| match number {
        Some(number) => Value {
            from: super::value::From::Register(number),
            change: Default::default(),
        }
        .raw(r),
        None => Row::all(0),
    };
    let low = part(address.index);
    if address.wide {
        let second = address.index.filter(|&n| n != 255).map(|n| n + 1);
        let high = part(second);
        return std::array::from_fn(|lane| {
            let base = u64::from(high.0[lane]) << 32 | u64::from(low.0[lane]);
            base.wrapping_add_signed(address.offset.into())
        });
    }
    let beside = match address.uniform {
        Some(number) => r.registers.uniform.registers[usize::from(number)],
        None => 0,
    };
    let added = beside.wrapping_add(address.offset as u32);
    std::array::from_fn(|lane| u64::from(low.0[lane].wrapping_add(added)))
}

/// The space that an address is in, and the address there.
#[inline(always)]
pub fn resolve(space: Space, address: u64) -> (Space, u64) {
    if space != Space::Generic {
        return (space, address);
    }
    let within = |start: u64| (address.wrapping_sub(start) < window::SIZE).then(|| address - start);
    if address < window::SHARED {
        (Space::Global, address)
    } else if let Some(offset) = within(window::SHARED) {
        (Space::Shared, offset)
    } else if let Some(offset) = within(window::LOCAL) {
        (Space::Local, offset)
    } else {
        (Space::Global, address)
    }
}

/// The bytes of a space of known size.
pub fn within(
    address: u64,
    bytes: usize,
    size: usize,
) -> Result<std::ops::Range<usize>, AccessError> {
    if !address.is_multiple_of(bytes as u64) {
        return Err(AccessError::Misaligned);
    }
    match address.checked_add(bytes as u64) {
        Some(end) if end <= size as u64 => Ok(address as usize..end as usize),
        _ => Err(AccessError::BeyondSpace { size: size as u64 }),
    }
}

/// What is said of an access that cannot be. A block's shared memory is counted from its own.
pub fn trouble(
    lane: usize,
    space: Space,
    address: u64,
    bytes: usize,
    store: bool,
    cause: AccessError,
) -> Trouble {
    let own = RESERVED_SHARED as u64;
    let (address, cause) = match (space, cause) {
        (Space::Shared, AccessError::BeyondSpace { size }) => (
            address.wrapping_sub(own),
            AccessError::BeyondSpace { size: size - own },
        ),
        (_, cause) => (address, cause),
    };
    let kind = FaultKind::Memory {
        space,
        address,
        bytes: bytes as u32,
        store,
        cause,
    };
    Trouble { lane, kind }
}

fn read_lane<const N: usize>(
    r: &mut Reach<'_, '_>,
    lane: usize,
    space: Space,
    address: u64,
) -> Result<[u8; N], Trouble> {
    let mut bytes = [0; N];
    let (space, at) = resolve(space, address);
    let done = match space {
        Space::Shared => within(at, N, r.shared.len()).map(|range| {
            bytes.copy_from_slice(&r.shared[range]);
        }),
        Space::Local => within(at, N, r.registers.local.size()).map(|range| {
            r.registers.local.read(lane, range.start, &mut bytes);
        }),
        _ if !at.is_multiple_of(N as u64) => Err(AccessError::Misaligned),
        _ => r.memory.load(at, &mut bytes),
    };
    match done {
        Ok(()) => Ok(bytes),
        Err(cause) => Err(trouble(lane, space, at, N, false, cause)),
    }
}

fn write_lane<const N: usize>(
    r: &mut Reach<'_, '_>,
    lane: usize,
    space: Space,
    address: u64,
    bytes: [u8; N],
) -> Result<(), Trouble> {
    let (space, at) = resolve(space, address);
    let done = match space {
        Space::Shared => within(at, N, r.shared.len()).map(|range| {
            r.shared[range].copy_from_slice(&bytes);
        }),
        Space::Local => within(at, N, r.registers.local.size()).map(|range| {
            r.registers.local.write(lane, range.start, &bytes);
        }),
        _ if !at.is_multiple_of(N as u64) => Err(AccessError::Misaligned),
        _ => r.memory.store(at, &bytes),
    };
    done.map_err(|cause| trouble(lane, space, at, N, true, cause))
}

/// Bytes of a lane's access, and whether they are signed.
fn width(args: &mut Args<'_>) -> (usize, bool) {
    let widths = [
        ("U8", (1, false)),
        ("S8", (1, true)),
        ("U16", (2, false)),
        ("S16", (2, true)),
        ("64", (8, false)),
        ("128", (16, false)),
    ];
    args.one_of(&widths).unwrap_or((4, false))
}

/// Loads `N` bytes in each lane as words.
fn load_words<const N: usize>(
    r: &mut Reach<'_, '_>,
    dst: Dst,
    space: Space,
    address: &Address,
    word: impl Fn([u8; N], usize) -> u32,
) -> Result<(), Trouble> {
    let at = addresses(address, r);
    let mut rows = [Row::all(0); 4];
    for lane in lanes_of(r.mask) {
        let bytes = read_lane::<N>(r, lane, space, at[lane])?;
        for (k, row) in rows.iter_mut().enumerate().take(N.div_ceil(4)) {
            row.0[lane] = word(bytes, k);
        }
    }
    for (k, row) in rows.iter().enumerate().take(N.div_ceil(4)) {
        r.set(dst.after(k as u8), row);
    }
    Ok(())
}

/// Word `k` of bytes.
fn piece<const N: usize>(bytes: [u8; N], k: usize) -> u32 {
    u32::from_le_bytes(*bytes[4 * k..].first_chunk().expect("a whole word"))
}

fn load(args: &mut Args<'_>, space: Space) -> Result<Action, String> {
    goes_to(args, space)?;
    let width = width(args);
    let (dst, at) = (args.dst()?, address(args, space)?);
    match width {
        (1, false) => {
            Action::access(move |r| load_words::<1>(r, dst, space, &at, |[b], _| b.into()))
        }
        (1, true) => {
            Action::access(move |r| load_words::<1>(r, dst, space, &at, |[b], _| b as i8 as u32))
        }
        (2, false) => Action::access(move |r| {
            load_words::<2>(r, dst, space, &at, |b, _| u16::from_le_bytes(b).into())
        }),
        (2, true) => Action::access(move |r| {
            load_words::<2>(r, dst, space, &at, |b, _| i16::from_le_bytes(b) as u32)
        }),
        (8, _) => Action::access(move |r| load_words::<8>(r, dst, space, &at, piece)),
        (16, _) => Action::access(move |r| load_words::<16>(r, dst, space, &at, piece)),
        _ => Action::access(move |r| load_words::<4>(r, dst, space, &at, piece)),
    }
}

fn store_words<const N: usize>(
    r: &mut Reach<'_, '_>,
    from: Value,
    space: Space,
    address: &Address,
) -> Result<(), Trouble> {
    let at = addresses(address, r);
    let mut rows = [Row::all(0); 4];
    let mut next = from;
    for row in rows.iter_mut().take(N.div_ceil(4)) {
        *row = next.integer(r);
        next = next.next();
    }
    for lane in lanes_of(r.mask) {
        let mut bytes = [0; N];
        for (piece, row) in bytes.chunks_mut(4).zip(&rows) {
            piece.copy_from_slice(&row.0[lane].to_le_bytes()[..piece.len()]);
        }
        write_lane(r, lane, space, at[lane], bytes)?;
    }
    Ok(())
}

fn store(args: &mut Args<'_>, space: Space) -> Result<Action, String> {
    goes_to(args, space)?;
    let (bytes, _) = width(args);
    let (at, from) = (address(args, space)?, args.integer()?);
    match bytes {
        1 => Action::access(move |r| store_words::<1>(r, from, space, &at)),
        2 => Action::access(move |r| store_words::<2>(r, from, space, &at)),
        8 => Action::access(move |r| store_words::<8>(r, from, space, &at)),
        16 => Action::access(move |r| store_words::<16>(r, from, space, &at)),
        _ => Action::access(move |r| store_words::<4>(r, from, space, &at)),
    }
}
