//! Device memory as the program sees it: real allocations, checked accesses.
//!
//! Addresses are handed out by a bump allocator with a guard gap between allocations and are
//! never reused, so that an access past the end or after a free is always found out.

use super::bytes::{Bytes, Lend};
use std::fmt;
use warpsim_present::memory::try_reserve;

/// Where the first allocation lies.
pub const GLOBAL_BASE: u64 = 0x7_0000_0000;
/// Every allocation starts at a multiple of this, as `cudaMalloc` promises.
pub const ALLOCATION_ALIGN: u64 = 256;
/// Unmapped bytes (at least) between two allocations.
pub const GUARD_GAP: u64 = 256;
/// Addresses end here: the windows of the other spaces begin further up.
const GLOBAL_END: u64 = warpsim_ptx::kernel::window::SHARED;

/// One allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// First address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// What it is, for messages.
    pub label: String,
    /// Freed: its contents are gone.
    pub freed: bool,
    /// Constant memory: programs only read it.
    constant: bool,
    data: Bytes,
}

impl Allocation {
    /// One past the last address.
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + self.size
    }
}

/// The allocation closest to a bad address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Label of the allocation.
    pub label: String,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes from its end (positive: the address lies behind it) or from its start
    /// (negative: before it); an access that begins inside has the distance of its last byte.
    pub distance: i64,
}

/// Why an access cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// Within the first page: a null pointer, perhaps with an offset.
    Null,
    /// No allocation holds all of it.
    OutOfBounds {
        /// The closest allocation, if there is one at all.
        nearest: Option<Nearest>,
    },
    /// The allocation has been freed.
    Freed {
        /// Which one it was.
        label: String,
    },
    /// It is in constant memory, which programs only read.
    Constant {
        /// The variable.
        label: String,
    },
    /// The address is not a multiple of the access size.
    Misaligned,
    /// It does not come from device-side `malloc`, or has been given back.
    NotFromHeap,
    /// The host has no memory left for a copy.
    HostMemory {
        /// Bytes of the copy.
        bytes: u64,
    },
    /// Beyond the end of a space of known size (shared, local, parameters).
    BeyondSpace {
        /// Bytes the space has.
        size: u64,
    },
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Null => write!(f, "null pointer"),
            AccessError::Constant { label } => {
                write!(
                    f,
                    "`{label}` is in constant memory, which programs only read"
                )
            }
            AccessError::OutOfBounds { nearest: None } => {
                write!(f, "no memory is allocated")
            }
            AccessError::OutOfBounds { nearest: Some(n) } => {
                let (by, side) = if n.distance < 0 {
                    (-n.distance, "before the start")
                } else {
                    (n.distance, "past the end")
                };
                write!(
                    f,
                    "out of bounds: {by} bytes {side} of \"{}\" ({} bytes at {:#x})",
                    n.label, n.size, n.start
                )
            }
            AccessError::Freed { label } => write!(f, "\"{label}\" has been freed"),
            AccessError::NotFromHeap => {
                write!(
                    f,
                    "free() of what malloc() did not return, or a second time"
                )
            }
            AccessError::HostMemory { bytes } => {
                write!(
                    f,
                    "the host has no {} MiB of memory left for a copy",
                    bytes.div_ceil(1 << 20)
                )
            }
            AccessError::Misaligned => write!(f, "address is not a multiple of the size"),
            AccessError::BeyondSpace { size } => {
                write!(f, "out of bounds: the space has {size} bytes")
            }
        }
    }
}

impl std::error::Error for AccessError {}

/// All of device memory.
#[derive(Clone, Debug)]
pub struct GlobalMemory {
    allocations: Vec<Allocation>,
    next: u64,
    /// What device-side `malloc` has given out, and may at most.
    heap_used: u64,
    heap_limit: u64,
}

/// Bytes that device-side `malloc` may give out, CUDA's default.
pub const DEFAULT_HEAP: u64 = 8 << 20;
const HEAP_LABEL: &str = "device malloc";

