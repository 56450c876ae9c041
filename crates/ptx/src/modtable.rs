//! The modifier table: what each dotted suffix says.
//!
//! The same spelling means different things to different opcodes (`.lo` is half of a
//! product for `mul`, a comparison for `setp`), so suffixes come in groups and an opcode
//! lists the groups it accepts ([`crate::optable`]). Types are a group of their own:
//! an opcode lists which types each position takes.

use crate::isa::{
    AtomOp, BoolOp, CacheOp, Cmp, Geometry, Half, Mode, Mods, Rounding, Scope, Sem, Space, Type,
};

/// What a suffix sets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    Space(Space),
    Rounding(Rounding),
    Cmp(Cmp),
    Bool(BoolOp),
    Half(Half),
    Atom(AtomOp),
    Sem(Sem),
    Scope(Scope),
    Cache(CacheOp),
    Mode(Mode),
    Geometry(Geometry),
    Vector(u8),
    Flag(fn(&mut Mods) -> &mut bool),
    /// `.shr7`, `.shr15` of `vmad`.
    Shift(u8),
    /// Accepted; it changes nothing that is modelled.
    Ignored,
}

/// Suffixes that belong together, without their dots.
pub(crate) type Group = &'static [(&'static str, Effect)];

/// The suffix contradicts or repeats an earlier one.
#[derive(Debug)]
pub(crate) struct Conflict;

impl Effect {
    /// Records the suffix in `mods`.
    pub(crate) fn apply(self, mods: &mut Mods) -> Result<(), Conflict> {
        fn set<T>(field: &mut Option<T>, value: T) -> Result<(), Conflict> {
            match field.replace(value) {
                None => Ok(()),
                Some(_) => Err(Conflict),
            }
        }
        match self {
            Effect::Space(space) => set(&mut mods.space, space),
            Effect::Rounding(rounding) => set(&mut mods.rounding, rounding),
            Effect::Cmp(cmp) => set(&mut mods.cmp, cmp),
            Effect::Bool(op) => set(&mut mods.boolop, op),
            Effect::Half(half) => set(&mut mods.half, half),
            Effect::Atom(op) => set(&mut mods.atom, op),
            // `.mmio.relaxed` is written in two parts and is one thing.
            Effect::Sem(sem @ (Sem::Mmio | Sem::Relaxed))
                if matches!(
                    (sem, mods.sem),
                    (Sem::Mmio, Some(Sem::Relaxed)) | (Sem::Relaxed, Some(Sem::Mmio))
                ) =>
            {
                mods.sem = Some(Sem::Mmio);
                Ok(())
            }
            Effect::Sem(sem) => set(&mut mods.sem, sem),
            Effect::Scope(scope) => set(&mut mods.scope, scope),
            Effect::Cache(op) => set(&mut mods.cache, op),
            Effect::Mode(mode) => set(&mut mods.mode, mode),
            Effect::Geometry(geometry) => set(&mut mods.geometry, geometry),
            Effect::Vector(width) => {
                let before = std::mem::replace(&mut mods.vector, width);
                if before == 0 { Ok(()) } else { Err(Conflict) }
            }
            Effect::Flag(field) => {
                let before = std::mem::replace(field(mods), true);
                if before { Err(Conflict) } else { Ok(()) }
            }
            Effect::Shift(bits) => {
                let before = std::mem::replace(&mut mods.video.shift, bits);
                if before == 0 { Ok(()) } else { Err(Conflict) }
            }
            Effect::Ignored => Ok(()),
        }
    }
}

