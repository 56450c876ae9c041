//! The order of blocks, which dominates which, and how deep in loops they are.

/// Reachable blocks in reverse post-order.
pub fn reverse_post_order(successors: &[Vec<u32>]) -> Vec<u32> {
    let mut order = Vec::new();
    if successors.is_empty() {
        return order;
    }
    let mut seen = vec![false; successors.len()];
    seen[0] = true;
    let mut stack = vec![(0u32, 0usize)];
    while let Some((block, next)) = stack.pop() {
        // The last successor first: the fall-through side then stands behind its branch.
        let list = &successors[block as usize];
        match list.len().checked_sub(next + 1).map(|at| list[at]) {
            Some(to) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[to as usize], true) {
                    stack.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

/// The immediate dominator of every block of a graph in reverse post-order; the entry's is
/// itself.
pub fn dominators(predecessors: &[Vec<u32>]) -> Vec<u32> {
    let count = predecessors.len();
    let mut idom = vec![u32::MAX; count];
    if count == 0 {
        return idom;
    }
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for block in 1..count {
            let known = predecessors[block]
                .iter()
                .copied()
                .filter(|p| idom[*p as usize] != u32::MAX);
            let new = known.reduce(|a, b| common(&idom, a, b)).unwrap_or(0);
            if idom[block] != new {
                idom[block] = new;
                changed = true;
            }
        }
    }
    idom
}

/// The closest block that dominates both.
pub fn common(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        if a > b {
            a = idom[a as usize];
        } else {
            b = idom[b as usize];
        }
    }
    a
}

/// Does `a` dominate `b`?
pub fn dominates(idom: &[u32], a: u32, b: u32) -> bool {
    common(idom, a, b) == a
}

/// How many loops are around each block.
pub fn depths(successors: &[Vec<u32>], predecessors: &[Vec<u32>], idom: &[u32]) -> Vec<u32> {
    let mut depth = vec![0; successors.len()];
    for header in 0..successors.len() as u32 {
        let back = |p: &&u32| **p >= header && dominates(idom, header, **p);
        let mut work: Vec<u32> = (predecessors[header as usize].iter().filter(back))
            .copied()
            .collect();
        if work.is_empty() {
            continue;
        }
        let mut inside = vec![false; successors.len()];
        inside[header as usize] = true;
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut inside[block as usize], true) {
                work.extend(&predecessors[block as usize]);
            }
        }
        for (depth, inside) in depth.iter_mut().zip(inside) {
            *depth += u32::from(inside);
        }
    }
    depth
}
