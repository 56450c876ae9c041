//! The syntax tree. It keeps what was written, so that printing it and parsing the result
//! gives the same tree: source-to-source transformations work on this level.

use crate::isa::{Mods, Op, Space, Type};
use crate::name::Name;
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::Arc;

/// A place in the source text: byte offset and length, and the 1-based line and column.
///
/// All spans compare equal: two trees are the same when they say the same, wherever the
/// text stood.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Byte offset of the first character.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
    /// 1-based line.
    pub line: u32,
    /// 1-based column.
    pub column: u32,
}
impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Span {}

/// A name with its place. Equality looks at the name alone.
#[derive(Clone, Debug, Eq)]
pub struct Ident {
    /// The name, `%` or `$` included.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}
impl PartialEq for Ident {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version` as major and minor.
    pub version: (u32, u32),
    /// `.target` list, e.g. `["sm_35", "texmode_independent"]`.
    pub target: Vec<String>,
    /// `.address_size`, 32 or 64.
    pub address_size: u32,
    /// Everything else in file order.
    pub items: Vec<Item>,
}

/// A module-level item.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Item {
    Variable(Variable),
    Function(Function),
    /// `.file index "path"` (timestamp and size dropped).
    File {
        index: u32,
        path: String,
    },
    /// `.section name { … }`: debug data, skipped by lowering, kept for printing.
    Section {
        name: String,
        text: String,
    },
    Pragma(Vec<String>),
    /// `.alias a, b;`
    Alias {
        alias: Ident,
        target: Ident,
    },
    CallPrototype(CallPrototype),
}

/// `.visible`, `.extern`, `.weak`, `.common`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Linkage {
    #[default]
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A declaration: register, parameter or variable in any space.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Linkage directive.
    pub linkage: Linkage,
    /// State space.
    pub space: Space,
    /// `.align`.
    pub align: Option<u32>,
    /// 0 for scalars, 2 or 4 for `.v2`, `.v4`.
    pub vector: u8,
    /// Element type.
    pub ty: Type,
    /// Name; empty for an unnamed parameter.
    pub name: Ident,
    /// `%r<64>`: how many registers the declaration stands for.
    pub count: Option<u32>,
    /// Array dimensions; `None` is `[]`.
    pub dims: Vec<Option<u64>>,
    /// Initialiser.
    pub init: Option<Init>,
    /// `.ptr .space .align n` attributes of a kernel parameter: space and alignment.
    pub ptr: Option<(Option<Space>, Option<u32>)>,
}

/// An initialiser.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Init {
    List(Vec<Init>),
    /// Bits of an integer (sign-extended to 64).
    Int(i64),
    /// A floating-point literal with its bits: `width` is 32 or 64.
    Float {
        bits: u64,
        width: u8,
    },
    /// Address of a symbol; `generic` for `generic(symbol)`; `mask` for `0xff(symbol)`
    /// byte-wise addresses (mask, or 0 for the whole).
    Symbol {
        name: Ident,
        generic: bool,
        offset: i64,
        mask: u64,
    },
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// True for `.entry`.
    pub entry: bool,
    /// Linkage directive.
    pub linkage: Linkage,
    /// Return parameters (device functions).
    pub returns: Vec<Variable>,
    /// Name.
    pub name: Ident,
    /// Parameters.
    pub params: Vec<Variable>,
    /// Performance directives in order.
    pub directives: Vec<Directive>,
    /// Statements; `None` for a declaration.
    pub body: Option<Vec<Statement>>,
}

/// A performance-tuning directive of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Directive {
    MaxNtid(Vec<u32>),
    ReqNtid(Vec<u32>),
    MinNctaPerSm(u32),
    MaxNctaPerSm(u32),
    MaxNreg(u32),
    Noreturn,
    Pragma(Vec<String>),
    /// Anything else that is known and without effect here, as written.
    Other(String),
}

/// A statement of a function body.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Statement {
    Label(Ident),
    Variable(Variable),
    Instruction(Instruction),
    Block(Vec<Statement>),
    /// `.loc file line column` with the rest (`, function_name …`) as written.
    Loc {
        file: u32,
        line: u32,
        column: u32,
        rest: String,
    },
    Pragma(Vec<String>),
    BranchTargets {
        label: Ident,
        targets: Vec<Ident>,
    },
    CallTargets {
        label: Ident,
        targets: Vec<Ident>,
    },
    CallPrototype(CallPrototype),
    /// A line for people, which rewrites add. The parser skips comments, so it makes none.
    Comment(String),
}

/// `label: .callprototype (…) _ (…);`
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct CallPrototype {
    pub label: Ident,
    pub returns: Vec<Variable>,
    pub params: Vec<Variable>,
    pub noreturn: bool,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    /// What it does. An instruction dereferences to it: `instruction.op`.
    pub mnemonic: Arc<Mnemonic>,
    /// Operands, destination first, as written. `call` is `[returns…] callee (args…) proto`
    /// in [`Operand::Call`].
    pub operands: Operands,
    /// Where it stands.
    pub span: Span,
}

impl Deref for Instruction {
    type Target = Mnemonic;

    #[inline]
    fn deref(&self) -> &Mnemonic {
        &self.mnemonic
    }
}

/// An opcode with its suffixes. A file has few different ones, each kept once and shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Mnemonic {
    /// As written, e.g. `add.rn.ftz.f32`.
    pub text: Name,
    /// The opcode.
    pub op: Op,
    /// What the suffixes say.
    pub mods: Mods,
}

/// The operands of an instruction: three are as many as most have.
pub type Operands = SmallVec<[Operand; 3]>;

/// `@p` or `@!p`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Guard {
    pub negated: bool,
    pub pred: Ident,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Operand {
    /// A register, special register, variable or label: names are resolved when lowering.
    /// `%tid.x` and `%v.x` keep the component in the name.
    Name(Ident),
    /// `!p` as a source.
    Not(Ident),
    /// `-x` of a named operand.
    Negate(Ident),
    Int(i64, Span),
    /// A floating-point immediate; `width` 32 or 64 as written.
    Float {
        bits: u64,
        width: u8,
        span: Span,
    },
    /// `_`
    Sink(Span),
    /// `[base+offset]`, `[symbol]`, `[123]`.
    Address {
        base: AddressBase,
        offset: i64,
        span: Span,
    },
    /// `{a, b, c, d}`
    Vector(Vec<Operand>, Span),
    /// `d|p`
    Pair(Box<Operand>, Box<Operand>),
    /// `symbol+offset` outside brackets.
    Offset(Ident, i64),
    Texture(Box<Texture>),
    Call(Box<Call>),
}

/// `[texture, {coords}]` or `[texture, sampler, {coords}]`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Texture {
    pub texture: Ident,
    pub sampler: Option<Ident>,
    pub coords: Vec<Operand>,
    pub span: Span,
}

/// The parts of a `call`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Call {
    pub returns: Vec<Operand>,
    pub callee: Ident,
    pub args: Vec<Operand>,
    pub prototype: Option<Ident>,
}

/// What an address starts from.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum AddressBase {
    Name(Ident),
    Absolute,
}
