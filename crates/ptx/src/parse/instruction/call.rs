//! The operands of `call`, in all the shapes compilers write them.

use crate::ast::{Call, Operand};
use crate::parse::{Parsed, Parser};

impl Parser<'_> {
    /// `(returns), callee, (arguments), prototype`, where everything but the callee may be
    /// missing.
    pub(in crate::parse) fn call(&mut self) -> Parsed<Operand> {
        let mut returns = Vec::new();
        if self.eat(b'(') {
            returns = self.list(b')', Self::operand)?;
            self.expect(b',')?;
        }
        let callee = self.ident("the function to call")?;
        let (mut args, mut prototype) = (Vec::new(), None);
        if self.eat(b',') {
            if self.eat(b'(') {
                args = self.list(b')', Self::operand)?;
                if self.eat(b',') {
                    prototype = Some(self.ident("the prototype or list of targets")?);
                }
            } else {
                prototype = Some(self.ident("`(` or a prototype")?);
            }
        }
        Ok(Operand::Call(Box::new(Call {
            returns,
            callee,
            args,
            prototype,
        })))
    }
}
