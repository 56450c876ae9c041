//! From an executed memory instruction to the accesses it makes.

use super::banks::{bank_cycles, bank_cycles_of_steps};
use super::coalesce::{self, Access, Cut, coalesce, coalesce_atomic, is_uniform};
use super::mixed::Shape;
use super::ops::{AtomicData, MemOp, Owner, Path};
use super::unit::LoadStore;
use crate::exec::state::{Access as Touched, Effect, EffectKind, HomeWarp, LANES, Lanes, Threads};
use crate::sm::facts::Traffic;
use crate::sm::launch::Launched;
use crate::stats::SmCounters;
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::Pc;

/// Where local memory lies for the caches: far from every allocation, and where six channels begin
/// anew, as at address 0.
const LOCAL_BASE: u64 = 0x30_0000_0000;

/// A memory instruction that has executed.
pub struct Executed<'a> {
    /// The instruction; where several were gathered, the first.
    pub pc: Pc,
    /// What it did.
    pub effect: &'a Effect,
    /// The hardware warps that executed it together; none of their accesses is pending yet.
    pub owners: &'a [Owner],
    /// What the lanes touch, where instructions of different sizes were gathered; else empty.
    pub shapes: &'a [Shape],
    /// The threads on their lanes.
    pub lanes: &'a Lanes,
    /// All threads of the SM.
    pub threads: &'a Threads,
    /// The kernel.
    pub launched: &'a Launched,
}

/// Where what an instruction touches begins in the memory behind the read-only caches.
fn constant_base(touched: &Touched, launched: &Launched) -> u64 {
    match touched.other {
        Space::Param => launched.param_base,
        _ => 0,
    }
}

impl LoadStore {
    /// Makes the record of a memory instruction that has executed.
    pub fn open(&mut self, what: &Executed, counters: &mut SmCounters) -> u16 {
        let effect = what.effect;
        let executed = effect.executed;
        let (path, store, local) = self.path(what);
        let op = self.ops.open(what.pc, path);
        let mut accesses = std::mem::take(&mut self.ops.get_mut(op).accesses);
        let mut busy = 0;
        match &effect.kind {
            EffectKind::Access(touched) if executed != 0 => {
                busy = if what.shapes.is_empty() {
                    self.make_accesses(what, touched, path, &mut accesses, counters)
                } else {
                    self.make_mixed_accesses(what, touched, path, &mut accesses, counters)
                };
            }
            EffectKind::Prefetch(touched) if executed != 0 => {
                self.prefetch_accesses(what, touched, path, &mut accesses, counters);
            }
            EffectKind::Atomic(atomic) if executed != 0 => {
                let size = atomic.ty.bytes();
                coalesce_atomic(&effect.address, executed, size, &mut accesses);
                counters.atomics += 1;
                counters.atomic_transactions += accesses.len() as u64;
            }
            _ => {}
        }
        let record = self.ops.get_mut(op);
        record.store = store;
        record.local = local;
        record.busy = busy;
        record.prefetch = matches!(&effect.kind, EffectKind::Prefetch(_));
        record.shared_atomic = path == Path::Shared
            && matches!(&effect.kind, EffectKind::Access(a) if a.shared_atomic);
        record.own(what.owners, &accesses);
        record.unsent = accesses.len() as u16;
        // What it has meanwhile is empty, and there is nothing to free.
        std::mem::forget(std::mem::replace(&mut record.accesses, accesses));
        if let Some(ahead) = &mut self.ahead {
            *ahead += record.work();
        }
        if let (EffectKind::Atomic(atomic), true) = (&effect.kind, executed != 0) {
            let lanes = what.lanes.clone();
            keep_atomic(record, *atomic, lanes, &effect.address, &effect.operands);
        }
        op
    }

    /// The way an instruction takes, whether it stores, whether its memory is local.
    fn path(&self, what: &Executed) -> (Path, bool, bool) {
        let facts = &what.launched.facts[what.pc as usize];
        match &what.effect.kind {
            EffectKind::Atomic(_) => (Path::Uncached, false, false),
            EffectKind::Access(a) => {
                let local = a.local != 0 && a.global == 0;
                let store = a.store && !a.shared_atomic;
                if a.shared != 0 && a.global | a.local == 0 {
                    return (Path::Shared, store, false);
                }
                match a.other {
                    Space::Const | Space::Param => (Path::Constant, false, false),
                    Space::Tex => (Path::Texture, false, false),
                    _ if facts.uncached && !a.store => (Path::Uncached, store, local),
                    _ if !self.caches_data() => (Path::Uncached, store, local),
                    _ => (Path::Cached, store, local),
                }
            }
            EffectKind::Prefetch(touched) => {
                let local = touched.global == 0;
                match facts.uncached || !self.caches_data() {
                    true => (Path::Uncached, false, local),
                    false => (Path::Cached, false, local),
                }
            }
            // No thread executed it: it passes through the unit without touching anything.
            _ => (Path::Cached, facts.traffic == Traffic::Store, false),
        }
    }

