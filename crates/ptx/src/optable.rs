//! The instruction table: one entry per opcode. Adding an opcode is an entry here and its
//! semantics in the simulator's `exec`.
//!
//! An entry reads
//!
//! ```text
//! Variant "spelling" PipeRule [types by position] [modifier groups] [needs] { when => [operands]; … };
//! ```
//!
//! The spelling may have several parts (`st.async`): the longest one that fits wins. The
//! operand forms are tried in order and the first whose condition holds applies.

use crate::asynchronous::Async;
use crate::isa::{AtomOp, Mode, Mods, Pipe, Type};
use crate::modtable::{sets::*, *};
use crate::tensor::Role;

/// How an opcode's pipe follows from its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PipeRule {
    Int,
    Sfu,
    Memory,
    Control,
    /** By type: floats `Fp`, else `Int`. */
    ByType,
    /** `Fp` in fp32 etc.; division and the like go to the special unit. */
    Division,
    /** The units for matrices: their own, where the machine has them. */
    Tensor,
    /** Read with any modifiers and operands, not executed yet. */
    Later,
}

/// A part of the mnemonic that must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Cmp,
    Mode,
    Atom,
    Space,
    Scope,
    /// `.lo .hi .wide`.
    Half,
    /// `.lo .hi .wide`, unless the type is a float.
    HalfOfInt,
    /// One of `.sync .arrive .red`.
    BarrierKind,
    Geometry,
}

/// When an operand form applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    Sync,
    Bool,
    Cas,
    Arrive,
    Red,
    Warp,
}

impl When {
    pub(crate) fn holds(self, mods: &Mods) -> bool {
        match self {
            When::Always => true,
            When::Sync => mods.sync,
            When::Bool => mods.boolop.is_some(),
            When::Cas => mods.atom == Some(AtomOp::Cas),
            When::Arrive => mods.mode == Some(Mode::Arrive),
            When::Red => mods.mode == Some(Mode::Red),
            When::Warp => mods.warp,
        }
    }
}

/// What one operand may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Destination register or `_`.
    D,
    /// Destination register or `_`, or a pair `d|p`.
    Pair,
    /// Destination register, `_`, a pair, a vector `{a, b}`, or a vector and a predicate `{a, b}|p`.
    DVec,
    /// Source: register, immediate, symbol.
    S,
    /// Source that may be left out.
    Opt,
    /// Source or vector.
    SVec,
    /// Source or vector of any length.
    Loose,
    /// Memory address `[a]`.
    Addr,
    /// Texture and coordinates `[t, {x, y}]`.
    Tex,
    /// Label or list of labels.
    Label,
    /// What `call` takes.
    Callee,
    /// Any number of anything.
    Any,
}

/// Everything the parser has to know about an opcode.
pub(crate) struct Entry {
    pub(crate) op: Op,
    /// Accepted types, by position.
    pub(crate) types: &'static [TypeSet],
    /// Accepted modifiers.
    pub(crate) groups: &'static [Group],
    pub(crate) needs: &'static [Need],
    pub(crate) forms: &'static [(When, &'static [Slot])],
}

impl Entry {
    /// The operands an instruction with these modifiers takes.
    pub(crate) fn operands(&self, mods: &Mods) -> &'static [Slot] {
        self.forms
            .iter()
            .find(|(when, _)| when.holds(mods))
            .map_or(&[], |(_, slots)| slots)
    }
    /// What the suffix `text` (without dot) does, if the opcode accepts it.
    pub(crate) fn effect(&self, text: &str) -> Option<Effect> {
        let mut all = self.groups.iter().flat_map(|group| group.iter());
        all.find(|(spelling, _)| *spelling == text)
            .map(|(_, effect)| *effect)
    }
    /// Spellings of all accepted modifiers, types last.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &'static str> {
        let groups = self
            .groups
            .iter()
            .flat_map(|group| group.iter())
            .map(|(text, _)| *text);
        groups.chain(self.types.iter().flat_map(|set| set.spellings()))
    }
}