impl Default for GlobalMemory {
    fn default() -> Self {
        GlobalMemory {
            allocations: Vec::new(),
            next: GLOBAL_BASE,
            heap_used: 0,
            heap_limit: DEFAULT_HEAP,
        }
    }
}

/// Whether the host would give so many bytes now. A request that fails ends the process, and one
/// that is asked for zeroed costs nothing until it is used, so it is tried before it is made.
pub fn host_has(bytes: usize) -> bool {
    try_reserve(&mut Vec::<u8>::new(), bytes)
}

impl GlobalMemory {
    /// An empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocates `bytes` zeroed bytes, aligned to at least 256, and returns the address.
    /// `None` when the address space or the host's memory is used up or `align` is no power of
    /// two.
    pub fn alloc(&mut self, bytes: u64, align: u64, label: &str) -> Option<u64> {
        let align = align.max(ALLOCATION_ALIGN);
        if !align.is_power_of_two() {
            return None;
        }
        let start = self.next.checked_add(align - 1)? & !(align - 1);
        let end = start.checked_add(bytes)?.checked_add(GUARD_GAP)?;
        if end > GLOBAL_END {
            return None;
        }
        let size = usize::try_from(bytes).ok()?;
        if !host_has(size) {
            return None;
        }
        self.next = end.next_multiple_of(ALLOCATION_ALIGN);
        self.allocations.push(Allocation {
            start,
            size: bytes,
            label: label.to_string(),
            freed: false,
            constant: false,
            data: Bytes::zeroed(size),
        });
        Some(start)
    }

    /// How much device-side `malloc` may give out.
    pub fn limit_heap(&mut self, bytes: u64) {
        self.heap_limit = bytes;
    }

    /// Device-side `malloc`: an address, or 0 if there is no room (or nothing is asked for).
    pub(crate) fn heap_alloc(&mut self, bytes: u64) -> u64 {
        if bytes == 0 || bytes > self.heap_limit - self.heap_used.min(self.heap_limit) {
            return 0;
        }
        let found = self.alloc(bytes, 16, HEAP_LABEL).unwrap_or(0);
        if found != 0 {
            self.heap_used += bytes;
        }
        found
    }

    /// Device-side `free`; a null pointer is nothing.
    pub(crate) fn heap_free(&mut self, address: u64) -> Result<(), AccessError> {
        if address == 0 {
            return Ok(());
        }
        let found = self.allocations.binary_search_by_key(&address, |a| a.start);
        let Some(a) = found.ok().map(|index| &self.allocations[index]) else {
            return Err(AccessError::NotFromHeap);
        };
        if a.freed || a.label != HEAP_LABEL {
            return Err(AccessError::NotFromHeap);
        }
        self.heap_used -= a.size;
        self.free(address)
    }

    /// From now on the bytes of the allocation that starts at `address` are these, with its contents. At least as many as it has.
    pub fn lend(&mut self, address: u64, lender: Box<dyn Lend>) -> Result<(), AccessError> {
        let found = self.allocations.binary_search_by_key(&address, |a| a.start);
        let index = found.map_err(|_| self.explain(address, 1))?;
        let a = &mut self.allocations[index];
        let mut lent = Bytes::lent(lender);
        if a.freed || (lent.len() as u64) < a.size {
            return Err(self.explain(address, 1));
        }
        lent[..a.data.len()].copy_from_slice(&a.data);
        a.data = lent;
        Ok(())
    }

    /// From now on programs cannot write to the allocation that starts at `address`: it is
    /// constant memory.
    pub fn protect(&mut self, address: u64) {
        let found = self.allocations.binary_search_by_key(&address, |a| a.start);
        if let Ok(index) = found {
            self.allocations[index].constant = true;
        }
    }

    /// Whether an allocation found by [`GlobalMemory::find`] is constant memory.
    #[inline]
    pub(crate) fn is_constant(&self, index: usize) -> bool {
        self.allocations[index].constant
    }

