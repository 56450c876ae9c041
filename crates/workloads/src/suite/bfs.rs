//! Breadth-first search: on a scale-free graph (or one without structure), and on a mesh.
//!
//! Both run the same two kernels. In the scale-free graph a few levels reach everything and the
//! neighbour loops differ wildly in length; in the mesh every node has some eight neighbours, and
//! divergence comes from how few nodes of a warp are in the frontier at a time.
//!
//! Rodinia's is `uniform=1 scale=16 degree=6 block=512 bytes=1 rolled=1`: 65,536 nodes that draw two to four
//! neighbours each, all equally likely, masks of bytes, and a loop over edges that is not unrolled.
//!
//! First measurement of the mesh (`small`, pdom): SIMD efficiency 46.6% on fx5800 and gtx480, 13.3
//! million thread instructions in 26 levels, no barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::graph::{self, Graph};
use crate::input::random::Random;
use std::collections::VecDeque;

/// The level of a node that is not reached, as the kernel sees it: -1.
pub(super) const UNREACHED: u32 = u32::MAX;

static INFO: Info = Info {
    name: "bfs",
    algorithm: "level-synchronous breadth-first search over a scale-free graph, two kernels per level",
    known_for: "heavy control and memory divergence: neighbour loops of very different length",
    shape: "256 threads per block, one thread per node, until no node is new",
    papers: &["tbc: BFS2 (divergent)", "vtw: BFS", "vws: figure 19"],
    comparison: "exact: the level of every node",
    parameters: &[
        Parameter::new(
            "scale",
            "the graph has 2^scale nodes",
            [10, 17, 20],
            (1, 26),
        ),
        Parameter::new("degree", "mean degree", [8, 8, 16], (1, 64)),
        Parameter::new("block", "threads per block", [256, 256, 256], (32, 1024)).multiple_of(32),
        Parameter::off("bytes", "whether masks are of bytes, as the original's"),
        Parameter::off(
            "rolled",
            "whether the loop over edges is not unrolled, as the original's compiler left it",
        ),
        Parameter::off(
            "uniform",
            "whether all edges are equally likely, as the original's",
        ),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("bfs"),
};

static MESH: Info = Info {
    name: "bfs-mesh",
    algorithm: "level-synchronous breadth-first search over a 3-D mesh, two kernels per level",
    known_for: "many levels with few nodes each: most threads have nothing to do",
    papers: &["tbc: BFS2 and vtw: BFS on another kind of graph"],
    parameters: &[
        Parameter::new(
            "side",
            "the mesh has side x side x side nodes",
            [6, 50, 64],
            (1, 400),
        ),
        INFO.parameters[2],
        INFO.parameters[3],
        INFO.parameters[4],
    ],
    ..INFO
};

/// The workload.
pub struct Bfs;

/// The variant on a mesh.
pub struct BfsMesh;

/// How the kernels are launched, and which.
struct Form {
    block: u32,
    bytes: bool,
    rolled: bool,
}

impl Form {
    fn of(parameters: &Parameters) -> Form {
        Form {
            block: parameters.get_u32("block"),
            bytes: parameters.on("bytes"),
            rolled: parameters.on("rolled"),
        }
    }

    /// The kernels of a level.
    fn kernels(&self) -> [&'static str; 2] {
        match (self.bytes, self.rolled) {
            (false, false) => ["bfs_visit", "bfs_advance"],
            (false, true) => ["bfs_visit_rolled", "bfs_advance"],
            (true, false) => ["bfs_visit_bytes", "bfs_advance_bytes"],
            (true, true) => ["bfs_visit_bytes_rolled", "bfs_advance_bytes"],
        }
    }

    /// A mask with one node.
    fn mask(&self, nodes: u32, only: u32) -> Vec<u8> {
        let each = if self.bytes { 1 } else { 4 };
        let mut mask = vec![0; nodes as usize * each];
        mask[only as usize * each] = 1;
        mask
    }
}

/// Levels by a queue.
pub(super) fn reference(graph: &Graph, source: u32) -> Vec<u32> {
    let mut level = vec![UNREACHED; graph.nodes() as usize];
    level[source as usize] = 0;
    let mut queue = VecDeque::from([source]);
    while let Some(node) = queue.pop_front() {
        let next = level[node as usize] + 1;
        for &neighbour in graph.neighbours(node) {
            if level[neighbour as usize] == UNREACHED {
                level[neighbour as usize] = next;
                queue.push_back(neighbour);
            }
        }
    }
    level
}

impl Workload for Bfs {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let mut random = Random::new(seed, "bfs");
        let (scale, degree) = (parameters.get_u32("scale"), parameters.get_u32("degree"));
        let form = Form::of(parameters);
        if parameters.on("uniform") {
            // The original begins at the first node.
            let graph = graph::uniform(scale, degree, &mut random);
            return search(&graph, 0, &form, session);
        }
        let graph = graph::scale_free(scale, degree, &mut random);
        search(&graph, graph.hub(), &form, session)
    }
}

