//! A kernel decoded for execution: operands resolved to rows, a function for each instruction.

use std::collections::HashMap;
use warpsim_ptx::isa::{Mode, Op};
use warpsim_ptx::kernel::{Instr, Kernel, Operand, Pc, RegClass, RegId, TexBase};

use super::decode::Decoder;
use super::fault::LoadError;
use super::iterations::Results;
use super::op::{Action, Cold, Decoded};
use super::rows::Rows;
use super::state::{Atomic, LANES, Lanes, Threads, lanes_of};

/// A kernel ready to execute.
pub struct Code {
    pub(super) ops: Vec<Decoded>,
    pub(super) cold: Vec<Cold>,
    pub(super) pool: Rows,
    registers: Vec<(u32, RegClass)>,
    pub(super) rows: u32,
    pub(super) predicate_slots: u32,
    pub(super) local_bytes: u32,
    next_block: Option<Pc>,
}

impl Code {
    /// Decodes a kernel. `symbols` holds the address of each of the program's symbols.
    pub fn new(kernel: &Kernel, symbols: &[u64]) -> Result<Code, LoadError> {
        for r in &kernel.registers {
            let (end, limit) = match r.class {
                RegClass::Pred => (r.slot + 1, kernel.predicate_slots),
                RegClass::B32 => (r.slot + 1, kernel.rows),
                RegClass::B64 => (r.slot + 2, kernel.rows),
            };
            if end > limit {
                return Err(LoadError {
                    kernel: kernel.name.clone(),
                    pc: 0,
                    place: "its registers".to_string(),
                    message: format!("register {} lies outside the register file", r.name),
                });
            }
        }
        let mut decoder = Decoder {
            kernel,
            symbols,
            pool: Rows::default(),
            known: HashMap::new(),
        };
        let mut ops = Vec::with_capacity(kernel.code.len());
        let mut colds = Vec::with_capacity(kernel.code.len());
        for (pc, instr) in kernel.code.iter().enumerate() {
            let (decoded, cold) = decoder.decode(instr).map_err(|message| LoadError {
                kernel: kernel.name.clone(),
                pc: pc as Pc,
                place: kernel.origin(pc as Pc).to_string(),
                message,
            })?;
            ops.push(decoded);
            colds.push(cold);
        }
        Ok(Code {
            ops,
            cold: colds,
            pool: decoder.pool,
            registers: kernel.registers.iter().map(|r| (r.slot, r.class)).collect(),
            rows: kernel.rows,
            predicate_slots: kernel.predicate_slots,
            local_bytes: kernel.local_bytes,
            next_block: (kernel.code.iter())
                .position(|instr| instr.op == Op::VtwNextTb)
                .map(|pc| pc as Pc),
        })
    }

    /// Whether every lane goes through the instruction at `pc` by itself, whichever lanes execute it with
    /// it: warps with threads of one home warp may then execute it as one.
    #[inline]
    pub fn goes_by_lane(&self, pc: Pc) -> bool {
        let instr = &self.cold[pc as usize].instr;
        match self.ops[pc as usize].action {
            Action::Alu(_) | Action::Access { .. } | Action::Branch => true,
            Action::Full(_) => match instr.op {
                Op::Ld | Op::Ldu | Op::St | Op::Cvta | Op::Isspacep => true,
                // Those that compute, of types that have no function for all lanes at once.
                Op::Cvt | Op::Mov | Op::Set | Op::Setp | Op::Add | Op::Sub | Op::Mul => true,
                Op::Min | Op::Max | Op::Fma | Op::Abs | Op::Neg | Op::Tanh | Op::Ex2 => true,
                // All lanes fetch from one texture.
                Op::Tex => matches!(instr.src[0], Operand::Texture(TexBase::Texref(_))),
                op => op.is_video(),
            },
        }
    }

    /// Whether the instruction at `pc` is a barrier that says the same to all threads, and asks
    /// nothing of them but to come.
    #[inline]
    pub fn is_plain_barrier(&self, pc: Pc) -> bool {
        let Instr {
            op,
            mods,
            guard,
            src,
            ..
        } = &self.cold[pc as usize].instr;
        matches!(op, Op::Bar | Op::Barrier)
            && !mods.warp
            && mods.mode != Some(Mode::Red)
            && guard.is_none()
            && src.iter().all(|s| matches!(s, Operand::Imm(_)))
    }

    /// Whether all threads that come to the instruction at `pc` exit.
    #[inline]
    pub fn is_plain_exit(&self, pc: Pc) -> bool {
        let Instr { op, guard, .. } = &self.cold[pc as usize].instr;
        matches!(op, Op::Exit | Op::Ret) && guard.is_none()
    }

