//! Lowering: from the syntax tree to what the simulator runs.
//!
//! Device functions are inlined (those that call themselves or are large by choice apart: `framed`), names resolved, variables laid out and operands checked
//! while walking a kernel's statements once (`builder`); everything that follows from the
//! finished code (blocks, reconvergence, uniformity, slots) is [`crate::analysis`], and waits until
//! a caller looks at the kernel ([`crate::lazy`]).
//!
//! Two kinds of trouble are told apart. A *mistake* in the file (an unknown name, a register
//! of the wrong width) makes [`lower`] fail with every mistake it found. Something valid
//! that is *not supported* (an opcode, a form of one) only takes the kernels
//! that reach it out of the program: they are listed with the reasons in
//! [`Program::rejected`], and the rest of the file stays usable.

mod body;
mod builder;
mod complaints;
mod framed;
mod instruction;
mod module;
mod operand;
mod scope;
mod sources;
mod whole;

use crate::ast::{Directive, Function, Ident, Item, Module, Statement};
use crate::diagnostic::Diagnostic;
use crate::isa::{Mods, Op};
use crate::kernel::{Crossings, Kernel, NO_PC, Param, Program, Virtualised};
use crate::lazy::LazyKernel;
use builder::{Builder, Frame};
pub use framed::STACK_BYTES;
pub(crate) use module::layout::variable_bytes as variable_size;
use module::layout::{SharedLayout, align_up, variable_align, variable_bytes};
use module::{ModuleTable, named_functions};
use scope::{Entity, Scope};
use std::mem;
use std::sync::{Arc, Mutex};
use whole::{calls_kernels, lower_items};

/// Kernel parameters that PTX can hold at most.
const LARGEST_PARAMS: u64 = 32_764;

/// How a module is lowered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Functions of more instructions than this keep a body of their own, which all calls share. Without
    /// it every function is inlined that can be; where a kernel becomes too large by that, none is.
    pub inline_limit: Option<usize>,
}

/// Lowers a whole module. `Err` has every mistake found, in file order and each once.
pub fn lower(module: &Module) -> Result<Program, Vec<Diagnostic>> {
    lower_with(module, Options::default())
}

/// Lowers a whole module as the options say.
pub fn lower_with(module: &Module, options: Options) -> Result<Program, Vec<Diagnostic>> {
    let named = named_functions(module);
    lower_items(module, &named, Vec::new(), options)
}

/// Lowers a module that is not needed any more: the statements of a kernel are let go once it
/// has been lowered, so that a large file is not kept in two forms.
pub fn lower_owned(mut module: Module, options: Options) -> Result<Program, Vec<Diagnostic>> {
    if calls_kernels(&module) {
        return lower_with(&module, options);
    }
    let named = named_functions(&module);
    let bodies = module.items.iter_mut().filter_map(|item| match item {
        Item::Function(function) if function.entry => function.body.as_mut(),
        _ => None,
    });
    let bodies = bodies.map(|body| Mutex::new(mem::take(body))).collect();
    lower_items(&module, &named, bodies, options)
}

/// Sorts by place and drops repeats: a function that is inlined twice is looked at twice.
fn in_order(mut list: Vec<Diagnostic>) -> Vec<Diagnostic> {
    list.sort_by(|a, b| (a.span.start, &a.message).cmp(&(b.span.start, &b.message)));
    list.dedup_by(|a, b| a.span.start == b.span.start && a.message == b.message);
    list
}

/// What came of one kernel.
struct Lowered {
    kernel: Option<LazyKernel>,
    errors: Vec<Diagnostic>,
    unsupported: Vec<Diagnostic>,
    /// Inlining made too much of it.
    too_large: bool,
}

