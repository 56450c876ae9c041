//! Calls of functions with bodies of their own.

use super::super::builder::{Builder, Resolved};
use super::super::scope::Entity;
use super::{Site, word};
use crate::ast::{self, Ident, Span};
use crate::isa::{Mods, Op};
use crate::kernel::{Intrinsic, Operand};
use crate::lower::instruction::params::Passed;

impl<'a> Builder<'a> {
    /// A call.
    pub(in crate::lower) fn call_framed(
        &mut self,
        kind: usize,
        callee: &Ident,
        returns: &'a [ast::Operand],
        args: &'a [ast::Operand],
    ) {
        let index = self.body_for(kind);
        let function = self.framed.list[index].function;
        let number = self.framed.sites.len() as u32;
        let passed: Vec<Option<Passed>> = args
            .iter()
            .zip(&function.params)
            .map(|(arg, formal)| self.argument(arg, formal, callee))
            .collect();
        self.mark(Intrinsic::Save(number));
        // A function that calls itself may pass its own parameters in another order.
        let passed: Vec<Option<Passed>> = passed
            .into_iter()
            .map(|p| p.map(|p| self.out_of_the_way(p)))
            .collect();
        for (at, (formal, passed)) in function.params.iter().zip(passed).enumerate() {
            let entity = self.framed.list[index].params[at].clone();
            if let Some(passed) = passed
                && !self.hand_over(&entity, &passed, formal.ty)
            {
                self.argument_mismatch(callee, formal);
            }
        }
        let back = self.new_label();
        let framed = &mut self.framed.list[index];
        let id = framed.sites.len() as u64;
        framed.sites.push(back);
        let (site, entry) = (framed.site, framed.entry);
        self.emit(
            Op::Mov,
            word(),
            vec![Operand::Reg(site)],
            vec![Operand::Imm(id)],
        );
        if self.framed.serves_all(index) {
            self.framed.crossings.calls.push(self.code.len() as u32);
        }
        self.emit_branch(entry, None);
        self.place_label(back);
        let mut results = Vec::new();
        let mut held = Vec::new();
        for (at, formal) in function.returns.iter().enumerate() {
            let entity = self.framed.list[index].returns[at].clone();
            held.push(match &entity {
                Entity::ParamRegister(reg, _) | Entity::Register(reg) => {
                    let ty = self.register(*reg).ty;
                    let temp = self.new_register("%result", ty, callee.span);
                    results.push(temp);
                    let temp = match &entity {
                        Entity::ParamRegister(_, kept) => Entity::ParamRegister(temp, *kept),
                        _ => Entity::Register(temp),
                    };
                    if !self.hand_over(&temp, &Passed::Entity(entity), formal.ty) {
                        self.argument_mismatch(callee, formal);
                    }
                    temp
                }
                _ => entity,
            });
        }
        self.framed.sites.push(Site {
            caller: self.framed.current,
            callee: index,
            results,
        });
        self.mark(Intrinsic::Restore(number));
        for (at, (formal, held)) in function.returns.iter().zip(held).enumerate() {
            let Some(ast::Operand::Name(id)) = returns.get(at) else {
                continue;
            };
            if let Some(Resolved::Entity(target)) = self.resolve(id)
                && !self.hand_over(&target, &Passed::Entity(held), formal.ty)
            {
                self.argument_mismatch(callee, formal);
            }
        }
    }

    /// The same value in a register of its own.
    fn out_of_the_way(&mut self, passed: Passed) -> Passed {
        let (Passed::Entity(Entity::Register(reg) | Entity::ParamRegister(reg, _))
        | Passed::Value(Operand::Reg(reg))) = passed
        else {
            return passed;
        };
        let ty = self.register(reg).ty;
        let temp = self.new_register("%passed", ty, Span::default());
        let mut mods = Mods::default();
        mods.types[0] = Some(ty);
        self.emit(
            Op::Mov,
            mods,
            vec![Operand::Reg(temp)],
            vec![Operand::Reg(reg)],
        );
        match passed {
            Passed::Entity(Entity::Register(_)) => Passed::Entity(Entity::Register(temp)),
            Passed::Entity(Entity::ParamRegister(_, kept)) => {
                Passed::Entity(Entity::ParamRegister(temp, kept))
            }
            _ => Passed::Value(Operand::Reg(temp)),
        }
    }
}
