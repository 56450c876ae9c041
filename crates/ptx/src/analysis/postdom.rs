//! Immediate post-dominators: dominators of the reversed graph.

use super::dominators::immediate_dominators;
use super::ends::main_end;
use super::graph::predecessors;

/// The immediate post-dominator of every block; `None` when it is the (virtual) exit.
///
/// Threads that exit are gone and never reconverge, so where there are several ends only the
/// paths to the main one count: the end that most blocks reach, the last of equals. Sides of a
/// branch in which some threads leave the kernel still meet where the others go on together, as
/// they do on GPUs (else a warp would come to a barrier behind them in parts). Blocks that only
/// reach other ends are taken for themselves: all ends count among them.
///
/// Blocks without successors lead to the virtual exit. So does one block of every region
/// that cannot reach an exit at all (an infinite loop): the highest-numbered such block gets
/// a virtual edge, which for compiled code is the one that closes the loop, so that branches
/// inside the loop still have a meeting point inside it. A guarded `exit` needs no edge
/// of its own.
pub fn immediate_post_dominators(successors: &[Vec<u32>]) -> Vec<Option<u32>> {
    let preds = predecessors(successors);
    let all = meeting_points(successors, &preds, &leaving(successors, &preds));
    let ends: Vec<u32> = (0..successors.len() as u32)
        .filter(|b| successors[*b as usize].is_empty())
        .collect();
    if ends.len() < 2 {
        return all;
    }
    let main = main_end(successors, &preds, &ends);
    let mut reached = vec![false; successors.len()];
    reached[main as usize] = true;
    flood(&preds, &mut reached, vec![main]);
    let mut leaves = vec![false; successors.len()];
    leaves[main as usize] = true;
    let surviving = meeting_points(successors, &preds, &leaves);
    (reached.iter().zip(surviving).zip(all))
        .map(|((reached, surviving), all)| if *reached { surviving } else { all })
        .collect()
}

/// Immediate post-dominators among the blocks that reach one of those that `leaves` names.
fn meeting_points(
    successors: &[Vec<u32>],
    preds: &[Vec<u32>],
    leaves: &[bool],
) -> Vec<Option<u32>> {
    // The graph backwards, with the virtual exit as the last node.
    let exit = successors.len() as u32;
    let mut backward = preds.to_vec();
    backward.push((0..exit).filter(|b| leaves[*b as usize]).collect());
    let mut forward = successors.to_vec();
    for (list, leaves) in forward.iter_mut().zip(leaves) {
        list.extend(leaves.then_some(exit));
    }
    forward.push(Vec::new());
    let parents = immediate_dominators(&backward, &forward, exit);
    parents[..exit as usize]
        .iter()
        .map(|p| (*p < exit).then_some(*p))
        .collect()
}

/// Blocks with an edge to the virtual exit: real ends, and one block of each region that
/// has none.
fn leaving(successors: &[Vec<u32>], preds: &[Vec<u32>]) -> Vec<bool> {
    let mut leaves: Vec<bool> = successors.iter().map(Vec::is_empty).collect();
    let mut reaches = leaves.clone();
    let ends = (0..leaves.len() as u32).filter(|b| leaves[*b as usize]);
    flood(preds, &mut reaches, ends.collect());
    for block in (0..leaves.len()).rev() {
        if !reaches[block] {
            leaves[block] = true;
            reaches[block] = true;
            flood(preds, &mut reaches, vec![block as u32]);
        }
    }
    leaves
}

