//! Looking for races: two accesses to the same bytes by different warps, one of them a write, with
//! nothing between that orders them. They may give the right result under every schedule that is
//! tried, and another one on the next machine.
//!
//! What orders two accesses:
//!
//! - of one block, a barrier between them;
//! - of one block or of two, a fence or an atomic that the warp of the first executes behind it,
//!   or that any warp of its block executes behind the next barrier: what publishes results. Who
//!   reads them is believed to have looked for that.
//!
//! Atomics, and volatile and ordered accesses, do not conflict with each other. Threads of one warp
//! execute in step on most machines here and are not compared: see [`steps`](super::steps). For each word the last write and
//! the last two reads are remembered, so that not every race is found in one run; what is reported
//! is one.

use crate::memory::image::GlobalMemory;
use crate::state::{Effect, EffectKind, LANES, lanes_of};
use std::collections::{HashMap, HashSet};
use warpsim_present::mangled::shown;
use warpsim_ptx::isa::Sem;
use warpsim_ptx::kernel::{Instr, Kernel, Pc};

/// Races that are reported; beyond them there is nothing new to learn.
const MOST: usize = 100;

/// Who accesses: a warp of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Who {
    /// Number of the block in the grid.
    pub block: u64,
    /// Warp of the block.
    pub warp: u16,
}

impl Who {
    fn key(self) -> u64 {
        self.block * 64 + u64::from(self.warp)
    }
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    who: Who,
    pc: Pc,
    /// Barriers of its block, and fences and atomics of its warp, before it.
    barriers: u32,
    fences: u32,
    /// Bytes of the word.
    bytes: u8,
    write: bool,
    ordered: bool,
}

