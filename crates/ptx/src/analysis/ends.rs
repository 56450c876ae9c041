//! Which end of a kernel most of its blocks reach.
//!
//! To count the blocks that lead to each of thousands of ends takes as many searches. Few are
//! needed: once the blocks that lead to one end are known, there is a bound on how many can lead
//! to another. Those among them that also lead to the other stand no later than where the way to it
//! turns off, in an order in which every block stands behind those that lead to it; and the others are at
//! most as many as there are on the ways behind the turn-off. Ends that cannot be the one by this
//! are done with.

/// Ends that are counted at once: the bits of a word.
const AT_ONCE: usize = 64;
/// Ends that are searched from one by one before those that are left are counted.
const SEARCHES: usize = 16;

/// The end that most blocks reach, the last of equals. `ends` are blocks without successors, one at
/// least; `preds` are the edges of `successors` the other way round.
pub fn main_end(successors: &[Vec<u32>], preds: &[Vec<u32>], ends: &[u32]) -> u32 {
    // As many are counted faster than ruled out.
    let searches = if ends.len() <= AT_ONCE { 0 } else { SEARCHES };
    search(successors, preds, ends, searches)
}

fn search(successors: &[Vec<u32>], preds: &[Vec<u32>], ends: &[u32], searches: usize) -> u32 {
    // How many blocks reach an end, and the end.
    let mut best = (0, 0);
    // The most that may reach one.
    let mut open: Vec<(u32, u32)> = ends.iter().map(|end| (u32::MAX, *end)).collect();
    if searches > 0 {
        let order = Order::of(successors, preds);
        for _ in 0..searches {
            let Some(&(_, next)) = open.iter().max() else {
                break;
            };
            let reached = leading_to(preds, next);
            let count = reached.iter().filter(|r| **r).count() as u32;
            best = best.max((count, next));
            let most = order.bounds(preds, &reached);
            for (bound, end) in &mut open {
                *bound = most[*end as usize].min(*bound);
            }
            open.retain(|other| other.1 != next && *other > best);
        }
    }
    for some in open.chunks(AT_ONCE) {
        let some: Vec<u32> = some.iter().map(|(_, end)| *end).collect();
        best = counted(preds, &some).into_iter().fold(best, Ord::max);
    }
    best.1
}

/// The blocks from which there is a way to `to`.
fn leading_to(preds: &[Vec<u32>], to: u32) -> Vec<bool> {
    let mut reached = vec![false; preds.len()];
    reached[to as usize] = true;
    let mut work = vec![to];
    while let Some(block) = work.pop() {
        for p in &preds[block as usize] {
            if !std::mem::replace(&mut reached[*p as usize], true) {
                work.push(*p);
            }
        }
    }
    reached
}

/// How many blocks reach each of these ends, 64 at most, with the end.
fn counted(preds: &[Vec<u32>], ends: &[u32]) -> Vec<(u32, u32)> {
    // A bit for each of them: which of these ends a block reaches.
    let mut reaches = vec![0u64; preds.len()];
    for (bit, end) in ends.iter().enumerate() {
        reaches[*end as usize] = 1 << bit;
    }
    let mut waiting = vec![false; preds.len()];
    let mut work = ends.to_vec();
    while let Some(block) = work.pop() {
        waiting[block as usize] = false;
        for p in &preds[block as usize] {
            let more = reaches[*p as usize] | reaches[block as usize];
            if more != reaches[*p as usize] {
                reaches[*p as usize] = more;
                if !std::mem::replace(&mut waiting[*p as usize], true) {
                    work.push(*p);
                }
            }
        }
    }
    count_bits(&reaches)
        .into_iter()
        .zip(ends.iter().copied())
        .collect()
}

/// How many of the words have each bit, counted for all bits at once: word i of `digits` holds the
/// binary digit i of every count.
fn count_bits(words: &[u64]) -> [u32; AT_ONCE] {
    let mut digits = [0u64; u32::BITS as usize];
    for word in words {
        let mut carry = *word;
        for digit in &mut digits {
            if carry == 0 {
                break;
            }
            (*digit, carry) = (*digit ^ carry, *digit & carry);
        }
    }
    std::array::from_fn(|bit| {
        let digits = digits.iter().enumerate();
        digits.map(|(i, d)| ((d >> bit & 1) as u32) << i).sum()
    })
}

/// Not in a component yet.
const NOWHERE: u32 = u32::MAX;

/// Blocks in an order in which those that lead to a block stand before it; those that lead to each
/// other stand together, as a component.
struct Order {
    blocks: Vec<u32>,
    /// By block: its component. They are numbered in their order.
    component: Vec<u32>,
    components: usize,
}

