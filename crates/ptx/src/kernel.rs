//! The lowered form: what the simulator runs. Nothing here is text any more; registers are
//! numbered, symbols have a place, branches have targets and reconvergence points.

use crate::diagnostic::Diagnostic;
use crate::isa::{Mods, Op, Pipe, Space, Special, Type};
use crate::lazy::LazyKernel;
use crate::origin::Files;
use smallvec::SmallVec;
use std::sync::Arc;

/// Index of an instruction in [`Kernel::code`].
pub type Pc = u32;
/// "No such instruction": the reconvergence point of a branch whose sides meet only at exit.
pub const NO_PC: Pc = u32::MAX;
/// Bytes an instruction takes in instruction memory.
pub const INSTRUCTION_BYTES: u64 = 8;

/// A whole lowered module.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Kernels in file order, each analysed when it is first looked at.
    pub kernels: Vec<LazyKernel>,
    /// Module variables in `.global` and `.const` space, to be given addresses at load.
    pub symbols: Vec<Symbol>,
    /// Source files by `.file` index.
    pub files: Arc<Files>,
    /// `.texref` variables; kernels name them by index in this list.
    pub textures: Vec<String>,
    /// Kernels that are valid PTX but ask for something that is not supported (an opcode, a form
    /// of one): name and reasons. The others are usable all the same.
    pub rejected: Vec<(String, Vec<Diagnostic>)>,
}

/// A `.global` or `.const` variable of the module.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Name.
    pub name: String,
    /// `Global` or `Const`.
    pub space: Space,
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Initial contents; shorter than `size` means zeros follow.
    pub init: Vec<u8>,
    /// Places in `init` that hold the address of another symbol.
    pub relocations: Vec<Relocation>,
    /// Declared `.extern` without a definition.
    pub external: bool,
}

/// "At `offset`, write `bytes` low bytes of the address of `target` plus `addend`, shifted
/// right by `shift` bits". Only the byte-wise forms (`0xff00(symbol)`) shift.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Relocation {
    pub offset: u64,
    pub bytes: u8,
    pub shift: u8,
    pub target: RelocTarget,
    pub addend: i64,
}

/// What a relocation points to.
#[derive(Clone, Copy, Debug)]
pub enum RelocTarget {
    /// Index in [`Program::symbols`].
    Symbol(u32),
    /// An address fixed by lowering already (shared, local).
    Absolute(u64),
}

/// One kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name as in the PTX (mangled).
    pub name: String,
    /// Source files that `.loc` names, those of the program.
    pub files: Arc<Files>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of the parameter block in bytes.
    pub param_bytes: u32,
    /// Instructions. Never empty; control never runs off the end (a `ret` is added).
    pub code: Vec<Instr>,
    /// Every virtual register that `code` names; [`RegId`] indexes it.
    pub registers: Vec<Register>,
    /// How many 32-lane rows of 32-bit words the register slots take (64-bit slots take two
    /// and are aligned to two).
    pub rows: u32,
    /// How many predicate slots there are.
    pub predicate_slots: u32,
    /// Registers per thread that an assembler is expected to give it (or did give it): what
    /// occupancy counts with. See [`crate::analysis::registers`].
    pub register_demand: u32,
    /// The fewest registers with which nothing has to be spilled.
    pub register_floor: u32,
    /// Statically declared shared memory in bytes. Addresses from 0.
    pub shared_bytes: u32,
    /// Where `.extern .shared` begins (= `shared_bytes` rounded up to its alignment), if used.
    pub dynamic_shared: Option<u32>,
    /// Local memory for each thread in bytes.
    pub local_bytes: u32,
    /// Where in local memory spilled registers lie, if there are any: from here to its end.
    pub spill_base: Option<u32>,
    /// What it says of its launches.
    pub bounds: LaunchBounds,
    /// Basic blocks.
    pub blocks: Vec<BasicBlock>,
    /// Where `.pragma "nounroll"` stands: the loop that begins there is to stay as it is.
    pub rolled: Vec<Pc>,
    /// Where control goes between bodies of functions that are not inlined.
    pub crossings: Crossings,
    /// Whether its blocks are virtual ones.
    pub virtualised: Virtualised,
    /// Functions that it calls and no file defines, with the PTX line of the call: a launch is
    /// refused. Where a call was, its code has a trap.
    pub undefined: Vec<(String, u32)>,
}

/// Launch bounds: what a kernel says of the launches that it is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.maxntid`: at most so many threads per block, as the product of these.
    pub max_ntid: Option<[u32; 3]>,
    /// `.reqntid`: blocks of just this shape.
    pub req_ntid: Option<[u32; 3]>,
    /// `.minnctapersm`: so many blocks are to fit on an SM.
    pub min_ctas: Option<u32>,
    /// `.maxnreg`: at most so many registers per thread.
    pub max_nreg: Option<u32>,
}

impl LaunchBounds {
    /// Threads of the blocks that it is made for, if it says so.
    pub fn threads(&self) -> Option<u32> {
        let shape = self.req_ntid.or(self.max_ntid)?;
        Some(shape.iter().fold(1, |all: u32, n| all.saturating_mul(*n)))
    }
}