fn flood(preds: &[Vec<u32>], reached: &mut [bool], mut work: Vec<u32>) {
    while let Some(block) = work.pop() {
        for p in &preds[block as usize] {
            if !reached[*p as usize] {
                reached[*p as usize] = true;
                work.push(*p);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::graph::random::random_graph;
    use proptest::prelude::*;

    fn ipdom(edges: &[&[u32]]) -> Vec<Option<u32>> {
        immediate_post_dominators(&edges.iter().map(|e| e.to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn a_diamond_meets_at_its_join() {
        assert_eq!(
            ipdom(&[&[2, 1], &[3], &[3], &[]]),
            [Some(3), Some(3), Some(3), None]
        );
    }

    #[test]
    fn a_loop_meets_behind_its_exit_test() {
        // 0 -> 1; 1 -> 2 | 3; 2 -> 1; 3 ends.
        assert_eq!(
            ipdom(&[&[1], &[3, 2], &[1], &[]]),
            [Some(1), Some(3), Some(1), None]
        );
    }

    #[test]
    fn those_who_stay_meet_in_spite_of_an_early_exit() {
        // 0 -> 1 | 4; 1 -> 2 (ends) | 3; 3 and 4 -> 5, which ends.
        assert_eq!(
            ipdom(&[&[4, 1], &[3, 2], &[], &[5], &[5], &[]]),
            [Some(5), Some(3), None, Some(5), Some(5), None]
        );
        // The same with the early exit behind everything else in the text.
        assert_eq!(
            ipdom(&[&[3, 1], &[5, 2], &[4], &[4], &[], &[]]),
            [Some(4), Some(2), Some(4), Some(4), None, None]
        );
    }

    #[test]
    fn ends_that_the_main_path_does_not_lead_to_count_among_themselves() {
        // 0 -> 1 | 5; 1 -> 2 | 3, both end; 5 -> 4, which ends.
        assert_eq!(
            ipdom(&[&[5, 1], &[3, 2], &[], &[], &[], &[4]]),
            [Some(5), None, None, None, None, Some(4)]
        );
        // Equals: the last is the main one.
        assert_eq!(ipdom(&[&[2, 1], &[], &[]]), [Some(2), None, None]);
    }

    #[test]
    fn a_branch_in_an_infinite_loop_still_meets() {
        // 0 -> 1; 1 -> 2 | 3; 2 -> 3; 3 -> 1 forever.
        assert_eq!(
            ipdom(&[&[1], &[3, 2], &[3], &[1]]),
            [Some(1), Some(3), Some(3), None]
        );
    }

    #[test]
    fn an_infinite_loop_beside_an_exit() {
        // 0 -> 1 | 2; 1 -> 1 forever; 2 ends.
        assert_eq!(ipdom(&[&[2, 1], &[1], &[]]), [None, None, None]);
    }

    #[test]
    fn unreachable_code_has_a_post_dominator_too() {
        // 1 is reached by nothing.
        assert_eq!(ipdom(&[&[2], &[2], &[]]), [Some(2), Some(2), None]);
    }

    /// `d` post-dominates `b` when removing `d` leaves no path from `b` to the exit.
    fn exits_without(graph: &[Vec<u32>], leaves: &[bool], from: u32, removed: u32) -> bool {
        let mut seen = vec![false; graph.len()];
        let mut work = vec![from];
        while let Some(b) = work.pop() {
            if removed == b || std::mem::replace(&mut seen[b as usize], true) {
                continue;
            }
            if leaves[b as usize] {
                return true;
            }
            work.extend(&graph[b as usize]);
        }
        false
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            graph in random_graph(14, 3)
        ) {
            let count = graph.len() as u32;
            let preds = predecessors(&graph);
            let leaves = leaving(&graph, &preds);
            let found = meeting_points(&graph, &preds, &leaves);
            for b in 0..count {
                prop_assert!(exits_without(&graph, &leaves, b, count), "{} is stuck", b);
                let dominators: Vec<u32> = (0..count)
                    .filter(|d| *d != b && !exits_without(&graph, &leaves, b, *d))
                    .collect();
                // The immediate one is post-dominated by all the others.
                let expected = dominators.iter().copied().find(|d| {
                    let others = dominators.iter().filter(|e| *e != d);
                    others.copied().all(|e| !exits_without(&graph, &leaves, *d, e))
                });
                prop_assert_eq!(found[b as usize], expected, "block {}", b);
            }
        }
    }
}
