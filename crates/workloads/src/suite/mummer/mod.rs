//! Exact matching of DNA reads: in a suffix tree, and in a suffix array.
//!
//! Stands for MUM (MUMmerGPU): 256 threads per block, a thread per read of 25 bases, matches of 20
//! bases or more, in the suffix tree of a genome of 20,000 bases, by suffix links. Every lane walks
//! its own way through the tree, as long as its read matches, and the nodes lie anywhere in memory.
//! The genome is generated with repeats, reads come from anywhere in it with errors, and some from
//! elsewhere, so walks end early, late, or at a branching node. Tree and genome are textures, as in the
//! original (`textures=0` reads them as plain memory: another kernel with the same steps).
//!
//! First measurement (`small`, pdom): SIMD efficiency 30.3% on fx5800 and gtx480, 18.0 million
//! thread instructions, no barriers. Since then `small` has twice the reads and shorter ones, four
//! blocks for each SM of fx5800: 32.7%, 29.4 million.

mod dna;
mod pp;
mod tree;

pub use pp::MummerPp;

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use dna::NONE;

static INFO: Info = Info {
    name: "mummer",
    algorithm: "longest exact matches of DNA reads in a genome's suffix tree, with suffix links",
    known_for: "data-dependent walks: divergent loops, scattered loads",
    shape: "256 threads per block, one thread per read",
    papers: &["tbc: MUM (divergent)", "vtw: MUM", "origami: MUM"],
    comparison: "exact: length and first place of every match",
    parameters: &[
        Parameter::new(
            "genome",
            "bases in the genome",
            [2000, 20_000, 1_000_000],
            (1000, 8_000_000),
        ),
        Parameter::new("reads", "reads", [256, 50_000, 200_000], (1, 10_000_000)),
        Parameter::new("length", "bases a read", [25, 22, 50], (4, 500)),
        Parameter::new(
            "match",
            "bases a match has at least",
            [20, 20, 20],
            (4, 500),
        ),
        Parameter::new(
            "textures",
            "whether tree and genome are textures",
            [1, 1, 1],
            (0, 1),
        ),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("mummer"),
};

/// The workload.
pub struct Mummer;

/// What both variants work on.
struct Input {
    genome: Vec<u8>,
    suffixes: Vec<u32>,
    reads: Vec<u8>,
    count: u32,
    length: u32,
    shortest: u32,
}

impl Input {
    fn new(parameters: &Parameters, seed: u64) -> Result<Input, DeviceError> {
        let (length, shortest) = (parameters.get_u32("length"), parameters.get_u32("match"));
        if shortest > length {
            return Err(DeviceError::bad_input(format!(
                "a match of {shortest} bases does not fit a read of {length}: \
                 make `match` at most `length`"
            )));
        }
        let mut random = Random::new(seed, "mummer");
        let genome = dna::genome(parameters.get_u32("genome"), &mut random);
        let count = parameters.get_u32("reads");
        Ok(Input {
            suffixes: dna::suffix_array(&genome),
            reads: dna::reads(&genome, count, length, &mut random),
            genome,
            count,
            length,
            shortest,
        })
    }

    /// Bytes of the result: two words for each position of a read that may begin a match.
    fn bytes(&self) -> u64 {
        8 * u64::from(self.count) * u64::from(self.length - self.shortest + 1)
    }

    /// The reference, with `place` choosing among all places of a match.
    fn expected(&self, place: impl Fn(&[u32]) -> Option<u32>) -> Vec<u8> {
        let all = dna::longest_matches(&self.genome, &self.reads, self.length, self.shortest);
        let words: Vec<u32> = all
            .iter()
            .flat_map(|(length, places)| [*length, place(places).unwrap_or(NONE)])
            .collect();
        u32_bytes(&words)
    }
}

impl Workload for Mummer {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let input = Input::new(parameters, seed)?;
        let tree = tree::build(&input.genome, &input.suffixes);
        let words: Vec<u32> = tree.iter().flat_map(tree::Node::words).collect();
        let module = session.load(&INFO.kernel)?;
        let nodes = session.upload_u32("nodes", &words)?;
        let genome = session.upload("genome", &input.genome)?;
        let reads = session.upload("reads", &input.reads)?;
        let matches = session.zeroed("matches", input.bytes())?;
        let (kernel, nodes, genome) = if parameters.get_u32("textures") == 1 {
            let (texels, bases) = (2 * tree.len() as u32, input.genome.len() as u32);
            let nodes = session.linear_texture(&module, nodes, texels, (4, 32))?;
            let genome = session.linear_texture(&module, genome, bases, (1, 8))?;
            ("mummer", nodes, genome)
        } else {
            ("mummer_global", nodes, genome)
        };
        let arguments = [
            Arg::Pointer(nodes),
            Arg::Pointer(genome),
            Arg::Pointer(reads),
            Arg::Pointer(matches),
            Arg::u32(input.count),
            Arg::u32(input.length),
            Arg::u32(input.shortest),
        ];
        session.launch(&module, kernel, Shape::cover(input.count, 256), &arguments)?;
        let got = session.device.read(matches, input.bytes())?;
        let expected = input.expected(|places| places.first().copied());
        Ok(Outcome::of([compare(
            "matches",
            Element::U32,
            &expected,
            &got,
            &Tolerance::EXACT,
        )]))
    }
}
