//! What the page reads, as JSON. Lists of records are flat: the first number of a record is its cycle, as the difference to
//! the record before it, and to the track's `from` in the first.

use serde::Serialize;

/// Everything a page shows: one run, or two beside each other.
#[derive(Serialize)]
pub struct View {
    /// Of this description.
    pub schema: u32,
    /// The runs.
    pub runs: Vec<Run>,
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// What ran.
    pub title: String,
    /// How: names the run where there are two.
    pub options: String,
    /// The SM whose warps are shown.
    pub sm: u16,
    /// First cycle recorded, and the one behind the last.
    pub cycles: [u64; 2],
    /// Cycles of the whole run.
    pub whole: u64,
    /// What a reader has to know: that the page is full, for example.
    pub notes: Vec<String>,
    /// States of warps: a state's code is its position.
    pub states: Vec<State>,
    /// Schedulers of an SM.
    pub schedulers: u16,
    /// The launches.
    pub launches: Vec<Launch>,
    /// Their kernels.
    pub kernels: Vec<Kernel>,
    /// Sources.
    pub files: Vec<File>,
    /// The issue rate of the whole run.
    pub map: Map,
    /// Warps, in the order in which they came.
    pub tracks: Vec<Track>,
    /// Power gating of lanes, by pipe.
    pub lanes: Vec<Lanes>,
}

/// A state of warps.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// As in the statistics.
    pub name: &'static str,
    /// In words.
    pub title: &'static str,
    /// Name of a colour of the palette.
    pub colour: &'static str,
    /// Time in it belongs to the instruction issued last, otherwise to the one that waits to issue.
    pub of_last: bool,
}

/// A launch. Cycles between two launches belong to none.
#[derive(Clone, Debug, Serialize)]
pub struct Launch {
    /// Its kernel's position.
    pub kernel: usize,
    /// First cycle.
    pub from: u64,
    /// The cycle behind its last.
    pub to: u64,
}

/// A kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Kernel {
    /// Its name as people write it.
    pub name: String,
    /// Its instructions, by PC.
    pub code: Vec<Instruction>,
    /// Names of its registers.
    pub registers: Vec<String>,
}

/// An instruction.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Instruction {
    /// In PTX.
    pub text: String,
    /// Its line in the listing of its kernel.
    pub ptx: u32,
    /// The position of that listing.
    pub ptx_file: usize,
    /// The position of its source file, or -1.
    pub file: i64,
    /// Its line there, or 0.
    pub line: u32,
    /// Registers that it reads.
    pub reads: Vec<u32>,
    /// Registers that it writes.
    pub writes: Vec<u32>,
}

/// A source file.
#[derive(Clone, Debug, Serialize)]
pub struct File {
    /// Its name.
    pub name: String,
    /// What it holds, where it can be read.
    pub text: Option<String>,
}

/// Instructions that the SM issued, over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Map {
    /// Cycles for each of the numbers.
    pub every: u64,
    /// Warp instructions.
    pub issued: Vec<u64>,
}

/// A warp while it is on the SM, or a slot, where warps are formed anew all the time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Track {
    /// Where it is.
    pub slot: u16,
    /// Whose it is.
    pub scheduler: u16,
    /// In which launch.
    pub launch: usize,
    /// Number of its block in the grid, or -1.
    pub block: i64,
    /// Its number in the block, or -1.
    pub warp: i64,
    /// The first cycle in which it is here.
    pub from: u64,
    /// The cycle behind the last.
    pub to: u64,
    /// Lanes that ever held a thread.
    pub threads: u32,
    /// Code of the state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<i64>,
    /// PC, lanes that execute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<i64>,
    /// What the divergence model holds for the warp: number of paths; for each PC, where it ends or -1, lanes, what it does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<i64>,
    /// A register whose value has come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<i64>,
    /// 0 arrives and waits, 1 arrives and goes on, 2 the barrier opens; number of the barrier.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub barriers: Vec<i64>,
    /// Slices that go together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gangs: Vec<i64>,
    /// Block, warp and lanes of threads that it holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<i64>,
    /// Block and warp that it goes on to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<i64>,
    /// Cycles that a folded instruction takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folds: Vec<i64>,
}

/// The gates of a pipe's lanes.
#[derive(Clone, Debug, Serialize)]
pub struct Lanes {
    /// Its name.
    pub pipe: String,
    /// Its gates: one for each lane, or one for all.
    pub gates: u32,
    /// Gate, and 0 on, 1 off, 2 waking. The first cycle counts from the first that is recorded.
    pub changes: Vec<i64>,
}
