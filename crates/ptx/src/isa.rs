//! The vocabulary of the instruction set: types, state spaces, modifiers.
//!
//! An instruction is an [`Op`] with [`Mods`]. The parser fills `Mods` from the dotted
//! suffixes; execution and timing read it. Which modifiers an opcode accepts is in the
//! table in `crate::optable`.

/// A scalar type as PTX spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
    /// Packed 16-bit integers.
    U16x2,
    S16x2,
    /// 8-bit floats; parsed, not executed.
    E4m3,
    E5m2,
    E4m3x2,
    E5m2x2,
    /// Opaque texture, sampler and surface handles.
    Texref,
    Samplerref,
    Surfref,
    /// Two packed single-precision numbers.
    F32x2,
    /// Parts of a byte: elements of matrices.
    U4,
    S4,
    B1,
}

impl Type {
    /// Size of a value in bytes (predicates: 1, opaque handles: 8).
    #[inline]
    pub fn bytes(self) -> u32 {
        use Type::*;
        match self {
            Pred | B8 | U8 | S8 | E4m3 | E5m2 | U4 | S4 | B1 => 1,
            B16 | U16 | S16 | F16 | Bf16 | E4m3x2 | E5m2x2 => 2,
            B32 | U32 | S32 | F32 | F16x2 | Bf16x2 | Tf32 | U16x2 | S16x2 => 4,
            B64 | U64 | S64 | F64 | F32x2 | Texref | Samplerref | Surfref => 8,
            B128 => 16,
        }
    }
    /// True for `.s8 .s16 .s32 .s64`.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }
    /// True for every floating-point type, packed ones included.
    pub fn is_float(self) -> bool {
        use Type::*;
        matches!(self, F16 | F16x2 | Bf16 | Bf16x2 | Tf32 | F32 | F32x2 | F64)
    }
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Reg,
    Param,
    Const,
    Global,
    Local,
    Shared,
    Generic,
    Tex,
}

/// Rounding: `.rn` to `.rp` for floats, `.rni` to `.rpi` to an integral value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    Rn,
    Rz,
    Rm,
    Rp,
    Rna,
    Rni,
    Rzi,
    Rmi,
    Rpi,
}

/// Comparison of `set`, `setp` (the `u` forms are true when an operand is NaN).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// Boolean operator of `setp`/`set` and of `bar.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Xor,
    Popc,
}

/// Which half of a product: `.lo .hi .wide`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Half {
    Lo,
    Hi,
    Wide,
}

/// Operation of `atom`, `red` and `redux`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    Cas,
    Inc,
    Dec,
    /// Device-side `malloc` and `free`, which no modifier spells.
    Malloc,
    Free,
}

/// Memory ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Sem {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    Sc,
    Mmio,
}

/// Scope of an ordering, `.cta` to `.sys`. `membar.gl` is `Gpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// Cache operator of loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CacheOp {
    Ca,
    Cg,
    Cs,
    Lu,
    Cv,
    Wb,
    Wt,
}

/// What a warp-wide or otherwise multi-form operation does: `shfl.down`, `vote.all`,
/// `match.any`, `testp.nan`, `prmt.f4e`, `bar.arrive`, `shf.l`, `cvta.to`…
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Mode {
    /// `shfl`
    Up,
    Down,
    Bfly,
    Idx,
    /// `vote`, `match`
    All,
    Any,
    Uni,
    Ballot,
    /// `testp`
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
    /// `prmt`
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
    /// `bar`, `barrier`
    Arrive,
    Red,
    /// `shf`
    Left,
    Right,
    /// What a surface access outside the surface does.
    Trap,
    Clamp,
    Zero,
    /// The component that `tld4` gathers.
    R,
    G,
    B,
    A,
    /// What `txq` and `suq` ask for.
    Width,
    Height,
    Depth,
    NormalizedCoords,
}

/// Geometry of a texture access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Geometry {
    D1,
    D2,
    D3,
    A1d,
    A2d,
    Cube,
}

