//! Reconvergence stacks of warps that run without timing.

use super::Machine;
use warpsim_ptx::kernel::{NO_PC, Pc};

/// A level of a warp's reconvergence stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) pc: Pc,
    pub(super) reconverge: Pc,
    pub(super) mask: u32,
}

/// Of the threads that do not run now, those that go on at `pc` when their turn comes.
pub(super) fn waiting_at(stack: &[Level], pc: Pc) -> u32 {
    let (mut above, mut found) = (0, 0);
    for level in stack.iter().rev() {
        let here = level.pc == pc;
        found |= if here { level.mask & !above } else { 0 };
        above |= level.mask;
    }
    found
}

impl Machine<'_> {
    /// Splits the top of the stack; the taken side runs first.
    pub(super) fn diverge(&mut self, warp: usize, pc: Pc, taken: u32, target: Pc, reconverge: Pc) {
        let stack = &mut self.runners[warp].stack;
        let Some(top) = stack.pop() else { return };
        if reconverge != NO_PC {
            stack.push(Level {
                pc: reconverge,
                ..top
            });
        }
        for (pc, mask) in [(pc + 1, top.mask & !taken), (target, taken)] {
            stack.push(Level {
                pc,
                reconverge,
                mask,
            });
        }
    }

    /// These lanes are done.
    pub(super) fn exit(&mut self, warp: usize, lanes: u32) {
        for level in &mut self.runners[warp].stack {
            level.mask &= !lanes;
        }
    }

    /// Pops what is empty or has reached its reconvergence point.
    pub(super) fn tidy(&mut self, warp: usize) {
        let stack = &mut self.runners[warp].stack;
        while let Some(top) = stack.last() {
            if top.mask == 0 || top.reconverge != NO_PC && top.pc == top.reconverge {
                stack.pop();
            } else {
                break;
            }
        }
        if stack.is_empty() {
            // A warp that has gone is no longer expected at barriers.
            for id in 0..16 {
                self.release(warp / self.warps, id);
            }
        }
    }
}
