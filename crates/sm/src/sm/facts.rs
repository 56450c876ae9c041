//! What timing needs to know of each instruction, looked up once when a kernel is loaded.

use super::units::UnitPlan;
use super::work::work_of;
use crate::config::{Machine, OpClass, Work};
use crate::exec::iterations::may_access_shared;
use crate::power::Side;
use warpsim_ptx::isa::{Async, CacheOp, Op, Pipe, Sem, Space, Type};
use warpsim_ptx::kernel::{AddrBase, Instr, Kernel, Operand, RegId, Virtualised};
use warpsim_ptx::tensor::Role;

/// Registers of an instruction that share a word of the scoreboard: register r is bit r mod 64
/// of word r / 64. Most instructions have one of these: registers are numbered as they appear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterWord {
    /// Word number.
    pub word: u16,
    /// Sources and guard.
    pub reads: u64,
    /// Destinations.
    pub writes: u64,
}

/// What few instructions have beside their [`OpFacts`].
#[derive(Clone, Debug, Default)]
pub struct Further {
    /// Registers in other words of the scoreboard than the first.
    pub registers: Vec<RegisterWord>,
    /// Banks to read a second time, a third time and so on: repeated registers count each time.
    pub read_again: Vec<Banks>,
}

/// A set of banks of the register file, a bit each, as warp 0 has it; warp w has the same registers
/// w banks further on. The set is repeated until it fills the word (the number of banks is a power
/// of two, at most 64), so that this is a rotation, whatever the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Banks(u64);

impl Banks {
    fn add(&mut self, bank: u32, banks: u32) {
        for at in (bank..u64::BITS).step_by(banks as usize) {
            self.0 |= 1 << at;
        }
    }

    fn has(self, bank: u32) -> bool {
        self.0 >> bank & 1 != 0
    }

    /// The banks in which a warp has these registers, repeated likewise: sets of one SM can be
    /// compared as they are.
    #[inline]
    pub fn of(self, slot: u16) -> u64 {
        self.0.rotate_left(u32::from(slot) % u64::BITS)
    }
}

/// Timing facts of one instruction: what the cycle asks of most instructions, in 64 bytes, which is
/// a line of the host's cache. The rest of the few that have more is in [`Further`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct OpFacts {
    /// The kind of units that the instruction issues to.
    pub unit: u8,
    /// The instruction goes to the load/store unit.
    memory: bool,
    /// What it goes through, for statistics and policies.
    pub through: Through,
    /// Cycles from its entering a unit to its last lanes' leaving it.
    pub latency: u16,
    /// Cycles its unit's entry is held for all its lanes.
    pub interval: u16,
    /// How often the lanes are used for it.
    pub passes: u8,
    /// Loads from memory other than shared and constant: the results are "long".
    pub long: bool,
    /// Can change the PC other than by one.
    pub control: bool,
    /// Goes to memory past the L1 if it loads.
    pub uncached: bool,
    /// What it brings back, if it goes to memory.
    pub traffic: Traffic,
    /// Most reads of one bank: the cycles that its reads take if nothing is in their way.
    pub reads: u8,
    /// What it makes the lanes do, and the registers that this reads and writes, for the energy
    /// ledger.
    pub work: Work,
    #[allow(missing_docs)]
    pub operands: u8,
    /// Banks of the source operands to collect.
    pub read_banks: Banks,
    /// Banks of the destinations.
    pub write_banks: Banks,
    /// Registers whose pending writes hold it back, as bits of a scoreboard word: those in its
    /// first word.
    pub registers: RegisterWord,
    further: Option<Box<Further>>,
}

const _: () = assert!(size_of::<OpFacts>() == 64);

/// What an instruction that goes to memory brings back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Registers, or nothing that a warp waits for.
    Other,
    /// A store, or an atomic without a result.
    Store,
    /// A copy to shared memory, for which the warp does not wait.
    Copy,
    /// Nothing, where it is no load: what it reads is an operand of other instructions (`sm.constant_operands`).
    Operand,
}

/// What an instruction goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    /// Pipe class.
    pub pipe: Pipe,
    /// The pipeline of the lanes that does its work on this machine, if it is one of the two.
    pub side: Option<Side>,
}

impl OpFacts {
    /// Whether it goes to the load/store unit.
    #[inline]
    pub fn is_memory(&self) -> bool {
        self.memory
    }

    /// Has another source operand to collect, in this of `banks` banks.
    fn add_read(&mut self, bank: u32, banks: u32) {
        if !self.read_banks.has(bank) {
            self.read_banks.add(bank, banks);
            self.reads = self.reads.max(1);
            return;
        }
        let again = &mut self.further.get_or_insert_default().read_again;
        if let Some(set) = again.iter_mut().find(|set| !set.has(bank)) {
            set.add(bank, banks);
        } else {
            let mut set = Banks::default();
            set.add(bank, banks);
            again.push(set);
        }
        self.reads = 1 + again.len() as u8;
    }

