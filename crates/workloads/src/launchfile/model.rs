//! What a launch file says, with the place of everything that can still turn out wrong.

use super::variables::Variables;
use crate::host::compare::Tolerance;
use crate::host::element::{Element, Scalar};
use std::ops::Range;
use warpsim_present::Source;

/// A byte range in the file.
pub type Place = Range<usize>;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Place,
}

/// A whole launch file.
#[derive(Clone, Debug)]
pub struct LaunchFile {
    /// The text, for messages.
    pub source: Source,
    /// What it is, for people.
    pub description: String,
    /// The PTX file, or a `.cu` file to compile.
    pub ptx: At<String>,
    /// PTX files that define what it declares `.extern`.
    pub link: Vec<At<String>>,
    /// Its parameters with their values.
    pub parameters: Variables,
    /// What is said of single kernels.
    pub kernels: Vec<KernelSpec>,
    /// Seed of random buffers.
    pub seed: u64,
    /// Buffers in file order.
    pub buffers: Vec<Buffer>,
    /// Module variables to fill.
    pub symbols: Vec<Buffer>,
    /// Textures to bind.
    pub textures: Vec<TextureSpec>,
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// What to write and compare.
    pub outputs: Vec<Output>,
    /// Outputs may lie outside of its folder. The file itself cannot say so.
    pub allow_outside: bool,
    /// How its `.cu` file is compiled, where it names one. The command line says so, not the file.
    pub cuda: crate::cuda::Options,
}

/// A buffer or a module variable with its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Name.
    pub name: At<String>,
    /// Type of the elements; a `.npy` file may decide it.
    pub element: Option<Element>,
    /// Elements; a file, a list or a symbol's size may decide it.
    pub count: Option<At<u64>>,
    /// What it holds at the start.
    pub contents: At<Contents>,
}

/// Initial contents.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Contents {
    Zero,
    /// Every element the same.
    Fill(Scalar),
    Sequence {
        start: Scalar,
        step: Scalar,
    },
    /// Integers, both bounds included.
    RandomIntegers(i128, i128),
    /// Floats, the upper bound not included.
    RandomFloats(f64, f64),
    Values(Vec<At<Scalar>>),
    /// A raw or `.npy` file.
    File(String),
    /// Handles of these textures.
    Handles(Vec<At<String>>),
    /// Addresses of these buffers.
    Addresses(Vec<At<String>>),
}

/// Where a part of a buffer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// In elements of its type.
    Elements(u64),
    /// In bytes.
    Bytes(u64),
}

impl Offset {
    /// The beginning.
    pub const START: Offset = Offset::Elements(0);

    /// In bytes, for elements of so many.
    pub fn in_bytes(self, element: u64) -> u64 {
        match self {
            Offset::Elements(n) => n.saturating_mul(element),
            Offset::Bytes(n) => n,
        }
    }
}

/// Part of a buffer, in elements of its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The buffer.
    pub buffer: At<String>,
    /// Where it begins.
    pub offset: Offset,
    /// Elements; `None` for all that follow.
    pub count: Option<u64>,
}

/// A texture.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct TextureSpec {
    pub name: At<String>,
    /// The `.texref` to bind; without it, the one called `name`, or else a handle.
    pub texref: Option<At<String>>,
    pub data: Slice,
    pub size: [u32; 3],
    pub dimensions: u8,
    pub channels: u8,
    pub linear_memory: bool,
    pub filter_linear: bool,
    pub wrap: bool,
    pub normalized: bool,
    pub read_normalized: bool,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where it begins.
    pub place: Place,
    /// What it does.
    pub kind: StepKind,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum StepKind {
    Launch(LaunchStep),
    Fill {
        slice: Slice,
        value: At<Scalar>,
    },
    Copy {
        from: Slice,
        to: Slice,
    },
    /// A file's bytes into a buffer or a variable of the module.
    Write {
        to: At<String>,
        /// `offset` counts elements of a buffer, but bytes of a variable.
        offset: Offset,
        file: At<String>,
    },
    Repeat {
        times: u64,
        steps: Vec<Step>,
    },
    /// While an element is not zero, checked before each pass.
    While {
        word: Slice,
        limit: u64,
        steps: Vec<Step>,
    },
}

/// A kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchStep {
    /// Name of the kernel, or a part that only one has.
    pub kernel: At<String>,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Registers a thread, when known.
    pub registers: Option<u32>,
    /// Its blocks wait for each other.
    pub together: bool,
    /// Arguments.
    pub args: At<Vec<At<ArgSpec>>>,
}

/// An argument as written.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum ArgSpec {
    Buffer {
        name: String,
        offset: Offset,
    },
    Scalar(Element, Scalar),
    Bytes(Vec<u8>),
    /// The handle of a texture.
    Texture(String),
}

/// Something to do with a buffer at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Which part.
    pub slice: Slice,
    /// File to write.
    pub write: Option<At<String>>,
    /// What to compare with.
    pub expected: Option<At<Expected>>,
    /// How far values may be off.
    pub tolerance: Tolerance,
}

/// What an output should be.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Expected {
    File(String),
    Values(Vec<At<Scalar>>),
    /// Every element the same.
    All(Scalar),
}

/// What a file says of a kernel, whatever launches it.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSpec {
    /// Its name or a part of it.
    pub name: At<String>,
    /// Registers per thread.
    pub registers: Option<u32>,
}
