//! What threads do together: operations of a warp's threads, barriers, exchange of data.

use super::generate::Source;
use super::straight::register;

/// An operation among the members `$M` of a warp.
pub(super) fn warp(source: &mut Source) -> String {
    let (a, d, p, q) = (
        register(source, 'r'),
        register(source, 'r'),
        register(source, 'p'),
        register(source, 'p'),
    );
    let not = ["", "!"][source.below(2) as usize];
    match source.below(8) {
        0 => {
            let mode = ["any", "all", "uni"][source.below(3) as usize];
            format!("vote.sync.{mode}.pred {q}, {not}{p}, $M;")
        }
        1 => format!("vote.sync.ballot.b32 {d}, {not}{p}, $M;"),
        2 => match source.below(4) {
            0 => format!("and.b32 %t0, {a}, 3;\n\tmatch.any.sync.b32 {d}, %t0, $M;"),
            1 => format!("match.all.sync.b32 {d}|{q}, {a}, $M;"),
            2 => format!("match.any.sync.b64 {d}, {}, $M;", register(source, 'd')),
            _ => format!("and.b32 %t0, {a}, 1;\n\tmatch.all.sync.b32 {d}|{q}, %t0, $M;"),
        },
        3 => {
            let op = [
                "add.s32", "add.u32", "min.s32", "min.u32", "max.s32", "max.u32", "and.b32",
                "or.b32", "xor.b32",
            ][source.below(9) as usize];
            format!("redux.sync.{op} {d}, {a}, $M;")
        }
        4 => warp_exchange(source),
        _ => shuffle(source),
    }
}

/// A shuffle; what comes from a thread that takes no part is undefined, so one's old value
/// stays then.
fn shuffle(source: &mut Source) -> String {
    let (a, b, d) = (
        register(source, 'r'),
        register(source, 'r'),
        register(source, 'r'),
    );
    let width = [32u64, 32, 16, 8, 4][source.below(5) as usize];
    let segment = (32 - width) << 8;
    let by = source.below(width);
    let (mode, from, amount, c) = match source.below(4) {
        0 => (
            "up",
            format!("sub.u32 %t2, %lane, {by};"),
            by.to_string(),
            segment,
        ),
        1 => (
            "down",
            format!("add.u32 %t2, %lane, {by};"),
            by.to_string(),
            segment | 31,
        ),
        2 => (
            "bfly",
            format!("xor.b32 %t2, %lane, {by};"),
            by.to_string(),
            segment | 31,
        ),
        _ => (
            "idx",
            format!(
                "and.b32 %t2, %lane, {};\n\tand.b32 %t3, {b}, {};\n\tor.b32 %t2, %t2, %t3;",
                32 - width,
                width - 1
            ),
            b.clone(),
            segment | 31,
        ),
    };
    format!(
        "{from}\n\tshfl.sync.{mode}.b32 %t1|%tp0, {a}, {amount}, {c}, $M;\n\
         \tselp.b32 %t2, %t2, %lane, %tp0;\n\tshr.u32 %t3, $M, %t2;\n\tand.b32 %t3, %t3, 1;\n\
         \tsetp.ne.u32 %tp1, %t3, 0;\n\t@%tp1 mov.b32 {d}, %t1;"
    )
}

/// Data through shared memory between threads of a warp.
fn warp_exchange(source: &mut Source) -> String {
    let (a, d, by) = (
        register(source, 'r'),
        register(source, 'r'),
        1 + source.below(31),
    );
    format!(
        "st.shared.u32 [%sown+4], {a};\n\tbar.warp.sync $M;\n\txor.b32 %t0, %lane, {by};\n\tshr.u32 %t1, $M, %t0;\n\
         \tand.b32 %t1, %t1, 1;\n\tsetp.ne.u32 %tp0, %t1, 0;\n\tselp.b32 %t0, %t0, %lane, %tp0;\n\
         \tsub.u32 %t0, %t0, %lane;\n\tshl.b32 %t0, %t0, 4;\n\tadd.u32 %t0, %t0, %sown;\n\
         \tld.shared.u32 {d}, [%t0+4];\n\tbar.warp.sync $M;"
    )
}

fn barrier(source: &mut Source) -> String {
    match source.below(4) {
        0 => "barrier.sync 0;".into(),
        1 => format!("bar.sync {};", 1 + source.below(15)),
        _ => "bar.sync 0;".into(),
    }
}

/// Every thread of the block reads what another wrote, or an accumulator.
pub(super) fn exchange(source: &mut Source) -> String {
    let (a, d, by) = (
        register(source, 'r'),
        register(source, 'r'),
        1 + source.below(40),
    );
    let other = format!("add.u32 %t0, %lin, {by};\n\trem.u32 %t0, %t0, %nth;");
    let (first, second) = (barrier(source), barrier(source));
    match source.below(6) {
        0 => first,
        1 => {
            let at = 4 * source.below(8);
            format!("{first}\n\tld.shared.u32 {d}, [%sacc+{at}];\n\t{second}")
        }
        2 => format!(
            "st.global.u32 [%own+252], {a};\n\t{first}\n\t{other}\n\tsub.u32 %t0, %t0, %lin;\n\
             \tmul.wide.s32 %u0, %t0, 256;\n\tadd.s64 %u0, %u0, %own;\n\tld.global.u32 {d}, [%u0+252];\n\t{second}"
        ),
        3 => {
            let (x, y) = (register(source, 'd'), register(source, 'd'));
            format!(
                "st.shared.v2.u64 [%sown], {{{x}, {y}}};\n\t{first}\n\t{other}\n\tmad.lo.u32 %t0, %t0, 16, %shared;\n\
                 \tld.shared.u64 {x}, [%t0+8];\n\tld.shared.u64 {y}, [%t0];\n\t{second}"
            )
        }
        _ => format!(
            "st.shared.u32 [%sown+8], {a};\n\t{first}\n\t{other}\n\tmad.lo.u32 %t0, %t0, 16, %shared;\n\
             \tld.shared.u32 {d}, [%t0+8];\n\t{second}"
        ),
    }
}

/// A reduction over the block.
pub(super) fn reduction(source: &mut Source) -> String {
    let (d, p, q) = (
        register(source, 'r'),
        register(source, 'p'),
        register(source, 'p'),
    );
    match source.below(3) {
        0 => format!("bar.red.popc.u32 {d}, 0, {p};"),
        1 => format!("bar.red.and.pred {q}, 1, {p};"),
        _ => format!("bar.red.or.pred {q}, 2, !{p};"),
    }
}

/// The first warp hands data to the second through a barrier at which it does not wait.
/// Guarded, not branched: where a block's warps take branches together, none of them would wait
/// for another's other side.
pub(super) fn handoff(source: &mut Source) -> String {
    let (a, d, id) = (
        register(source, 'r'),
        register(source, 'r'),
        3 + source.below(10),
    );
    format!(
        "bar.sync 0;\n\tsetp.eq.u32 %tp0, %warp, 0;\n\tsetp.eq.u32 %tp1, %warp, 1;\n\
         \t@%tp0 st.shared.u32 [%sown+12], {a};\n\t@%tp0 bar.arrive {id}, 64;\n\
         \t@%tp1 bar.sync {id}, 64;\n\t@%tp1 ld.shared.u32 {d}, [%sown-500];\n\tbar.sync 0;"
    )
}