    /// Fills `accesses`; returns the cycles the unit is busy with shared memory.
    pub(super) fn make_accesses(
        &self,
        what: &Executed,
        touched: &Touched,
        path: Path,
        accesses: &mut Vec<Access>,
        counters: &mut SmCounters,
    ) -> u32 {
        let size = touched.element as u32 * touched.count as u32;
        let address = &what.effect.address;
        let mut busy = 0;
        if touched.shared != 0 {
            busy = match touched.steps {
                Some(steps) if size == 4 => self.bank_cycles_of_steps(what, touched.shared, steps),
                _ => self.bank_cycles(what, touched.shared, size),
            };
            counters.shared_requests += 1;
            counters.shared_bank_cycles += busy as u64;
        }
        if matches!(path, Path::Constant | Path::Texture) {
            return self.read_only_accesses(what, touched, path, accesses);
        }
        if touched.global != 0 {
            let trim = touched.store || path == Path::Uncached;
            let mut cut = Cut::for_element(touched.element, trim);
            if path == Path::Uncached && !touched.store {
                cut = Cut {
                    segment: 32,
                    trim: false,
                };
            } else if path == Path::Cached {
                cut.segment = cut.segment.min(self.line_bytes(path));
            }
            let steady = touched.steps.is_some() && !cut.trim;
            if steady && coalesce::steps_in_one_piece(address, cut.segment) {
                accesses.push(Access {
                    addr: address[0] & !(cut.segment - 1),
                    bytes: cut.segment as u16,
                    lanes: touched.global,
                    byte_mask: 0,
                });
            } else {
                coalesce(address, touched.global, size, cut, accesses);
            }
            let n = accesses.len() as u64;
            if touched.store {
                counters.global_stores += 1;
                counters.global_store_transactions += n;
            } else {
                counters.global_loads += 1;
                counters.global_load_transactions += n;
            }
        }
        if touched.local != 0 {
            let before = accesses.len();
            self.local_accesses(what, touched, size, path, accesses);
            counters.local_requests += 1;
            counters.local_transactions += (accesses.len() - before) as u64;
        }
        busy
    }

    /// As [`bank_cycles`](LoadStore::bank_cycles) for words of all lanes that are in steps.
    #[inline]
    fn bank_cycles_of_steps(&self, what: &Executed, shared: u32, steps: [u16; 2]) -> u32 {
        let address = &what.effect.address;
        bank_cycles_of_steps(address, steps, self.shared_banks())
            .unwrap_or_else(|| self.bank_cycles(what, shared, 4))
    }

    /// Cycles that the banks of shared memory take for these lanes.
    fn bank_cycles(&self, what: &Executed, shared: u32, size: u32) -> u32 {
        let address = &what.effect.address;
        match what.lanes {
            Lanes::Static(_) => bank_cycles(address, shared, size, self.shared_banks()),
            // Threads of several blocks: the same offset is not the same word.
            Lanes::Gathered(homes) => {
                let words = u64::from(what.launched.grid.total_shared).next_multiple_of(4);
                let block = |lane: usize| what.threads.warps[homes[lane] as usize].block;
                // Lanes that are not asked for may hold anything.
                let moved: [u64; LANES] =
                    std::array::from_fn(|l| address[l].wrapping_add(u64::from(block(l)) * words));
                bank_cycles(&moved, shared, size, self.shared_banks())
            }
        }
    }

    /// Whether the constants or parameters that all lanes read from one address are in their cache; their line has been
    /// used then.
    pub fn has_constants(&mut self, effect: &Effect, launched: &Launched) -> bool {
        let EffectKind::Access(touched) = &effect.kind else {
            return true;
        };
        let address = effect.address[0] + constant_base(touched, launched);
        self.has_constant_line(address)
    }

    /// As [`make_accesses`](LoadStore::make_accesses), for constants, parameters and textures.
    fn read_only_accesses(
        &self,
        what: &Executed,
        touched: &Touched,
        path: Path,
        accesses: &mut Vec<Access>,
    ) -> u32 {
        let (address, executed) = (&what.effect.address, what.effect.executed);
        let base = constant_base(touched, what.launched);
        let line = self.line_bytes(path);
        let steady = touched.steps == Some([0, 0]) && address[0] == address[LANES / 2];
        if steady || is_uniform(address, executed) {
            let first = address[executed.trailing_zeros() as usize % LANES];
            accesses.push(Access {
                addr: (first + base) & !(line - 1),
                bytes: line as u16,
                lanes: executed,
                byte_mask: 0,
            });
            return (path == Path::Constant) as u32;
        }
        let moved: [u64; LANES] = std::array::from_fn(|l| address[l].wrapping_add(base));
        let size = touched.element as u32 * touched.count as u32;
        let cut = Cut {
            segment: line,
            trim: false,
        };
        coalesce(&moved, executed, size, cut, accesses);
        // One access per cycle: a line of constants serves all the lanes that read from it.
        (path == Path::Constant) as u32
    }