impl Workload for BfsMesh {
    fn info(&self) -> &'static Info {
        &MESH
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let side = parameters.get_u32("side");
        let graph = graph::mesh(side, &mut Random::new(seed, "bfs-mesh"));
        // From the middle it is half as far to the farthest node.
        let middle = (side / 2 * side + side / 2) * side + side / 2;
        search(&graph, middle, &Form::of(parameters), session)
    }
}

/// Runs the search on the device and compares its levels with the reference's.
fn search(
    graph: &Graph,
    source: u32,
    form: &Form,
    session: &mut Session<'_>,
) -> Result<Outcome, DeviceError> {
    let nodes = graph.nodes();
    let mut levels = vec![UNREACHED; nodes as usize];
    levels[source as usize] = 0;
    let only_source = form.mask(nodes, source);

    let module = session.load(&INFO.kernel)?;
    let row = session.upload_u32("row", &graph.row)?;
    let edges = session.upload_u32("edges", &graph.edges)?;
    let frontier = session.upload("frontier", &only_source)?;
    let next = session.zeroed("next", only_source.len() as u64)?;
    let visited = session.upload("visited", &only_source)?;
    let level = session.upload_u32("level", &levels)?;
    let again = session.zeroed("again", 4)?;

    let shape = Shape::cover(nodes, form.block);
    let pointers = |list: &[u64]| -> Vec<Arg> {
        let mut args: Vec<Arg> = list.iter().map(|p| Arg::Pointer(*p)).collect();
        args.push(Arg::u32(nodes));
        args
    };
    let visit = pointers(&[row, edges, frontier, next, visited, level]);
    let advance = pointers(&[frontier, next, visited, again]);
    // No path is longer than the number of nodes: more passes mean a broken machine.
    for pass in 0.. {
        if pass > nodes {
            return Err(DeviceError::program_failed(
                "bfs still finds new nodes after as many levels as there are nodes",
            ));
        }
        session.device.write(again, &[0; 4])?;
        let [visiting, advancing] = form.kernels();
        session.launch(&module, visiting, shape, &visit)?;
        session.launch(&module, advancing, shape, &advance)?;
        if session.read_u32(again)? == 0 {
            break;
        }
    }
    let got = session.device.read(level, u64::from(nodes) * 4)?;
    let expected = u32_bytes(&reference(graph, source));
    Ok(Outcome::of([compare(
        "level",
        Element::I32,
        &expected,
        &got,
        &Tolerance::EXACT,
    )]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_counts_levels() {
        let graph = Graph::undirected(6, &[(0, 1), (1, 2), (0, 3), (3, 2), (2, 4)]);
        assert_eq!(reference(&graph, 0), [0, 1, 2, 1, 3, UNREACHED]);
    }
}
