//! Graphs as workloads need them.

use crate::input::random::Random;

/// A graph in compressed rows: the neighbours of node `n` are
/// `edges[row[n]..row[n + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where each node's neighbours begin; one more entry than nodes.
    pub row: Vec<u32>,
    /// Neighbours, row after row.
    pub edges: Vec<u32>,
}

impl Graph {
    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.row.len().saturating_sub(1) as u32
    }

    /// A node's neighbours.
    pub fn neighbours(&self, node: u32) -> &[u32] {
        let n = node as usize;
        &self.edges[self.row[n] as usize..self.row[n + 1] as usize]
    }

    /// The first node of the highest degree.
    pub fn hub(&self) -> u32 {
        let degree = |n: &u32| self.neighbours(*n).len();
        (0..self.nodes())
            .rev()
            .max_by_key(degree)
            .unwrap_or_default()
    }

    /// From directed edges; each becomes one in both directions, loops are dropped.
    pub fn undirected(nodes: u32, pairs: &[(u32, u32)]) -> Graph {
        let mut row = vec![0u32; nodes as usize + 1];
        let pairs = || pairs.iter().filter(|(a, b)| a != b);
        for (a, b) in pairs() {
            row[*a as usize + 1] += 1;
            row[*b as usize + 1] += 1;
        }
        for n in 0..nodes as usize {
            row[n + 1] += row[n];
        }
        let mut next = row.clone();
        let mut edges = vec![0; row[nodes as usize] as usize];
        let mut put = |from: u32, to: u32| {
            let slot = &mut next[from as usize];
            edges[*slot as usize] = to;
            *slot += 1;
        };
        for (a, b) in pairs() {
            put(*a, *b);
            put(*b, *a);
        }
        Graph { row, edges }
    }
}

/// A scale-free graph of 2^`scale` nodes: recursive matrices with quadrant probabilities of 45,
/// 15, 15 and 25 %, then the node numbers shuffled, since the construction gathers the hubs at
/// the low end. More skewed probabilities (Graph500's) give hubs so large that the one thread
/// that walks a hub's neighbours takes longer than all others together.
pub fn scale_free(scale: u32, edges_per_node: u32, random: &mut Random) -> Graph {
    let nodes = 1u32 << scale;
    let mut label: Vec<u32> = (0..nodes).collect();
    for i in (1..nodes as usize).rev() {
        label.swap(i, random.below(i as u64 + 1) as usize);
    }
    let edges = u64::from(nodes) * u64::from(edges_per_node) / 2;
    let pairs: Vec<(u32, u32)> = (0..edges)
        .map(|_| {
            let (mut a, mut b) = (0u32, 0u32);
            for _ in 0..scale {
                let (down, right) = match random.below(100) {
                    0..45 => (0, 0),
                    45..60 => (0, 1),
                    60..75 => (1, 0),
                    _ => (1, 1),
                };
                a = a << 1 | down;
                b = b << 1 | right;
            }
            (label[a as usize], label[b as usize])
        })
        .collect();
    Graph::undirected(nodes, &pairs)
}

/// A graph of 2^`scale` nodes without structure: every node draws half of `edges_per_node` neighbours, one more or one
/// fewer, all equally likely, and edges have both directions.
pub fn uniform(scale: u32, edges_per_node: u32, random: &mut Random) -> Graph {
    let nodes = 1u32 << scale;
    let half = i128::from(edges_per_node / 2).max(1);
    let mut pairs = Vec::new();
    for node in 0..nodes {
        for _ in 0..random.between(half - 1, half + 1) {
            pairs.push((node, random.below(u64::from(nodes)) as u32));
        }
    }
    Graph::undirected(nodes, &pairs)
}

/// A mesh of `side` x `side` x `side` nodes, as a finite-element program has: neighbours along the
/// axes are connected, and every square of a layer has one of its diagonals.
pub fn mesh(side: u32, random: &mut Random) -> Graph {
    let node = |x: u32, y: u32, z: u32| (z * side + y) * side + x;
    let mut pairs = Vec::new();
    for at in 0..side * side * side {
        let (x, y, z) = (at % side, at / side % side, at / (side * side));
        let (right, below, behind) = (x + 1 < side, y + 1 < side, z + 1 < side);
        if right {
            pairs.push((at, node(x + 1, y, z)));
        }
        if below {
            pairs.push((at, node(x, y + 1, z)));
        }
        if behind {
            pairs.push((at, node(x, y, z + 1)));
        }
        if right && below {
            pairs.push(if random.below(2) == 0 {
                (at, node(x + 1, y + 1, z))
            } else {
                (node(x + 1, y, z), node(x, y + 1, z))
            });
        }
    }
    Graph::undirected(side * side * side, &pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_both_directions() {
        let g = Graph::undirected(4, &[(0, 1), (1, 2), (3, 3), (0, 2)]);
        assert_eq!(g.row, [0, 2, 4, 6, 6]);
        assert_eq!(g.neighbours(1), [0, 2]);
        assert!(g.neighbours(3).is_empty());
        assert_eq!((g.nodes(), g.hub()), (4, 0));
    }

    #[test]
    fn scale_free_graphs_repeat_and_have_hubs() {
        let make = |seed| scale_free(10, 8, &mut Random::new(seed, "graph"));
        let g = make(1);
        assert_eq!(g, make(1));
        assert_ne!(g, make(2));
        let largest = g.neighbours(g.hub()).len();
        let mean = g.edges.len() / 1024;
        assert!(largest > 4 * mean, "hub has {largest}, mean {mean}");
        assert!(g.edges.iter().all(|n| *n < 1024));
    }

    #[test]
    fn uniform_graphs_repeat_and_have_no_hubs() {
        let make = |seed| uniform(10, 6, &mut Random::new(seed, "graph"));
        let g = make(1);
        assert_eq!(g, make(1));
        assert_ne!(g, make(2));
        let mean = g.edges.len() as f64 / 1024.0;
        assert!((5.7..6.3).contains(&mean), "mean degree {mean}");
        let largest = g.neighbours(g.hub()).len();
        assert!(largest < 20, "hub has {largest}");
        let least = (0..1024).map(|n| g.neighbours(n).len()).min();
        assert!(least >= Some(1), "{least:?}");
    }

    #[test]
    fn meshes_repeat_and_have_few_neighbours() {
        let make = |seed| mesh(5, &mut Random::new(seed, "graph"));
        let g = make(1);
        assert_eq!(g, make(1));
        assert_ne!(g, make(2));
        assert_eq!(g.edges.len(), 2 * (3 * 5 * 5 * 4 + 5 * 4 * 4));
        let degrees = (0..125).map(|n| g.neighbours(n).len());
        assert!(degrees.clone().min() >= Some(3) && degrees.max() <= Some(10));
    }
}