fn lower_kernel<'a>(
    table: &'a ModuleTable<'a>,
    function: &'a Function,
    body: &'a [Statement],
    inline_limit: Option<usize>,
) -> Lowered {
    let reached = module::reach::reach(table, function, body, inline_limit);
    let mut builder = Builder::new(table, SharedLayout::new(&reached));
    builder.frames.push(Frame {
        first_scope: 0,
        join: None,
        suffix: String::new(),
    });
    builder.scopes.push(Scope::default());
    let params = declare_params(&mut builder, function);
    builder.declare_framed(&reached);
    builder.code.reserve(body.len());
    builder.statements(body);
    // Control that runs off the end returns; so does a label at the very end.
    let falls_off = builder
        .code
        .last()
        .is_none_or(|i| i.guard.is_some() || !matches!(i.op, Op::Ret | Op::Exit | Op::Bra));
    if falls_off || builder.label_at_end() {
        builder.emit(Op::Ret, Mods::default(), vec![], vec![]);
    }
    builder.emit_framed();
    check_limits(&mut builder, &function.name);
    let runs = builder.complaints.none();
    let kernel = runs.then(|| finish_kernel(&mut builder, function, params));
    Lowered {
        kernel,
        too_large: builder.inlined.too_large,
        unsupported: std::mem::take(&mut builder.complaints.unsupported),
        errors: builder.mistakes(),
    }
}

fn declare_params(builder: &mut Builder<'_>, function: &Function) -> Vec<Param> {
    let mut params = Vec::new();
    let mut top = 0;
    let mut places: Vec<(&Ident, u64)> = Vec::new();
    for var in &function.params {
        let size = variable_bytes(var)
            .unwrap_or(u64::MAX)
            .min(LARGEST_PARAMS + 1);
        let offset = align_up(top, variable_align(var));
        top = offset + size;
        places.push((&var.name, offset));
        params.push(Param {
            name: var.name.name.to_string(),
            offset: offset as u32,
            size: size as u32,
            align: variable_align(var) as u32,
            ty: var.ty,
            array: !var.dims.is_empty(),
        });
    }
    if top > LARGEST_PARAMS {
        builder.error(
            function.name.span,
            format!(
                "the parameters of `{}` take {top} bytes; {LARGEST_PARAMS} is the limit",
                function.name.name
            ),
        );
    }
    builder.param_bytes = top;
    for (name, offset) in places {
        builder.declare(name, Entity::KernelParam(offset));
    }
    params
}

fn check_limits(builder: &mut Builder<'_>, name: &Ident) {
    let shared = builder.shared.dynamic.unwrap_or(builder.shared.bytes);
    for (bytes, what) in [(shared, "shared"), (builder.local_bytes, "local")] {
        if bytes > u64::from(u32::MAX >> 1) {
            builder.error(
                name.span,
                format!("`{}` declares {bytes} bytes of {what} memory", name.name),
            );
        }
    }
}

fn finish_kernel(builder: &mut Builder<'_>, function: &Function, params: Vec<Param>) -> LazyKernel {
    let mut code = std::mem::take(&mut builder.code);
    for instr in code.iter_mut().filter(|i| i.target != NO_PC) {
        instr.target = builder.labels[instr.target as usize];
    }
    let mut kernel = Kernel {
        name: function.name.name.to_string(),
        files: Arc::clone(&builder.table.files),
        params,
        param_bytes: builder.param_bytes as u32,
        code,
        registers: std::mem::take(&mut builder.registers),
        rows: 0,
        predicate_slots: 0,
        register_demand: 0,
        register_floor: 0,
        shared_bytes: builder.shared.bytes as u32,
        dynamic_shared: builder.shared.dynamic.map(|b| b as u32),
        local_bytes: align_up(builder.local_bytes, 8) as u32,
        spill_base: None,
        bounds: Default::default(),
        blocks: Vec::new(),
        rolled: std::mem::take(&mut builder.rolled),
        crossings: Crossings::default(),
        virtualised: Virtualised::No,
        undefined: std::mem::take(&mut builder.complaints.undefined),
    };
    for directive in &function.directives {
        match directive {
            Directive::MaxNtid(list) => kernel.bounds.max_ntid = Some(three(list)),
            Directive::ReqNtid(list) => kernel.bounds.req_ntid = Some(three(list)),
            Directive::MinNctaPerSm(n) => kernel.bounds.min_ctas = Some(*n),
            Directive::MaxNreg(n) => kernel.bounds.max_nreg = Some(*n),
            _ => {}
        }
    }
    framed::finish(&mut kernel, &builder.framed, &mut builder.label_names);
    LazyKernel::new(kernel, std::mem::take(&mut builder.label_names))
}

/// Dimensions that are left out are 1.
fn three(list: &[u32]) -> [u32; 3] {
    let mut result = [1; 3];
    for (place, value) in result.iter_mut().zip(list) {
        *place = *value;
    }
    result
}