    /// What it has beside this, if anything.
    #[inline(always)]
    pub fn further(&self) -> Option<&Further> {
        self.further.as_deref()
    }

    /// The further words with destinations: all words that have some come first.
    #[inline(always)]
    pub fn further_written(&self) -> impl Iterator<Item = &RegisterWord> {
        let further = self.further().filter(|_| self.registers.writes != 0);
        let words = further.into_iter().flat_map(|f| &f.registers);
        words.take_while(|word| word.writes != 0)
    }

    /// All its registers.
    pub fn all_registers(&self) -> impl Iterator<Item = &RegisterWord> {
        let further = self.further().into_iter().flat_map(|f| &f.registers);
        std::iter::once(&self.registers).chain(further)
    }
}

/// Facts for every instruction of a kernel.
pub fn op_facts(kernel: &Kernel, machine: &Machine) -> Vec<OpFacts> {
    let plan = UnitPlan::of(machine);
    let code = kernel.code.iter();
    code.map(|i| op_facts_of(i, kernel, machine, &plan))
        .collect()
}

fn op_facts_of(instr: &Instr, kernel: &Kernel, machine: &Machine, plan: &UnitPlan) -> OpFacts {
    let is_operand = machine.sm.constant_operands && is_constant_operand(instr);
    let class = match instr.op {
        // An operand load issues where a move would, and enters no pipeline.
        _ if is_operand => OpClass::Other,
        Op::Membar | Op::Fence if machine.sm.fences_take_memory_unit => OpClass::Memory,
        _ => class_of(instr),
    };
    let work = work_of(instr.op, &instr.mods);
    let [latency, interval] = class.timing(&machine.latency);
    let passes = machine.passes(class) as u16;
    let banks = machine.collector.banks;
    let ignore_sources =
        machine.sm.atomics_ignore_address_hazard && matches!(instr.op, Op::Atom | Op::Red);
    let mut facts = OpFacts {
        unit: plan.kind_of(class),
        memory: class == OpClass::Memory,
        through: Through {
            pipe: match is_operand {
                true => Op::Mov.pipe(&instr.mods),
                false => instr.op.pipe(&instr.mods),
            },
            side: Side::of(work, machine),
        },
        work,
        operands: 0,
        latency: latency as u16 + passes - 1,
        interval: (interval as u16).max(passes),
        passes: passes as u8,
        reads: 0,
        registers: RegisterWord::default(),
        further: None,
        read_banks: Banks::default(),
        write_banks: Banks::default(),
        long: is_long(instr),
        control: matches!(instr.op, Op::Bra | Op::Ret | Op::Exit),
        uncached: is_uncached(instr),
        traffic: match is_operand {
            true => Traffic::Operand,
            false => traffic(instr),
        },
    };
    let bank = |r: RegId| kernel.registers[r.0 as usize].number % banks;
    // Destinations first: see `further_written`.
    for written in &instr.dst {
        if let Operand::Reg(r) | Operand::NotReg(r) = written {
            word_of(&mut facts, *r).writes |= 1 << (r.0 % 64);
            if !is_operand {
                facts.write_banks.add(bank(*r), banks);
            }
            facts.operands += 1;
        }
    }
    if matches!(&kernel.virtualised, Virtualised::Form(form) if form.hardware)
        && may_access_shared(instr, kernel)
    {
        // Warps that are ahead of siblings are owed this one: see `residents::iterate`.
        let token = RegId(kernel.registers.len() as u16);
        word_of(&mut facts, token).reads |= 1 << (token.0 % 64);
    }
    if let Some((guard, _)) = instr.guard {
        word_of(&mut facts, guard).reads |= 1 << (guard.0 % 64);
    }
    if !ignore_sources {
        for r in instr.src.iter().filter_map(Operand::register) {
            word_of(&mut facts, r).reads |= 1 << (r.0 % 64);
            facts.add_read(bank(r), banks);
            facts.operands += 1;
        }
    }
    facts
}

fn word_of(facts: &mut OpFacts, register: RegId) -> &mut RegisterWord {
    let word = register.0 / 64;
    let first = &mut facts.registers;
    if first.reads | first.writes == 0 {
        first.word = word;
    }
    if first.word == word {
        return first;
    }
    let others = &mut facts.further.get_or_insert_default().registers;
    let at = others.iter().position(|w| w.word == word);
    let at = at.unwrap_or_else(|| {
        others.push(RegisterWord {
            word,
            ..RegisterWord::default()
        });
        others.len() - 1
    });
    &mut others[at]
}

