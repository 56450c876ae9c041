//! The loop around a kernel.

use super::apart::{self, Apart};
use super::barriers::{self, Plan};
use super::functions::{Needs, replace};
use super::hoist;
use super::indices::{Index, Kind, Registers};
use super::walk::{comment, ident, instructions_mut, statements};
use super::{Form, PARAMETERS, Variant, parameter};
use crate::ast::{Function, Instruction, Linkage, Operand, Statement, Variable};
use crate::isa::{Op, Space, Type};
use crate::kernel::Kernel;
use smallvec::smallvec;
use std::fmt::Write;

const HEAD: &str = "$VTW_HEAD";
const TAIL: &str = "$VTW_TAIL";

const CTAID: [Index; 3] = components(Kind::Ctaid);
const TID: [Index; 3] = components(Kind::Tid);

const fn components(kind: Kind) -> [Index; 3] {
    [
        Index { kind, component: 0 },
        Index { kind, component: 1 },
        Index { kind, component: 2 },
    ]
}

/// Rewrites a kernel, or says why it cannot be. At most `hoist` instructions leave the loop.
pub fn rewrite(
    function: &mut Function,
    lowered: &Kernel,
    variant: Variant,
    needs: &Needs,
    hoist: usize,
) -> Result<Form, String> {
    let mut plan = match variant {
        Variant::Hardware => Plan::None,
        Variant::Software => barriers::plan(lowered)?,
    };
    let name = function.name.name.clone();
    let mut body = function.body.clone().unwrap_or_default();
    let wanted = needs.of(&body);
    let dimensions = |kind| {
        let of_kind = wanted.iter().filter(|i| i.kind == kind);
        of_kind.map(|i| i.component + 1).max().unwrap_or(0)
    };
    let (grid_dimensions, block_dimensions) = (dimensions(Kind::Ctaid), dimensions(Kind::Tid));
    let registers = Registers::choose(&wanted, &body);
    body.retain(|s| !matches!(s, Statement::Instruction(i) if registers.is_copy(i)));
    let declared = take_declarations(&mut body);
    let hoisted = hoist::take(function, &mut body, hoist);
    // An access in a function that is called has no line here.
    if let Plan::Before(line) = plan
        && !add_barrier(&mut body, line)
    {
        plan = Plan::Head;
    }
    if plan == Plan::Drain {
        make_votes(&mut body);
    }
    leave_by_tail(&mut body);
    replace(&mut body, &registers);
    needs.pass(&mut body, &registers);
    let mut hoisted: Vec<Statement> = hoisted.into_iter().map(Statement::Instruction).collect();
    replace(&mut hoisted, &registers);

    let loop_ = Loop {
        name: &name,
        variant,
        registers: &registers,
        wanted: &wanted,
        grid_dimensions,
        block_dimensions,
        plan,
    };
    let count = hoisted.len();
    let mut out = declared;
    out.extend(loop_.before());
    if count > 0 {
        out.push(comment(
            "virtual thread blocks: independent of indices, hoisted",
        ));
        out.extend(hoisted);
    }
    out.extend(loop_.head());
    out.extend(body);
    out.extend(loop_.tail());
    function.body = Some(out);
    for which in PARAMETERS {
        function.params.push(appended(parameter(&name, which)));
    }
    Ok(Form {
        grid_dimensions,
        block_dimensions,
        hoisted: count,
        barrier: plan.text(),
    })
}

fn appended(name: String) -> Variable {
    Variable {
        linkage: Linkage::Internal,
        space: Space::Param,
        align: None,
        vector: 0,
        ty: Type::U32,
        name: ident(name),
        count: None,
        dims: Vec::new(),
        init: None,
        ptr: None,
    }
}

/// Declarations go to the front: what is hoisted uses them.
fn take_declarations(body: &mut Vec<Statement>) -> Vec<Statement> {
    let (declared, rest): (Vec<_>, Vec<_>) = std::mem::take(body)
        .into_iter()
        .partition(|s| matches!(s, Statement::Variable(_)));
    *body = rest;
    declared
}

/// Adds a barrier before the instruction on a line, if it is in this body.
fn add_barrier(body: &mut Vec<Statement>, line: u32) -> bool {
    let here = |s: &Statement| matches!(s, Statement::Instruction(i) if i.span.line == line);
    if let Some(at) = body.iter().position(here) {
        let mut added = vec![comment(
            "virtual thread blocks: siblings are done with shared memory",
        )];
        added.extend(statements("bar.sync 0;"));
        body.splice(at..at, added);
        return true;
    }
    let mut blocks = body.iter_mut().filter_map(|s| match s {
        Statement::Block(inner) => Some(inner),
        _ => None,
    });
    blocks.any(|inner| add_barrier(inner, line))
}

