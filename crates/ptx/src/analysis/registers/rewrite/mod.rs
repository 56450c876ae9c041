//! What an assembler makes of a kernel before it orders its instructions: see [`rewrite`] for which
//! file does what, and when.

mod fuse;
mod hoist;
mod locks;
mod predicate;
mod simplify;
mod sink;
mod unroll;

use super::word::Code;

/// Atomics on shared memory as loops, constants before loops, nothing twice and nothing unused,
/// products within additions, short branches as predicated instructions, small loops written out,
/// computations where they are needed.
pub fn rewrite(code: &mut Code) {
    locks::cut(code);
    hoist::hoist(code);
    simplify::simplify(code);
    fuse::fuse(code);
    predicate::predicate(code);
    simplify::simplify(code);
    unroll::unroll(code);
    simplify::simplify(code);
    sink::sink(code);
}