/// Results of loads from global, local, generic and texture memory (and of atomics) take
/// long enough that the two-level scheduler sets a warp aside for them.
fn is_long(instr: &Instr) -> bool {
    match instr.op {
        Op::Ld | Op::Ldu => !matches!(
            instr.mods.space,
            Some(Space::Shared | Space::Const | Space::Param)
        ),
        Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4 | Op::Suld | Op::Atom => true,
        Op::Wmma => {
            matches!(instr.mods.tensor, Some(t) if matches!(t.role, Role::Load(_)))
                && instr.mods.space != Some(Space::Shared)
        }
        _ => false,
    }
}

/// Whether it reads a constant or a kernel parameter from an address that it names: what a native instruction set has
/// as an operand. One whose address is in a register is a load there, too.
fn is_constant_operand(instr: &Instr) -> bool {
    let named = |operand: &Operand| {
        let base = match operand {
            Operand::Address { base, .. } => base,
            _ => return false,
        };
        !matches!(base, AddrBase::Reg(_))
    };
    let space = matches!(instr.mods.space, Some(Space::Const | Space::Param));
    matches!(instr.op, Op::Ld | Op::Ldu) && space && instr.src.iter().all(named)
}

fn traffic(instr: &Instr) -> Traffic {
    let store = match instr.op {
        Op::St | Op::Red | Op::Sust | Op::Sured | Op::Stmatrix => true,
        Op::Wmma => matches!(instr.mods.tensor, Some(t) if matches!(t.role, Role::Store(_))),
        _ => false,
    };
    match instr.mods.asynchronous {
        Some(Async::Copy(_)) => Traffic::Copy,
        _ if store => Traffic::Store,
        _ => Traffic::Other,
    }
}

/// By its cache operator, or because others have to see it.
fn is_uncached(instr: &Instr) -> bool {
    matches!(instr.mods.cache, Some(CacheOp::Cg | CacheOp::Cv))
        || matches!(
            instr.mods.sem,
            Some(Sem::Volatile | Sem::Relaxed | Sem::Acquire | Sem::Mmio)
        )
}

/// The class of an operation.
pub fn class_of(instr: &Instr) -> OpClass {
    use OpClass::*;
    let ty = operation_type(instr);
    let double = ty == Some(Type::F64);
    let float = ty.is_some_and(Type::is_float);
    let arithmetic = |int, single, dp| match (double, float) {
        (true, _) => dp,
        (_, true) => single,
        _ => int,
    };
    match instr.op {
        Op::Add | Op::Sub | Op::Addc | Op::Subc => arithmetic(IntAdd, Fp32Add, Fp64Add),
        Op::Min | Op::Max => arithmetic(IntMinmax, Fp32Minmax, Fp64Minmax),
        Op::Mul | Op::Mul24 => arithmetic(IntMul, Fp32Mul, Fp64Mul),
        Op::Mad | Op::Mad24 | Op::Madc | Op::Dp2a | Op::Dp4a => {
            arithmetic(IntMad, Fp32Mad, Fp64Mad)
        }
        Op::Fma => arithmetic(Fp32Fma, Fp32Fma, Fp64Fma),
        Op::Div => arithmetic(IntDiv, Fp32Div, Fp64Div),
        Op::Rem => IntRem,
        Op::Mma => Tensor,
        Op::Wmma if instr.op.pipe(&instr.mods) != Pipe::Memory => Tensor,
        Op::Membar | Op::Fence => Other,
        _ => match instr.op.pipe(&instr.mods) {
            Pipe::Sfu => Sfu,
            Pipe::Memory => Memory,
            _ => Other,
        },
    }
}

/// The type that decides an operation's class.
fn operation_type(instr: &Instr) -> Option<Type> {
    instr.mods.types[0]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An instruction that reads registers in these of `banks` banks.
    pub fn reading(reads: &[u32], banks: u32) -> OpFacts {
        let mut facts = OpFacts {
            uncached: false,
            traffic: Traffic::Other,
            unit: 0,
            memory: false,
            through: Through {
                pipe: Pipe::Int,
                side: Some(Side::Int),
            },
            work: Work::IntAdd,
            operands: 0,
            latency: 4,
            interval: 1,
            passes: 1,
            long: false,
            control: false,
            reads: 0,
            read_banks: Banks::default(),
            write_banks: Banks::default(),
            registers: RegisterWord::default(),
            further: None,
        };
        reads.iter().for_each(|&bank| facts.add_read(bank, banks));
        facts
    }

    #[test]
    fn a_warp_has_its_registers_further_on() {
        for banks in [1, 2, 16, 64] {
            for (bank, slot) in [(0, 0), (3, 14), (15, 47), (1, 1000)] {
                let bank = bank % banks;
                let mut set = Banks::default();
                set.add(bank, banks);
                let found = (bank + slot) % banks;
                for at in 0..u64::BITS {
                    let is = set.of(slot as u16) >> at & 1 != 0;
                    assert_eq!(is, at % banks == found, "{banks} {bank} {slot} {at}");
                }
            }
        }
    }
}