/// What became of a kernel whose blocks were to be virtual ones ([`crate::rewrite::vtw`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Virtualised {
    /// Not asked for.
    #[default]
    No,
    /// It could not be rewritten, for this reason.
    Refused(String),
    /// Its blocks run again and again.
    Form(VirtualForm),
}

/// A kernel with virtual blocks, as a launch sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualForm {
    /// The hardware hands out logical blocks (else the kernel strides).
    pub hardware: bool,
    /// Dimensions of the grid that it takes apart: those behind must be 1.
    pub grid_dimensions: u8,
    /// Dimensions of the block that it takes apart.
    pub block_dimensions: u8,
    /// Where behind its own parameters those of the rewrite lie: logical blocks in all, and in x,
    /// y and z, 32 bits each.
    pub parameters_at: u32,
}

impl VirtualForm {
    /// Bytes that the parameters of the rewrite take.
    pub const PARAMETER_BYTES: u32 = 16;

    /// The parameter block with those of the rewrite behind it.
    pub fn parameters(&self, own: &[u8], grid: [u32; 3]) -> Vec<u8> {
        let mut all = own.to_vec();
        all.resize(self.parameters_at as usize, 0);
        let blocks = grid.iter().fold(1u32, |all, n| all.saturating_mul(*n));
        for value in [blocks, grid[0], grid[1], grid[2]] {
            all.extend(value.to_le_bytes());
        }
        all
    }

    /// Why a launch of this shape does not fit the kernel, if it does not.
    pub fn misfit(&self, grid: [u32; 3], block: [u32; 3]) -> Option<String> {
        let most = u64::from(u32::MAX >> 1);
        if grid.iter().map(|&n| u64::from(n)).product::<u64>() > most {
            return Some(format!("a grid of more than {most} blocks"));
        }
        let beyond = |shape: [u32; 3], dimensions: u8| {
            let unread = shape.iter().skip(usize::from(dimensions));
            // Where no index is read at all, any will do.
            dimensions > 0 && unread.into_iter().any(|n| *n > 1)
        };
        if beyond(grid, self.grid_dimensions) {
            return Some(format!(
                "a grid of {grid:?} blocks, of which the kernel reads {} dimension(s): which block \
                 it is cannot be recovered from one number",
                self.grid_dimensions
            ));
        }
        if self.hardware && beyond(block, self.block_dimensions) {
            return Some(format!(
                "blocks of {block:?} threads, of which the kernel reads {} dimension(s): which \
                 thread it is cannot be recovered from one number",
                self.block_dimensions
            ));
        }
        None
    }
}

/// A kernel parameter.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Param {
    pub name: String,
    pub offset: u32,
    pub size: u32,
    pub align: u32,
    pub ty: Type,
    /// Declared as an array of bytes (a struct).
    pub array: bool,
}

/// Index in [`Kernel::registers`]: the *name*, which timing (scoreboard, banks) uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegId(pub u16);

/// How wide a register is where values are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RegClass {
    Pred,
    B32,
    B64,
}

/// A virtual register.
#[derive(Clone, Debug)]
pub struct Register {
    /// Name as written (with a suffix for inlined functions).
    pub name: String,
    /// The number in its name, which decides its register-file bank.
    pub number: u32,
    /// 8- and 16-bit registers are `B32` and hold their value in the low bits.
    pub class: RegClass,
    /// Declared type.
    pub ty: Type,
    /// Where the value lives: a predicate slot, or the index of the (first) 32-bit row.
    /// Several registers may share a slot when they are never live together.
    pub slot: u32,
}

/// A basic block.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct BasicBlock {
    pub start: Pc,
    /// One past the last instruction.
    pub end: Pc,
    pub successors: Vec<u32>,
    /// Immediate post-dominator; `None` when it is the exit.
    pub ipdom: Option<u32>,
    /// Reached from the entry.
    pub reachable: bool,
    /// Label, if it had one.
    pub label: Option<String>,
}

/// Where the sides of a branch usually meet before they must (likely-convergence points), by two
/// rules; [`NO_PC`] where there is no such place. They differ where several branches lead back to
/// the start of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Likely {
    /// Where the smallest loop around the branch starts over.
    pub loop_end: Pc,
    /// The block that ends with the closest branch backwards around it (the footnote of section 4
    /// of the paper on thread block compaction).
    pub backward: Pc,
}

impl Likely {
    /// Nowhere.
    pub const NOWHERE: Likely = Likely {
        loop_end: NO_PC,
        backward: NO_PC,
    };
}