    /// 32-bit register rows a warp needs.
    pub fn rows(&self) -> u32 {
        self.rows
    }
    /// Predicate registers a warp needs.
    pub fn predicate_slots(&self) -> u32 {
        self.predicate_slots
    }
    /// Local memory of a thread in bytes.
    pub fn local_bytes(&self) -> u32 {
        self.local_bytes
    }
    /// The instruction as lowered.
    #[inline]
    pub fn instr(&self, pc: Pc) -> &Instr {
        &self.cold[pc as usize].instr
    }
    /// Where the threads of a virtual block end their iteration.
    #[inline]
    pub fn next_block(&self) -> Option<Pc> {
        self.next_block
    }
    /// Number of instructions.
    #[inline]
    pub fn len(&self) -> usize {
        self.ops.len()
    }
    /// No instruction at all (kernels always have some).
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    fn place(&self, reg: RegId) -> Option<(usize, RegClass)> {
        let &(slot, class) = self.registers.get(usize::from(reg.0))?;
        Some((slot as usize, class))
    }

    /// Writes a value to a register (or predicate) of the thread on `lane`.
    pub fn write_register(
        &self,
        lanes: &Lanes,
        reg: RegId,
        lane: usize,
        value: u64,
        threads: &mut Threads,
    ) {
        let warp = &mut threads.warps[usize::from(lanes.home(lane))];
        match self.place(reg) {
            Some((slot, RegClass::Pred)) => {
                let p = &mut warp.predicates[slot];
                *p = *p & !(1 << lane) | u32::from(value != 0) << lane;
            }
            Some((slot, RegClass::B32)) => warp.rows[slot * LANES + lane] = value as u32,
            Some((slot, RegClass::B64)) => {
                let at = slot * LANES + 2 * lane;
                warp.rows[at] = value as u32;
                warp.rows[at + 1] = (value >> 32) as u32;
            }
            None => {}
        }
    }

    /// Writes the answer of `vtw.next_tb` to the registers of a home warp's threads.
    pub fn answer_block(
        &self,
        home: u16,
        lanes: u32,
        results: Results,
        block: Option<u64>,
        threads: &mut Threads,
    ) {
        let group = Lanes::Static(home);
        threads.warps[usize::from(home)].done = 0;
        let values = [block.unwrap_or(0), u64::from(block.is_some())];
        for (register, value) in results.into_iter().zip(values) {
            let Some(register) = register else { continue };
            for lane in lanes_of(lanes) {
                self.write_register(&group, register, lane, value, threads);
            }
        }
    }

    /// Writes the old value that a global atomic returned to the thread on `lane`.
    pub fn complete_atomic(
        &self,
        lanes: &Lanes,
        atomic: &Atomic,
        lane: usize,
        old: u64,
        threads: &mut Threads,
    ) {
        if let Some(reg) = atomic.dst {
            let bits = 8 * atomic.ty.bytes();
            let value = if atomic.ty.is_signed() {
                ((old << (64 - bits)) as i64 >> (64 - bits)) as u64
            } else {
                old
            };
            self.write_register(lanes, reg, lane, value, threads);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    fn decoded(body: &str) -> Code {
        let ptx = format!(
            ".version 4.3\n.target sm_35\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b32 %r<10>; .reg .pred %p<1>;\n{body} ret;\n}}"
        );
        let module = warpsim_ptx::parse::parse(&ptx).expect("it parses");
        let program = warpsim_ptx::lower::lower(&module).expect("it lowers");
        let kernel = program.kernels[0].clone().into_kernel();
        Code::new(&kernel, &[]).expect("it decodes")
    }

    /// What is said of the first instruction of a body.
    fn of(body: &str) -> (bool, bool) {
        let code = decoded(body);
        (code.goes_by_lane(0), code.is_plain_barrier(0))
    }

    #[test]
    fn a_plain_exit_is_one_of_all_who_come_to_it() {
        assert!(decoded("exit;").is_plain_exit(0));
        assert!(decoded("").is_plain_exit(0), "the return behind it");
        for body in ["@%p0 exit;", "bar.sync 0;", "mov.u32 %r1, 1;"] {
            assert!(!decoded(body).is_plain_exit(0), "{body}");
        }
    }

    #[test]
    fn lanes_go_by_themselves_through_what_looks_at_no_other() {
        for body in [
            "add.u32 %r1, %r2, %r3;",
            "mov.u32 %r1, %tid.x;",
            "ld.shared.u32 %r1, [%r2];",
            "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];",
            "st.shared.v2.u32 [%r5], {%r1, %r2};",
            "cvt.sat.f32.f32 %r1, %r2;",
            "vadd.s32.s32.s32 %r1, %r2, %r3;",
        ] {
            assert_eq!(of(body), (true, false), "{body}");
        }
        for body in [
            "vote.ballot.b32 %r1, %p0;",
            "shfl.bfly.b32 %r1, %r2, 1, 31;",
            "atom.shared.add.u32 %r1, [%r2], 1;",
            "membar.cta;",
            "exit;",
        ] {
            assert_eq!(of(body), (false, false), "{body}");
        }
    }

    #[test]
    fn a_plain_barrier_says_the_same_to_all_and_asks_nothing_else() {
        for body in ["bar.sync 0;", "bar.sync 3, 64;", "bar.arrive 1, 64;"] {
            assert_eq!(of(body), (false, true), "{body}");
        }
        for body in [
            "bar.sync %r1;",
            "@%p0 bar.sync 0;",
            "bar.red.popc.u32 %r1, 0, %p0;",
        ] {
            assert_eq!(of(body), (false, false), "{body}");
        }
    }
}
