//! Looking for threads that count on being in step: two accesses to the same bytes by different threads of one warp, in
//! different instructions, one of them a write, with nothing between that orders them. The program is right where the
//! 32 threads of a warp execute each instruction together, as they do here, and may be wrong where they do not.
//!
//! What orders two accesses of a warp: a barrier of its block between them, an operation that names its threads
//! (`.sync`), an atomic. For each word the last write and the last two reads are remembered, so that not every such pair
//! of lines is found in one run; what is reported is one.

use super::races::{Who, place, words};
use crate::memory::image::GlobalMemory;
use crate::state::{Effect, EffectKind, lanes_of};
use std::collections::{HashMap, HashSet};
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::{Kernel, Pc};

/// Pairs that are reported: beyond them there is nothing new to learn.
const MOST: usize = 20;

#[derive(Clone, Copy, Debug)]
struct Mark {
    who: Who,
    lane: usize,
    pc: Pc,
    /// Which of the instructions of the run it is.
    step: u64,
    /// What orders accesses of its warp, so far.
    ordered: u64,
    /// Bytes of the word.
    bytes: u8,
    write: bool,
}

#[derive(Clone, Debug, Default)]
struct Word {
    write: Option<Mark>,
    reads: [Option<Mark>; 2],
}

/// What has been found, over all launches of a run.
#[derive(Clone, Debug, Default)]
pub struct StepCheck {
    /// Words of shared memory by block and place, and of global memory.
    shared: HashMap<(u64, u64), Word>,
    global: HashMap<u64, Word>,
    /// Barriers of blocks, and what else orders the accesses of a warp.
    barriers: HashMap<u64, u64>,
    orders: HashMap<Who, u64>,
    steps: u64,
    known: HashSet<(String, Pc, Pc)>,
    found: Vec<String>,
}

impl StepCheck {
    /// Every pair that was found, in words.
    pub fn found(&self) -> &[String] {
        &self.found
    }

    /// A launch begins: what came before is done.
    pub(super) fn begin(&mut self) {
        self.shared.clear();
        self.global.clear();
        self.barriers.clear();
        self.orders.clear();
    }

    /// A barrier of the block has opened.
    pub(super) fn barrier(&mut self, block: u64) {
        *self.barriers.entry(block).or_default() += 1;
    }

    /// A warp has executed an instruction.
    pub(super) fn executed(
        &mut self,
        who: Who,
        (pc, kernel): (Pc, &Kernel),
        effect: &Effect,
        memory: &GlobalMemory,
    ) {
        self.steps += 1;
        let instr = &kernel.code[pc as usize];
        if instr.mods.sync && effect.executed != 0 {
            self.order(who);
        }
        let access = match &effect.kind {
            EffectKind::Atomic(_) => return self.order(who),
            EffectKind::Access(access) if access.shared_atomic => return self.order(who),
            EffectKind::Access(access) => access,
            _ => return,
        };
        let barriers = self.barriers.get(&who.block).copied().unwrap_or(0);
        let orders = self.orders.get(&who).copied().unwrap_or(0);
        let mark = |lane| Mark {
            who,
            lane,
            pc,
            step: self.steps,
            ordered: barriers + orders,
            bytes: 0,
            write: access.store,
        };
        let bytes = u64::from(access.element) * u64::from(access.count);
        let mut clashes = Vec::new();
        for lane in lanes_of(access.global) {
            for (word, touched) in words(effect.address[lane], bytes) {
                let there = self.global.entry(word).or_default();
                let mark = Mark {
                    bytes: touched,
                    ..mark(lane)
                };
                clashes.extend(
                    there
                        .touch(mark)
                        .map(|first| (place(memory, word), first, mark)),
                );
            }
        }
        for lane in lanes_of(access.shared) {
            for (word, touched) in words(effect.address[lane], bytes) {
                let there = self.shared.entry((who.block, word)).or_default();
                let mark = Mark {
                    bytes: touched,
                    ..mark(lane)
                };
                let place = || format!("shared memory from byte {word} on");
                clashes.extend(there.touch(mark).map(|first| (place(), first, mark)));
            }
        }
        for (place, first, second) in clashes {
            self.report(&place, &first, &second, kernel);
        }
    }

    /// The accesses of a warp behind this are ordered behind those before it.
    fn order(&mut self, who: Who) {
        *self.orders.entry(who).or_default() += 1;
    }

    fn report(&mut self, place: &str, first: &Mark, second: &Mark, kernel: &Kernel) {
        let pair = (first.pc.min(second.pc), first.pc.max(second.pc));
        let key = (kernel.name.clone(), pair.0, pair.1);
        if self.found.len() >= MOST || !self.known.insert(key) {
            return;
        }
        let at = |mark: &Mark| {
            let what = if mark.write { "writes" } else { "reads" };
            let place = kernel.origin(mark.pc);
            format!("lane {} {what} it at {place}", mark.lane)
        };
        let Who { block, warp } = first.who;
        self.found.push(format!(
            "kernel {}: {place}, warp {warp} of block {block}: {}, then {}, with no barrier, `.sync` operation or atomic \
             between",
            shown(&kernel.name),
            at(first),
            at(second),
        ));
    }
}

impl Word {
    /// A thread touches it. Returns an earlier access by another thread of its warp that has to come first, and that nothing
    /// but the warp's being in step puts there.
    fn touch(&mut self, mark: Mark) -> Option<Mark> {
        let reads = self.reads.iter().flatten().filter(|_| mark.write);
        let clash = |first: &&Mark| {
            first.who == mark.who
                && first.lane != mark.lane
                && first.step != mark.step
                && first.ordered == mark.ordered
                && first.bytes & mark.bytes != 0
        };
        let first = self.write.iter().chain(reads).find(clash).copied();
        if mark.write {
            self.write = Some(mark);
        } else {
            // The last read of each of two threads: one of them is not the next writer.
            let own = |r: &Option<Mark>| r.is_none_or(|r| (r.who, r.lane) == (mark.who, mark.lane));
            let at = self.reads.iter().position(own).unwrap_or(1);
            self.reads[at] = Some(mark);
        }
        first
    }
}