/// Everything the dotted suffixes of one instruction say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mods {
    /// The types in the order written; `types[0]` is the instruction's (destination) type.
    pub types: [Option<Type>; 3],
    /// State space; `None` on `ld`, `st`, `atom`… means generic addressing.
    pub space: Option<Space>,
    /// Rounding.
    pub rounding: Option<Rounding>,
    /// `.ftz`: denormal inputs and results become signed zero.
    pub ftz: bool,
    /// `.sat` (and `.satfinite`).
    pub sat: bool,
    /// `.relu`.
    pub relu: bool,
    /// `.approx`.
    pub approx: bool,
    /// `.full` (of `div`).
    pub full: bool,
    /// `.NaN` of `min`/`max`.
    pub nan: bool,
    /// `.xorsign.abs` of `min`/`max`.
    pub xorsign_abs: bool,
    /// `.abs` of `min`/`max`, which `.xorsign` has too.
    pub magnitude: bool,
    /// Comparison.
    pub cmp: Option<Cmp>,
    /// Boolean combination.
    pub boolop: Option<BoolOp>,
    /// `.lo .hi .wide`.
    pub half: Option<Half>,
    /// `.cc`: write the carry flag.
    pub cc: bool,
    /// Vector width: 0 or 1 for scalars, 2, 4 (or 8).
    pub vector: u8,
    /// Atomic or reduction operator.
    pub atom: Option<AtomOp>,
    /// `.noftz` of fp16 atomics.
    pub noftz: bool,
    /// Memory ordering.
    pub sem: Option<Sem>,
    /// Scope.
    pub scope: Option<Scope>,
    /// Cache operator.
    pub cache: Option<CacheOp>,
    /// `.nc`: through the read-only path.
    pub nc: bool,
    /// Mode of a multi-form operation.
    pub mode: Option<Mode>,
    /// `.sync`: the operation names its threads.
    pub sync: bool,
    /// `.warp` of `bar.warp.sync`.
    pub warp: bool,
    /// `.aligned`.
    pub aligned: bool,
    /// `.uni` of branches and calls.
    pub uni: bool,
    /// `.to` of `cvta.to`.
    pub to: bool,
    /// `.shiftamt` of `bfind`.
    pub shiftamt: bool,
    /// `.clamp` (`false`) or `.wrap` (`true`) of shifts and `bmsk`.
    pub wrap: bool,
    /// Texture geometry.
    pub geometry: Option<Geometry>,
    /// `.p` of surface accesses: the values are converted to the surface's format.
    pub formatted: bool,
    /// What video instructions take of their operands, and what they do with the result.
    pub video: Video,
    /// Shape, layouts and types of matrix instructions.
    pub tensor: Option<Tensor>,
    /// What `cp.async` and `mbarrier` do.
    pub asynchronous: Option<Async>,
}

/// The register estimate tells operations apart, and orders some, by this: what most instructions do
/// not have must not change it.
impl std::hash::Hash for Mods {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.types.hash(state);
        self.space.hash(state);
        self.rounding.hash(state);
        self.ftz.hash(state);
        self.sat.hash(state);
        self.relu.hash(state);
        self.approx.hash(state);
        self.full.hash(state);
        self.nan.hash(state);
        self.xorsign_abs.hash(state);
        self.cmp.hash(state);
        self.boolop.hash(state);
        self.half.hash(state);
        self.cc.hash(state);
        self.vector.hash(state);
        self.atom.hash(state);
        self.noftz.hash(state);
        self.sem.hash(state);
        self.scope.hash(state);
        self.cache.hash(state);
        self.nc.hash(state);
        self.mode.hash(state);
        self.sync.hash(state);
        self.warp.hash(state);
        self.aligned.hash(state);
        self.uni.hash(state);
        self.to.hash(state);
        self.shiftamt.hash(state);
        self.wrap.hash(state);
        self.geometry.hash(state);
        let rest = (
            self.magnitude,
            self.formatted,
            self.video,
            self.tensor,
            self.asynchronous,
        );
        if rest != Default::default() {
            rest.hash(state);
        }
    }
}

/// The part of a 32-bit operand that a video instruction takes, or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it; for packed forms, its own parts in order.
    #[default]
    Whole,
    /// `.b0` to `.b3`.
    Byte(u8),
    /// `.h0`, `.h1`.
    Half(u8),
    /// Packed forms: for each part of the operation the byte or half of the second and the first
    /// operand together, the lowest first. As a destination: a bit for each part that is written.
    Parts([u8; 4]),
}

/// What the operands of a video instruction say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Video {
    /// Parts of the sources, and of the destination that the rest of the third is merged into.
    pub parts: [Part; 2],
    #[allow(missing_docs)]
    pub result: Part,
    /// `.po`: one more.
    pub plus_one: bool,
    /// `.shr7`, `.shr15`.
    pub shift: u8,
    /// The product, the third operand is negated.
    pub negate: [bool; 2],
}

pub use crate::asynchronous::Async;
pub use crate::tensor::Tensor;

impl Mods {
    /// The instruction's type. Panics if it has none: the table guarantees one where
    /// semantics ask.
    pub fn ty(&self) -> Type {
        self.types[0].expect("the instruction table requires a type here")
    }
}

pub use crate::optable::Op;

/// What kind of pipe an opcode runs on; the power study and the instruction mix use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Pipe {
    Int,
    Fp,
    Sfu,
    Memory,
    Control,
}

/// A special (read-only) register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Special {
    /// Component 0, 1, 2 for x, y, z.
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    Clock,
    ClockHi,
    Clock64,
    Globaltimer,
    GlobaltimerLo,
    GlobaltimerHi,
    DynamicSmemSize,
    TotalSmemSize,
    Envreg(u8),
    Pm(u8),
    /// `WARP_SZ`, always 32.
    WarpSize,
}
