//! A reconvergence stack that several warps fill in together: the block-wide stack of thread
//! block compaction, and with one row of lanes and one warp the stack of a single warp.
//!
//! An entry has a PC, the PC at which it ends (RPC), the number of warps that still have to
//! arrive (WCnt), a mask of threads, and for likely-convergence points the PC at which threads
//! leave it early (LPC) and the position of the entry they join (LPos). Warps run the top entry.
//! Each that comes to a branch or to the entry's end counts down; with the last, the stack
//! moves.

use super::Branch;
use warpsim_ptx::kernel::{NO_PC, Pc};

/// An entry, its mask aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where its threads go on.
    pub pc: Pc,
    /// Where it ends, or [`NO_PC`].
    pub until: Pc,
    /// Warps that have still to arrive.
    pub warps: u16,
    /// Where its threads leave it for another entry, or [`NO_PC`].
    pub likely: Pc,
    /// The position of that entry.
    pub joins: u16,
}

impl Entry {
    /// The next PC that ends the entry for a warp that runs on straight from `pc`.
    pub fn watch_from(&self, pc: Pc) -> Pc {
        let ahead = |end: Pc| if end > pc { end } else { NO_PC };
        ahead(self.until).min(ahead(self.likely))
    }

    /// Whether a warp that comes to `pc` has arrived at an end of the entry.
    pub fn ends_at(&self, pc: Pc) -> bool {
        pc == self.until || pc == self.likely
    }
}

/// What the warps that have arrived came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nothing yet; when no warp is left, their threads have all exited.
    Open,
    /// A branch whose sides meet there; its sides are the last two entries.
    Branch { meet: Pc },
    /// The entry's end.
    Until,
    /// Its likely-convergence point.
    Likely,
}

/// The stack.
#[derive(Clone, Debug)]
pub struct Stack {
    rows: usize,
    entries: Vec<Entry>,
    /// `rows` words for each entry: a mask of lanes for each static warp.
    masks: Vec<u32>,
    /// The running entry; while a branch is filled in, new entries lie above it.
    top: usize,
    end: End,
}

impl Stack {
    /// A stack for the threads in `live` (lanes by static warp), which start at instruction 0
    /// as `warps` warps.
    pub fn new(live: &[u32], warps: u16) -> Stack {
        let mut stack = Stack {
            rows: live.len(),
            entries: Vec::with_capacity(8),
            masks: Vec::with_capacity(8 * live.len()),
            top: 0,
            end: End::Open,
        };
        stack.restart(live, warps);
        stack
    }

    /// Forgets everything and starts anew.
    pub fn restart(&mut self, live: &[u32], warps: u16) {
        self.rows = live.len();
        self.entries.clear();
        self.masks.clear();
        self.entries.push(Entry {
            pc: 0,
            until: NO_PC,
            warps,
            likely: NO_PC,
            joins: 0,
        });
        self.masks.extend_from_slice(live);
        (self.top, self.end) = (0, End::Open);
    }

    /// Entries.
    pub fn depth(&self) -> usize {
        self.entries.len()
    }

    /// The running entry; none when all threads have exited.
    pub fn top(&self) -> Option<&Entry> {
        self.entries.get(self.top)
    }

    /// The threads of the running entry, lanes by static warp.
    pub fn threads(&self) -> &[u32] {
        self.mask(self.top)
    }

    /// How many they are.
    pub fn count(&self) -> u32 {
        self.threads().iter().map(|m| m.count_ones()).sum()
    }

    /// The position of the running entry, 0 being the oldest; the sides of a branch that is filled in are above.
    pub fn running(&self) -> usize {
        self.top.min(self.entries.len())
    }

    /// Entry and mask at a position.
    pub fn at(&self, position: usize) -> (Entry, &[u32]) {
        (self.entries[position], self.mask(position))
    }

    fn mask(&self, position: usize) -> &[u32] {
        if position >= self.entries.len() {
            return &[];
        }
        let at = position * self.rows;
        &self.masks[at..at + self.rows]
    }

    /// The threads that are below the running entry alone, lanes by static warp, with where they
    /// go on: those that run next come first. None when all threads have exited.
    pub fn below(&self) -> Vec<(usize, u32, Pc)> {
        let mut above = self.threads().to_vec();
        let mut found = Vec::new();
        for position in (0..self.running()).rev() {
            for (row, seen) in above.iter_mut().enumerate() {
                let lanes = self.mask(position)[row] & !*seen;
                if lanes != 0 {
                    found.push((row, lanes, self.entries[position].pc));
                }
                *seen |= lanes;
            }
        }
        found
    }

    /// Says how many warps the running entry was formed into.
    pub fn set_warps(&mut self, warps: u16) {
        self.entries[self.top].warps = warps;
    }