#[derive(Clone, Debug, Default)]
struct Word {
    write: Option<Mark>,
    reads: [Option<Mark>; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct BlockState {
    barriers: u32,
    /// One more than the barriers before the last fence or atomic of any of its warps; 0 without.
    fenced: u32,
}

/// What has been found, over all launches of a run.
#[derive(Clone, Debug, Default)]
pub struct RaceCheck {
    /// Words of shared memory by block and place, and of global memory.
    shared: HashMap<(u64, u64), Word>,
    global: HashMap<u64, Word>,
    blocks: HashMap<u64, BlockState>,
    fences: HashMap<u64, u32>,
    known: HashSet<(String, Pc, Pc)>,
    found: Vec<String>,
}

impl RaceCheck {
    /// Every race that was found, in words.
    pub fn found(&self) -> &[String] {
        &self.found
    }

    /// A launch begins: what came before is done.
    pub(super) fn begin(&mut self) {
        self.shared.clear();
        self.global.clear();
        self.blocks.clear();
        self.fences.clear();
    }

    /// A barrier of the block has opened.
    pub(super) fn barrier(&mut self, block: u64) {
        self.blocks.entry(block).or_default().barriers += 1;
    }

    fn fence(&mut self, who: Who) {
        *self.fences.entry(who.key()).or_default() += 1;
        let block = self.blocks.entry(who.block).or_default();
        block.fenced = block.barriers + 1;
    }

    /// A warp has executed an instruction; `live` are its threads.
    pub(super) fn executed(
        &mut self,
        who: Who,
        (pc, kernel): (Pc, &Kernel),
        effect: &Effect,
        live: u32,
        memory: &GlobalMemory,
    ) {
        let instr = &kernel.code[pc as usize];
        match &effect.kind {
            EffectKind::Fence => self.fence(who),
            EffectKind::Atomic(atomic) => {
                let (address, bytes) = (&effect.address, u64::from(atomic.ty.bytes()));
                for lane in lanes_of(effect.executed) {
                    let mark = self.mark(who, pc, true, true);
                    self.touch_global(address[lane], bytes, mark, kernel, memory);
                }
                self.fence(who);
            }
            EffectKind::Access(access) => {
                let write = access.store || access.shared_atomic;
                let mark = self.mark(who, pc, write, access.shared_atomic || is_ordered(instr));
                let bytes = u64::from(access.element) * u64::from(access.count);
                for lane in lanes_of(access.global) {
                    self.touch_global(effect.address[lane], bytes, mark, kernel, memory);
                }
                for lane in lanes_of(access.shared) {
                    self.touch_shared(effect.address[lane], bytes, mark, kernel);
                }
                if access.shared_atomic {
                    self.fence(who);
                }
            }
            EffectKind::Barrier(_) if effect.executed != live => {
                self.divergent_barrier(who, pc, kernel, effect.executed, live);
            }
            _ => {}
        }
    }

    fn mark(&mut self, who: Who, pc: Pc, write: bool, ordered: bool) -> Mark {
        Mark {
            who,
            pc,
            barriers: self.blocks.entry(who.block).or_default().barriers,
            fences: self.fences.get(&who.key()).copied().unwrap_or(0),
            bytes: 0,
            write,
            ordered,
        }
    }

    fn touch_global(
        &mut self,
        address: u64,
        bytes: u64,
        mark: Mark,
        kernel: &Kernel,
        memory: &GlobalMemory,
    ) {
        for (word, touched) in words(address, bytes) {
            let mark = Mark {
                bytes: touched,
                ..mark
            };
            let mut there = self.global.remove(&word).unwrap_or_default();
            if let Some(first) = self.conflict(&there, &mark) {
                self.report(&place(memory, word), &first, &mark, kernel);
            }
            there.remember(mark);
            self.global.insert(word, there);
        }
    }

    fn touch_shared(&mut self, address: u64, bytes: u64, mark: Mark, kernel: &Kernel) {
        for (word, touched) in words(address, bytes) {
            let mark = Mark {
                bytes: touched,
                ..mark
            };
            let key = (mark.who.block, word);
            let mut there = self.shared.remove(&key).unwrap_or_default();
            if let Some(first) = self.conflict(&there, &mark) {
                let place = format!("shared memory from byte {word} on");
                self.report(&place, &first, &mark, kernel);
            }
            there.remember(mark);
            self.shared.insert(key, there);
        }
    }

    /// An earlier access that nothing orders before this one.
    fn conflict(&self, there: &Word, mark: &Mark) -> Option<Mark> {
        let reads = there.reads.iter().flatten().filter(|_| mark.write);
        let mut earlier = there.write.iter().chain(reads);
        let clash = |first: &&Mark| {
            first.who != mark.who
                && first.bytes & mark.bytes != 0
                && !(first.ordered && mark.ordered)
                && !self.is_ordered_before(first, mark)
        };
        earlier.find(clash).copied()
    }

    fn is_ordered_before(&self, first: &Mark, mark: &Mark) -> bool {
        let block = self.blocks.get(&first.who.block).copied();
        let block = block.unwrap_or_default();
        let fences = self.fences.get(&first.who.key()).copied().unwrap_or(0);
        let same = first.who.block == mark.who.block;
        (same && block.barriers != first.barriers)
            || fences != first.fences
            // A fence behind a barrier that is behind the access.
            || block.fenced > first.barriers + 1
    }

    fn report(&mut self, place: &str, first: &Mark, mark: &Mark, kernel: &Kernel) {
        let pair = (first.pc.min(mark.pc), first.pc.max(mark.pc));
        let key = (kernel.name.clone(), pair.0, pair.1);
        if self.found.len() >= MOST || !self.known.insert(key) {
            return;
        }
        let at = |mark: &Mark| {
            let what = if mark.write { "written" } else { "read" };
            let (who, place) = (mark.who, kernel.origin(mark.pc));
            format!(
                "{what} by warp {} of block {} at {place}",
                who.warp, who.block
            )
        };
        let lacking = if first.who.block == mark.who.block {
            "no barrier, fence or atomic between"
        } else {
            "no fence or atomic between"
        };
        self.found.push(format!(
            "kernel {}: {place} is {}, then {}, with {lacking}",
            shown(&kernel.name),
            at(first),
            at(mark)
        ));
    }

    fn divergent_barrier(&mut self, who: Who, pc: Pc, kernel: &Kernel, executed: u32, live: u32) {
        let key = (kernel.name.clone(), pc, pc);
        if self.found.len() >= MOST || !self.known.insert(key) {
            return;
        }
        self.found.push(format!(
            "kernel {}, {}: {} of the {} threads of warp {} of block {} come to a barrier \
             while the others are elsewhere",
            shown(&kernel.name),
            kernel.origin(pc),
            executed.count_ones(),
            live.count_ones(),
            who.warp,
            who.block
        ));
    }
}

impl Word {
    fn remember(&mut self, mark: Mark) {
        if mark.write {
            self.write = Some(mark);
            return;
        }
        // The last read of each of two warps: one of them is not the next writer.
        let own = |r: &Option<Mark>| r.is_none_or(|r| r.who == mark.who);
        let at = self.reads.iter().position(own).unwrap_or(1);
        self.reads[at] = Some(mark);
    }
}

/// The accesses that a program means to be seen by others.
fn is_ordered(instr: &Instr) -> bool {
    !matches!(instr.mods.sem, None | Some(Sem::Weak))
}

/// The words of four bytes that an access touches, with a bit for each byte.
pub(super) fn words(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u8)> {
    let end = address + bytes.min(4 * LANES as u64);
    let first = address & !3;
    (first..end).step_by(4).map(move |word| {
        let touched = (0..4).filter(|i| (address..end).contains(&(word + i)));
        (word, touched.fold(0, |bits, i| bits | 1 << i))
    })
}

pub(super) fn place(memory: &GlobalMemory, address: u64) -> String {
    let mut all = memory.allocations().iter();
    match all.find(|a| (a.start..a.end()).contains(&address)) {
        Some(a) => format!("`{}` from byte {} on", a.label, address - a.start),
        None => format!("global memory at {address:#x}"),
    }
}
