//! Spilling: when a kernel may have fewer registers than it needs, some values are kept in local
//! memory, stored after each write and loaded before each read.
//!
//! Registers are rewritten in the lowered kernel, so the simulator executes and times the traffic
//! like any other. A spilled register keeps its name: it now lives only from a load to the
//! instruction that reads it, or from a write to the store behind it.

use super::super::{Loops, finish, liveness, reads, words, writes};
use crate::analysis::RegSet;
use crate::isa::{Mods, Op, Space, Special, Type};
use crate::kernel::{
    AddrBase, Destinations, Instr, Kernel, Likely, NO_PC, Operand, Pc, RegClass, RegId, Sources,
};
use smallvec::smallvec;

/// A loop is taken to run so many times when the cost of spilling is weighed.
const ROUNDS: u64 = 10;
/// After so many rounds of spilling that did not help, what a single operation needs is what is
/// left.
const PATIENCE: u32 = 4;

/// The kernel with as few registers as it may have, or `None` when it needs no spilling for that.
/// Where even spilling everything does not do, what is left over is simply not counted.
pub fn fit(kernel: &Kernel, limit: u32) -> Option<Kernel> {
    if kernel.register_floor <= limit {
        return None;
    }
    let mut chosen = RegSet::new(kernel.registers.len());
    let mut tried = kernel.clone();
    let mut best = kernel.clone();
    let mut in_vain = 0;
    while best.register_floor > limit && in_vain < PATIENCE {
        let excess = tried.register_floor.saturating_sub(limit);
        if !choose(&tried, excess, &mut chosen) {
            break;
        }
        tried = rewrite(kernel, &chosen);
        in_vain += 1;
        if tried.register_floor < best.register_floor {
            best = tried.clone();
            in_vain = 0;
        }
    }
    best.register_demand = best.register_demand.min(limit);
    Some(best)
}

/// Adds registers of about `excess` words to `chosen`: the cheapest of those that are live where
/// most are. False when there is none left.
fn choose(kernel: &Kernel, excess: u32, chosen: &mut RegSet) -> bool {
    let candidates = live_where_most_are(kernel, chosen);
    let weights = weights(kernel);
    let mut ranked: Vec<(u64, u16)> = candidates
        .iter()
        .map(|reg| {
            let size = u64::from(words(kernel.registers[reg.0 as usize].class)).max(1);
            (weights[reg.0 as usize] * 2 / size, reg.0)
        })
        .collect();
    ranked.sort_unstable();
    let mut freed = 0;
    for (_, reg) in &ranked {
        if freed >= excess {
            break;
        }
        chosen.insert(RegId(*reg));
        freed += words(kernel.registers[usize::from(*reg)].class);
    }
    !ranked.is_empty()
}

/// Registers that live across the busiest place, except those that are spilled already or cost
/// nothing to have.
fn live_where_most_are(kernel: &Kernel, chosen: &RegSet) -> RegSet {
    let free = constants(kernel);
    let live = liveness(kernel);
    let mut best = (0, RegSet::new(kernel.registers.len()));
    for (index, block) in kernel.blocks.iter().enumerate() {
        if !block.reachable {
            continue;
        }
        live.walk_back(kernel, index, |pc, after| {
            let instr = &kernel.code[pc as usize];
            let mut across = RegSet::new(kernel.registers.len());
            let mut weight = 0;
            for reg in after.iter() {
                let size = words(kernel.registers[reg.0 as usize].class);
                if size == 0 || free.contains(reg) {
                    continue;
                }
                weight += size;
                let here = reads(instr).chain(writes(instr)).any(|r| r == reg);
                if !here && !chosen.contains(reg) {
                    across.insert(reg);
                }
            }
            if weight > best.0 && across.iter().next().is_some() {
                best = (weight, across);
            }
        });
    }
    best.1
}

/// Registers written once with what instructions can read where it lies.
fn constants(kernel: &Kernel) -> RegSet {
    let mut writers = vec![0u32; kernel.registers.len()];
    let mut found = RegSet::new(kernel.registers.len());
    for instr in &kernel.code {
        let constant = match (instr.op, instr.src.first()) {
            (Op::Mov, Some(Operand::Imm(_) | Operand::Symbol { .. })) => true,
            (Op::Mov, Some(Operand::Special(special))) => {
                matches!(special, Special::Ntid(_) | Special::Nctaid(_))
            }
            (Op::Ld, Some(Operand::Address { base, .. })) => {
                instr.mods.space == Some(Space::Param) && *base == AddrBase::Zero
            }
            (Op::Cvta, Some(Operand::Reg(reg))) => found.contains(*reg),
            _ => false,
        };
        for reg in writes(instr) {
            writers[reg.0 as usize] += 1;
            if constant && instr.guard.is_none() {
                found.insert(reg);
            }
        }
    }
    for (reg, writers) in writers.iter().enumerate() {
        if *writers != 1 {
            found.remove(RegId(reg as u16));
        }
    }
    found
}

