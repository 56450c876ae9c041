//! Immediate dominators, by the algorithm of Lengauer and Tarjan with path compression: near-linear
//! also in loops nested thousands deep, where iterating to a fixed point is quadratic.

/// No block: what blocks that cannot be reached have for a dominator.
pub const NO_BLOCK: u32 = u32::MAX;

/// The immediate dominator of every block that `root` leads to; the root's is itself. `backward`
/// are the edges of `forward` the other way round.
pub fn immediate_dominators(forward: &[Vec<u32>], backward: &[Vec<u32>], root: u32) -> Vec<u32> {
    let tree = DepthFirst::from(forward, root);
    let count = tree.order.len();
    // From here on blocks are known by their place in the order.
    let mut semi: Vec<u32> = (0..count as u32).collect();
    let mut idom = vec![0u32; count];
    let mut forest = Forest::new(count);
    let mut bucket: Vec<Vec<u32>> = vec![Vec::new(); count];
    for at in (1..count).rev() {
        let block = tree.order[at];
        for from in &backward[block as usize] {
            let from = tree.place[*from as usize];
            if from != NO_BLOCK {
                let best = forest.least(from, &semi);
                semi[at] = semi[at].min(semi[best as usize]);
            }
        }
        bucket[semi[at] as usize].push(at as u32);
        let parent = tree.parent[at];
        forest.link(at as u32, parent);
        for waiting in std::mem::take(&mut bucket[parent as usize]) {
            let best = forest.least(waiting, &semi);
            let sooner = semi[best as usize] < semi[waiting as usize];
            idom[waiting as usize] = if sooner { best } else { parent };
        }
    }
    let mut result = vec![NO_BLOCK; forward.len()];
    result[root as usize] = root;
    for at in 1..count {
        if idom[at] != semi[at] {
            idom[at] = idom[idom[at] as usize];
        }
        result[tree.order[at] as usize] = tree.order[idom[at] as usize];
    }
    result
}

/// A walk through all that the root leads to.
struct DepthFirst {
    /// Blocks in the order of their discovery.
    order: Vec<u32>,
    /// Where a block is in the order.
    place: Vec<u32>,
    /// By place, the place of the block from which it was discovered.
    parent: Vec<u32>,
}

impl DepthFirst {
    fn from(forward: &[Vec<u32>], root: u32) -> DepthFirst {
        let mut walk = DepthFirst {
            order: Vec::new(),
            place: vec![NO_BLOCK; forward.len()],
            parent: Vec::new(),
        };
        // Without recursion: generated kernels have chains of many thousand blocks.
        let mut stack = vec![(root, 0usize)];
        walk.discover(root, 0);
        while let Some((block, next)) = stack.last_mut() {
            let Some(&child) = forward[*block as usize].get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            if walk.place[child as usize] == NO_BLOCK {
                let parent = walk.place[*block as usize];
                walk.discover(child, parent);
                stack.push((child, 0));
            }
        }
        walk
    }

    fn discover(&mut self, block: u32, parent: u32) {
        self.place[block as usize] = self.order.len() as u32;
        self.order.push(block);
        self.parent.push(parent);
    }
}

/// Trees that grow together, with the block of least semidominator on the way to each root.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn new(count: usize) -> Forest {
        Forest {
            ancestor: vec![NO_BLOCK; count],
            label: (0..count as u32).collect(),
            path: Vec::new(),
        }
    }

    fn link(&mut self, child: u32, parent: u32) {
        self.ancestor[child as usize] = parent;
    }

    fn least(&mut self, block: u32, semi: &[u32]) -> u32 {
        // The way up to the child of the root, then back down with what is known there.
        let mut at = block;
        while let up = self.ancestor[at as usize]
            && up != NO_BLOCK
            && self.ancestor[up as usize] != NO_BLOCK
        {
            self.path.push(at);
            at = up;
        }
        while let Some(below) = self.path.pop() {
            let above = self.ancestor[below as usize];
            let (mine, theirs) = (self.label[below as usize], self.label[above as usize]);
            if semi[theirs as usize] < semi[mine as usize] {
                self.label[below as usize] = theirs;
            }
            self.ancestor[below as usize] = self.ancestor[above as usize];
        }
        self.label[block as usize]
    }
}

/// A tree or forest given by each block's parent: which is above which.
pub struct Ancestry {
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Ancestry {
    /// Of blocks with these parents; a block without one, or its own parent, is a root.
    pub fn new(parents: impl Iterator<Item = Option<u32>>) -> Ancestry {
        let parents: Vec<Option<u32>> = (0..)
            .zip(parents)
            .map(|(at, parent)| parent.filter(|p| *p != at))
            .collect();
        let mut children = vec![Vec::new(); parents.len()];
        for (at, parent) in (0..).zip(&parents) {
            if let Some(parent) = parent {
                children[*parent as usize].push(at);
            }
        }
        let mut tree = Ancestry {
            first: vec![0; parents.len()],
            last: vec![0; parents.len()],
        };
        let mut count = 0;
        let roots = (0..parents.len() as u32).filter(|at| parents[*at as usize].is_none());
        for root in roots {
            let mut stack = vec![(root, 0usize)];
            while let Some((at, next)) = stack.last_mut() {
                if *next == 0 {
                    tree.first[*at as usize] = count;
                    count += 1;
                }
                match children[*at as usize].get(*next) {
                    Some(child) => {
                        *next += 1;
                        stack.push((*child, 0));
                    }
                    None => {
                        tree.last[*at as usize] = count;
                        stack.pop();
                    }
                }
            }
        }
        tree
    }

    /// A number that is smaller than those of all below.
    pub fn place(&self, block: u32) -> u32 {
        self.first[block as usize]
    }

    /// Whether the one is above the other, or the same.
    pub fn is_above(&self, above: u32, below: u32) -> bool {
        let range = self.first[above as usize]..self.last[above as usize];
        range.contains(&self.first[below as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::graph::random::random_graph;
    use crate::analysis::predecessors;
    use proptest::prelude::*;

    fn reached(graph: &[Vec<u32>], without: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; graph.len()];
        let mut work = vec![0];
        while let Some(b) = work.pop() {
            if Some(b) != without && !std::mem::replace(&mut seen[b as usize], true) {
                work.extend(&graph[b as usize]);
            }
        }
        seen
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            graph in random_graph(16, 4)
        ) {
            let count = graph.len() as u32;
            let idom = immediate_dominators(&graph, &predecessors(&graph), 0);
            let can = reached(&graph, None);
            let tree = Ancestry::new(idom.iter().map(|d| (*d != NO_BLOCK).then_some(*d)));
            for below in 0..count {
                prop_assert_eq!(idom[below as usize] != NO_BLOCK, can[below as usize]);
                for above in 0..count {
                    if !can[below as usize] || !can[above as usize] {
                        continue;
                    }
                    let dominates = above == below
                        || above == 0
                        || !reached(&graph, Some(above))[below as usize];
                    prop_assert_eq!(tree.is_above(above, below), dominates, "{} {}", above, below);
                }
            }
        }
    }
}