macro_rules! ops {
    (executed { $($variant:ident $text:literal $rule:ident [$($ty:expr),*] [$($group:ident)*] [$($need:ident)*]
        { $($when:ident => [$($slot:ident)*]);* };)* }
     later { $($later:ident $later_text:literal,)* }
    ) => {
        /// An opcode.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Op { $($variant,)* $($later,)* }

        impl Op {
            /// Every opcode in table order.
            pub const ALL: &'static [Op] = &[$(Op::$variant,)* $(Op::$later,)*];
            /// The opcode as PTX spells it.
            pub fn text(self) -> &'static str {
                match self { $(Op::$variant => $text,)* $(Op::$later => $later_text,)* }
            }
            fn rule(self) -> PipeRule {
                match self { $(Op::$variant => PipeRule::$rule,)* $(Op::$later => PipeRule::Later,)* }
            }
            pub(crate) fn entry(self) -> &'static Entry { &TABLE[self as usize] }
        }

        static TABLE: &[Entry] = &[
            $(Entry {
                op: Op::$variant,
                types: &[$($ty),*],
                groups: &[$($group),*],
                needs: &[$(Need::$need),*],
                forms: &[$((When::$when, &[$(Slot::$slot),*])),*],
            },)*
            $(Entry {
                op: Op::$later, types: &[], groups: &[], needs: &[],
                forms: &[(When::Always, &[Slot::Any])],
            },)*
        ];
    };
}

