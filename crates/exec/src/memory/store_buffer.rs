//! The stores one SM made that others have not seen, and an SM's view of memory through them.
//!
//! An SM sees its own stores at once, the others see them when the GPU flushes the buffers at
//! the end of the period (of several, where no SM looks for them), in SM order. The buffer is an overlay of 128-byte lines with a byte
//! mask; a 64-bit filter lets loads that cannot hit pass without a look-up.

use super::image::{AccessError, GlobalMemory};

const LINE: u64 = 128;

#[derive(Clone, Debug)]
struct Line {
    base: u64,
    /// A bit a byte.
    written: [u64; 2],
    data: [u8; LINE as usize],
}

/// Buffered stores of one SM.
#[derive(Clone, Debug)]
pub struct StoreBuffer {
    lines: Vec<Line>,
    /// Open-addressed table of `index in lines + 1`; its length is a power of two.
    table: Vec<u32>,
    /// The [bits](filter_bit) of all lines.
    filter: u64,
    /// All lines lie between these addresses.
    low: u64,
    high: u64,
    /// All SMs have seen these stores: they are forgotten before there are others.
    flushed: bool,
    /// The line that was stored to last. Always checked: a flush leaves it as it is.
    recent: usize,
    /// The allocation that instructions accessed last, by the low bits of their PC. Always
    /// checked, too.
    hints: [u32; HINTS],
}

const HINTS: usize = 64;

impl Default for StoreBuffer {
    fn default() -> Self {
        StoreBuffer {
            lines: Vec::new(),
            table: vec![0; 256],
            filter: 0,
            low: u64::MAX,
            high: 0,
            flushed: false,
            recent: 0,
            hints: [0; HINTS],
        }
    }
}

