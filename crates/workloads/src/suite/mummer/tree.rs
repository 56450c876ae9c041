//! A suffix tree in the layout the kernel reads.

use super::dna::{END, NONE};

/// A node: eight words in memory.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Children by the first base of the way to them. Suffixes that end here have none.
    pub child: [u32; 4],
    /// Where the path to this node first occurs in the genome.
    pub at: u32,
    /// Bases from the root.
    pub depth: u32,
    /// The node whose path lacks this one's first base.
    pub link: u32,
}

impl Node {
    /// As the kernel reads it.
    pub fn words(&self) -> [u32; 8] {
        let [a, c, g, t] = self.child;
        [a, c, g, t, self.at, self.depth, self.link, 0]
    }
}

/// Builds the tree from the genome and its suffix array; node 0 is the root.
pub fn build(genome: &[u8], suffixes: &[u32]) -> Vec<Node> {
    let node = |at: u32, depth: u32| Node {
        child: [NONE; 4],
        at,
        depth,
        link: 0,
    };
    let mut nodes = vec![node(0, 0)];
    let mut parents = vec![0u32];
    // The path from the root to the suffix added last.
    let mut path = vec![0usize];
    let mut before: Option<u32> = None;
    for &suffix in suffixes {
        let shared = before.map_or(0, |b| common(genome, b, suffix));
        before = Some(suffix);
        let mut below = None;
        while nodes[path[path.len() - 1]].depth > shared {
            below = path.pop();
        }
        let mut parent = path[path.len() - 1];
        if let Some(below) = below
            && nodes[parent].depth < shared
        {
            // The suffixes part inside an edge: a node goes there.
            let inner = nodes.len();
            nodes.push(node(nodes[below].at, shared));
            parents.push(parent as u32);
            attach(&mut nodes, genome, parent, inner);
            attach(&mut nodes, genome, inner, below);
            parents[below] = inner as u32;
            path.push(inner);
            parent = inner;
        }
        let leaf = nodes.len();
        nodes.push(node(suffix, genome.len() as u32 - suffix));
        parents.push(parent as u32);
        attach(&mut nodes, genome, parent, leaf);
        path.push(leaf);
    }
    earliest(&mut nodes, &parents);
    link(&mut nodes, &parents, genome);
    nodes
}

/// Bases that two suffixes share.
fn common(genome: &[u8], a: u32, b: u32) -> u32 {
    let (a, b) = (&genome[a as usize..], &genome[b as usize..]);
    a.iter().zip(b).take_while(|(x, y)| x == y).count() as u32
}

/// Makes `child` the child of `parent` for the base its way begins with.
fn attach(nodes: &mut [Node], genome: &[u8], parent: usize, child: usize) {
    let base = genome[(nodes[child].at + nodes[parent].depth) as usize];
    if base != END {
        nodes[parent].child[usize::from(base)] = child as u32;
    }
}

/// Nodes deepest first: a node comes before its parent.
fn by_depth(nodes: &[Node]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(nodes[*n].depth));
    order
}

/// Sets every node's `at` to the first place below it.
fn earliest(nodes: &mut [Node], parents: &[u32]) {
    for n in by_depth(nodes) {
        let parent = parents[n] as usize;
        nodes[parent].at = nodes[parent].at.min(nodes[n].at);
    }
}

/// Finds the suffix links of inner nodes, the shallow ones first: from the parent's link down as
/// many bases as the way from the parent has.
fn link(nodes: &mut [Node], parents: &[u32], genome: &[u8]) {
    for n in by_depth(nodes).into_iter().rev() {
        let Node {
            at, depth, child, ..
        } = nodes[n];
        if n == 0 || child == [NONE; 4] {
            continue;
        }
        let mut target = nodes[parents[n] as usize].link as usize;
        while nodes[target].depth + 1 < depth {
            let base = genome[(at + 1 + nodes[target].depth) as usize];
            target = nodes[target].child[usize::from(base)] as usize;
        }
        nodes[n].link = target as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::super::dna::{genome, suffix_array};
    use super::*;
    use crate::input::random::Random;

    #[test]
    fn paths_spell_the_genome_and_links_drop_a_base() {
        let genome = genome(600, &mut Random::new(5, "dna"));
        let nodes = build(&genome, &suffix_array(&genome));
        let path = |n: usize| &genome[nodes[n].at as usize..][..nodes[n].depth as usize];
        for (n, node) in nodes.iter().enumerate() {
            let first = genome.windows(node.depth.max(1) as usize);
            if node.depth > 0 {
                let found = first.into_iter().position(|w| w == path(n));
                assert_eq!(found, Some(node.at as usize), "node {n} occurs first");
            }
            for (base, &child) in node.child.iter().enumerate() {
                if child != NONE {
                    let below = path(child as usize);
                    assert!(below.starts_with(path(n)));
                    assert_eq!(usize::from(below[node.depth as usize]), base);
                }
            }
            if n != 0 && node.child != [NONE; 4] {
                assert_eq!(path(node.link as usize), &path(n)[1..]);
            }
        }
        let leaves = nodes.iter().filter(|n| n.child == [NONE; 4]).count();
        assert_eq!(leaves, genome.len());
    }
}