/// Barriers become votes that their threads are not done.
fn make_votes(body: &mut [Statement]) {
    let vote = only_instruction("barrier.red.and.pred %vtw_all, 0, !%vtw_yes;");
    instructions_mut(body, &mut |instruction| {
        if matches!(instruction.op, Op::Bar | Op::Barrier) && !instruction.mods.warp {
            *instruction = vote.clone();
        }
    });
}

fn only_instruction(text: &str) -> Instruction {
    let found = statements(text).into_iter().find_map(|s| match s {
        Statement::Instruction(i) => Some(i),
        _ => None,
    });
    found.unwrap_or_else(|| unreachable!("an instruction: {text}"))
}

/// Returns become jumps to the tail; the last one falls into it.
fn leave_by_tail(body: &mut Vec<Statement>) {
    let ends = |i: &Instruction| matches!(i.op, Op::Ret | Op::Exit);
    if let Some(Statement::Instruction(last)) = body.last()
        && ends(last)
        && last.guard.is_none()
    {
        body.pop();
    }
    instructions_mut(body, &mut |instruction| {
        if ends(instruction) {
            let uniform = if instruction.text.ends_with(".uni") {
                ".uni"
            } else {
                ""
            };
            let jump = only_instruction(&format!("bra{uniform} {TAIL};"));
            instruction.mnemonic = jump.mnemonic;
            instruction.operands = smallvec![Operand::Name(ident(TAIL))];
        }
    });
}

/// What is around the body.
struct Loop<'a> {
    name: &'a str,
    variant: Variant,
    registers: &'a Registers,
    wanted: &'a [Index],
    grid_dimensions: u8,
    block_dimensions: u8,
    plan: Plan,
}