    /// A warp has come to a branch. The first makes the entries of its two sides, the taken one
    /// on top, and, where the branch has a `likely` convergence point (else [`NO_PC`]) that is not
    /// known already, an empty one for that below them.
    pub fn branch(&mut self, branch: &Branch, likely: Pc) {
        if self.end == End::Open {
            let top = self.entries[self.top];
            let meet = branch.reconverge;
            self.end = End::Branch { meet };
            let (mut point, mut joins) = (top.likely, top.joins);
            if ![NO_PC, meet, top.likely].contains(&likely) {
                self.push(Entry {
                    pc: likely,
                    until: meet,
                    warps: 0,
                    ..top
                });
                (point, joins) = (likely, self.entries.len() as u16 - 1);
            }
            for pc in [branch.pc + 1, branch.target] {
                self.push(Entry {
                    pc,
                    until: meet,
                    warps: 0,
                    likely: point,
                    joins,
                });
            }
        }
        debug_assert_eq!(
            self.entries[self.entries.len() - 1].pc,
            branch.target,
            "the warps of an entry come to the same branch"
        );
        self.count_down();
    }

    /// Adds threads of static warp `row` to the sides of the branch.
    pub fn fill(&mut self, row: usize, taken: u32, stays: u32) {
        let last = (self.entries.len() - 1) * self.rows + row;
        self.masks[last] |= taken;
        self.masks[last - self.rows] |= stays;
    }

    /// A warp has come to `pc`, an end of the running entry.
    pub fn arrive(&mut self, pc: Pc) {
        let end = if pc == self.entries[self.top].until {
            End::Until
        } else {
            End::Likely
        };
        debug_assert!(
            self.end == End::Open || self.end == end,
            "the warps of an entry come to the same end"
        );
        self.end = end;
        self.count_down();
    }

    /// Threads of static warp `row` have exited: they leave every entry.
    pub fn exit(&mut self, row: usize, lanes: u32) {
        for position in 0..self.entries.len() {
            self.masks[position * self.rows + row] &= !lanes;
        }
    }

    /// A warp has no thread left or has arrived.
    pub fn count_down(&mut self) {
        self.entries[self.top].warps -= 1;
    }

    /// Whether every warp of the running entry has arrived.
    pub fn is_complete(&self) -> bool {
        self.entries.get(self.top).is_none_or(|e| e.warps == 0)
    }

    /// Moves the stack, all warps having arrived, to the next entry with something to do.
    pub fn advance(&mut self) {
        match std::mem::replace(&mut self.end, End::Open) {
            End::Open | End::Until => self.remove(self.top),
            End::Likely => self.join(),
            End::Branch { meet } => self.split(meet),
        }
        self.top = self.entries.len().wrapping_sub(1);
        while let Some(entry) = self.entries.get(self.top) {
            if entry.pc == entry.until || self.threads().iter().all(|m| *m == 0) {
                self.remove(self.top);
            } else if entry.pc == entry.likely {
                self.join();
            } else {
                return;
            }
            self.top = self.entries.len().wrapping_sub(1);
        }
    }

    /// The running entry becomes the continuation where the sides meet. Where its own end is
    /// there too it has nothing left to do, so that loops do not let the stack grow; nor have
    /// sides that no thread takes or that begin where they end.
    fn split(&mut self, meet: Pc) {
        for side in [self.entries.len() - 1, self.entries.len() - 2] {
            let entry = self.entries[side];
            if entry.pc == entry.until || self.mask(side).iter().all(|m| *m == 0) {
                self.remove(side);
            }
        }
        if meet == NO_PC || meet == self.entries[self.top].until {
            self.remove(self.top);
        } else {
            self.entries[self.top].pc = meet;
        }
    }

    /// The running entry's threads join the likely-convergence entry. They leave whatever else
    /// lies above that: they will not come there the way those entries expect.
    fn join(&mut self) {
        let from = self.top;
        let to = self.entries[from].joins as usize;
        for row in 0..self.rows {
            let moved = self.masks[from * self.rows + row];
            for position in to + 1..from {
                self.masks[position * self.rows + row] &= !moved;
            }
            self.masks[to * self.rows + row] |= moved;
        }
        self.remove(from);
    }

    fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
        self.masks.resize(self.masks.len() + self.rows, 0);
    }

    fn remove(&mut self, position: usize) {
        self.entries.remove(position);
        let at = position * self.rows;
        self.masks.drain(at..at + self.rows);
        for entry in &mut self.entries[position..] {
            if entry.likely != NO_PC && entry.joins as usize > position {
                entry.joins -= 1;
            }
        }
    }
}