macro_rules! groups {
    ($($(#[$doc:meta])* $name:ident { $($text:literal => $effect:expr),* $(,)? })*) => {
        $($(#[$doc])* pub(crate) const $name: Group = {
            #[allow(unused_imports)]
            use Effect::*;
            &[$(($text, $effect)),*]
        };)*
    };
}

groups! {
    ROUND {
        "rn" => Rounding(self::Rounding::Rn), "rz" => Rounding(self::Rounding::Rz),
        "rm" => Rounding(self::Rounding::Rm), "rp" => Rounding(self::Rounding::Rp),
    }
    /// To an integral value, and to nearest with ties away (`cvt` to `.tf32`).
    ROUND_INTEGRAL {
        "rni" => Rounding(self::Rounding::Rni), "rzi" => Rounding(self::Rounding::Rzi),
        "rmi" => Rounding(self::Rounding::Rmi), "rpi" => Rounding(self::Rounding::Rpi),
        "rna" => Rounding(self::Rounding::Rna),
    }
    FTZ { "ftz" => Flag(|m| &mut m.ftz) }
    SAT { "sat" => Flag(|m| &mut m.sat) }
    SATFINITE { "satfinite" => Flag(|m| &mut m.sat) }
    RELU { "relu" => Flag(|m| &mut m.relu) }
    APPROX { "approx" => Flag(|m| &mut m.approx) }
    FULL { "full" => Flag(|m| &mut m.full) }
    NAN { "NaN" => Flag(|m| &mut m.nan) }
    /// Written `.xorsign.abs`; the second half only repeats the first.
    XORSIGN { "xorsign" => Flag(|m| &mut m.xorsign_abs), "abs" => Flag(|m| &mut m.magnitude) }
    CARRY { "cc" => Flag(|m| &mut m.cc) }
    HALF { "lo" => Half(self::Half::Lo), "hi" => Half(self::Half::Hi), "wide" => Half(self::Half::Wide) }
    LO_HI { "lo" => Half(self::Half::Lo), "hi" => Half(self::Half::Hi) }
    CMP {
        "eq" => Cmp(self::Cmp::Eq), "ne" => Cmp(self::Cmp::Ne), "lt" => Cmp(self::Cmp::Lt),
        "le" => Cmp(self::Cmp::Le), "gt" => Cmp(self::Cmp::Gt), "ge" => Cmp(self::Cmp::Ge),
        "lo" => Cmp(self::Cmp::Lo), "ls" => Cmp(self::Cmp::Ls), "hi" => Cmp(self::Cmp::Hi),
        "hs" => Cmp(self::Cmp::Hs), "equ" => Cmp(self::Cmp::Equ), "neu" => Cmp(self::Cmp::Neu),
        "ltu" => Cmp(self::Cmp::Ltu), "leu" => Cmp(self::Cmp::Leu), "gtu" => Cmp(self::Cmp::Gtu),
        "geu" => Cmp(self::Cmp::Geu), "num" => Cmp(self::Cmp::Num), "nan" => Cmp(self::Cmp::Nan),
    }
    BOOL { "and" => Bool(BoolOp::And), "or" => Bool(BoolOp::Or), "xor" => Bool(BoolOp::Xor) }
    BARRIER_REDUCTION { "and" => Bool(BoolOp::And), "or" => Bool(BoolOp::Or), "popc" => Bool(BoolOp::Popc) }
    VECTOR { "v2" => Vector(2), "v4" => Vector(4), "v8" => Vector(8) }
    ATOMIC {
        "add" => Atom(AtomOp::Add), "min" => Atom(AtomOp::Min), "max" => Atom(AtomOp::Max),
        "and" => Atom(AtomOp::And), "or" => Atom(AtomOp::Or), "xor" => Atom(AtomOp::Xor),
        "inc" => Atom(AtomOp::Inc), "dec" => Atom(AtomOp::Dec),
    }
    /// Only where the old value comes back.
    EXCHANGE { "exch" => Atom(AtomOp::Exch), "cas" => Atom(AtomOp::Cas) }
    REDUX {
        "add" => Atom(AtomOp::Add), "min" => Atom(AtomOp::Min), "max" => Atom(AtomOp::Max),
        "and" => Atom(AtomOp::And), "or" => Atom(AtomOp::Or), "xor" => Atom(AtomOp::Xor),
    }
    NOFTZ { "noftz" => Flag(|m| &mut m.noftz) }
    LOAD_ORDER {
        "weak" => Sem(self::Sem::Weak), "volatile" => Sem(self::Sem::Volatile), "mmio" => Sem(self::Sem::Mmio),
        "relaxed" => Sem(self::Sem::Relaxed), "acquire" => Sem(self::Sem::Acquire),
    }
    STORE_ORDER {
        "weak" => Sem(self::Sem::Weak), "volatile" => Sem(self::Sem::Volatile), "mmio" => Sem(self::Sem::Mmio),
        "relaxed" => Sem(self::Sem::Relaxed), "release" => Sem(self::Sem::Release),
    }
    ATOMIC_ORDER {
        "relaxed" => Sem(self::Sem::Relaxed), "acquire" => Sem(self::Sem::Acquire),
        "release" => Sem(self::Sem::Release), "acq_rel" => Sem(self::Sem::AcqRel),
    }
    FENCE_ORDER {
        "sc" => Sem(self::Sem::Sc), "acq_rel" => Sem(self::Sem::AcqRel),
        "acquire" => Sem(self::Sem::Acquire), "release" => Sem(self::Sem::Release),
    }
    SCOPE {
        "cta" => Scope(self::Scope::Cta), "cluster" => Scope(self::Scope::Cluster),
        "gpu" => Scope(self::Scope::Gpu), "sys" => Scope(self::Scope::Sys),
    }
    MEMBAR { "cta" => Scope(self::Scope::Cta), "gl" => Scope(self::Scope::Gpu), "sys" => Scope(self::Scope::Sys) }
    GLOBAL { "global" => Space(self::Space::Global) }
    /// Blocks are not clustered here, so a cluster's shared memory is the block's own.
    SHARED {
        "shared" => Space(self::Space::Shared), "shared::cta" => Space(self::Space::Shared),
        "shared::cluster" => Space(self::Space::Shared),
    }
    LOCAL { "local" => Space(self::Space::Local) }
    CONST { "const" => Space(self::Space::Const) }
    PARAM {
        "param" => Space(self::Space::Param), "param::entry" => Space(self::Space::Param),
        "param::func" => Space(self::Space::Param),
    }
    LOAD_CACHE {
        "ca" => Cache(CacheOp::Ca), "cg" => Cache(CacheOp::Cg), "cs" => Cache(CacheOp::Cs),
        "lu" => Cache(CacheOp::Lu), "cv" => Cache(CacheOp::Cv),
    }
    STORE_CACHE {
        "wb" => Cache(CacheOp::Wb), "cg" => Cache(CacheOp::Cg), "cs" => Cache(CacheOp::Cs),
        "wt" => Cache(CacheOp::Wt),
    }
    READ_ONLY { "nc" => Flag(|m| &mut m.nc) }
    /// Eviction and prefetch hints.
    HINTS {
        "L1::evict_normal" => Ignored, "L1::evict_unchanged" => Ignored, "L1::evict_first" => Ignored,
        "L1::evict_last" => Ignored, "L1::no_allocate" => Ignored,
        "L2::evict_normal" => Ignored, "L2::evict_first" => Ignored, "L2::evict_last" => Ignored,
        "L2::cache_hint" => Ignored,
        "L2::64B" => Ignored, "L2::128B" => Ignored, "L2::256B" => Ignored,
    }
    /// Which cache a prefetch is for: the L1, or past it.
    LEVEL {
        "L1" => Cache(CacheOp::Ca), "L2" => Cache(CacheOp::Cg),
        "L2::evict_last" => Cache(CacheOp::Cg), "L2::evict_normal" => Cache(CacheOp::Cg),
    }
    SHUFFLE {
        "up" => Mode(self::Mode::Up), "down" => Mode(self::Mode::Down),
        "bfly" => Mode(self::Mode::Bfly), "idx" => Mode(self::Mode::Idx),
    }
    VOTE {
        "all" => Mode(self::Mode::All), "any" => Mode(self::Mode::Any),
        "uni" => Mode(self::Mode::Uni), "ballot" => Mode(self::Mode::Ballot),
    }
    MATCH { "all" => Mode(self::Mode::All), "any" => Mode(self::Mode::Any) }
    TESTP {
        "finite" => Mode(self::Mode::Finite), "infinite" => Mode(self::Mode::Infinite),
        "number" => Mode(self::Mode::Number), "notanumber" => Mode(self::Mode::NotANumber),
        "normal" => Mode(self::Mode::Normal), "subnormal" => Mode(self::Mode::Subnormal),
    }
    PERMUTE {
        "f4e" => Mode(self::Mode::F4e), "b4e" => Mode(self::Mode::B4e), "rc8" => Mode(self::Mode::Rc8),
        "ecl" => Mode(self::Mode::Ecl), "ecr" => Mode(self::Mode::Ecr), "rc16" => Mode(self::Mode::Rc16),
    }
    BARRIER {
        "sync" => Flag(|m| &mut m.sync), "arrive" => Mode(self::Mode::Arrive), "red" => Mode(self::Mode::Red),
        "cta" => Ignored, "all" => Ignored,
    }
    WARP { "warp" => Flag(|m| &mut m.warp) }
    DIRECTION { "l" => Mode(self::Mode::Left), "r" => Mode(self::Mode::Right) }
    SYNC { "sync" => Flag(|m| &mut m.sync) }
    ALIGNED { "aligned" => Flag(|m| &mut m.aligned) }
    UNIFORM { "uni" => Flag(|m| &mut m.uni) }
    INDEXED { "idx" => Ignored }
    TO { "to" => Flag(|m| &mut m.to) }
    SHIFT_AMOUNT { "shiftamt" => Flag(|m| &mut m.shiftamt) }
    /// `.clamp` is the absence of `.wrap`.
    WRAP { "wrap" => Flag(|m| &mut m.wrap), "clamp" => Ignored }
    GEOMETRY {
        "1d" => Geometry(self::Geometry::D1), "2d" => Geometry(self::Geometry::D2),
        "3d" => Geometry(self::Geometry::D3), "a1d" => Geometry(self::Geometry::A1d),
        "a2d" => Geometry(self::Geometry::A2d), "cube" => Geometry(self::Geometry::Cube),
    }
    /// The base level of a mipmap is all there is.
    MIP_BASE { "base" => Ignored }
    /// The component that is gathered.
    COMPONENT {
        "r" => Mode(self::Mode::R), "g" => Mode(self::Mode::G), "b" => Mode(self::Mode::B),
        "a" => Mode(self::Mode::A),
    }
    /// What a surface access outside the surface does.
    OUTSIDE {
        "trap" => Mode(self::Mode::Trap), "clamp" => Mode(self::Mode::Clamp), "zero" => Mode(self::Mode::Zero),
    }
    FORMAT { "b" => Ignored, "p" => Flag(|m| &mut m.formatted) }
    QUERY {
        "width" => Mode(self::Mode::Width), "height" => Mode(self::Mode::Height),
        "depth" => Mode(self::Mode::Depth),
    }
    QUERY_TEXTURE { "normalized_coords" => Mode(self::Mode::NormalizedCoords) }
    /// What video instructions do with the result and the third operand.
    SECOND { "add" => Atom(AtomOp::Add), "min" => Atom(AtomOp::Min), "max" => Atom(AtomOp::Max) }
    ACCUMULATE { "add" => Atom(AtomOp::Add) }
    SCALE { "po" => Flag(|m| &mut m.video.plus_one), "shr7" => Shift(7), "shr15" => Shift(15) }
    EVENT_MASK { "mask" => Ignored }
}

macro_rules! types {
    ($($text:literal $variant:ident,)*) => {
        /// Every type with its spelling, without the dot.
        pub(crate) const TYPES: &[(&str, Type)] = &[$(($text, Type::$variant)),*];

        impl Type {
            /// The type as PTX spells it, without the dot.
            pub fn text(self) -> &'static str {
                match self { $(Type::$variant => $text),* }
            }
        }
    };
}

types! {
    "pred" Pred, "b8" B8, "b16" B16, "b32" B32, "b64" B64, "b128" B128,
    "u8" U8, "u16" U16, "u32" U32, "u64" U64, "s8" S8, "s16" S16, "s32" S32, "s64" S64,
    "f16" F16, "f16x2" F16x2, "bf16" Bf16, "bf16x2" Bf16x2, "tf32" Tf32, "f32" F32, "f32x2" F32x2,
    "f64" F64,
    "u16x2" U16x2, "s16x2" S16x2,
    "e4m3" E4m3, "e5m2" E5m2, "e4m3x2" E4m3x2, "e5m2x2" E5m2x2,
    "u4" U4, "s4" S4, "b1" B1,
    "texref" Texref, "samplerref" Samplerref, "surfref" Surfref,
}

/// The type spelled `text` (without the dot).
pub(crate) fn type_named(text: &str) -> Option<Type> {
    TYPES
        .iter()
        .find(|(spelling, _)| *spelling == text)
        .map(|(_, ty)| *ty)
}

/// A set of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeSet(u64);

impl TypeSet {
    /// The set of the listed types.
    pub(crate) const fn of(types: &[Type]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < types.len() {
            bits |= 1 << types[i] as u64;
            i += 1;
        }
        TypeSet(bits)
    }
    /// The union.
    pub(crate) const fn and(self, other: TypeSet) -> Self {
        TypeSet(self.0 | other.0)
    }
    /// Whether `ty` is in the set.
    pub(crate) fn contains(self, ty: Type) -> bool {
        self.0 >> ty as u64 & 1 == 1
    }
    /// The spellings of its types.
    pub(crate) fn spellings(self) -> impl Iterator<Item = &'static str> {
        TYPES
            .iter()
            .filter(move |(_, ty)| self.contains(*ty))
            .map(|(text, _)| *text)
    }
}

