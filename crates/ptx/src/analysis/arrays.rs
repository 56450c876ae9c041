//! Which arrays in global memory a kernel reads and writes.
//!
//! A pointer comes from a parameter or is the address of a variable of the module, and what is computed from it points into the
//! same array. So each register has the *origins* of all that may be written to it; where several meet it has all of them. What
//! a kernel loads from memory may be any pointer if it is as wide as one, and is none if it is narrower: an index. An address
//! without an origin was put together in a way that is not seen through here.
//!
//! That holds as far as accesses stay within the array that their pointer points into, which CUDA asks for and warpsim does not check.

use super::access::Readers;
use crate::isa::{Op, Space, Type};
use crate::kernel::{AddrBase, Instr, Kernel, Operand, Pc, RegClass, RegId};
use std::collections::{BTreeMap, BTreeSet};

/// Where the pointer to an array comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Array {
    /// From the parameters, at this offset.
    Parameter(u32),
    /// It is a variable of the module, by its index there.
    Symbol(u32),
}

/// The arrays that are accessed in one way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Those that are known.
    pub arrays: BTreeSet<Array>,
    /// There may be others.
    pub others: bool,
}

impl Touched {
    /// Whether nothing is accessed.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty() && !self.others
    }

    fn add(&mut self, origins: Origins, names: &[Array]) {
        let known = names.iter().enumerate();
        let known = known.filter(|(bit, _)| origins & 1 << bit != 0);
        self.arrays.extend(known.map(|(_, array)| *array));
        self.others |= origins == 0 || origins & ANYWHERE != 0;
    }
}

/// What a kernel does with global memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrays {
    /// Loads, textures and surfaces among them.
    pub read: Touched,
    /// Stores.
    pub written: Touched,
    /// Atomics.
    pub updated: Touched,
}

/// A bit for each place that a pointer may come from, by its index in a list, and these two.
type Origins = u64;

/// Points anywhere.
const ANYWHERE: Origins = 1 << 63;
/// Points to what the thread or its block has for itself.
const PRIVATE: Origins = 1 << 62;
/// So many others are told apart; those behind may be anywhere.
const MOST: usize = 62;

/// Analyses `kernel`.
pub fn arrays(kernel: &Kernel) -> Arrays {
    Search::searched(kernel).accesses()
}

/// The arrays that an instruction may access in global memory.
pub fn arrays_at(kernel: &Kernel, pc: Pc) -> Touched {
    let mut search = Search::searched(kernel);
    let mut found = Touched::default();
    let Some(instr) = kernel.code.get(pc as usize) else {
        return found;
    };
    for operand in &instr.src {
        if let Operand::Address { base, .. } = operand {
            found.add(search.base(*base), &search.names);
        }
    }
    found
}

/// The types of the numbers that a kernel reads and writes through a pointer from its parameters and from nowhere else, by the
/// parameter's offset.
pub fn elements(kernel: &Kernel) -> BTreeMap<u32, Vec<Type>> {
    let mut search = Search::searched(kernel);
    let mut found: BTreeMap<u32, Vec<Type>> = BTreeMap::new();
    for instr in &kernel.code {
        let accesses = matches!(instr.op, Op::Ld | Op::Ldu | Op::St | Op::Atom | Op::Red);
        let addresses = instr.src.iter().filter_map(|operand| match operand {
            Operand::Address { base, .. } if accesses => Some(*base),
            _ => None,
        });
        for base in addresses {
            let origins = search.base(base);
            let place = (0..search.names.len()).find(|bit| origins == 1 << bit);
            if let Some(Array::Parameter(at)) = place.map(|bit| search.names[bit])
                && let Some(ty) = instr.mods.types[0]
            {
                let types = found.entry(at).or_default();
                if !types.contains(&ty) {
                    types.push(ty);
                }
            }
        }
    }
    found
}

struct Search<'a> {
    kernel: &'a Kernel,
    /// What the bits stand for.
    names: Vec<Array>,
    /// By register.
    origins: Vec<Origins>,
}