    /// The bytes from `address`, to be changed by a program.
    pub(crate) fn writable(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], AccessError> {
        if let Some(index) = self.find(address, bytes, usize::MAX)
            && self.is_constant(index)
        {
            return Err(self.constant(index));
        }
        self.slice_mut(address, bytes)
    }

    /// That an allocation cannot be written.
    pub(crate) fn constant(&self, index: usize) -> AccessError {
        AccessError::Constant {
            label: self.allocations[index].label.clone(),
        }
    }

    /// Frees the allocation that starts at `address`.
    pub fn free(&mut self, address: u64) -> Result<(), AccessError> {
        let index = self
            .allocations
            .binary_search_by_key(&address, |a| a.start)
            .map_err(|_| self.explain(address, 1))?;
        let a = &mut self.allocations[index];
        if a.freed {
            return Err(AccessError::Freed {
                label: a.label.clone(),
            });
        }
        a.freed = true;
        a.data = Bytes::zeroed(0);
        Ok(())
    }

    /// All allocations in address order, freed ones included.
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// Index of the allocation that holds `bytes` bytes from `address`; `hint` is tried first.
    #[inline]
    pub fn find(&self, address: u64, bytes: u64, hint: usize) -> Option<usize> {
        let holds = |a: &Allocation| {
            address >= a.start && address - a.start < a.size && {
                let offset = address - a.start;
                bytes <= a.size - offset && !a.freed
            }
        };
        if self.allocations.get(hint).is_some_and(holds) {
            return Some(hint);
        }
        let index = self
            .allocations
            .partition_point(|a| a.start <= address)
            .checked_sub(1)?;
        holds(&self.allocations[index]).then_some(index)
    }

    /// Start address and contents of an allocation found by [`GlobalMemory::find`].
    #[inline]
    pub(crate) fn contents(&self, index: usize) -> (u64, &[u8]) {
        let a = &self.allocations[index];
        (a.start, &a.data)
    }

    #[inline]
    pub(crate) fn contents_mut(&mut self, index: usize) -> (u64, &mut [u8]) {
        let a = &mut self.allocations[index];
        (a.start, &mut a.data)
    }

    /// Why an access that `GlobalMemory::find` refused is wrong.
    pub fn explain(&self, address: u64, bytes: u64) -> AccessError {
        if address < 4096 {
            return AccessError::Null;
        }
        let after = self.allocations.partition_point(|a| a.start <= address);
        let mut best: Option<Nearest> = None;
        for a in self.allocations[after.saturating_sub(1)..].iter().take(2) {
            if a.freed && address >= a.start && address < a.end() {
                return AccessError::Freed {
                    label: a.label.clone(),
                };
            }
            let distance = if address < a.start {
                -i64::try_from(a.start - address).unwrap_or(i64::MAX)
            } else if address >= a.end() {
                i64::try_from(address - a.end()).unwrap_or(i64::MAX)
            } else {
                i64::try_from(address.saturating_add(bytes).saturating_sub(a.end()))
                    .unwrap_or(i64::MAX)
            };
            if best
                .as_ref()
                .is_none_or(|b| distance.unsigned_abs() < b.distance.unsigned_abs())
            {
                best = Some(Nearest {
                    label: a.label.clone(),
                    start: a.start,
                    size: a.size,
                    distance,
                });
            }
        }
        AccessError::OutOfBounds { nearest: best }
    }

    /// The bytes from `address`.
    pub fn slice(&self, address: u64, bytes: u64) -> Result<&[u8], AccessError> {
        if bytes == 0 {
            return Ok(&[]);
        }
        let index = self
            .find(address, bytes, usize::MAX)
            .ok_or_else(|| self.explain(address, bytes))?;
        let (start, data) = self.contents(index);
        let offset = (address - start) as usize;
        Ok(&data[offset..offset + bytes as usize])
    }

