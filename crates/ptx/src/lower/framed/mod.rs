//! Functions that keep a body of their own: those that may be entered again before they have returned,
//! which cannot be inlined, and those that are too large to be, by choice.
//!
//! The body of such a function stands behind the kernel's own code. Its parameters and results have
//! registers (or places in local memory) of their own, into which callers copy. A call sets the number of
//! its return site and branches to the body (`call`); a return is a chain of branches to the return
//! sites (`body`), since the machine has no indirect one.
//!
//! A function that may be entered again has a body for each call from outside: threads that part ways
//! inside it meet again where that call returns, which is only known to follow if no other thread returns
//! from there. Beyond [`MOST_COPIES`] calls one body serves several. To the divergence models all this is
//! ordinary control flow. What an activation needs again after a call that may lead back to its function
//! lies on a stack in local memory: its `.local` variables and the registers that live across the call.
//! Which these are is known when the code is complete, so calls leave marks in it, which `stack` replaces.
//!
//! A function that cannot be entered again has one body for all calls. Where threads meet again is found
//! for each function by itself ([`Crossings`]): a call is a step from the instruction before it to the one
//! behind it, and a return the end.

mod body;
mod call;
mod stack;

pub(super) use stack::finish;

use super::builder::Builder;
use super::instruction::params::ParamUse;
use super::scope::Entity;
use crate::ast::{Function, Span, Variable};
use crate::isa::{Mods, Op, Space, Type};
use crate::kernel::{Crossings, Intrinsic, RegId};

/// Bytes of local memory that a thread of a kernel with such functions has for its stack.
pub const STACK_BYTES: u32 = 8 << 10;

/// Calls from outside that get bodies of their own.
const MOST_COPIES: usize = 32;

/// A function that is not inlined: one of its bodies.
#[derive(Debug)]
pub(super) struct Framed<'a> {
    pub function: &'a Function,
    /// Which function it is, and for which call from outside.
    kind: usize,
    copy: usize,
    /// Where its body begins, and where its return is.
    entry: u32,
    exit: u32,
    params: Vec<Entity>,
    returns: Vec<Entity>,
    /// The number of the site to return to.
    site: RegId,
    /// Where the activation's part of the stack begins.
    pub base: RegId,
    /// Bytes of its `.local` variables.
    pub locals: u64,
    /// Labels of the sites that it returns to.
    sites: Vec<u32>,
    emitted: bool,
}

/// A call of such a function.
#[derive(Debug)]
struct Site {
    caller: Option<usize>,
    callee: usize,
    /// Registers that hold results between the return and the mark behind it.
    results: Vec<RegId>,
}

/// All of a kernel's.
#[derive(Debug, Default)]
pub(super) struct FramedFunctions<'a> {
    pub list: Vec<Framed<'a>>,
    /// Those that may be entered again, then those that are not inlined by choice.
    kinds: Vec<&'a Function>,
    /// How many of them may be entered again.
    recursive: usize,
    /// Calls from outside so far.
    copies: usize,
    /// By pairs of functions: may a call of the first lead to one of the second?
    leads: Vec<Vec<bool>>,
    sites: Vec<Site>,
    /// The function whose body is being lowered.
    pub current: Option<usize>,
    /// By register: the function that it belongs to.
    pub owners: Vec<Option<usize>>,
    /// The top of the stack.
    stack: Option<RegId>,
    /// Where control goes into bodies that serve all calls, and out of them.
    crossings: Crossings,
}

impl FramedFunctions<'_> {
    /// Whether a body serves all calls of its function.
    fn serves_all(&self, index: usize) -> bool {
        self.list[index].kind >= self.recursive
    }
}

fn local(ty: Type) -> Mods {
    let mut mods = Mods::default();
    mods.types[0] = Some(ty);
    mods.space = Some(Space::Local);
    mods
}

fn word() -> Mods {
    let mut mods = Mods::default();
    mods.types[0] = Some(Type::U32);
    mods
}

impl<'a> Builder<'a> {
    /// Gives the functions with bodies of their own their registers, before anything else.
    pub(super) fn declare_framed(&mut self, reach: &super::module::reach::Reach<'a>) {
        let kinds = [reach.recursive.as_slice(), &reach.large].concat();
        self.framed.kinds = kinds.clone();
        self.framed.recursive = reach.recursive.len();
        for kind in 0..kinds.len() {
            self.declare_body(kind, 0);
        }
        if kinds.is_empty() {
            return;
        }
        let stack = self.new_register("%stack", Type::U32, Span::default());
        self.framed.stack = Some(stack);
        self.framed.leads = (kinds.iter())
            .map(|from| {
                let to = kinds.iter();
                to.map(|to| reach.may_reach(from, to)).collect()
            })
            .collect();
        // The sum of both is not known yet: the mark stands for it.
        self.mark(Intrinsic::StackBegins);
    }

    /// Registers of one body of a function.
    fn declare_body(&mut self, kind: usize, copy: usize) -> usize {
        let function = self.framed.kinds[kind];
        let index = self.framed.list.len();
        let outside = self.framed.current.replace(index);
        let body = function.body.as_deref().unwrap_or_default();
        let usage = ParamUse::of(body);
        let name = &function.name.name;
        let span = function.name.span;
        let site = self.new_register(&format!("{name}.site"), Type::U32, span);
        let base = self.new_register(&format!("{name}.frame"), Type::U32, span);
        let entry = self.new_label();
        let exit = self.new_label();
        let mut entities = |list: &'a [Variable]| -> Vec<Entity> {
            list.iter()
                .map(|var| self.param_entity(var, &usage))
                .collect()
        };
        let params = entities(&function.params);
        let returns = entities(&function.returns);
        self.framed.list.push(Framed {
            function,
            kind,
            copy,
            entry,
            exit,
            params,
            returns,
            site,
            base,
            locals: 0,
            sites: Vec::new(),
            emitted: false,
        });
        self.framed.current = outside;
        index
    }

    /// Which function that has bodies of its own this is, if it is one.
    pub(super) fn framed_function(&self, function: &Function) -> Option<usize> {
        let kinds = &self.framed.kinds;
        kinds.iter().position(|f| std::ptr::eq(*f, function))
    }

    /// The body that a call here goes to.
    fn body_for(&mut self, kind: usize) -> usize {
        let framed = &mut self.framed;
        if kind >= framed.recursive {
            // Bodies were declared in the order of their kinds.
            return kind;
        }
        let caller = framed.current.map(|caller| &framed.list[caller]);
        let copy = match caller {
            Some(caller) if framed.leads[kind][caller.kind] => caller.copy,
            _ => {
                framed.copies += 1;
                (framed.copies - 1) % MOST_COPIES
            }
        };
        let known = framed.list.iter();
        let known = known.clone().position(|f| (f.kind, f.copy) == (kind, copy));
        known.unwrap_or_else(|| self.declare_body(kind, copy))
    }

    fn mark(&mut self, what: Intrinsic) {
        self.emit(Op::Call, Mods::default(), vec![], vec![])
            .intrinsic = Some(what);
    }

    /// Room for a `.local` variable of the function being lowered.
    pub(super) fn allocate_in_frame(&mut self, index: usize, bytes: u64, align: u64) -> Entity {
        let framed = &mut self.framed.list[index];
        let offset = super::module::layout::align_up(framed.locals, align.min(16));
        framed.locals = offset.saturating_add(bytes);
        Entity::InFrame(framed.base, offset)
    }
}