ops! {
    executed {
    Abs "abs" ByType [SIGNED.and(FLOAT)] [FTZ] [] { Always => [D S] };
    Activemask "activemask" Int [B32_] [] [] { Always => [D] };
    Add "add" ByType [ARITHMETIC.and(F32_PAIR)] [ROUND FTZ SAT CARRY] [] { Always => [D S S] };
    Addc "addc" Int [INT32_64] [CARRY] [] { Always => [D S S] };
    And "and" Int [LOGIC] [] [] { Always => [D S S] };
    Atom "atom" Memory [ATOMIC_TYPES] [ATOMIC_ORDER SCOPE GLOBAL SHARED ATOMIC EXCHANGE NOFTZ VECTOR HINTS] [Atom]
        { Cas => [D Addr SVec S Opt]; Always => [DVec Addr SVec Opt] };
    Bar "bar" Control [BARRIER_TYPES] [BARRIER BARRIER_REDUCTION WARP ALIGNED] [BarrierKind]
        { Warp => [S]; Red => [D S S Opt]; Arrive => [S S]; Always => [S Opt] };
    Barrier "barrier" Control [BARRIER_TYPES] [BARRIER BARRIER_REDUCTION ALIGNED] [BarrierKind]
        { Red => [D S S Opt]; Arrive => [S S]; Always => [S Opt] };
    Bfe "bfe" Int [INT32_64] [] [] { Always => [D S S S] };
    Bfi "bfi" Int [B32_64] [] [] { Always => [D S S S S] };
    Bfind "bfind" Int [INT32_64] [SHIFT_AMOUNT] [] { Always => [D S] };
    Bmsk "bmsk" Int [B32_] [WRAP] [] { Always => [D S S] };
    Bra "bra" Control [] [UNIFORM] [] { Always => [Label] };
    Brev "brev" Int [B32_64] [] [] { Always => [D S] };
    Brkpt "brkpt" Control [] [] [] { Always => [] };
    Brx "brx" Control [] [INDEXED UNIFORM] [] { Always => [S Label] };
    Call "call" Control [] [UNIFORM] [] { Always => [Callee] };
    Clz "clz" Int [B32_64] [] [] { Always => [D S] };
    Cnot "cnot" Int [BITS] [] [] { Always => [D S] };
    Copysign "copysign" ByType [F32_64] [] [] { Always => [D S S] };
    Cos "cos" Sfu [F32_] [APPROX FTZ] [] { Always => [D S] };
    Cvt "cvt" ByType [CONVERTED, CONVERTED] [ROUND ROUND_INTEGRAL FTZ SAT SATFINITE RELU] []
        { Always => [D S Opt] };
    Cvta "cvta" Int [ADDRESS] [TO GLOBAL SHARED LOCAL CONST PARAM] [Space] { Always => [D S] };
    Div "div" Division [INT.and(F32_64)] [APPROX FULL ROUND FTZ] [] { Always => [D S S] };
    Dp2a "dp2a" Int [INT32, INT32] [LO_HI] [Half] { Always => [D S S S] };
    Dp4a "dp4a" Int [INT32, INT32] [] [] { Always => [D S S S] };
    Ex2 "ex2" Sfu [TANH] [APPROX FTZ] [] { Always => [D S] };
    Exit "exit" Control [] [] [] { Always => [] };
    Fence "fence" Memory [] [FENCE_ORDER SCOPE] [Scope] { Always => [] };
    Fma "fma" ByType [FLOAT.and(F32_PAIR)] [ROUND FTZ SAT RELU] [] { Always => [D S S S] };
    Fns "fns" Int [B32_] [] [] { Always => [D S S S] };
    Isspacep "isspacep" Int [] [GLOBAL SHARED LOCAL CONST PARAM] [Space] { Always => [D S] };
    Ld "ld" Memory [LOADED]
        [LOAD_ORDER SCOPE GLOBAL SHARED LOCAL CONST PARAM LOAD_CACHE READ_ONLY HINTS VECTOR] []
        { Always => [DVec Addr Opt] };
    Ldu "ldu" Memory [LOADED] [GLOBAL VECTOR] [] { Always => [DVec Addr] };
    Lg2 "lg2" Sfu [F32_] [APPROX FTZ] [] { Always => [D S] };
    Lop3 "lop3" Int [B32_] [BOOL] [] { Bool => [Pair S S S S S]; Always => [D S S S S] };
    Mad "mad" ByType [INT.and(F32_64)] [HALF CARRY ROUND FTZ SAT] [HalfOfInt] { Always => [D S S S] };
    Mad24 "mad24" Int [INT32] [LO_HI SAT] [Half] { Always => [D S S S] };
    Madc "madc" Int [INT32_64] [LO_HI CARRY] [Half] { Always => [D S S S] };
    Match "match" Int [B32_64] [MATCH SYNC] [Mode] { Always => [Pair S S] };
    Max "max" ByType [ARITHMETIC] [FTZ NAN XORSIGN RELU] [] { Always => [D S S Opt] };
    Membar "membar" Memory [] [MEMBAR] [Scope] { Always => [] };
    Min "min" ByType [ARITHMETIC] [FTZ NAN XORSIGN RELU] [] { Always => [D S S Opt] };
    Mov "mov" ByType [MOVED] [] [] { Always => [DVec SVec] };
    Mul "mul" ByType [INT.and(FLOAT).and(F32_PAIR)] [HALF ROUND FTZ SAT] [HalfOfInt] { Always => [D S S] };
    Mul24 "mul24" Int [INT32] [LO_HI] [Half] { Always => [D S S] };
    Nanosleep "nanosleep" Control [TypeSet::of(&[Type::U32])] [] [] { Always => [S] };
    Neg "neg" ByType [SIGNED.and(FLOAT)] [FTZ] [] { Always => [D S] };
    Not "not" Int [LOGIC] [] [] { Always => [D S] };
    Or "or" Int [LOGIC] [] [] { Always => [D S S] };
    Pmevent "pmevent" Control [] [EVENT_MASK] [] { Always => [S] };
    Popc "popc" Int [B32_64] [] [] { Always => [D S] };
    Prefetch "prefetch" Memory [] [GLOBAL LOCAL LEVEL] [] { Always => [Addr] };
    Prefetchu "prefetchu" Memory [] [LEVEL] [] { Always => [Addr] };
    Prmt "prmt" Int [B32_] [PERMUTE] [] { Always => [D S S S] };
    Rcp "rcp" Sfu [F32_64] [APPROX ROUND FTZ] [] { Always => [D S] };
    Red "red" Memory [ATOMIC_TYPES] [ATOMIC_ORDER SCOPE GLOBAL SHARED ATOMIC NOFTZ VECTOR HINTS] [Atom]
        { Always => [Addr SVec Opt] };
    Redux "redux" Int [INT32.and(B32_)] [SYNC REDUX] [Atom] { Always => [D S S] };
    Rem "rem" Int [INT] [] [] { Always => [D S S] };
    Ret "ret" Control [] [UNIFORM] [] { Always => [] };
    Rsqrt "rsqrt" Sfu [F32_64] [APPROX FTZ] [] { Always => [D S] };
    Sad "sad" Int [INT] [] [] { Always => [D S S S] };
    Selp "selp" ByType [COMPARED] [] [] { Always => [D S S S] };
    Set "set" ByType [SET_RESULT, COMPARED] [CMP BOOL FTZ] [Cmp] { Bool => [D S S S]; Always => [D S S] };
    Setp "setp" ByType [COMPARED] [CMP BOOL FTZ] [Cmp] { Bool => [Pair S S S]; Always => [Pair S S] };
    Shf "shf" Int [B32_] [DIRECTION WRAP] [Mode] { Always => [D S S S] };
    Shfl "shfl" Int [B32_] [SYNC SHUFFLE] [Mode] { Sync => [Pair S S S S]; Always => [Pair S S S] };
    Shl "shl" Int [BITS] [] [] { Always => [D S S] };
    Shr "shr" Int [SHIFTED] [] [] { Always => [D S S] };
    Sin "sin" Sfu [F32_] [APPROX FTZ] [] { Always => [D S] };
    Slct "slct" ByType [BITS.and(INT).and(F32_64), SLCT_TEST] [FTZ] [] { Always => [D S S S] };
    Sqrt "sqrt" Sfu [F32_64] [APPROX ROUND FTZ] [] { Always => [D S] };
    St "st" Memory [LOADED] [STORE_ORDER SCOPE GLOBAL SHARED LOCAL PARAM STORE_CACHE HINTS VECTOR] []
        { Always => [Addr SVec Opt] };
    Sub "sub" ByType [ARITHMETIC.and(F32_PAIR)] [ROUND FTZ SAT CARRY] [] { Always => [D S S] };
    Subc "subc" Int [INT32_64] [CARRY] [] { Always => [D S S] };
    Szext "szext" Int [INT32] [WRAP] [] { Always => [D S S] };
    Tanh "tanh" Sfu [TANH] [APPROX] [] { Always => [D S] };
    Testp "testp" ByType [F32_64] [TESTP] [Mode] { Always => [D S] };
    Tex "tex" Memory [TEXEL, COORDINATE] [GEOMETRY VECTOR MIP_BASE] [Geometry] { Always => [DVec Tex Opt Opt] };
    Trap "trap" Control [] [] [] { Always => [] };
    // Not NVIDIA's: what the rewrite to virtual thread blocks asks the hardware for.
    VtwNextTb "vtw.next_tb" Control [TypeSet::of(&[Type::U32])] [] [] { Always => [Pair] };
    VtwNextTid "vtw.next_tid" Control [TypeSet::of(&[Type::U32])] [] [] { Always => [D] };
    Vote "vote" Int [VOTED] [SYNC VOTE] [Mode] { Sync => [D S S]; Always => [D S] };
    Xor "xor" Int [LOGIC] [] [] { Always => [D S S] };
    // Opcodes behind here came later: those before them keep their numbers, which estimates depend on.
    Cp "cp" Memory [] [] [] { Always => [Any] };
    Ldmatrix "ldmatrix" Memory [] [] [] { Always => [Any] };
    Mbarrier "mbarrier" Memory [] [] [] { Always => [Any] };
    Mma "mma" Tensor [] [] [] { Always => [Any] };
    Movmatrix "movmatrix" Int [] [] [] { Always => [Any] };
    Stmatrix "stmatrix" Memory [] [] [] { Always => [Any] };
    Suld "suld" Memory [SURFACE_BITS] [FORMAT GEOMETRY LOAD_CACHE VECTOR OUTSIDE] [Geometry Mode]
        { Always => [DVec Tex] };
    Suq "suq" Int [B32_] [QUERY] [Mode] { Always => [D Addr] };
    Sured "sured" Memory [INT32_64.and(B32_64)] [FORMAT ATOMIC GEOMETRY OUTSIDE] [Atom Geometry Mode]
        { Always => [Tex S] };
    Sust "sust" Memory [SURFACE_BITS] [FORMAT GEOMETRY STORE_CACHE VECTOR OUTSIDE] [Geometry Mode]
        { Always => [Tex SVec] };
    TexGrad "tex.grad" Memory [TEXEL, COORDINATE] [GEOMETRY VECTOR] [Geometry]
        { Always => [DVec Tex Loose Loose Opt Opt] };
    TexLevel "tex.level" Memory [TEXEL, COORDINATE] [GEOMETRY VECTOR] [Geometry]
        { Always => [DVec Tex S Opt Opt] };
    Tld4 "tld4" Memory [TEXEL, COORDINATE] [COMPONENT GEOMETRY VECTOR] [Mode Geometry]
        { Always => [DVec Tex Opt Opt] };
    Txq "txq" Int [B32_] [QUERY QUERY_TEXTURE] [Mode] { Always => [D Addr] };
    Vabsdiff "vabsdiff" Int [INT32, INT32, INT32] [SAT SECOND] [] { Always => [D S S Opt] };
    Vadd "vadd" Int [INT32, INT32, INT32] [SAT SECOND] [] { Always => [D S S Opt] };
    Vmax "vmax" Int [INT32, INT32, INT32] [SAT SECOND] [] { Always => [D S S Opt] };
    Vmin "vmin" Int [INT32, INT32, INT32] [SAT SECOND] [] { Always => [D S S Opt] };
    Vsub "vsub" Int [INT32, INT32, INT32] [SAT SECOND] [] { Always => [D S S Opt] };
    Vmad "vmad" Int [INT32, INT32, INT32] [SAT SCALE] [] { Always => [D S S S] };
    Vset "vset" Int [INT32, INT32] [CMP SECOND] [Cmp] { Always => [D S S Opt] };
    Vshl "vshl" Int [INT32, INT32, INT32] [SAT SECOND WRAP] [] { Always => [D S S Opt] };
    Vshr "vshr" Int [INT32, INT32, INT32] [SAT SECOND WRAP] [] { Always => [D S S Opt] };
    Vabsdiff2 "vabsdiff2" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vabsdiff4 "vabsdiff4" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vadd2 "vadd2" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vadd4 "vadd4" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vavrg2 "vavrg2" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vavrg4 "vavrg4" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vmax2 "vmax2" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vmax4 "vmax4" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vmin2 "vmin2" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vmin4 "vmin4" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vsub2 "vsub2" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vsub4 "vsub4" Int [INT32, INT32, INT32] [SAT ACCUMULATE] [] { Always => [D S S S] };
    Vset2 "vset2" Int [INT32, INT32] [CMP ACCUMULATE] [Cmp] { Always => [D S S S] };
    Vset4 "vset4" Int [INT32, INT32] [CMP ACCUMULATE] [Cmp] { Always => [D S S S] };
    Wmma "wmma" Tensor [] [] [] { Always => [Any] };
    }
    // Read and printed, refused when a kernel that has them is lowered.
    later {
        Alloca "alloca", Applypriority "applypriority", BarrierCluster "barrier.cluster",
        Clusterlaunchcontrol "clusterlaunchcontrol", Createpolicy "createpolicy",
        CvtPack "cvt.pack", Discard "discard", Elect "elect", FenceMbarrier "fence.mbarrier_init",
        FenceProxy "fence.proxy", Getctarank "getctarank", Griddepcontrol "griddepcontrol",
        Istypep "istypep", Mapa "mapa", MembarProxy "membar.proxy",
        Multimem "multimem", PrefetchTensormap "prefetch.tensormap", RedAsync "red.async",
        Setmaxnreg "setmaxnreg", StAsync "st.async", StBulk "st.bulk", Stackrestore "stackrestore",
        Stacksave "stacksave", Tcgen05 "tcgen05", Tensormap "tensormap", Wgmma "wgmma",
    }
}

