//! The paper's figure 10: a warp in a loop with a `break`, entry by entry, and what the figure
//! does not show.

use super::Branch;
use super::stack::{Entry, Stack};
use warpsim_ptx::kernel::{Likely, NO_PC, Pc};

const A: Pc = 0;
const C: Pc = 10;
const B: Pc = 20;
const D: Pc = 30;
const E: Pc = 40;
const F: Pc = 50;

fn branch(pc: Pc, target: Pc, likely: Pc) -> Branch {
    Branch {
        pc,
        target,
        reconverge: F,
        likely: Likely {
            loop_end: likely,
            backward: likely,
        },
        uniform: false,
        annotated: false,
        taken: 0,
    }
}

/// The warp comes to a branch that these lanes take.
fn diverge(stack: &mut Stack, at: &Branch, taken: u32) {
    let mask = stack.threads()[0];
    stack.set_warps(1);
    stack.branch(at, at.likely.loop_end);
    stack.fill(0, taken, mask & !taken);
    stack.advance();
}

fn arrive(stack: &mut Stack, pc: Pc) {
    stack.set_warps(1);
    stack.arrive(pc);
    stack.advance();
}

/// PC, end, mask, likely point and joined entry of each entry, oldest first.
fn entries(stack: &Stack) -> Vec<(Pc, Pc, u32, Pc, Option<u16>)> {
    let one = |position| {
        let (e, mask): (Entry, _) = stack.at(position);
        let joins = (e.likely != NO_PC).then_some(e.joins);
        (e.pc, e.until, mask[0], e.likely, joins)
    };
    (0..stack.depth()).map(one).collect()
}

/// Four threads; 1 goes to B, the others to C, where 3 and 4 break and 2 goes on. The paper
/// runs C first, so C is the taken side of A, and E that of C.
#[test]
fn figure_10() {
    let mut stack = Stack::new(&[0b1111], 1);
    // An entry below waits at F, as for any loop.
    diverge(&mut stack, &branch(B - 1, C, E), 0b1110);
    let bottom = (F, NO_PC, 0b1111, NO_PC, None);
    assert_eq!(
        entries(&stack),
        [
            bottom,
            (E, F, 0, NO_PC, None),
            (B, F, 0b0001, E, Some(1)),
            (C, F, 0b1110, E, Some(1)),
        ]
    );
    // C diverges: two entries more take the place of its own, which would end at F itself.
    diverge(&mut stack, &branch(D - 1, E, NO_PC), 0b0010);
    // The side at E is at the likely point already: popped and merged.
    assert_eq!(
        entries(&stack),
        [
            bottom,
            (E, F, 0b0010, NO_PC, None),
            (B, F, 0b0001, E, Some(1)),
            (D, F, 0b1100, E, Some(1)),
        ]
    );
    // Threads 3 and 4 reach F, the post-dominator.
    arrive(&mut stack, F);
    assert_eq!(
        stack.top().map(|e| (e.pc, stack.threads()[0])),
        Some((B, 1))
    );
    // Thread 1 comes to E and joins thread 2 there.
    arrive(&mut stack, E);
    assert_eq!(
        entries(&stack),
        [bottom, (E, F, 0b0011, NO_PC, None)],
        "the likely-convergence entry runs"
    );
    // It goes around the loop and ends at F like the rest.
    arrive(&mut stack, F);
    assert_eq!(entries(&stack), [bottom]);
}

#[test]
fn a_likely_entry_that_no_thread_joined_is_popped() {
    let mut stack = Stack::new(&[0b11], 1);
    diverge(&mut stack, &branch(A, C, E), 0b01);
    assert_eq!(stack.depth(), 4);
    arrive(&mut stack, F);
    arrive(&mut stack, F);
    assert_eq!(entries(&stack), [(F, NO_PC, 0b11, NO_PC, None)]);
}

#[test]
fn loops_do_not_let_the_stack_grow() {
    let mut stack = Stack::new(&[0b111], 1);
    for _ in 0..10 {
        diverge(&mut stack, &branch(A, C, E), 1);
        arrive(&mut stack, E);
        arrive(&mut stack, E);
        assert_eq!(stack.top().map(|e| e.pc), Some(E));
        assert!(stack.depth() <= 3, "{}", stack.depth());
    }
    assert_eq!(stack.threads(), [0b111]);
}

/// Threads that join a likely entry leave the continuations above it: they do not come there
/// with the others.
#[test]
fn a_thread_is_never_in_two_entries_that_will_run() {
    let mut stack = Stack::new(&[0b1111], 1);
    diverge(&mut stack, &branch(A, C, E), 0b0111);
    // Inside C, a branch that meets at 35, past E on the way of some threads.
    let inner = Branch {
        reconverge: 35,
        ..branch(C, 15, NO_PC)
    };
    diverge(&mut stack, &inner, 0b0001);
    assert_eq!(
        entries(&stack)[3],
        (35, F, 0b0111, E, Some(1)),
        "the continuation"
    );
    arrive(&mut stack, E);
    assert_eq!(entries(&stack)[1].2, 0b0001, "joined");
    assert_eq!(entries(&stack)[3].2, 0b0110, "and left");
    arrive(&mut stack, 35);
    assert_eq!(stack.threads(), [0b0110]);
}
