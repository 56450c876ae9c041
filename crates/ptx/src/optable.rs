//! The instruction table: one entry an opcode. Adding an opcode is an entry here and its
//! semantics in the simulator's `exec`.

use crate::isa::{Mods, Pipe, Type};

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
}

macro_rules! ops {
    ($($variant:ident $text:literal $rule:ident;)*) => {
        /// An opcode.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Op { $($variant),* }

        impl Op {
            /// Every opcode in table order.
            pub const ALL: &'static [Op] = &[$(Op::$variant),*];
            /// The opcode as PTX spells it.
            pub fn text(self) -> &'static str { match self { $(Op::$variant => $text),* } }
            fn rule(self) -> PipeRule { match self { $(Op::$variant => PipeRule::$rule),* } }
        }
    };
}

ops! {
    Abs "abs" ByType; Activemask "activemask" Int; Add "add" ByType; Addc "addc" Int; And "and" Int;
    Atom "atom" Memory; Bar "bar" Control; Barrier "barrier" Control; Bfe "bfe" Int; Bfi "bfi" Int;
    Bfind "bfind" Int; Bmsk "bmsk" Int; Bra "bra" Control; Brev "brev" Int; Brkpt "brkpt" Control;
    Brx "brx" Control; Call "call" Control; Clz "clz" Int; Cnot "cnot" Int; Copysign "copysign" ByType;
    Cos "cos" Sfu; Cvt "cvt" ByType; Cvta "cvta" Int; Div "div" Division; Dp2a "dp2a" Int; Dp4a "dp4a" Int;
    Ex2 "ex2" Sfu; Exit "exit" Control; Fence "fence" Memory; Fma "fma" ByType; Fns "fns" Int;
    Isspacep "isspacep" Int; Ld "ld" Memory; Ldu "ldu" Memory; Lg2 "lg2" Sfu; Lop3 "lop3" Int;
    Mad "mad" ByType; Mad24 "mad24" Int; Madc "madc" Int; Match "match" Int; Max "max" ByType;
    Membar "membar" Memory; Min "min" ByType; Mov "mov" ByType; Mul "mul" ByType; Mul24 "mul24" Int;
    Nanosleep "nanosleep" Control; Neg "neg" ByType; Not "not" Int; Or "or" Int; Pmevent "pmevent" Control;
    Popc "popc" Int; Prefetch "prefetch" Memory; Prefetchu "prefetchu" Memory; Prmt "prmt" Int;
    Rcp "rcp" Sfu; Red "red" Memory; Redux "redux" Int; Rem "rem" Int; Ret "ret" Control;
    Rsqrt "rsqrt" Sfu; Sad "sad" Int; Selp "selp" ByType; Set "set" ByType; Setp "setp" ByType;
    Shf "shf" Int; Shfl "shfl" Int; Shl "shl" Int; Shr "shr" Int; Sin "sin" Sfu; Slct "slct" ByType;
    Sqrt "sqrt" Sfu; St "st" Memory; Sub "sub" ByType; Subc "subc" Int; Szext "szext" Int;
    Tanh "tanh" Sfu; Testp "testp" ByType; Tex "tex" Memory; Trap "trap" Control; Vote "vote" Int; Xor "xor" Int;
}

impl Op {
    /// The pipe an instruction of this opcode uses. Double precision counts as `Fp`; which
    /// unit runs it is the machine's business.
    pub fn pipe(self, mods: &Mods) -> Pipe {
        let float =
            mods.types[0].is_some_and(Type::is_float) || mods.types[1].is_some_and(Type::is_float);
        match self.rule() {
            PipeRule::Int => Pipe::Int,
            PipeRule::Sfu | PipeRule::Division => Pipe::Sfu,
            PipeRule::Memory => Pipe::Memory,
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
}