    /// The bytes from `address`, to be changed.
    pub fn slice_mut(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], AccessError> {
        if bytes == 0 {
            return Ok(&mut []);
        }
        let index = self
            .find(address, bytes, usize::MAX)
            .ok_or_else(|| self.explain(address, bytes))?;
        let (start, data) = self.contents_mut(index);
        let offset = (address - start) as usize;
        Ok(&mut data[offset..offset + bytes as usize])
    }

    /// Copies from memory into `into`.
    #[inline]
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), AccessError> {
        into.copy_from_slice(self.slice(address, into.len() as u64)?);
        Ok(())
    }

    /// Copies `from` into memory.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), AccessError> {
        self.slice_mut(address, from.len() as u64)?
            .copy_from_slice(from);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_aligned_apart_and_zeroed() {
        let mut m = GlobalMemory::new();
        let a = m.alloc(10, 1, "a").unwrap();
        let b = m.alloc(10, 4096, "b").unwrap();
        assert_eq!(a % 256, 0);
        assert_eq!(b % 4096, 0);
        assert!(b >= a + 10 + GUARD_GAP);
        assert_eq!(m.slice(b, 10).unwrap(), &[0; 10]);
        m.write(a + 2, &[1, 2, 3]).unwrap();
        let mut got = [0; 4];
        m.read(a + 1, &mut got).unwrap();
        assert_eq!(got, [0, 1, 2, 3]);
    }

    #[test]
    fn what_is_lent_takes_the_place_of_the_bytes() {
        struct Leaked(std::ptr::NonNull<[u8]>);
        // SAFETY: the bytes live as long as the program, and this is all who knows of them.
        unsafe impl Send for Leaked {}
        // SAFETY: as above.
        unsafe impl Sync for Leaked {}
        // SAFETY: as above.
        unsafe impl Lend for Leaked {
            fn bytes(&self) -> std::ptr::NonNull<[u8]> {
                self.0
            }
        }
        let place = |n| std::ptr::NonNull::from(Box::leak(vec![7u8; n].into_boxed_slice()));
        let mut m = GlobalMemory::new();
        let a = m.alloc(10, 4096, "shared").unwrap();
        m.write(a, &[1; 10]).unwrap();
        let page = place(4096);
        assert!(m.lend(a, Box::new(Leaked(place(9)))).is_err());
        assert!(m.lend(a + 1, Box::new(Leaked(page))).is_err());
        m.lend(a, Box::new(Leaked(page))).unwrap();
        m.write(a + 2, &[5]).unwrap();
        // SAFETY: nothing writes to them now.
        let seen = unsafe { page.as_ref() };
        assert_eq!(seen[..11], [1, 1, 5, 1, 1, 1, 1, 1, 1, 1, 7]);
        // The allocation is no larger for it.
        assert!(m.slice(a, 11).is_err());
    }

    #[test]
    fn bad_accesses_name_the_nearest_allocation() {
        let mut m = GlobalMemory::new();
        assert_eq!(
            m.slice(0x5000, 4).unwrap_err(),
            AccessError::OutOfBounds { nearest: None }
        );
        let a = m.alloc(64, 1, "input").unwrap();
        let b = m.alloc(64, 1, "output").unwrap();
        assert_eq!(m.slice(8, 4).unwrap_err(), AccessError::Null);
        let past = m.slice(a + 68, 4).unwrap_err();
        assert_eq!(
            past.to_string(),
            format!("out of bounds: 4 bytes past the end of \"input\" (64 bytes at {a:#x})")
        );
        let straddle = m.slice(a + 62, 4).unwrap_err().to_string();
        assert!(straddle.contains("2 bytes past the end of \"input\""));
        let before = m.slice(b - 8, 4).unwrap_err().to_string();
        assert!(before.contains("8 bytes before the start of \"output\""));
        m.free(a).unwrap();
        assert_eq!(
            m.slice(a, 4).unwrap_err(),
            AccessError::Freed {
                label: "input".into()
            }
        );
        assert!(m.free(a).is_err());
        assert!(m.free(b + 4).is_err());
        // Never reused: a new allocation lies elsewhere.
        assert!(m.alloc(64, 1, "later").unwrap() > b);
    }
}