impl Order {
    fn of(successors: &[Vec<u32>], preds: &[Vec<u32>]) -> Order {
        let count = successors.len();
        let mut order = Order {
            blocks: Vec::with_capacity(count),
            component: vec![NOWHERE; count],
            components: 0,
        };
        let mut work = Vec::new();
        for root in left_last(successors).into_iter().rev() {
            if order.component[root as usize] != NOWHERE {
                continue;
            }
            let number = order.components as u32;
            order.components += 1;
            order.add(root, number, &mut work);
            while let Some(block) = work.pop() {
                for p in &preds[block as usize] {
                    order.add(*p, number, &mut work);
                }
            }
        }
        order
    }

    /// Puts a block that is nowhere yet into a component.
    fn add(&mut self, block: u32, number: u32, work: &mut Vec<u32>) {
        let component = &mut self.component[block as usize];
        if *component == NOWHERE {
            *component = number;
            self.blocks.push(block);
            work.push(block);
        }
    }

    /// For each block that is not among the `reached`, which are all that lead to some end: the
    /// most blocks that may lead to it, itself included.
    fn bounds(&self, preds: &[Vec<u32>], reached: &[bool]) -> Vec<u32> {
        // Blocks up to each component: reached ones, and others.
        let mut before = vec![[0u32; 2]; self.components];
        for block in &self.blocks {
            let other = usize::from(!reached[*block as usize]);
            before[self.component[*block as usize] as usize][other] += 1;
        }
        let mut sum = [0, 0];
        for here in &mut before {
            sum = [sum[0] + here[0], sum[1] + here[1]];
            *here = sum;
        }
        // By component that is not reached: how many reached blocks may lead to it, and others.
        let mut lead = vec![[0u32; 2]; self.components];
        for same in self.blocks.chunk_by(|a, b| self.of_same(*a, *b)) {
            let here = self.component[same[0] as usize] as usize;
            if reached[same[0] as usize] {
                continue;
            }
            let mut sum = [0, same.len() as u32];
            for p in same.iter().flat_map(|block| &preds[*block as usize]) {
                let from = self.component[*p as usize] as usize;
                if reached[*p as usize] {
                    sum[0] = sum[0].max(before[from][0]);
                } else if from != here {
                    sum[0] = sum[0].max(lead[from][0]);
                    sum[1] = sum[1].saturating_add(lead[from][1]);
                }
            }
            lead[here] = [sum[0], sum[1].min(before[here][1])];
        }
        let of = |component: &u32| lead[*component as usize].iter().sum();
        self.component.iter().map(of).collect()
    }

    fn of_same(&self, a: u32, b: u32) -> bool {
        self.component[a as usize] == self.component[b as usize]
    }
}

/// The blocks in the order in which a walk, depth first, leaves them.
fn left_last(successors: &[Vec<u32>]) -> Vec<u32> {
    let mut left = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    for root in 0..successors.len() as u32 {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut stack = vec![(root, 0usize)];
        while let Some((block, next)) = stack.last_mut() {
            let Some(&child) = successors[*block as usize].get(*next) else {
                left.push(*block);
                stack.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut seen[child as usize], true) {
                stack.push((child, 0));
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::graph::predecessors;
    use crate::analysis::graph::random::random_graph;
    use proptest::prelude::*;

    /// By the definition: a search from each.
    fn plainly(preds: &[Vec<u32>], ends: &[u32]) -> u32 {
        let count = |end: u32| leading_to(preds, end).iter().filter(|r| **r).count();
        let best = ends.iter().map(|end| (count(*end), *end)).max();
        best.expect("an end").1
    }

    /// Paths side by side, each with a way out at every step, some of which are longer.
    fn ladder(steps: &[Vec<bool>]) -> Vec<Vec<u32>> {
        let mut graph: Vec<Vec<u32>> = vec![Vec::new()];
        let new = |graph: &mut Vec<Vec<u32>>| {
            graph.push(Vec::new());
            graph.len() as u32 - 1
        };
        for path in steps {
            let mut at = 0;
            for long in path {
                let (out, next) = (new(&mut graph), new(&mut graph));
                graph[at as usize].extend([out, next]);
                if *long {
                    let end = new(&mut graph);
                    graph[out as usize].push(end);
                }
                at = next;
            }
        }
        graph
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn agrees_with_a_search_from_each_end(
            graph in random_graph(40, 3),
            searches in 0usize..6
        ) {
            let preds = predecessors(&graph);
            let ends: Vec<u32> = (0..graph.len() as u32)
                .filter(|b| graph[*b as usize].is_empty())
                .collect();
            if !ends.is_empty() {
                let found = search(&graph, &preds, &ends, searches);
                prop_assert_eq!(found, plainly(&preds, &ends));
            }
        }

        #[test]
        fn and_where_there_are_ways_out_everywhere(
            steps in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 0..30), 1..5),
        ) {
            let graph = ladder(&steps);
            let preds = predecessors(&graph);
            let ends: Vec<u32> = (0..graph.len() as u32)
                .filter(|b| graph[*b as usize].is_empty())
                .collect();
            let expected = plainly(&preds, &ends);
            prop_assert_eq!(main_end(&graph, &preds, &ends), expected);
            prop_assert_eq!(search(&graph, &preds, &ends, SEARCHES), expected);
        }
    }
}
