//! `cp.async` and `mbarrier`.

use crate::ast::{self, Instruction};
use crate::asynchronous::Async;
use crate::isa::{Mods, Op, Space, Type};
use crate::kernel::{AddrBase, Operand, RegClass, RegId};
use crate::lower::builder::Builder;
use crate::lower::instruction::memory::Place;
use crate::lower::operand::shape::Kind;
use crate::lower::operand::span_of;
use crate::parse::instruction::asynchronous::suffixes;

type Guard = Option<(RegId, bool)>;

impl Builder<'_> {
    /// Any of them.
    pub(in crate::lower) fn asynchronous(
        &mut self,
        instr: &Instruction,
        guard: Guard,
    ) -> Option<()> {
        let Some(kind) = instr.mods.asynchronous else {
            let list: Vec<&str> = instr.text.split('.').skip(1).collect();
            let why = suffixes(instr.op, &list).err().unwrap_or_default();
            self.unsupported(instr.span, format!("`{}`: {why}", instr.text));
            return None;
        };
        let (count, state) = (Kind::Value(Type::U32), Kind::Value(Type::B64));
        let all = &instr.operands[..];
        let (dst, src) = match (kind, all) {
            (Async::Copy(_), _) => return self.copy(instr, guard),
            (Async::Commit | Async::WaitAll, []) => (vec![], vec![]),
            (Async::WaitGroup, [n]) => (vec![], vec![self.source(n, count, &instr.text)?]),
            (Async::ArriveAfterCopies { .. } | Async::Invalidate, [address]) => {
                (vec![], vec![self.barrier_address(address, instr)?])
            }
            (Async::Init | Async::Expect | Async::Complete, [address, n]) => {
                let address = self.barrier_address(address, instr)?;
                (vec![], vec![address, self.source(n, count, &instr.text)?])
            }
            (Async::Arrive { .. }, [state_out, address, rest @ ..]) if rest.len() < 2 => {
                let dst = self.destination(state_out, state, &instr.text)?;
                let mut src = vec![self.barrier_address(address, instr)?];
                src.push(match rest.first() {
                    Some(n) => self.source(n, count, &instr.text)?,
                    None => Operand::Imm(1),
                });
                (vec![dst], src)
            }
            // A time to wait at most may follow, which is a hint.
            (Async::Test { parity }, [done, address, phase, rest @ ..]) if rest.len() < 2 => {
                let dst = self.destination(done, Kind::Pred, &instr.text)?;
                let address = self.barrier_address(address, instr)?;
                let kind = if parity { count } else { state };
                (
                    vec![dst],
                    vec![address, self.source(phase, kind, &instr.text)?],
                )
            }
            (Async::PendingCount, [n, of]) => (
                vec![self.destination(n, count, &instr.text)?],
                vec![self.source(of, state, &instr.text)?],
            ),
            _ => {
                self.wrong_number_of_operands(instr);
                return None;
            }
        };
        self.emit(instr.op, instr.mods, dst, src).guard = guard;
        Some(())
    }

    fn barrier_address(&mut self, operand: &ast::Operand, instr: &Instruction) -> Option<Operand> {
        self.address_in_memory(operand, instr, "a barrier lies in shared memory")
    }

    /// `cp.async [to], [from], bytes {, bytes there are | predicate} {, cache policy}`. Lowered, the
    /// sources are the address in global memory, base and offset of that in shared memory, and the
    /// bytes that are copied; zeros fill the rest.
    fn copy(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let [to, from, bytes, rest @ ..] = &instr.operands[..] else {
            self.wrong_count(instr, 3, 5);
            return None;
        };
        let ast::Operand::Int(bytes, span) = bytes else {
            self.error(span_of(bytes), "the number of bytes is a constant");
            return None;
        };
        if !matches!(bytes, 4 | 8 | 16) {
            self.error(
                *span,
                format!("{bytes} bytes: 4, 8 or 16 are copied at a time"),
            );
            return None;
        }
        let mut shared = Mods {
            space: Some(Space::Shared),
            ..instr.mods
        };
        let Place::Memory(Operand::Address { base, offset }) =
            self.place(to, &mut shared, instr)?
        else {
            self.error(span_of(to), "an address in shared memory is needed");
            return None;
        };
        let mut mods = instr.mods;
        let Place::Memory(from) = self.place(from, &mut mods, instr)? else {
            self.error(span_of(from), "an address in global memory is needed");
            return None;
        };
        let base = match base {
            AddrBase::Reg(reg) => Operand::Reg(reg),
            _ => Operand::Imm(0),
        };
        let there = match rest.first() {
            Some(ast::Operand::Name(id))
                if !instr.text.contains("cache_hint") || rest.len() > 1 =>
            {
                let reg = self.named_register(id)?;
                match self.register(reg).class {
                    RegClass::Pred => self.bytes_unless(reg, *bytes, instr),
                    _ => self.source(&rest[0], Kind::Value(Type::U32), &instr.text)?,
                }
            }
            Some(number @ ast::Operand::Int(..)) => {
                self.source(number, Kind::Value(Type::U32), &instr.text)?
            }
            _ => Operand::Imm(*bytes as u64),
        };
        mods.asynchronous = Some(Async::Copy(*bytes as u8));
        let src = vec![from, base, Operand::Imm(offset as u64), there];
        self.emit(instr.op, mods, vec![], src).guard = guard;
        Some(())
    }

    /// None if the source is to be ignored, else all.
    fn bytes_unless(&mut self, ignored: RegId, bytes: i64, instr: &Instruction) -> Operand {
        let reg = self.new_register("%bytes", Type::U32, instr.span);
        let mut mods = Mods::default();
        mods.types[0] = Some(Type::U32);
        let src = vec![
            Operand::Imm(0),
            Operand::Imm(bytes as u64),
            Operand::Reg(ignored),
        ];
        self.emit(Op::Selp, mods, vec![Operand::Reg(reg)], src);
        Operand::Reg(reg)
    }
}
