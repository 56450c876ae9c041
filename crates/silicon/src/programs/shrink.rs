//! Makes a program that shows a failure smaller while it still shows it.

use super::tree::{Program, Statement, size};

/// What is tried on a statement.
#[derive(Clone, Copy)]
enum Edit {
    /// Takes so many statements away, this one and those behind it.
    Delete(usize),
    /// Puts what stands in one of its bodies in its place.
    Unwrap(usize),
}

/// Applies an edit to the statement with number `at`, counted in the order they are written.
/// False when it does not apply.
fn edit(body: &mut Vec<Statement>, at: &mut usize, change: Edit) -> bool {
    let mut i = 0;
    while i < body.len() {
        if *at == 0 {
            return match change {
                Edit::Delete(count) => {
                    let fits = i + count <= body.len();
                    if fits {
                        body.drain(i..i + count);
                    }
                    fits
                }
                Edit::Unwrap(which) => {
                    let mut bodies = body[i].bodies_mut();
                    let Some(inner) = bodies.get_mut(which) else {
                        return false;
                    };
                    let inner = std::mem::take(*inner);
                    body.splice(i..=i, inner);
                    true
                }
            };
        }
        *at -= 1;
        for inner in body[i].bodies_mut() {
            let count = size(inner);
            if *at < count {
                return edit(inner, at, change);
            }
            *at -= count;
        }
        i += 1;
    }
    false
}

/// Smaller shapes of a launch, smallest first.
fn shapes(program: &Program) -> Vec<(u32, [u32; 2])> {
    let (blocks, [x, y]) = (program.blocks, program.threads);
    let mut all = Vec::new();
    for (b, t) in [
        (1, [1, 1]),
        (1, [2, 1]),
        (1, [32, 1]),
        (1, [64, 1]),
        (1, [x * y, 1]),
        (1, [x, y]),
        (2, [x, y]),
    ] {
        if b <= blocks && t[0] * t[1] <= x * y && (b, t) != (blocks, [x, y]) {
            all.push((b, t));
        }
    }
    all
}

/// The smallest program found for which `fails` still holds. It must hold for `program`;
/// at most `tries` programs are tried.
pub fn shrink(program: &Program, tries: usize, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut left = tries;
    let mut attempt = |candidate: Program, best: &mut Program| {
        if left == 0 {
            return false;
        }
        left -= 1;
        let good = fails(&candidate);
        if good {
            *best = candidate;
        }
        good
    };
    loop {
        let before = best.clone();
        for (blocks, threads) in shapes(&best) {
            let candidate = Program {
                blocks,
                threads,
                ..best.clone()
            };
            if attempt(candidate, &mut best) {
                break;
            }
        }
        // From the end: what comes later seldom matters to what came before. First many at once.
        for count in [8, 4, 2] {
            let mut at = size(&best.body);
            while at > 0 {
                at = at.saturating_sub(count / 2);
                let mut candidate = best.clone();
                if edit(&mut candidate.body, &mut { at }, Edit::Delete(count)) {
                    attempt(candidate, &mut best);
                }
                at = at.min(size(&best.body));
            }
        }
        let mut at = size(&best.body);
        while at > 0 {
            at -= 1;
            for change in [
                Edit::Delete(1),
                Edit::Unwrap(0),
                Edit::Unwrap(1),
                Edit::Unwrap(2),
            ] {
                let mut candidate = best.clone();
                if edit(&mut candidate.body, &mut { at }, change) && attempt(candidate, &mut best) {
                    break;
                }
            }
            at = at.min(size(&best.body));
        }
        if best == before {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::program;
    use crate::programs::tree::Needs;

    fn has(body: &[Statement], text: &str) -> bool {
        body.iter().any(|s| match s {
            Statement::Straight { text: t, .. } => t == text,
            other => other.bodies().into_iter().any(|b| has(b, text)),
        })
    }

    #[test]
    fn what_matters_stays_and_nothing_else() {
        for seed in 0..5 {
            let mut p = program(seed);
            let marked = Statement::Straight {
                text: "here".into(),
                needs: Needs::Nothing,
            };
            // As deep as there is anything.
            let mut body = &mut p.body;
            while let Some(i) = (0..body.len()).find(|&i| !body[i].bodies().is_empty()) {
                body = body[i].bodies_mut().swap_remove(0);
            }
            body.push(marked.clone());
            let small = shrink(&p, 100_000, &mut |p| has(&p.body, "here"));
            assert_eq!(small.body, vec![marked]);
            assert_eq!((small.blocks, small.threads), (1, [1, 1]));
        }
    }

    #[test]
    fn tries_are_counted() {
        let mut tried = 0;
        let p = program(1);
        let small = shrink(&p, 7, &mut |_| {
            tried += 1;
            false
        });
        assert_eq!((tried, small), (7, p));
    }
}
