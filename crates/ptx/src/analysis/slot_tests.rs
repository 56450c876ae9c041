//! Random programs run by 32 threads that share one slotted register file, step by step in
//! random order, beside a run in which every thread has every register for itself. Whatever
//! a thread reads must be what it would read alone.

use super::slots::{by_graph, by_ranges};
use super::{finish, reads, writes};
use crate::isa::{Mods, Op, Type};
use crate::kernel::{Instr, Kernel, Likely, NO_PC, Operand, RegClass, RegId, Register};
use proptest::prelude::*;

const LANES: usize = 32;
const STEPS: usize = 1500;

pub(super) fn instr(op: Op, dst: Vec<Operand>, src: Vec<Operand>) -> Instr {
    Instr {
        op,
        mods: Mods::default(),
        guard: None,
        dst: dst.into(),
        src: src.into(),
        target: NO_PC,
        reconverge: NO_PC,
        likely: Likely::NOWHERE,
        uniform: false,
        intrinsic: None,
        line: 0,
        source: None,
    }
}

pub(super) fn kernel(registers: Vec<Register>, code: Vec<Instr>) -> Kernel {
    let mut kernel = Kernel {
        name: "random".into(),
        files: Default::default(),
        params: vec![],
        param_bytes: 0,
        code,
        registers,
        rows: 0,
        predicate_slots: 0,
        register_demand: 0,
        register_floor: 0,
        shared_bytes: 0,
        dynamic_shared: None,
        local_bytes: 0,
        spill_base: None,
        bounds: Default::default(),
        blocks: vec![],
        rolled: vec![],
        crossings: Default::default(),
        virtualised: Default::default(),
        undefined: vec![],
    };
    finish(&mut kernel, &[]);
    kernel
}

pub(super) fn register(class: RegClass) -> Register {
    let ty = match class {
        RegClass::Pred => Type::Pred,
        RegClass::B32 => Type::B32,
        RegClass::B64 => Type::B64,
    };
    Register {
        name: String::new(),
        number: 0,
        class,
        ty,
        slot: 0,
    }
}

/// The register file as the machine lays it out.
struct File {
    rows: Vec<u32>,
    predicates: Vec<u32>,
}

impl File {
    fn get(&self, reg: &Register, lane: usize) -> u64 {
        let row = reg.slot as usize * LANES;
        match reg.class {
            RegClass::Pred => u64::from(self.predicates[reg.slot as usize] >> lane & 1),
            RegClass::B32 => u64::from(self.rows[row + lane]),
            RegClass::B64 => {
                let at = row + 2 * lane;
                u64::from(self.rows[at]) | u64::from(self.rows[at + 1]) << 32
            }
        }
    }
    fn set(&mut self, reg: &Register, lane: usize, value: u64) {
        let row = reg.slot as usize * LANES;
        match reg.class {
            RegClass::Pred => {
                let slot = &mut self.predicates[reg.slot as usize];
                *slot = *slot & !(1 << lane) | ((value & 1) as u32) << lane;
            }
            RegClass::B32 => self.rows[row + lane] = value as u32,
            RegClass::B64 => {
                let at = row + 2 * lane;
                self.rows[at] = value as u32;
                self.rows[at + 1] = (value >> 32) as u32;
            }
        }
    }
}

fn fitted(class: RegClass, value: u64) -> u64 {
    match class {
        RegClass::Pred => value & 1,
        RegClass::B32 => value & 0xffff_ffff,
        RegClass::B64 => value,
    }
}

/// One thread: its place, its own registers (`None`: never written), atomics under way.
#[derive(Clone)]
struct Thread {
    pc: usize,
    own: Vec<Option<u64>>,
    late: Vec<(RegId, u64)>,
    done: bool,
}

