//! Places for the blocks of a graph: rows from top to bottom along control flow.

use std::collections::HashSet;

/// Blocks by row, from left to right in each. Rows go by longest path from the entry, edges
/// that close a loop left out; within a row by the average position of the blocks above, so
/// that edges cross little.
pub(super) fn layers(count: usize, edges: &[(usize, usize, bool)]) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); count];
    let mut into = vec![Vec::new(); count];
    for (from, to, _) in edges {
        out[*from].push(*to);
        into[*to].push(*from);
    }
    let (order, back) = depth_first(&out);
    let mut depth = vec![0usize; count];
    for node in order.iter().rev() {
        for to in out[*node]
            .iter()
            .filter(|to| !back.contains(&(*node, **to)))
        {
            depth[*to] = depth[*to].max(depth[*node] + 1);
        }
    }
    let height = depth.iter().max().map_or(0, |d| d + 1);
    let mut rows = vec![Vec::new(); height];
    for (node, depth) in depth.iter().enumerate() {
        rows[*depth].push(node);
    }
    let mut position = vec![0f64; count];
    for row in &mut rows {
        let mean = |node: &usize| {
            let above = into[*node]
                .iter()
                .filter(|from| depth[**from] < depth[*node]);
            let (sum, number) = above.fold((0.0, 0), |(s, n), from| (s + position[*from], n + 1));
            sum / f64::from(number.max(1))
        };
        row.sort_by(|a, b| mean(a).total_cmp(&mean(b)).then(a.cmp(b)));
        let middle = (row.len() as f64 - 1.0) / 2.0;
        for (place, node) in row.iter().enumerate() {
            position[*node] = place as f64 - middle;
        }
    }
    rows
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Post-order over all nodes, and the edges that go back to a node still in progress.
fn depth_first(out: &[Vec<usize>]) -> (Vec<usize>, HashSet<(usize, usize)>) {
    let mut mark = vec![Mark::New; out.len()];
    let mut order = Vec::with_capacity(out.len());
    let mut back = HashSet::new();
    for root in 0..out.len() {
        if mark[root] != Mark::New {
            continue;
        }
        mark[root] = Mark::Open;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            let Some(to) = out[node].get(*next).copied() else {
                mark[node] = Mark::Done;
                order.push(node);
                stack.pop();
                continue;
            };
            *next += 1;
            match mark[to] {
                Mark::Open => {
                    back.insert((node, to));
                }
                Mark::New => {
                    mark[to] = Mark::Open;
                    stack.push((to, 0));
                }
                Mark::Done => {}
            }
        }
    }
    (order, back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond_takes_three_rows() {
        let edges = [(0, 2, true), (0, 1, false), (1, 3, true), (2, 3, false)];
        assert_eq!(layers(4, &edges), [vec![0], vec![1, 2], vec![3]]);
    }

    #[test]
    fn loops_do_not_push_their_head_down() {
        let edges = [(0, 1, false), (1, 1, true), (1, 2, false), (2, 0, true)];
        assert_eq!(layers(3, &edges), [vec![0], vec![1], vec![2]]);
    }
}