fn hash(base: u64) -> usize {
    ((base / LINE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

/// The bit of an address's line.
#[inline(always)]
fn filter_bit(address: u64) -> u64 {
    1 << ((address / LINE) & 63)
}

impl StoreBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing stored since the last flush.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.flushed || self.lines.is_empty()
    }

    fn probe(&self, base: u64) -> Result<usize, usize> {
        let mask = self.table.len() - 1;
        let mut slot = hash(base) & mask;
        loop {
            match self.table[slot] {
                0 => return Err(slot),
                n if self.lines[n as usize - 1].base == base => return Ok(n as usize - 1),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// The index of a line, which is added if it is new.
    fn line(&mut self, base: u64) -> usize {
        match self.probe(base) {
            Ok(index) => index,
            Err(slot) => {
                self.lines.push(Line {
                    base,
                    written: [0; 2],
                    data: [0; LINE as usize],
                });
                self.table[slot] = self.lines.len() as u32;
                self.filter |= filter_bit(base);
                self.low = self.low.min(base);
                self.high = self.high.max(base + LINE);
                if self.lines.len() * 2 > self.table.len() {
                    self.grow();
                }
                self.lines.len() - 1
            }
        }
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 2];
        for index in 0..self.lines.len() {
            if let Err(slot) = self.probe(self.lines[index].base) {
                self.table[slot] = index as u32 + 1;
            }
        }
    }

    /// Buffers a store; the caller has checked that memory is there.
    #[inline]
    pub fn store(&mut self, address: u64, bytes: &[u8]) {
        let mut address = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let base = address & !(LINE - 1);
            let offset = (address - base) as usize;
            let n = rest.len().min(LINE as usize - offset);
            let index = self.line(base);
            let line = &mut self.lines[index];
            line.data[offset..offset + n].copy_from_slice(&rest[..n]);
            for byte in offset..offset + n {
                line.written[byte / 64] |= 1 << (byte % 64);
            }
            rest = &rest[n..];
            address += n as u64;
        }
    }

    /// Buffers a store of `N` bytes, aligned to their number, a power of two up to 8; the caller
    /// has checked that memory is there. Stores of neighbouring lanes often share a line.
    #[inline]
    pub fn put<const N: usize>(&mut self, address: u64, bytes: [u8; N]) {
        let base = address & !(LINE - 1);
        if self.lines.get(self.recent).is_none_or(|l| l.base != base) {
            self.recent = self.line(base);
        }
        let line = &mut self.lines[self.recent];
        let offset = (address % LINE) as usize;
        *line.data[offset..]
            .first_chunk_mut()
            .expect("they share it") = bytes;
        line.written[offset / 64] |= (u64::MAX >> (64 - N)) << (offset % 64);
    }

    /// Lays buffered bytes over `bytes`, which memory holds at `address`.
    #[inline]
    pub fn overlay(&self, address: u64, bytes: &mut [u8]) {
        if self.filter != 0 {
            self.overlay_slow(address, bytes);
        }
    }

    fn overlay_slow(&self, address: u64, bytes: &mut [u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let at = address + done as u64;
            let base = at & !(LINE - 1);
            let offset = (at - base) as usize;
            let n = (bytes.len() - done).min(LINE as usize - offset);
            if self.filter & filter_bit(base) != 0
                && let Ok(index) = self.probe(base)
            {
                let line = &self.lines[index];
                for (k, byte) in bytes[done..done + n].iter_mut().enumerate() {
                    let at = offset + k;
                    if line.written[at / 64] >> (at % 64) & 1 != 0 {
                        *byte = line.data[at];
                    }
                }
            }
            done += n;
        }
    }

    /// Makes the stores visible to all SMs. They stay here until its SM [goes on](StoreBuffer::go_on): on
    /// another core, which has all of the buffer but these lines in its caches.
    pub fn flush_into(&mut self, memory: &mut GlobalMemory) {
        let mut hint = usize::MAX;
        for line in &self.lines {
            for (half, &written) in line.written.iter().enumerate() {
                let mut left = written;
                while left != 0 {
                    let from = left.trailing_zeros() as usize;
                    let run = (left >> from).trailing_ones() as usize;
                    left &= !(u64::MAX >> (64 - run) << from);
                    let from = 64 * half + from;
                    let address = line.base + from as u64;
                    // Checked when it was stored; a free between store and flush drops it.
                    if let Some(index) = memory.find(address, run as u64, hint) {
                        hint = index;
                        let (start, data) = memory.contents_mut(index);
                        let at = (address - start) as usize;
                        let (to, from) = (&mut data[at..at + run], &line.data[from..from + run]);
                        match run {
                            4 => to[..4].copy_from_slice(&from[..4]), // a single move
                            _ => to.copy_from_slice(from),
                        }
                    }
                }
            }
        }
        self.flushed = true;
    }

    /// Stores that all SMs have seen are forgotten. To be called before the buffer is used behind a flush.
    #[inline]
    pub fn go_on(&mut self) {
        if self.flushed {
            self.clear();
        }
    }

    /// Forgets the stores.
    #[inline(never)]
    fn clear(&mut self) {
        if self.lines.len() * 8 > self.table.len() {
            self.table.fill(0);
        } else {
            let mask = self.table.len() - 1;
            for line in &self.lines {
                let mut slot = hash(line.base) & mask;
                while self.table[slot] != 0 {
                    self.table[slot] = 0;
                    slot = (slot + 1) & mask;
                }
            }
        }
        self.lines.clear();
        self.filter = 0;
        (self.low, self.high) = (u64::MAX, 0);
        self.flushed = false;
    }
}

/// How stores reach memory.
#[derive(Debug)]
pub enum Backing<'a> {
    /// At once (functional runs).
    Direct(&'a mut GlobalMemory),
    /// Through an SM's buffer.
    Buffered(&'a GlobalMemory, &'a mut StoreBuffer),
}

/// Global memory as one SM sees it, and where its threads print.
#[derive(Debug)]
pub struct GlobalView<'a> {
    backing: Backing<'a>,
    /// What `vprintf` wrote.
    pub prints: &'a mut Vec<u8>,
    /// Allocation the last access hit.
    hint: usize,
    /// The instruction that accesses, for [`StoreBuffer::hints`].
    instruction: usize,
}

impl<'a> GlobalView<'a> {
    /// A view whose stores take effect at once.
    pub fn direct(memory: &'a mut GlobalMemory, prints: &'a mut Vec<u8>) -> Self {
        GlobalView {
            backing: Backing::Direct(memory),
            prints,
            hint: 0,
            instruction: 0,
        }
    }

    /// A view whose stores only this SM sees until its buffer is flushed.
    #[inline]
    pub fn buffered(
        memory: &'a GlobalMemory,
        stores: &'a mut StoreBuffer,
        prints: &'a mut Vec<u8>,
    ) -> Self {
        GlobalView {
            backing: Backing::Buffered(memory, stores),
            prints,
            hint: 0,
            instruction: 0,
        }
    }

    /// The accesses to come are those of an instruction, which most often stays with one
    /// allocation.
    #[inline]
    pub fn expect_as_before(&mut self, instruction: usize) {
        self.instruction = instruction % HINTS;
        if let Backing::Buffered(_, stores) = &self.backing {
            self.hint = stores.hints[self.instruction] as usize;
        }
    }

    /// The memory behind the view, without buffered stores.
    #[inline]
    pub fn memory(&self) -> &GlobalMemory {
        match &self.backing {
            Backing::Direct(m) => m,
            Backing::Buffered(m, _) => m,
        }
    }

    /// The memory itself, when stores go there directly.
    pub fn memory_mut(&mut self) -> Option<&mut GlobalMemory> {
        match &mut self.backing {
            Backing::Direct(m) => Some(m),
            Backing::Buffered(..) => None,
        }
    }

    /// The bit that stands for the line of an address in [`may_overlay`](GlobalView::may_overlay).
    #[inline(always)]
    pub(crate) fn line_bit(address: u64) -> u64 {
        filter_bit(address)
    }

    /// Whether a buffered store can lie over one of the lines, each given by its bit.
    #[inline(always)]
    pub(crate) fn may_overlay(&self, lines: u64) -> bool {
        match &self.backing {
            Backing::Direct(_) => false,
            Backing::Buffered(_, stores) => stores.filter & lines != 0,
        }
    }

    /// Whether a buffered store can lie between these addresses.
    #[inline(always)]
    pub(crate) fn may_overlay_within(&self, start: u64, end: u64) -> bool {
        match &self.backing {
            Backing::Direct(_) => false,
            Backing::Buffered(_, stores) => stores.low < end && start < stores.high,
        }
    }

    /// Lays buffered bytes over `bytes`, which memory holds at `address`.
    pub(crate) fn overlay(&self, address: u64, bytes: &mut [u8]) {
        if let Backing::Buffered(_, stores) = &self.backing {
            stores.overlay(address, bytes);
        }
    }

    /// The allocation that holds `bytes` bytes from `address`.
    #[inline]
    pub(crate) fn find(&mut self, address: u64, bytes: usize) -> Option<usize> {
        let index = self.memory().find(address, bytes as u64, self.hint)?;
        if index != self.hint {
            self.hint = index;
            if let Backing::Buffered(_, stores) = &mut self.backing {
                stores.hints[self.instruction] = index as u32;
            }
        }
        Some(index)
    }

    /// Start and contents of an allocation, without buffered stores.
    #[inline]
    pub(crate) fn contents(&self, index: usize) -> (u64, &[u8]) {
        self.memory().contents(index)
    }

    /// Stores bytes that allocation `index` holds; they are aligned to their number.
    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, index: usize, address: u64, bytes: [u8; N]) {
        match &mut self.backing {
            Backing::Direct(m) => {
                let (start, data) = m.contents_mut(index);
                let at = (address - start) as usize;
                *data[at..].first_chunk_mut().expect("memory is there") = bytes;
            }
            Backing::Buffered(_, stores) => stores.put(address, bytes),
        }
    }

    fn locate(&mut self, address: u64, bytes: usize) -> Result<(), AccessError> {
        match self.find(address, bytes) {
            Some(_) => Ok(()),
            None => Err(self.memory().explain(address, bytes as u64)),
        }
    }

    /// Loads bytes.
    #[inline]
    pub fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), AccessError> {
        self.locate(address, into.len())?;
        let (start, data) = self.memory().contents(self.hint);
        let at = (address - start) as usize;
        into.copy_from_slice(&data[at..at + into.len()]);
        if let Backing::Buffered(_, stores) = &self.backing {
            stores.overlay(address, into);
        }
        Ok(())
    }

    /// Stores bytes.
    #[inline]
    pub fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        self.locate(address, bytes.len())?;
        let hint = self.hint;
        if self.memory().is_constant(hint) {
            return Err(self.memory().constant(hint));
        }
        match &mut self.backing {
            Backing::Direct(m) => {
                let (start, data) = m.contents_mut(hint);
                let at = (address - start) as usize;
                data[at..at + bytes.len()].copy_from_slice(bytes);
            }
            Backing::Buffered(_, stores) => stores.store(address, bytes),
        }
        Ok(())
    }

    /// Checks that an access would succeed.
    #[inline]
    pub fn check(&mut self, address: u64, bytes: usize) -> Result<(), AccessError> {
        self.locate(address, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn own_stores_are_seen_at_once_and_others_only_after_the_flush() {
        let mut m = GlobalMemory::new();
        let a = m.alloc(1024, 1, "a").unwrap();
        let (mut mine, mut theirs) = (StoreBuffer::new(), StoreBuffer::new());
        let mut prints = Vec::new();
        let mut got = [0u8; 4];
        GlobalView::buffered(&m, &mut mine, &mut prints)
            .store(a + 4, &[1, 2, 3, 4])
            .unwrap();
        GlobalView::buffered(&m, &mut mine, &mut prints)
            .load(a + 4, &mut got)
            .unwrap();
        assert_eq!(got, [1, 2, 3, 4]);
        GlobalView::buffered(&m, &mut theirs, &mut prints)
            .load(a + 4, &mut got)
            .unwrap();
        assert_eq!(got, [0; 4]);
        mine.flush_into(&mut m);
        assert!(mine.is_empty());
        GlobalView::buffered(&m, &mut theirs, &mut prints)
            .load(a + 4, &mut got)
            .unwrap();
        assert_eq!(got, [1, 2, 3, 4]);
        // What others store there afterwards is not hidden by what this one had stored.
        GlobalView::buffered(&m, &mut theirs, &mut prints)
            .store(a + 4, &[5, 6, 7, 8])
            .unwrap();
        theirs.flush_into(&mut m);
        mine.go_on();
        GlobalView::buffered(&m, &mut mine, &mut prints)
            .load(a + 4, &mut got)
            .unwrap();
        assert_eq!(got, [5, 6, 7, 8]);
    }

    #[test]
    fn a_line_without_its_bit_has_no_buffered_store() {
        let mut m = GlobalMemory::new();
        let a = m.alloc(1 << 16, 1, "a").unwrap();
        let mut stores = StoreBuffer::new();
        let mut prints = Vec::new();
        let mut view = GlobalView::buffered(&m, &mut stores, &mut prints);
        assert!(!view.may_overlay(!0));
        view.store(a + 256, &[7]).unwrap();
        assert!(view.may_overlay(GlobalView::line_bit(a + 383)));
        assert!(!view.may_overlay(GlobalView::line_bit(a) | GlobalView::line_bit(a + 384)));
    }

    proptest! {
        #[test]
        fn the_buffer_is_a_byte_exact_overlay(
            ops in proptest::collection::vec((0u64..4000, 1usize..17, any::<u8>(), any::<bool>()), 1..300),
        ) {
            let mut m = GlobalMemory::new();
            let a = m.alloc(4096, 1, "a").unwrap();
            let mut model = vec![0u8; 4096];
            let mut stores = StoreBuffer::new();
            let mut prints = Vec::new();
            for (at, n, value, load) in ops {
                let mut view = GlobalView::buffered(&m, &mut stores, &mut prints);
                let at = at as usize;
                if load {
                    let mut got = vec![0; n];
                    view.load(a + at as u64, &mut got).unwrap();
                    prop_assert_eq!(&got[..], &model[at..at + n]);
                } else {
                    let bytes: Vec<u8> = (0..n).map(|k| value.wrapping_add(k as u8)).collect();
                    view.store(a + at as u64, &bytes).unwrap();
                    model[at..at + n].copy_from_slice(&bytes);
                }
                if value == 0 {
                    stores.flush_into(&mut m);
                    stores.go_on();
                }
            }
            stores.flush_into(&mut m);
            prop_assert_eq!(m.slice(a, 4096).unwrap(), &model[..]);
        }
    }
}
