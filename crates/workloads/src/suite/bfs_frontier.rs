//! Breadth-first search with one kernel per level.
//!
//! Stands for the older suite's BFS: a thread per node, edge lists in memory, no second kernel; a thread whose
//! node is not on the level has nothing to do. 65,536 nodes in 256 blocks are the virtual-warps paper's.
//!
//! First measurement (small, `lrr`, gtx480-v3): 14.6 million thread instructions in 10 levels, SIMD
//! efficiency 30.4%, no barriers.

use super::bfs::{UNREACHED, reference};
use super::host::{arguments, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::graph;
use crate::input::random::Random;

/// Threads per block.
const BLOCK: u32 = 256;

static INFO: Info = Info {
    name: "bfs-frontier",
    algorithm: "level-synchronous breadth-first search over a scale-free graph, one kernel per level",
    known_for: "heavy control and memory divergence: most threads have nothing to do, neighbour loops differ in length",
    shape: "256 threads per block, one thread per node, until no node is new",
    papers: &["vtw: BFS of the older suite"],
    comparison: "exact: the level of every node",
    parameters: &[
        Parameter::new(
            "scale",
            "the graph has 2^scale nodes",
            [10, 16, 20],
            (1, 26),
        ),
        Parameter::new("degree", "mean degree", [6, 6, 6], (1, 64)),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("bfs-frontier"),
};

/// The workload.
pub struct BfsFrontier;

impl Workload for BfsFrontier {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let (scale, degree) = (parameters.get_u32("scale"), parameters.get_u32("degree"));
        let graph = graph::scale_free(scale, degree, &mut Random::new(seed, "bfs-frontier"));
        let (nodes, source) = (graph.nodes(), graph.hub());
        let mut levels = vec![UNREACHED; nodes as usize];
        levels[source as usize] = 0;
        let module = session.load(&INFO.kernel)?;
        let row = session.upload_u32("row", &graph.row)?;
        let edges = session.upload_u32("edges", &graph.edges)?;
        let level = session.upload_u32("level", &levels)?;
        let again = session.zeroed("again", 4)?;
        // No path is longer than the number of nodes: more levels mean a broken machine.
        for now in 0..=nodes {
            session.device.write(again, &[0; 4])?;
            let args = arguments(&[row, edges, level, again], &[now, nodes].map(Arg::u32));
            session.launch(&module, "bfs_frontier", Shape::cover(nodes, BLOCK), &args)?;
            if session.read_u32(again)? == 0 {
                let levels = check_u32(session, "level", level, &reference(&graph, source))?;
                return Ok(Outcome::of([levels]));
            }
        }
        Err(DeviceError::program_failed(
            "bfs-frontier still finds new nodes after as many levels as there are nodes",
        ))
    }
}
