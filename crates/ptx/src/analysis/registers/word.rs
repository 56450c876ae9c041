//! The form in which registers are counted: operations on 32-bit words in static single
//! assignment. A 64-bit value is two words that live and die on their own, so the upper half of
//! a zero-extended number costs nothing, as in machine code.

use crate::isa::Cmp;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A word or a flag; an index in [`Code::forms`].
pub type Value = u32;

/// What an operation reads or writes: a few values, so most lists need no memory of their own.
pub type Values = SmallVec<[Value; 4]>;

/// Ranges of such a list.
pub type Ranges = SmallVec<[(u8, u8); 4]>;

/// A map from values: they are small numbers, so spreading them takes one multiplication.
pub type ValueMap<T> = SmallMap<Value, T>;

/// A map from what is a few small numbers.
pub type SmallMap<K, T> = HashMap<K, T, BuildHasherDefault<Spread>>;

/// Spreads a value over the bits that a map looks at.
#[derive(Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<4>();
        for word in words {
            self.write_u32(u32::from_le_bytes(*word));
        }
        for byte in rest {
            self.write_u32(u32::from(*byte));
        }
    }
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        // The odd number next to 2^64 over the golden ratio. High bits come down again, so that
        // what is hashed in several steps depends on all of each.
        let spread = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ spread >> 32;
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}

/// A number for what is hashed: equal for equals, and in practice for nothing else.
pub fn number_of(what: &impl Hash) -> u64 {
    let mut hasher = Spread::default();
    what.hash(&mut hasher);
    hasher.finish()
}

/// What a value is, and whether it takes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A word in a register.
    Word,
    /// A predicate (or the carry): kept apart from the registers.
    Flag,
    /// A number that instructions carry.
    Number(u32),
    /// A word that instructions read where it lies: a parameter, a constant, the block's size.
    Bank(u32),
    /// Never written.
    Undefined,
}

impl Form {
    /// Does it take a register?
    pub fn is_word(self) -> bool {
        self == Form::Word
    }
    /// Can it only be read from a register after being moved there? The number zero is a register.
    pub fn is_constant(self) -> bool {
        matches!(self, Form::Bank(_)) || matches!(self, Form::Number(n) if n != 0)
    }
}

/// Memory that accesses may meet in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Global, local and generic.
    Far,
    /// Shared.
    Near,
    /// Constants, parameters, read-only data: the kernel does not write them.
    Fixed,
    /// Textures: the kernel does not write them either, and results that are never read take no register.
    Texture,
}

/// What an operation does besides computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing: it may be moved, merged and dropped.
    Pure,
    /// Reads memory.
    Load(Memory),
    /// Writes memory.
    Store(Memory),
    /// Stays in its place among accesses and other such operations: barriers, atomics, votes.
    Ordered,
    /// Ends the block.
    Branch,
}

/// What an operation can be part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A product (or a shift by a number) of 32 bits, which an addition can take in.
    Product,
    /// An addition of 32 bits.
    Addition,
    /// Anything else.
    Other,
}

/// One operation of the machine, or a sequence that keeps some words for itself meanwhile.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub effect: Effect,
    /// Written.
    pub defs: Values,
    /// Read.
    pub uses: Values,
    /// Ranges of `defs` and of `uses` that have to be consecutive registers, aligned to their
    /// number.
    pub wide_defs: Ranges,
    /// Those ranges of `uses`.
    pub wide_uses: Ranges,
    /// Registers that it needs besides while it runs.
    pub scratch: u32,
    /// Cycles until its results can be read.
    pub latency: u32,
    /// Machine instructions it stands for.
    pub length: u32,
    /// The comparison it makes, if it is one.
    pub compares: Option<Cmp>,
    /// Adds the same number for every thread, on global memory: without a reader of the result,
    /// one thread does it for its warp, which takes counting the others.
    pub adds_number: bool,
    /// What it can be part of.
    pub role: Role,
    /// Is a loop around a lock: an atomic on shared memory.
    pub locks: bool,
    /// Puts a constant into a register for operations that can read it only there.
    pub moves: bool,
    /// Loads whole words of constant memory, which instructions read by themselves where the
    /// address is known.
    pub reads_bank: bool,
    /// How many of the first `uses` are the address of an access.
    pub address: u8,
    /// Says which operation it is: equal tags on equal sources give equal results.
    pub tag: u64,
}

/// A value that depends on where control came from.
#[derive(Clone, Debug)]
pub struct Phi {
    /// Written.
    pub def: Value,
    /// Read, by predecessor.
    pub args: Values,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Merged values.
    pub phis: Vec<Phi>,
    /// Operations in order.
    pub nodes: Vec<Node>,
    /// Where control goes.
    pub successors: Vec<u32>,
    /// Where it came from; arguments of phis have this order.
    pub predecessors: Vec<u32>,
    /// Loops around it.
    pub depth: u32,
    /// Must the loop that begins here stay as it is?
    pub rolled: bool,
    /// Does it end in a loop that waits for a lock? Then nothing is joined to it.
    pub sealed: bool,
}

/// A kernel. Blocks are in reverse post-order.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// What each value is.
    pub forms: Vec<Form>,
    /// Words that are another value plus a number, by their low word.
    pub sums: BTreeMap<Value, Sum>,
}

/// A value that is another one plus a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The upper word of this value, if it has one.
    pub high: Option<Value>,
    /// The other value.
    pub base: (Value, Option<Value>),
    /// The number.
    pub offset: i64,
}

/// Offsets that an access can carry itself (24 bits with sign).
pub const OFFSETS: std::ops::Range<i64> = -(1 << 23)..(1 << 23);

impl Node {
    /// An ordinary instruction.
    pub fn plain(uses: Values, defs: Values) -> Node {
        Node {
            effect: Effect::Pure,
            defs,
            uses,
            wide_defs: Ranges::new(),
            wide_uses: Ranges::new(),
            scratch: 0,
            latency: 10,
            length: 1,
            compares: None,
            adds_number: false,
            role: Role::Other,
            locks: false,
            moves: false,
            reads_bank: false,
            address: 0,
            tag: 0,
        }
    }
    /// Does it go to the memory system, which reads and writes its registers when it likes?
    pub fn is_access(&self) -> bool {
        match self.effect {
            Effect::Load(_) | Effect::Store(_) => true,
            // A loop around a lock has waited for its own accesses.
            Effect::Ordered => self.latency >= 100 && !self.locks,
            _ => false,
        }
    }
}

impl Code {
    /// A new value.
    pub fn value(&mut self, form: Form) -> Value {
        self.forms.push(form);
        self.forms.len() as Value - 1
    }
    /// Follows sums down as far as the offset fits an access: the value to start from, and the
    /// offset.
    pub fn root(&self, low: Value, high: Option<Value>) -> ((Value, Option<Value>), i64) {
        let (mut at, mut offset) = ((low, high), 0);
        while let Some(sum) = self.sums.get(&at.0)
            && (at.1.is_none() || sum.high == at.1)
            && OFFSETS.contains(&(offset + sum.offset))
        {
            offset += sum.offset;
            at = (sum.base.0, at.1.and(sum.base.1));
        }
        (at, offset)
    }
    /// What a value is.
    pub fn form(&self, value: Value) -> Form {
        self.forms[value as usize]
    }
    /// Does it take a register?
    pub fn is_word(&self, value: Value) -> bool {
        self.form(value).is_word()
    }
}
