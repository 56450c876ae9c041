//! Random programs without loops, run by 32 threads: those that reach a branch which is
//! proven uniform must all go the same way. (Loops have tests by hand: there, which passes
//! of two threads correspond is the question itself.)

use super::slot_tests::{instr, kernel, register};
use crate::isa::{Op, Special};
use crate::kernel::{Kernel, Operand, RegClass, RegId};
use proptest::prelude::*;

const EACH: u16 = 6;

/// Which way a thread went at each branch that it reached.
fn decisions(kernel: &Kernel, thread: u64) -> Vec<Option<bool>> {
    let mut registers = vec![0u64; kernel.registers.len()];
    let mut taken = vec![None; kernel.code.len()];
    let mut pc = 0;
    loop {
        let instr = &kernel.code[pc];
        let pass = instr
            .guard
            .is_none_or(|(p, negated)| (registers[p.0 as usize] & 1 == 1) != negated);
        if instr.op == Op::Bra {
            taken[pc] = Some(pass);
        }
        pc += 1;
        if !pass {
            continue;
        }
        match instr.op {
            Op::Bra => pc = instr.target as usize,
            Op::Ret => return taken,
            _ => {
                let sum = instr.src.iter().fold(0u64, |sum, operand| {
                    sum.wrapping_add(match operand {
                        Operand::Reg(r) => registers[r.0 as usize],
                        Operand::Imm(bits) => *bits,
                        _ => thread,
                    })
                });
                if let Some(Operand::Reg(dst)) = instr.dst.first() {
                    registers[dst.0 as usize] = sum;
                }
            }
        }
    }
}

fn program(raw: &[(u8, u8, u8, u8, u8)]) -> Kernel {
    let registers = (0..EACH * 2)
        .map(|r| {
            register(if r < EACH {
                RegClass::B32
            } else {
                RegClass::Pred
            })
        })
        .collect();
    let value = |n: u8| RegId(u16::from(n) % EACH);
    let pred = |n: u8| RegId(EACH + u16::from(n) % EACH);
    let mut code = Vec::new();
    for (pc, (kind, a, b, c, guard)) in raw.iter().enumerate() {
        let mut result = match kind % 16 {
            0 => instr(
                Op::Mov,
                vec![Operand::Reg(value(*a))],
                vec![Operand::Special(Special::Tid(0))],
            ),
            1..4 => instr(
                Op::Mov,
                vec![Operand::Reg(value(*a))],
                vec![Operand::Imm(u64::from(*b))],
            ),
            4..7 => instr(
                Op::Add,
                vec![Operand::Reg(value(*a))],
                vec![Operand::Reg(value(*b)), Operand::Reg(value(*c))],
            ),
            7..11 => instr(
                Op::Setp,
                vec![Operand::Reg(pred(*a))],
                vec![Operand::Reg(value(*b)), Operand::Imm(u64::from(*c))],
            ),
            _ => {
                let mut branch = instr(Op::Bra, vec![], vec![]);
                let ahead = raw.len() - pc;
                branch.target = (pc + 1 + usize::from(*a) % ahead.min(8)) as u32;
                branch.guard = Some((pred(*b), c % 2 == 0));
                branch
            }
        };
        if guard % 8 == 0 && result.op != Op::Bra {
            result.guard = Some((pred(guard / 8), guard % 16 == 0));
        }
        code.push(result);
    }
    code.push(instr(Op::Ret, vec![], vec![]));
    kernel(registers, code)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn threads_agree_at_uniform_branches(
        raw in proptest::collection::vec(any::<(u8, u8, u8, u8, u8)>(), 4..60),
    ) {
        let kernel = program(&raw);
        let runs: Vec<_> = (0..32).map(|thread| decisions(&kernel, thread)).collect();
        for pc in (0..kernel.code.len()).filter(|pc| kernel.code[*pc].uniform) {
            let mut ways = runs.iter().filter_map(|run| run[pc]);
            let first = ways.next();
            prop_assert!(ways.all(|way| Some(way) == first), "threads part at {}", pc);
        }
    }
}