/// How often each register is read and written, loops counted [`ROUNDS`] times.
fn weights(kernel: &Kernel) -> Vec<u64> {
    let successors: Vec<Vec<u32>> = kernel.blocks.iter().map(|b| b.successors.clone()).collect();
    let loops = Loops::of(&successors);
    let mut weights = vec![0u64; kernel.registers.len()];
    for (index, block) in kernel.blocks.iter().enumerate() {
        let weight = ROUNDS.saturating_pow(loops.depth(index as u32));
        for pc in block.start..block.end {
            let instr = &kernel.code[pc as usize];
            for reg in reads(instr).chain(writes(instr)) {
                let sum = &mut weights[reg.0 as usize];
                *sum = sum.saturating_add(weight).min(u64::MAX / 4);
            }
        }
    }
    weights
}

/// The kernel with these registers in local memory.
fn rewrite(kernel: &Kernel, chosen: &RegSet) -> Kernel {
    let mut spilled = kernel.clone();
    let base = kernel.local_bytes.next_multiple_of(8);
    let mut top = base;
    let mut slots = vec![0; kernel.registers.len()];
    for reg in chosen.iter() {
        // Eight bytes each: a wide one is aligned, and the assembler's frame is as large.
        slots[reg.0 as usize] = top;
        top += 8;
    }
    spilled.local_bytes = top;
    spilled.spill_base = Some(base);
    let mut places: Vec<Pc> = Vec::with_capacity(kernel.code.len());
    spilled.code = Vec::with_capacity(kernel.code.len());
    for instr in &kernel.code {
        places.push(spilled.code.len() as Pc);
        let mut loaded: Vec<RegId> = reads(instr).filter(|r| chosen.contains(*r)).collect();
        if instr.guard.is_some() {
            // Threads that the guard holds back keep what they had.
            loaded.extend(writes(instr).filter(|r| chosen.contains(*r)));
        }
        loaded.sort_unstable();
        loaded.dedup();
        for reg in loaded {
            let access = access(kernel, instr, reg, slots[reg.0 as usize], true);
            spilled.code.push(access);
        }
        spilled.code.push(instr.clone());
        let mut stored: Vec<RegId> = writes(instr).filter(|r| chosen.contains(*r)).collect();
        stored.sort_unstable();
        stored.dedup();
        for reg in stored {
            let access = access(kernel, instr, reg, slots[reg.0 as usize], false);
            spilled.code.push(access);
        }
    }
    for instr in spilled.code.iter_mut().filter(|i| i.target != NO_PC) {
        instr.target = places[instr.target as usize];
    }
    for pc in &mut spilled.rolled {
        *pc = places.get(*pc as usize).copied().unwrap_or(*pc);
    }
    spilled.crossings = kernel.crossings.moved(&places);
    let named = |b: &crate::kernel::BasicBlock| Some((places[b.start as usize], b.label.clone()?));
    let labels: Vec<(u32, String)> = kernel.blocks.iter().filter_map(named).collect();
    finish(&mut spilled, &labels);
    spilled
}

/// A load or a store of a spilled register, for the instruction beside it.
fn access(kernel: &Kernel, beside: &Instr, reg: RegId, slot: u32, load: bool) -> Instr {
    let ty = match kernel.registers[reg.0 as usize].class {
        RegClass::B64 => Type::B64,
        _ => Type::B32,
    };
    let mods = Mods {
        types: [Some(ty), None, None],
        space: Some(Space::Local),
        ..Mods::default()
    };
    let address = Operand::Address {
        base: AddrBase::Zero,
        offset: i64::from(slot),
    };
    let register = Operand::Reg(reg);
    let (dst, src): (Destinations, Sources) = match load {
        true => (smallvec![register], smallvec![address]),
        false => (smallvec![], smallvec![address, register]),
    };
    Instr {
        op: if load { Op::Ld } else { Op::St },
        mods,
        guard: beside.guard.filter(|_| !load),
        dst,
        src,
        target: NO_PC,
        reconverge: NO_PC,
        likely: Likely::NOWHERE,
        uniform: false,
        intrinsic: None,
        line: beside.line,
        source: beside.source,
    }
}
