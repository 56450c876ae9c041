//! Bodies and returns.

use super::super::builder::{Builder, Frame};
use super::super::scope::{Entity, Scope};
use super::{local, word};
use crate::ast::Span;
use crate::isa::{Cmp, Op, Type};
use crate::kernel::{AddrBase, Intrinsic, Operand, RegId};

impl<'a> Builder<'a> {
    /// The bodies of all functions that have been called, and their returns.
    pub(in crate::lower) fn emit_framed(&mut self) {
        while let Some(index) =
            (self.framed.list.iter()).position(|f| !f.emitted && !f.sites.is_empty())
        {
            self.framed.list[index].emitted = true;
            self.emit_body(index);
            if self.has_given_up() {
                return;
            }
        }
        for index in 0..self.framed.list.len() {
            if self.framed.list[index].emitted {
                self.emit_return(index);
            }
        }
    }

    fn emit_body(&mut self, index: usize) {
        let framed = &self.framed.list[index];
        let (function, entry, exit) = (framed.function, framed.entry, framed.exit);
        let (params, returns) = (framed.params.clone(), framed.returns.clone());
        let suffix = match framed.copy {
            0 => format!("@{}", function.name.name),
            copy => format!("@{}.{copy}", function.name.name),
        };
        // Lines of what came before are not its own.
        self.source = None;
        // Its temporaries must not lie where the kernel keeps something.
        self.local_top = self.local_bytes;
        self.framed.current = Some(index);
        self.frames.push(Frame {
            first_scope: self.scopes.len(),
            join: Some(exit),
            suffix,
        });
        self.scopes.push(Scope::default());
        self.place_label(entry);
        self.label_names
            .push((self.code.len() as u32, function.name.name.to_string()));
        self.mark(Intrinsic::Enter(index as u32));
        // What was passed in memory goes into the activation's own.
        for (formal, entity) in function.params.iter().zip(params) {
            let own = match &entity {
                Entity::ParamMemory(at, size) => self.own_copy(index, *at, *size, true),
                _ => entity,
            };
            self.declare(&formal.name, own);
        }
        let mut copied_back = Vec::new();
        for (formal, entity) in function.returns.iter().zip(returns) {
            let own = match &entity {
                Entity::ParamMemory(at, size) => {
                    let own = self.own_copy(index, *at, *size, false);
                    copied_back.push((own.clone(), *at, *size));
                    own
                }
                _ => entity,
            };
            self.declare(&formal.name, own);
        }
        self.statements(function.body.as_deref().unwrap_or_default());
        self.scopes.pop();
        self.frames.pop();
        self.place_label(exit);
        for (own, at, size) in copied_back {
            if let Entity::InFrame(base, offset) = own {
                self.copy_between((None, at), (Some(base), offset), size);
            }
        }
        self.mark(Intrinsic::Leave(index as u32));
        // The sites are known when all bodies are there: their chain stands behind them.
        let chain = self.new_label();
        self.emit_branch(chain, None);
        self.framed.list[index].exit = chain;
        self.framed.current = None;
    }

    fn own_copy(&mut self, index: usize, at: u64, size: u64, filled: bool) -> Entity {
        let own = self.allocate_in_frame(index, size, 16);
        if let (Entity::InFrame(base, offset), true) = (&own, filled) {
            self.copy_between((Some(*base), *offset), (None, at), size);
        }
        own
    }

    /// Copies bytes within local memory, between places that begin at a register or at its start.
    fn copy_between(&mut self, to: (Option<RegId>, u64), from: (Option<RegId>, u64), size: u64) {
        let address = |(base, offset): (Option<RegId>, u64), done: u64| Operand::Address {
            base: base.map_or(AddrBase::Zero, AddrBase::Reg),
            offset: (offset + done) as i64,
        };
        let mut done = 0;
        while done < size {
            let fits = |s: &u64| {
                (to.1 + done).is_multiple_of(*s)
                    && (from.1 + done).is_multiple_of(*s)
                    && size - done >= *s
            };
            let step = [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1);
            let (ty, kept) = match step {
                8 => (Type::U64, Type::U64),
                4 => (Type::U32, Type::U32),
                2 => (Type::U16, Type::U32),
                _ => (Type::U8, Type::U32),
            };
            let reg = Operand::Reg(self.new_register("%copy", kept, Span::default()));
            let mods = local(ty);
            self.emit(Op::Ld, mods, vec![reg], vec![address(from, done)]);
            self.emit(Op::St, mods, vec![], vec![address(to, done), reg]);
            done += step;
        }
    }

    fn emit_return(&mut self, index: usize) {
        let framed = &self.framed.list[index];
        let (chain, site, sites) = (framed.exit, framed.site, framed.sites.clone());
        self.place_label(chain);
        self.framed.current = Some(index);
        let mut compare = word();
        compare.cmp = Some(Cmp::Eq);
        let Some((last, others)) = sites.split_last() else {
            return;
        };
        for (id, label) in others.iter().enumerate() {
            let pred = self.new_register("%site", Type::Pred, Span::default());
            let src = vec![Operand::Reg(site), Operand::Imm(id as u64)];
            self.emit(Op::Setp, compare, vec![Operand::Reg(pred)], src);
            self.leave(index, *label, Some((pred, false)));
        }
        self.leave(index, *last, None);
        self.framed.current = None;
    }

    /// One branch of a return.
    fn leave(&mut self, index: usize, site: u32, guard: Option<(RegId, bool)>) {
        if self.framed.serves_all(index) {
            self.framed.crossings.returns.push(self.code.len() as u32);
        }
        self.emit_branch(site, guard);
    }
}