impl Op {
    /// The pipe an instruction of this opcode uses. Double precision counts as `Fp`; which
    /// unit runs it is the machine's business.
    pub fn pipe(self, mods: &Mods) -> Pipe {
        let float =
            mods.types[0].is_some_and(Type::is_float) || mods.types[1].is_some_and(Type::is_float);
        match self.rule() {
            PipeRule::Tensor => match mods.tensor.map(|t| t.role) {
                Some(Role::Load(_) | Role::Store(_)) => Pipe::Memory,
                _ => Pipe::Fp,
            },
            PipeRule::Int | PipeRule::Later => Pipe::Int,
            PipeRule::Sfu | PipeRule::Division => Pipe::Sfu,
            // Words about copies reach no memory.
            PipeRule::Memory => match mods.asynchronous {
                Some(
                    Async::Commit
                    | Async::WaitGroup
                    | Async::WaitAll
                    | Async::PendingCount
                    | Async::ArriveAfterCopies { .. },
                ) => Pipe::Control,
                _ => Pipe::Memory,
            },
            PipeRule::Control => Pipe::Control,
            PipeRule::ByType => {
                if float {
                    Pipe::Fp
                } else {
                    Pipe::Int
                }
            }
        }
    }

    /// Whether it is one of the video instructions, which take parts of their operands.
    pub fn is_video(self) -> bool {
        self.text().starts_with('v') && !matches!(self, Op::Vote | Op::VtwNextTb | Op::VtwNextTid)
    }

