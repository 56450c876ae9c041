//! What a kernel needs and how it branches, as data and as text.

use crate::analysis::{live_words, liveness, peak};
use crate::isa::{Op, Pipe, Space};
use crate::kernel::{AddrBase, Kernel, NO_PC, Operand, Pc, Program};
use std::collections::BTreeSet;
use std::fmt;
use warpsim_present::mangled::shown;

/// A conditional branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where it stands.
    pub pc: Pc,
    /// Line in the PTX.
    pub line: u32,
    /// Where it goes.
    pub target: Pc,
    /// Where its sides meet; `None` when only at exit.
    pub reconverge: Option<Pc>,
    /// Where they usually meet before that, if there is such a place.
    pub likely: Option<Pc>,
    /// Proven to go one way for all threads of a block.
    pub uniform: bool,
    /// Goes back (closes a loop).
    pub backward: bool,
}

/// What there is to know about a kernel before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Name.
    pub name: String,
    /// Instructions after inlining.
    pub instructions: usize,
    /// Instructions by pipe: int, fp, sfu, memory, control.
    pub mix: [usize; 5],
    /// Virtual registers that the code names, predicates included.
    pub registers: usize,
    /// Rows of the simulated register file.
    pub rows: u32,
    /// Predicate slots.
    pub predicate_slots: u32,
    /// Registers per thread as an assembler would count them.
    pub register_demand: u32,
    /// The fewest without spilling.
    pub register_floor: u32,
    /// Most 32-bit registers of the PTX live at once.
    pub live_registers: u32,
    /// The first instruction before which that many are live (or, for a value that dies at
    /// once, the closest to it).
    pub demand_at: Pc,
    /// Bytes of parameters.
    pub param_bytes: u32,
    /// Static shared memory.
    pub shared_bytes: u32,
    /// Where dynamic shared memory begins, if the kernel uses it.
    pub dynamic_shared: Option<u32>,
    /// Local memory a thread.
    pub local_bytes: u32,
    /// `.const` variables that the kernel names, in bytes.
    pub const_bytes: u64,
    /// Basic blocks, and how many of them can be reached.
    pub blocks: (usize, usize),
    /// Conditional branches in order.
    pub branches: Vec<Branch>,
    /// Barriers in the code.
    pub barriers: usize,
}

/// Summarises one kernel of `program`.
pub fn summarize(program: &Program, kernel: &Kernel) -> Summary {
    let mut mix = [0; 5];
    for pc in 0..kernel.code.len() as Pc {
        let pipes = [Pipe::Int, Pipe::Fp, Pipe::Sfu, Pipe::Memory, Pipe::Control];
        if let Some(index) = pipes.iter().position(|p| *p == kernel.pipe(pc)) {
            mix[index] += 1;
        }
    }
    let branches = kernel.code.iter().enumerate().filter_map(|(pc, instr)| {
        (instr.op == Op::Bra && instr.guard.is_some()).then_some(Branch {
            pc: pc as Pc,
            line: instr.line,
            target: instr.target,
            reconverge: (instr.reconverge != NO_PC).then_some(instr.reconverge),
            likely: Some(instr.likely.loop_end).filter(|pc| *pc != NO_PC),
            uniform: instr.uniform,
            backward: instr.target <= pc as Pc,
        })
    });
    let barrier = |op: Op| matches!(op, Op::Bar | Op::Barrier);
    Summary {
        name: kernel.name.clone(),
        instructions: kernel.code.len(),
        mix,
        registers: kernel.registers.len(),
        rows: kernel.rows,
        predicate_slots: kernel.predicate_slots,
        register_demand: kernel.register_demand,
        register_floor: kernel.register_floor,
        live_registers: peak(kernel, &liveness(kernel)),
        demand_at: busiest(kernel),
        param_bytes: kernel.param_bytes,
        shared_bytes: kernel.shared_bytes,
        dynamic_shared: kernel.dynamic_shared,
        local_bytes: kernel.local_bytes,
        const_bytes: const_bytes(program, kernel),
        blocks: (
            kernel.blocks.len(),
            kernel.blocks.iter().filter(|b| b.reachable).count(),
        ),
        branches: branches.collect(),
        barriers: kernel
            .code
            .iter()
            .filter(|i| barrier(i.op) && !i.mods.warp)
            .count(),
    }
}

fn busiest(kernel: &Kernel) -> Pc {
    let live = liveness(kernel);
    let mut best = (0, 0);
    for index in 0..kernel.blocks.len() {
        if !kernel.blocks[index].reachable {
            continue;
        }
        live.walk_back(kernel, index, |pc, after| {
            let words = live_words(kernel, after);
            if words > best.0 || (words == best.0 && pc + 1 < best.1) {
                best = (words, pc + 1);
            }
        });
    }
    best.1.min(kernel.code.len() as Pc - 1)
}

fn const_bytes(program: &Program, kernel: &Kernel) -> u64 {
    let named: BTreeSet<u32> = kernel
        .code
        .iter()
        .flat_map(|i| &i.src)
        .filter_map(|operand| match operand {
            Operand::Symbol { index, .. } => Some(*index),
            Operand::Address {
                base: AddrBase::Symbol(index),
                ..
            } => Some(*index),
            _ => None,
        })
        .collect();
    named
        .iter()
        .filter_map(|index| program.symbols.get(*index as usize))
        .filter(|symbol| symbol.space == Space::Const)
        .map(|symbol| symbol.size)
        .sum()
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [int, fp, sfu, memory, control] = self.mix;
        writeln!(f, "kernel {}", shown(&self.name))?;
        writeln!(
            f,
            "  instructions  {} (int {int}, fp {fp}, sfu {sfu}, memory {memory}, control {control})",
            self.instructions
        )?;
        writeln!(
            f,
            "  registers     {} as assembled ({} without spills at least), {} live at most (near {}), \
             {} names in {} rows and {} predicate slots",
            self.register_demand,
            self.register_floor,
            self.live_registers,
            self.demand_at,
            self.registers,
            self.rows,
            self.predicate_slots
        )?;
        let dynamic = match self.dynamic_shared {
            Some(at) => format!(", dynamic from {at}"),
            None => String::new(),
        };
        writeln!(
            f,
            "  memory        param {} B, shared {} B{dynamic}, local {} B, const {} B",
            self.param_bytes, self.shared_bytes, self.local_bytes, self.const_bytes
        )?;
        writeln!(
            f,
            "  control       {} blocks ({} reachable), {} branches, {} barriers",
            self.blocks.0,
            self.blocks.1,
            self.branches.len(),
            self.barriers
        )?;
        for branch in &self.branches {
            let meet = match branch.reconverge {
                Some(pc) => format!("meets at {pc}"),
                None => "meets at exit".to_string(),
            };
            let kind = if branch.uniform {
                "uniform"
            } else {
                "may diverge"
            };
            let back = if branch.backward { ", loop" } else { "" };
            let likely = match branch.likely {
                Some(pc) => format!(", likely at {pc}"),
                None => String::new(),
            };
            writeln!(
                f,
                "    {:>5} -> {:<5} {meet:<16} {kind}{back}{likely} (line {})",
                branch.pc, branch.target, branch.line
            )?;
        }
        Ok(())
    }
}