    /// A word of local memory of all threads that the GPU can hold lies together, so that the
    /// words of a warp's threads are one line and those of many warps spread over L2. Accesses
    /// wider than a word are one access per word.
    pub(super) fn local_accesses(
        &self,
        what: &Executed,
        touched: &Touched,
        size: u32,
        path: Path,
        accesses: &mut Vec<Access>,
    ) {
        let frames = LocalFrames::new(what.launched, self.sm());
        let (lanes, homes) = (what.lanes, &what.threads.warps);
        let segment = 128.min(self.line_bytes(path));
        let cut = Cut {
            segment,
            trim: touched.store,
        };
        let mut part = Vec::new();
        for word in 0..size.div_ceil(4) as u64 {
            let place: [u64; LANES] = std::array::from_fn(|lane| {
                if touched.local >> lane & 1 == 0 {
                    return 0; // its address is an older instruction's
                }
                let home = &homes[lanes.home(lane) as usize];
                frames.place(home, lane, what.effect.address[lane] / 4 + word)
            });
            coalesce(&place, touched.local, 4, cut, &mut part);
            for access in &part {
                merge(accesses, access, segment);
            }
        }
    }
}

/// Where the words of local memory lie for the caches.
#[derive(Clone, Copy, Debug)]
struct LocalFrames {
    sm: u64,
    sms: u64,
    /// Threads per block, rounded up to warps.
    threads: u64,
    /// Threads that the GPU can hold at once.
    resident: u64,
}

impl LocalFrames {
    fn new(launched: &Launched, sm: u16) -> LocalFrames {
        let sms = u64::from(launched.grid.sms);
        let threads = u64::from(launched.warps_per_block()) * LANES as u64;
        // No more blocks of a small grid than its even share.
        let share = launched.grid.blocks().div_ceil(sms);
        LocalFrames {
            sm: u64::from(sm),
            sms,
            threads,
            resident: threads * sms * share.min(u64::from(launched.blocks_per_sm)),
        }
    }

    /// The address of word `word` of the thread of `home` on a lane.
    fn place(&self, home: &HomeWarp, lane: usize, word: u64) -> u64 {
        let block = self.sm + self.sms * u64::from(home.block);
        let thread = u64::from(home.index) * LANES as u64 + lane as u64;
        LOCAL_BASE + 4 * (word * self.resident + self.threads * block + thread)
    }
}

/// Adds an access, or its lanes and bytes to one of the same segment.
fn merge(accesses: &mut Vec<Access>, access: &Access, segment: u64) {
    let same = |a: &&mut Access| a.addr / segment == access.addr / segment;
    match accesses.iter_mut().find(same) {
        Some(there) => {
            there.lanes |= access.lanes;
            there.byte_mask |= access.byte_mask;
            if (there.addr, there.bytes) != (access.addr, access.bytes) {
                // Two parts of a segment: the whole of it.
                there.addr = access.addr & !(segment - 1);
                there.bytes = segment as u16;
            }
        }
        None => accesses.push(*access),
    }
}

fn keep_atomic(
    record: &mut MemOp,
    what: crate::exec::state::Atomic,
    lanes: Lanes,
    address: &[u64; LANES],
    operands: &[[u64; LANES]; 2],
) {
    record.is_atomic = true;
    let data = AtomicData {
        what,
        lanes,
        address: *address,
        operands: *operands,
        old: [0; LANES],
    };
    match &mut record.atomic {
        Some(kept) => **kept = data,
        none => *none = Some(Box::new(data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With P threads per block, R blocks on each of S SMs, word w of thread t of the block in place
    /// k of SM s lies at 4 (w P R S + P (s + S k) + t).
    #[test]
    fn a_word_of_all_resident_threads_lies_together() {
        let frames = LocalFrames {
            sm: 2,
            sms: 15,
            threads: 64,
            resident: 64 * 15 * 3,
        };
        let home = |block, index| HomeWarp {
            block,
            index,
            ..HomeWarp::default()
        };
        let place = |block, index, lane, word| {
            (frames.place(&home(block, index), lane, word) - LOCAL_BASE) / 4
        };
        assert_eq!(place(0, 0, 0, 0), 64 * 2);
        assert_eq!(place(0, 1, 5, 0), 64 * 2 + 32 + 5);
        assert_eq!(place(1, 0, 0, 0), 64 * (2 + 15));
        assert_eq!(place(2, 1, 31, 7), 7 * 64 * 15 * 3 + 64 * (2 + 30) + 63);
    }

    #[test]
    fn words_of_one_segment_are_one_access() {
        let access = |addr, bytes, lanes, byte_mask| Access {
            addr,
            bytes,
            lanes,
            byte_mask,
        };
        let mut accesses = Vec::new();
        merge(&mut accesses, &access(128, 32, 1, 0xf), 128);
        merge(&mut accesses, &access(256, 32, 2, 0xf), 128);
        merge(&mut accesses, &access(160, 32, 4, 0xf << 32), 128);
        assert_eq!(
            accesses,
            [
                access(128, 128, 5, 0xf | 0xf << 32),
                access(256, 32, 2, 0xf)
            ]
        );
    }
}
