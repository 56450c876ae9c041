//! Graphs: nodes and what they depend on, and what can be launched of them.

use super::launch::Call;
use super::operation::Operation;
use super::{Program, Reply, Session};
use crate::refused::Answer;
use std::collections::HashSet;
use warpsim_doors::wire::status;

/// Nodes in the order in which they were added, and pairs of them: the second depends on the first.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<u64>,
    edges: Vec<[u64; 2]>,
}

/// What a node does, and in which graph.
#[derive(Clone, Debug)]
pub struct Node {
    graph: u64,
    operation: Operation,
}

/// A graph as it was instantiated: nodes in an order in which they can be done.
#[derive(Clone, Debug)]
pub struct Executable(Vec<(u64, Operation)>);

/// Why an executable cannot be updated, by CUDA's numbers.
const TOPOLOGY: u64 = 2;
const KIND: u64 = 3;

impl Session {
    pub(super) fn create_graph(&mut self) -> u64 {
        let graph = self.handle();
        self.graphs.insert(graph, Graph::default());
        graph
    }

    fn graph(&self, graph: u64) -> Answer<&Graph> {
        self.graphs.get(&graph).ok_or(status::INVALID_HANDLE.into())
    }

    pub(super) fn destroy_graph(&mut self, graph: u64) -> Answer<Reply> {
        let gone = self.graphs.remove(&graph).ok_or(status::INVALID_HANDLE)?;
        gone.nodes
            .iter()
            .for_each(|node| drop(self.nodes.remove(node)));
        Ok(Reply::default())
    }

    /// A graph with nodes of its own that do the same.
    pub(super) fn clone_graph(&mut self, graph: u64) -> Answer<u64> {
        let original = self.graph(graph)?.clone();
        let copy = self.create_graph();
        let mut renamed = std::collections::HashMap::new();
        for node in &original.nodes {
            let operation = self
                .nodes
                .get(node)
                .ok_or(status::INVALID_HANDLE)?
                .operation
                .clone();
            renamed.insert(*node, self.add(copy, operation, &[])?);
        }
        let edges = original
            .edges
            .iter()
            .map(|[a, b]| [renamed[a], renamed[b]])
            .collect();
        if let Some(graph) = self.graphs.get_mut(&copy) {
            graph.edges = edges;
        }
        Ok(copy)
    }

    /// A new node of a graph, after these.
    pub(super) fn add(&mut self, graph: u64, operation: Operation, before: &[u64]) -> Answer<u64> {
        if let Operation::Kernel(call) = &operation {
            self.known(call.function)?;
        }
        let node = self.handle();
        let found = self.graphs.get_mut(&graph).ok_or(status::INVALID_HANDLE)?;
        found.nodes.push(node);
        found.edges.extend(before.iter().map(|b| [*b, node]));
        self.nodes.insert(node, Node { graph, operation });
        Ok(node)
    }

    /// A node that does all that another graph does.
    pub(super) fn add_child(&mut self, graph: u64, child: u64) -> Answer<u64> {
        let operations = self.ordered(child)?.into_iter().map(|(_, o)| o).collect();
        self.add(graph, Operation::Child(operations), &[])
    }