/// A lowered instruction.
#[derive(Clone, Debug)]
pub struct Instr {
    /// The opcode. `call` appears only for the runtime functions of [`Intrinsic`].
    pub op: Op,
    /// Modifiers.
    pub mods: Mods,
    /// `(register, negated)`.
    pub guard: Option<(RegId, bool)>,
    /// Destinations: one, several for vectors, two for `d|p`. [`Operand::Sink`] for `_`.
    pub dst: Destinations,
    /// Sources in the order of the PTX manual. Memory operations have the
    /// [`Operand::Address`] first, then the values (a vector store has several).
    /// Texture fetches: [`Operand::Texture`] first, then the coordinates.
    /// `shfl`: a, b, c, membermask. `bar`: id, count, predicate as far as written.
    pub src: Sources,
    /// Branch target, or [`NO_PC`].
    pub target: Pc,
    /// Reconvergence point of a branch: the first instruction of its block's immediate
    /// post-dominator, or [`NO_PC`].
    pub reconverge: Pc,
    /// Where the sides of a branch usually meet before that.
    pub likely: Likely,
    /// Proven to go one way for all threads of a block; where a body returns, for all that came with one call.
    pub uniform: bool,
    /// Runtime function, when `op` is `call`.
    pub intrinsic: Option<Intrinsic>,
    /// 1-based line in the PTX.
    pub line: u32,
    /// `(file index, line)` from `.loc`.
    pub source: Option<(u32, u32)>,
}

/// The destinations of an instruction: most have one.
pub type Destinations = SmallVec<[Operand; 1]>;
/// Its sources: few have more than three.
pub type Sources = SmallVec<[Operand; 3]>;

/// Branches that go into the body of a function that is not inlined, and out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossings {
    /// Branches to a body. It returns to the instruction behind.
    pub calls: Vec<Pc>,
    /// Branches of a body back to its callers.
    pub returns: Vec<Pc>,
}

/// Functions the CUDA runtime provides. Sources are the scalar arguments in order, the
/// destination the return value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Intrinsic {
    Vprintf,
    AssertFail,
    /// Lowered to atomics on the [heap](HEAP).
    Malloc,
    Free,
    /// Stops a thread whose stack is full: top, end, and what was asked for.
    StackCheck,
    /// Stops a thread that calls what is no function, or not one that can be called there.
    NoSuchFunction,
    /// Marks of functions that are not inlined, which lowering replaces.
    StackBegins,
    Enter(u32),
    Leave(u32),
    Save(u32),
    Restore(u32),
}

/// Where device-side `malloc` and `free` are asked for: an address that nothing else has.
pub const HEAP: u64 = 0x6_0000_0000;
/// The address of the first function of a module, as code sees it; the others follow, 16 apart.
pub const FUNCTION_ADDRESSES: u64 = 0x7300_0000_0000;

/// An operand of a lowered instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Operand {
    /// A register.
    Reg(RegId),
    /// A predicate register read inverted.
    NotReg(RegId),
    /// Bits of an immediate, already in the operand's type (a float literal is converted
    /// to the instruction's type; an integer is sign-extended to 64 bits).
    Imm(u64),
    /// Address of a module symbol plus an offset; patched when the module is loaded.
    Symbol { index: u32, offset: i64 },
    /// A special register.
    Special(Special),
    /// A memory address in the instruction's space.
    Address { base: AddrBase, offset: i64 },
    /// A texture: a `.texref` of the module or a register with a 64-bit handle.
    Texture(TexBase),
    /// `_`
    Sink,
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AddrBase {
    Reg(RegId),
    /// Offset from the start of the space (shared, local and parameters are laid out).
    Zero,
    /// A module symbol (global, const).
    Symbol(u32),
}

impl Operand {
    /// The register that it names: as a value, an address or the handle of a texture.
    pub fn register(&self) -> Option<RegId> {
        match self {
            Operand::Reg(r) | Operand::NotReg(r) => Some(*r),
            Operand::Address {
                base: AddrBase::Reg(r),
                ..
            } => Some(*r),
            Operand::Texture(TexBase::Handle(r)) => Some(*r),
            _ => None,
        }
    }
}

/// The address of the first `.texref` (or `.surfref`) variable of a module, as code sees it: the
/// next ones follow, one by one. Handles of texture objects are smaller.
pub const TEXREF_HANDLES: u64 = 1 << 32;

/// How a texture is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TexBase {
    Texref(u32),
    Handle(RegId),
}

/// Generic addresses of shared, local and parameter memory: a window each, far from where
/// global allocations lie. Within a window the offset is the address in the space.
pub mod window {
    /// Shared memory of the executing block.
    pub const SHARED: u64 = 0x7000_0000_0000;
    /// Local memory of the executing thread.
    pub const LOCAL: u64 = 0x7100_0000_0000;
    /// Kernel parameters.
    pub const PARAM: u64 = 0x7200_0000_0000;
    /// Size of each window.
    pub const SIZE: u64 = 0x0100_0000_0000;
}

impl Kernel {
    /// The pipe of an instruction: the opcode's, with float types moved from `Int` to `Fp`.
    pub fn pipe(&self, pc: Pc) -> Pipe {
        self.code[pc as usize].op.pipe(&self.code[pc as usize].mods)
    }

    /// A parameter's name without the kernel's, which compilers put before it.
    pub fn short_name<'a>(&self, param: &'a Param) -> &'a str {
        let rest = param.name.strip_prefix(self.name.as_str());
        rest.and_then(|r| r.strip_prefix('_'))
            .unwrap_or(&param.name)
    }
}