impl Loop<'_> {
    fn register(&self, index: Index) -> &str {
        self.registers.get(index).unwrap_or("_")
    }

    fn wants(&self, index: Index) -> bool {
        self.wanted.contains(&index)
    }

    /// The register with the number of the logical block: in one dimension that is its index.
    fn block(&self) -> &str {
        match self.grid_dimensions {
            1 => self.register(CTAID[0]),
            _ => "%vtw_block",
        }
    }

    /// The register with the size of the grid.
    fn size(&self, component: u8) -> String {
        let index = Index {
            kind: Kind::Nctaid,
            component,
        };
        match self.registers.get(index) {
            Some(register) => register.into(),
            None => format!("%vtw_{}", index.text()),
        }
    }

    /// Sizes of the grid that are needed: those that the kernel reads, and those that take a
    /// block's number apart.
    fn sizes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..3u8).filter(|&component| {
            let read = self.wants(Index {
                kind: Kind::Nctaid,
                component,
            });
            read || component + 1 < self.grid_dimensions
        })
    }

    /// The number of the logical block, where it is taken apart.
    fn blocks(&self) -> Option<Apart<'_>> {
        (self.grid_dimensions > 1).then(|| Apart {
            kind: Kind::Ctaid,
            dimensions: self.grid_dimensions,
            number: "%vtw_block",
            sizes: [self.size(0), self.size(1)],
            parts: CTAID.map(|i| self.wants(i).then(|| self.register(i))),
        })
    }

    /// The number of the thread in its block, where it is.
    fn flat_threads(&self) -> Option<Apart<'_>> {
        let flat = self.variant == Variant::Hardware && self.block_dimensions > 1;
        flat.then(|| Apart {
            kind: Kind::Tid,
            dimensions: self.block_dimensions,
            number: "%vtw_tid",
            sizes: ["%ntid.x".into(), "%ntid.y".into()],
            parts: TID.map(|i| self.wants(i).then(|| self.register(i))),
        })
    }

    fn before(&self) -> Vec<Statement> {
        let mut text = String::new();
        let mut declare = |name: &str, ty: &str| {
            let _ = writeln!(text, ".reg .{ty} {name};");
        };
        self.registers.own.iter().for_each(|r| declare(r, "b32"));
        for component in self.sizes() {
            let name = self.size(component);
            let index = Index {
                kind: Kind::Nctaid,
                component,
            };
            if !self.wants(index) {
                declare(&name, "b32");
            }
        }
        if self.grid_dimensions != 1 {
            declare("%vtw_block", "b32");
        }
        declare("%vtw_more", "pred");
        let counts = self.variant == Variant::Software;
        if counts {
            declare("%vtw_stride", "b32");
            declare("%vtw_blocks", "b32");
        }
        if self.flat_threads().is_some() {
            declare("%vtw_tid", "b32");
        }
        if self.plan == Plan::Drain {
            declare("%vtw_all", "pred");
            declare("%vtw_yes", "pred");
        }
        let apart: Vec<Apart> = self
            .blocks()
            .into_iter()
            .chain(self.flat_threads())
            .collect();
        if !apart.is_empty() {
            apart::declare(&mut text);
        }
        apart.iter().for_each(|number| number.declare(&mut text));
        for index in TID.into_iter().filter(|i| self.wants(*i)) {
            let _ = writeln!(
                text,
                "mov.u32 {}, {};",
                self.register(index),
                index.special()
            );
        }
        let _ = writeln!(text, "mov.u32 {}, %ctaid.x;", self.block());
        for component in self.sizes() {
            let index = Index {
                kind: Kind::Nctaid,
                component,
            };
            let from = parameter(self.name, &index.text());
            let _ = writeln!(text, "ld.param.u32 {}, [{from}];", self.size(component));
        }
        if counts {
            let from = parameter(self.name, "blocks");
            let _ = writeln!(text, "mov.u32 %vtw_stride, %nctaid.x;");
            let _ = writeln!(text, "ld.param.u32 %vtw_blocks, [{from}];");
        }
        apart.iter().for_each(|number| number.before(&mut text));
        if self.plan == Plan::Drain {
            let block = self.block();
            let _ = writeln!(text, "setp.eq.u32 %vtw_yes, {block}, {block};");
        }
        let what = match self.variant {
            Variant::Hardware => {
                "virtual thread blocks, hardware variant: vtw.next_tb and vtw.next_tid are \
                 instructions of the simulator, not of any GPU"
            }
            Variant::Software => "virtual thread blocks, software variant",
        };
        let mut all = vec![
            comment(what),
            comment("launch at most as many (virtual) blocks, in x, as there are logical ones"),
            comment("virtual block v begins with logical block v"),
        ];
        all.extend(statements(&text));
        all
    }

    fn head(&self) -> Vec<Statement> {
        let mut all = vec![
            comment("virtual thread blocks: once for each logical block"),
            Statement::Label(ident(HEAD)),
        ];
        let mut text = String::new();
        if let Some(number) = self.blocks() {
            number.now(&mut text);
        }
        all.extend(statements(&text));
        if self.plan == Plan::Head {
            all.push(comment(
                "virtual thread blocks: siblings are done with shared memory",
            ));
            all.extend(statements("bar.sync 0;"));
        }
        all
    }

    fn tail(&self) -> Vec<Statement> {
        let mut all = vec![
            comment("virtual thread blocks: every return leads here"),
            Statement::Label(ident(TAIL)),
        ];
        let block = self.block();
        let mut text = String::new();
        if self.plan == Plan::Drain {
            all.push(comment(
                "those who are done take part in the barriers of the others",
            ));
            let _ = writeln!(text, "barrier.red.and.pred %vtw_all, 0, %vtw_yes;");
            let _ = writeln!(text, "@!%vtw_all bra {TAIL};");
        }
        match self.variant {
            Variant::Software => {
                let _ = writeln!(text, "add.u32 {block}, {block}, %vtw_stride;");
                let _ = writeln!(text, "setp.lt.u32 %vtw_more, {block}, %vtw_blocks;");
                let _ = writeln!(text, "@%vtw_more bra {HEAD};");
            }
            Variant::Hardware => self.ask(&mut text),
        }
        let _ = writeln!(text, "ret;");
        all.extend(statements(&text));
        all
    }

    /// Asks for the next block and thread index.
    fn ask(&self, text: &mut String) {
        let block = self.block();
        let _ = writeln!(text, "vtw.next_tb.u32 {block}|%vtw_more;");
        if self.block_dimensions == 1 {
            let _ = writeln!(text, "vtw.next_tid.u32 {};", self.register(TID[0]));
        } else if let Some(number) = self.flat_threads() {
            // In one go, whether there is another block or not.
            let _ = writeln!(text, "vtw.next_tid.u32 %vtw_tid;");
            number.now(text);
        }
        let _ = writeln!(text, "@%vtw_more bra {HEAD};");
    }
}