fn run(kernel: &Kernel, choices: &[u8]) -> Result<(), TestCaseError> {
    let mut file = File {
        rows: vec![0xdead_beef; kernel.rows as usize * LANES],
        predicates: vec![0x5555_5555; kernel.predicate_slots as usize],
    };
    let thread = Thread {
        pc: 0,
        own: vec![None; kernel.registers.len()],
        late: vec![],
        done: false,
    };
    let mut threads = vec![thread; LANES];
    for step in 0..STEPS {
        let choice = choices[step % choices.len()].wrapping_add((step / choices.len()) as u8);
        let lane = usize::from(choice) % LANES;
        let thread = &mut threads[lane];
        if thread.done {
            continue;
        }
        let instr = &kernel.code[thread.pc];
        // The scoreboard holds an instruction that names a register still to arrive.
        let named: Vec<RegId> = reads(instr).chain(writes(instr)).collect();
        let hurry = choice & 0xe0 == 0;
        thread.late.retain(|(reg, value)| {
            let arrives = hurry || named.contains(reg);
            if arrives {
                file.set(&kernel.registers[reg.0 as usize], lane, *value);
            }
            !arrives
        });
        let mut known = true;
        for reg in reads(instr) {
            let seen = file.get(&kernel.registers[reg.0 as usize], lane);
            match thread.own[reg.0 as usize] {
                Some(value) => {
                    prop_assert_eq!(seen, value, "lane {} pc {} {:?}", lane, thread.pc, reg)
                }
                None => known = false,
            }
        }
        let pass = match instr.guard {
            Some((pred, negated)) => match thread.own[pred.0 as usize] {
                Some(value) => (value == 1) != negated,
                // What an undefined predicate does is undefined: this thread ends.
                None => {
                    thread.done = true;
                    continue;
                }
            },
            None => true,
        };
        let next = thread.pc + 1;
        thread.pc = next;
        if !pass {
            continue;
        }
        match instr.op {
            Op::Bra => thread.pc = instr.target as usize,
            Op::Ret => thread.done = true,
            _ => {
                // Element by element, reading again for each: the worst order there is.
                for (element, dst) in instr.dst.iter().enumerate() {
                    let Operand::Reg(dst) = dst else { continue };
                    let class = kernel.registers[dst.0 as usize].class;
                    let mut sum = element as u64 + lane as u64 * 3;
                    for src in &instr.src {
                        sum = sum.wrapping_add(match src {
                            Operand::Reg(r) => file.get(&kernel.registers[r.0 as usize], lane),
                            Operand::Imm(bits) => *bits,
                            _ => 0,
                        });
                    }
                    let value = fitted(class, sum);
                    let mut expected = element as u64 + lane as u64 * 3;
                    for src in &instr.src {
                        expected = expected.wrapping_add(match src {
                            Operand::Reg(r) if writes(instr).any(|w| w == *r) => {
                                file.get(&kernel.registers[r.0 as usize], lane)
                            }
                            Operand::Reg(r) => thread.own[r.0 as usize].unwrap_or(0),
                            Operand::Imm(bits) => *bits,
                            _ => 0,
                        });
                    }
                    let expected = fitted(class, expected);
                    if known {
                        prop_assert_eq!(value, expected, "lane {} pc {}", lane, next - 1);
                    }
                    thread.own[dst.0 as usize] = known.then_some(expected);
                    if instr.op == Op::Atom {
                        thread.late.push((*dst, value));
                    } else {
                        file.set(&kernel.registers[dst.0 as usize], lane, value);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Raw numbers become a program: so many registers of each class, few, so that they meet often.
/// Where `defined`, everything is written once at the start, so that what is read later is defined;
/// a first value that is written over before it is read is dead in between.
fn program(raw: &[(u8, u8, u8, u8, u8)], each: u16, defined: bool) -> Kernel {
    let classes = [RegClass::B32, RegClass::B64, RegClass::Pred];
    let registers: Vec<Register> = (0..each * 3)
        .map(|r| register(classes[usize::from(r / each)]))
        .collect();
    let value = |n: u8| RegId(u16::from(n) % (each * 2));
    let pred = |n: u8| RegId(each * 2 + u16::from(n) % each);
    let start = if defined { each * 3 } else { 0 };
    let mut code: Vec<Instr> = (0..start)
        .map(|r| {
            instr(
                Op::Mov,
                vec![Operand::Reg(RegId(r))],
                vec![Operand::Imm(u64::from(r))],
            )
        })
        .collect();
    let end = raw.len() as u32;
    let body = raw.iter().map(|(kind, a, b, c, guard)| {
        let mut result = match kind % 8 {
            0 => instr(
                Op::Mov,
                vec![Operand::Reg(value(*a))],
                vec![Operand::Imm(u64::from(*b))],
            ),
            1 | 2 => instr(
                Op::Add,
                vec![Operand::Reg(value(*a))],
                vec![Operand::Reg(value(*b)), Operand::Reg(value(*c))],
            ),
            3 | 4 => instr(
                Op::Setp,
                vec![Operand::Reg(pred(*a))],
                vec![Operand::Reg(value(*b)), Operand::Imm(u64::from(*c))],
            ),
            5 => instr(
                Op::Atom,
                vec![Operand::Reg(value(*a))],
                vec![Operand::Reg(value(*b))],
            ),
            6 => {
                let second = value(a.wrapping_add(1 + c % 5));
                instr(
                    Op::Ld,
                    vec![Operand::Reg(value(*a)), Operand::Reg(second)],
                    vec![Operand::Reg(value(*b))],
                )
            }
            _ => {
                let mut branch = instr(Op::Bra, vec![], vec![]);
                branch.target = u32::from(start) + u32::from(*a) % (end + 1);
                branch.guard = Some((pred(*b), c % 2 == 0));
                branch
            }
        };
        if guard % 4 == 0 && result.op != Op::Bra {
            result.guard = Some((pred(guard / 4), guard % 8 == 0));
        }
        result
    });
    code.extend(body);
    code.push(instr(Op::Ret, vec![], vec![]));
    kernel(registers, code)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn shared_slots_are_never_seen(
        raw in proptest::collection::vec(any::<(u8, u8, u8, u8, u8)>(), 4..60),
        choices in proptest::collection::vec(any::<u8>(), 64..200),
    ) {
        run(&program(&raw, 5, true), &choices)?;
    }

    /// Where there are thousands of registers their slots are found in another way.
    #[test]
    fn slots_by_ranges_are_those_by_the_graph(
        raw in proptest::collection::vec(any::<(u8, u8, u8, u8, u8)>(), 4..120),
        each in 2u16..40,
        defined in any::<bool>(),
    ) {
        let kernel = program(&raw, each, defined);
        let live = super::liveness(&kernel);
        prop_assert_eq!(by_ranges(&kernel, &live), by_graph(&kernel, &live));
    }
}

#[test]
fn registers_of_a_long_straight_line_share_slots() {
    let count = 300;
    let registers: Vec<Register> = (0..count).map(|_| register(RegClass::B32)).collect();
    let mut code = vec![instr(
        Op::Mov,
        vec![Operand::Reg(RegId(0))],
        vec![Operand::Imm(1)],
    )];
    for r in 1..count {
        let src = vec![Operand::Reg(RegId(r - 1)), Operand::Imm(1)];
        code.push(instr(Op::Add, vec![Operand::Reg(RegId(r))], src));
    }
    code.push(instr(Op::Ret, vec![], vec![]));
    let kernel = kernel(registers, code);
    let live = super::peak(&kernel, &super::liveness(&kernel));
    assert_eq!((kernel.rows, live), (1, 1));
}

#[test]
fn a_guarded_write_keeps_the_old_value_alive() {
    let registers = vec![
        register(RegClass::B32),
        register(RegClass::B32),
        register(RegClass::Pred),
    ];
    let reg = |n| Operand::Reg(RegId(n));
    let mut guarded = instr(Op::Mov, vec![reg(0)], vec![reg(1)]);
    guarded.guard = Some((RegId(2), false));
    let code = vec![
        instr(Op::Mov, vec![reg(0)], vec![Operand::Imm(1)]),
        instr(Op::Mov, vec![reg(1)], vec![Operand::Imm(2)]),
        guarded,
        instr(Op::St, vec![], vec![reg(0)]),
        instr(Op::Ret, vec![], vec![]),
    ];
    let kernel = kernel(registers, code);
    assert_eq!(kernel.register_demand, 2);
    assert_ne!(kernel.registers[0].slot, kernel.registers[1].slot);
}