/// Sets of types that opcodes share.
pub(crate) mod sets {
    use super::TypeSet;
    use crate::isa::Type::*;

    pub(crate) const PRED: TypeSet = TypeSet::of(&[Pred]);
    pub(crate) const B32_: TypeSet = TypeSet::of(&[B32]);
    pub(crate) const B32_64: TypeSet = TypeSet::of(&[B32, B64]);
    pub(crate) const BITS: TypeSet = TypeSet::of(&[B16, B32, B64]);
    pub(crate) const LOGIC: TypeSet = BITS.and(PRED);
    pub(crate) const INT32: TypeSet = TypeSet::of(&[U32, S32]);
    pub(crate) const INT32_64: TypeSet = TypeSet::of(&[U32, S32, U64, S64]);
    pub(crate) const INT: TypeSet = INT32_64.and(TypeSet::of(&[U16, S16]));
    pub(crate) const INT_PACKED: TypeSet = TypeSet::of(&[U16x2, S16x2]);
    pub(crate) const SIGNED: TypeSet = TypeSet::of(&[S16, S32, S64]);
    pub(crate) const UNSIGNED32_64: TypeSet = TypeSet::of(&[U32, U64]);
    pub(crate) const F32_: TypeSet = TypeSet::of(&[F32]);
    pub(crate) const F32_64: TypeSet = TypeSet::of(&[F32, F64]);
    pub(crate) const SMALL_FLOAT: TypeSet = TypeSet::of(&[F16, F16x2, Bf16, Bf16x2]);
    pub(crate) const FLOAT: TypeSet = F32_64.and(SMALL_FLOAT);
    pub(crate) const ARITHMETIC: TypeSet = INT.and(FLOAT).and(INT_PACKED);
    pub(crate) const F32_PAIR: TypeSet = TypeSet::of(&[F32x2]);
    pub(crate) const SURFACE_BITS: TypeSet = TypeSet::of(&[B8, B16, B32, B64]);
    pub(crate) const SHIFTED: TypeSet = BITS.and(INT);
    pub(crate) const COMPARED: TypeSet = BITS.and(INT).and(FLOAT);
    pub(crate) const MOVED: TypeSet = COMPARED.and(PRED).and(TypeSet::of(&[B128]));
    pub(crate) const LOADED: TypeSet = BITS
        .and(INT)
        .and(F32_64)
        .and(TypeSet::of(&[B8, U8, S8, B128, F16, F16x2, Bf16, Bf16x2]));
    pub(crate) const CONVERTED: TypeSet = INT
        .and(FLOAT)
        .and(TypeSet::of(&[U8, S8, Tf32, E4m3x2, E5m2x2]));
    pub(crate) const ATOMIC_TYPES: TypeSet =
        INT32_64.and(FLOAT).and(TypeSet::of(&[B16, B32, B64, B128]));
    pub(crate) const ADDRESS: TypeSet = UNSIGNED32_64;
    pub(crate) const SET_RESULT: TypeSet = INT32
        .and(F32_)
        .and(SMALL_FLOAT)
        .and(TypeSet::of(&[U16, S16]));
    pub(crate) const SLCT_TEST: TypeSet = TypeSet::of(&[S32, F32]);
    pub(crate) const TEXEL: TypeSet = INT32.and(TypeSet::of(&[F32, F16, F16x2, B32]));
    pub(crate) const COORDINATE: TypeSet = TypeSet::of(&[S32, F32]);
    pub(crate) const VOTED: TypeSet = TypeSet::of(&[Pred, B32]);
    pub(crate) const BARRIER_TYPES: TypeSet = TypeSet::of(&[Pred, U32]);
    pub(crate) const TANH: TypeSet = F32_.and(SMALL_FLOAT);
}