    /// Whether its suffixes are those of copies and barriers that threads do not wait for.
    pub(crate) fn is_asynchronous(self) -> bool {
        matches!(self, Op::Cp | Op::Mbarrier)
    }

    /// Whether its suffixes are those of a matrix instruction.
    pub(crate) fn is_matrix(self) -> bool {
        matches!(
            self,
            Op::Mma | Op::Wmma | Op::Ldmatrix | Op::Stmatrix | Op::Movmatrix
        )
    }

    /// False for opcodes that are read and printed only; their modifiers are not
    /// interpreted ([`Mods`] stays empty).
    pub fn is_supported(self) -> bool {
        self.rule() != PipeRule::Later
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn entries_stand_at_their_opcode() {
        for (i, op) in Op::ALL.iter().enumerate() {
            assert_eq!(*op as usize, i);
            assert_eq!(op.entry().op, *op);
        }
    }

    #[test]
    fn spellings_are_unique() {
        let texts: HashSet<_> = Op::ALL.iter().map(|op| op.text()).collect();
        assert_eq!(texts.len(), Op::ALL.len());
    }

    #[test]
    fn no_opcode_has_a_modifier_with_two_meanings() {
        for op in Op::ALL {
            let mut seen = HashSet::new();
            for (text, _) in op.entry().groups.iter().flat_map(|group| group.iter()) {
                assert!(seen.insert(*text), "{}.{text}", op.text());
            }
        }
    }

    #[test]
    fn the_last_form_always_applies() {
        for op in Op::ALL {
            assert_eq!(
                op.entry().forms.last().map(|form| form.0),
                Some(When::Always),
                "{}",
                op.text()
            );
        }
    }
}