    pub(super) fn add_dependencies(&mut self, graph: u64, bytes: &[u8]) -> Answer<Reply> {
        let found = self.graphs.get_mut(&graph).ok_or(status::INVALID_HANDLE)?;
        let (pairs, rest) = bytes.as_chunks::<16>();
        let pairs: Vec<[u64; 2]> = pairs
            .iter()
            .map(|p| [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|k| p[at + k]))))
            .collect();
        let known = pairs
            .iter()
            .flatten()
            .all(|node| found.nodes.contains(node));
        if !rest.is_empty() || !known {
            return Err(status::INVALID_VALUE.into());
        }
        found.edges.extend(pairs);
        Ok(Reply::default())
    }

    pub(super) fn graph_nodes(&self, graph: u64) -> Answer<Reply> {
        Ok(Reply::words(self.graph(graph)?.nodes.clone()))
    }

    /// The edges of a graph, or of the graph of a node.
    pub(super) fn graph_edges(&self, graph: u64) -> Answer<Reply> {
        let graph = self.nodes.get(&graph).map_or(graph, |node| node.graph);
        Ok(Reply::words(
            self.graph(graph)?.edges.iter().flatten().copied().collect(),
        ))
    }

    pub(super) fn node_kind(&self, node: u64) -> Answer<u64> {
        let node = self.nodes.get(&node).ok_or(status::INVALID_HANDLE)?;
        Ok(node.operation.kind())
    }

    pub(super) fn destroy_node(&mut self, node: u64) -> Answer<Reply> {
        let gone = self.nodes.remove(&node).ok_or(status::INVALID_HANDLE)?;
        if let Some(graph) = self.graphs.get_mut(&gone.graph) {
            graph.nodes.retain(|n| *n != node);
            graph.edges.retain(|e| !e.contains(&node));
        }
        Ok(Reply::default())
    }

    /// All nodes that have to be done before these, and these.
    pub(super) fn all_before(&self, graph: u64, nodes: &[u64]) -> HashSet<u64> {
        let edges = self.graphs.get(&graph).map_or(&[][..], |g| &g.edges);
        let mut found: HashSet<u64> = HashSet::new();
        let mut open = nodes.to_vec();
        while let Some(node) = open.pop() {
            if found.insert(node) {
                open.extend(
                    edges
                        .iter()
                        .filter(|[_, to]| *to == node)
                        .map(|[from, _]| *from),
                );
            }
        }
        found
    }

    /// A graph's operations: each after those that it depends on, else in the order in which they were added.
    fn ordered(&self, graph: u64) -> Answer<Vec<(u64, Operation)>> {
        let Graph { nodes, edges } = self.graph(graph)?;
        let mut left = nodes.clone();
        let mut done = HashSet::new();
        let mut order = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let ready = |node: &u64| {
                edges
                    .iter()
                    .all(|[from, to]| to != node || done.contains(from))
            };
            // One that waits for itself is in no order.
            let at = left.iter().position(ready).ok_or(status::INVALID_VALUE)?;
            let node = left.remove(at);
            done.insert(node);
            let operation = self
                .nodes
                .get(&node)
                .ok_or(status::INVALID_HANDLE)?
                .operation
                .clone();
            order.push((node, operation));
        }
        Ok(order)
    }

    pub(super) fn instantiate(&mut self, graph: u64) -> Answer<u64> {
        let executable = Executable(self.ordered(graph)?);
        let handle = self.handle();
        self.executables.insert(handle, executable);
        Ok(handle)
    }

    pub(super) fn destroy_executable(&mut self, executable: u64) -> Answer<Reply> {
        self.executables
            .remove(&executable)
            .ok_or(status::INVALID_HANDLE)?;
        Ok(Reply::default())
    }

    pub(super) fn launch_graph(
        &mut self,
        executable: u64,
        stream: u64,
        program: &mut dyn Program,
    ) -> Answer<Reply> {
        let found = self
            .executables
            .get(&executable)
            .ok_or(status::INVALID_HANDLE)?;
        let operations = found.0.iter().map(|(_, o)| o.clone()).collect();
        self.submit(stream, Operation::Child(operations), program)
    }

    /// Gives an executable what a graph of the same form does. 0, or why it cannot be.
    pub(super) fn update(&mut self, executable: u64, graph: u64) -> Answer<u64> {
        let fresh = self.ordered(graph)?;
        let found = self
            .executables
            .get_mut(&executable)
            .ok_or(status::INVALID_HANDLE)?;
        if fresh.len() != found.0.len() {
            return Ok(TOPOLOGY);
        }
        if fresh
            .iter()
            .zip(&found.0)
            .any(|((_, new), (_, old))| new.kind() != old.kind())
        {
            return Ok(KIND);
        }
        for ((_, old), (_, new)) in found.0.iter_mut().zip(fresh) {
            *old = new;
        }
        Ok(0)
    }

    /// Gives a kernel's node another launch: in an executable, or (0) in its graph.
    pub(super) fn set_kernel(&mut self, executable: u64, node: u64, call: Call) -> Answer<Reply> {
        self.known(call.function)?;
        let operation = match executable {
            0 => self.nodes.get_mut(&node).map(|n| &mut n.operation),
            _ => {
                let found = self
                    .executables
                    .get_mut(&executable)
                    .ok_or(status::INVALID_HANDLE)?;
                found.0.iter_mut().find(|(n, _)| *n == node).map(|(_, o)| o)
            }
        };
        match operation.ok_or(status::INVALID_HANDLE)? {
            Operation::Kernel(old) => *old = call,
            _ => return Err(status::INVALID_VALUE.into()),
        }
        Ok(Reply::default())
    }
}