impl<'a> Search<'a> {
    /// The origins of all registers.
    fn searched(kernel: &'a Kernel) -> Search<'a> {
        let mut search = Search {
            kernel,
            names: Vec::new(),
            origins: vec![0; kernel.registers.len()],
        };
        search.run();
        search
    }

    /// Finds the origins of all registers: an instruction is looked at again when those of one that it reads have become more.
    fn run(&mut self) {
        let readers = Readers::new(self.kernel);
        let mut work: Vec<Pc> = (0..self.kernel.code.len() as Pc).rev().collect();
        while let Some(pc) = work.pop() {
            let instr = &self.kernel.code[pc as usize];
            for (place, dst) in instr.dst.iter().enumerate() {
                let Some(reg) = dst.register() else {
                    continue;
                };
                let now = match self.kernel.registers[usize::from(reg.0)].class {
                    RegClass::Pred => continue,
                    class => self.result(instr, place, class),
                };
                let origins = &mut self.origins[usize::from(reg.0)];
                if now & !*origins != 0 {
                    *origins |= now;
                    work.extend(readers.of(reg));
                }
            }
        }
    }

    /// The origins of what an instruction writes to the register at `place` among its destinations.
    fn result(&mut self, instr: &Instr, place: usize, class: RegClass) -> Origins {
        let wide = class == RegClass::B64;
        match (instr.op, instr.mods.space) {
            (Op::Ld, Some(Space::Param)) => match instr.src.first() {
                _ if !wide => 0,
                Some(&Operand::Address {
                    base: AddrBase::Zero,
                    offset,
                }) => u32::try_from(offset + 8 * place as i64)
                    .map_or(ANYWHERE, |at| self.bit(Array::Parameter(at))),
                _ => ANYWHERE,
            },
            (Op::Ld | Op::Ldu | Op::Atom | Op::Call, _) => match wide {
                true => ANYWHERE,
                false => 0,
            },
            (Op::Cvta, Some(Space::Shared | Space::Local | Space::Param)) if !instr.mods.to => {
                PRIVATE
            }
            // A number that has a fraction is no address.
            (Op::Cvt, _) if instr.mods.types[1].is_some_and(|ty| ty.is_float()) => 0,
            _ => {
                let sources = instr.src.iter();
                sources.fold(0, |all, operand| all | self.operand(operand))
            }
        }
    }

    /// The origins of a value.
    fn operand(&mut self, operand: &Operand) -> Origins {
        match operand {
            Operand::Reg(reg) => self.of(*reg),
            Operand::Symbol { index, .. } => self.bit(Array::Symbol(*index)),
            Operand::Address { base, .. } => self.base(*base),
            _ => 0,
        }
    }

    fn base(&mut self, base: AddrBase) -> Origins {
        match base {
            AddrBase::Reg(reg) => self.of(reg),
            AddrBase::Symbol(index) => self.bit(Array::Symbol(index)),
            AddrBase::Zero => 0,
        }
    }

    fn of(&self, reg: RegId) -> Origins {
        self.origins[usize::from(reg.0)]
    }

    /// The bit of a place that a pointer comes from.
    fn bit(&mut self, array: Array) -> Origins {
        let known = self.names.iter().position(|name| *name == array);
        let bit = known.unwrap_or_else(|| {
            if self.names.len() < MOST {
                self.names.push(array);
                return self.names.len() - 1;
            }
            MOST
        });
        match bit {
            MOST => ANYWHERE,
            bit => 1 << bit,
        }
    }

    /// What is accessed through these registers.
    fn accesses(mut self) -> Arrays {
        let mut found = Arrays::default();
        for instr in &self.kernel.code {
            let Arrays {
                read,
                written,
                updated,
            } = &mut found;
            let touched: &mut [&mut Touched] = match instr.op {
                Op::Ld | Op::Ldu => &mut [read],
                Op::St => &mut [written],
                Op::Atom | Op::Red => &mut [updated],
                // They are bound to arrays by the host.
                Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4 | Op::Suld => {
                    read.others = true;
                    continue;
                }
                Op::Sust => {
                    written.others = true;
                    continue;
                }
                Op::Sured => {
                    updated.others = true;
                    continue;
                }
                // They ask about addresses, or are about shared memory.
                Op::Prefetch | Op::Prefetchu | Op::Suq | Op::Txq => continue,
                Op::Ldmatrix | Op::Stmatrix | Op::Mbarrier => continue,
                // What is printed may be in memory.
                Op::Call => {
                    read.others = true;
                    continue;
                }
                // Copies, matrices.
                _ => &mut [read, written],
            };
            let global = matches!(
                instr.mods.space,
                None | Some(Space::Global | Space::Generic)
            );
            let addresses = instr.src.iter().filter_map(|operand| match operand {
                Operand::Address { base, .. } if global => Some(*base),
                _ => None,
            });
            for base in addresses {
                let origins = self.base(base);
                if origins != PRIVATE {
                    for touched in &mut *touched {
                        touched.add(origins, &self.names);
                    }
                }
            }
        }
        found
    }
}
