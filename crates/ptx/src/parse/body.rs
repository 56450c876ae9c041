//! Statements of function bodies.

use super::lexer::Kind;
use super::{Parsed, Parser};
use crate::ast::Statement;
use crate::diagnostic::Diagnostic;
use std::fmt::Write as _;

/// Directives that stand in bodies, for hints.
const DIRECTIVES: &[&str] = &[
    ".reg",
    ".param",
    ".local",
    ".shared",
    ".global",
    ".const",
    ".loc",
    ".pragma",
    ".branchtargets",
    ".calltargets",
    ".callprototype",
    ".extern",
    ".weak",
    ".visible",
];

impl Parser<'_> {
    /// Statements up to the `}` of the block (not taken), the end of the file, or
    /// something that shows that the `}` is missing. Errors are noted here.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        loop {
            self.plain_instructions(&mut statements);
            if self.is_punct(b'}') || self.peek().kind == Kind::End || self.at_module_item() {
                return statements;
            }
            self.forget();
            let start = self.at;
            if let Err(error) = self.statement(&mut statements) {
                self.report(error);
                self.skip_statement(start);
            }
        }
    }

    /// After an error: to the next statement. `start` is where the broken one began.
    fn skip_statement(&mut self, start: usize) {
        if self.at == start && !self.is_punct(b'}') {
            self.next();
        }
        let mut depth = 0u32;
        loop {
            let kind = self.peek().kind;
            match kind {
                Kind::End => return,
                Kind::Punct(b';') if depth == 0 => {
                    self.skip(1);
                    return;
                }
                Kind::Punct(b'}') if depth == 0 => return,
                _ if self.at_line_start() && self.at_statement() => return,
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth -= 1,
                _ => {}
            }
            self.skip(1);
        }
    }

    /// Whether the next token, first on its line, looks like the start of a statement.
    fn at_statement(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Kind::Punct(b'@') => true,
            Kind::Word => {
                self.peek_at(1).kind == Kind::Punct(b':')
                    || crate::parse::instruction::mnemonic::is_opcode(self.str(token))
            }
            Kind::Dot => DIRECTIVES.contains(&self.str(token)) || self.at_module_item(),
            _ => false,
        }
    }

    fn statement(&mut self, into: &mut Vec<Statement>) -> Parsed<()> {
        let token = self.peek();
        match token.kind {
            Kind::Word if self.peek_at(1).kind == Kind::Punct(b':') => self.label(into),
            Kind::Word | Kind::Punct(b'@') => self.instruction(into),
            Kind::Punct(b'{') => self.block(into),
            Kind::Punct(b';') => {
                self.skip(1);
                Ok(())
            }
            Kind::Dot => self.body_directive(into),
            _ => Err(self.unexpected("an instruction, a label or a directive")),
        }
    }

    fn block(&mut self, into: &mut Vec<Statement>) -> Parsed<()> {
        let open = self.next();
        let inner = self.nested(|p| Ok(p.statements()))?;
        if !self.eat(b'}') {
            return Err(Diagnostic::error(open.span(), "the block does not end")
                .with_label("this `{` has no `}`"));
        }
        into.push(Statement::Block(inner));
        Ok(())
    }

    /// A label, or a directive that has one.
    fn label(&mut self, into: &mut Vec<Statement>) -> Parsed<()> {
        let label = self.ident("a label")?;
        self.expect(b':')?;
        into.push(if self.eat_dot(".branchtargets") {
            Statement::BranchTargets {
                label,
                targets: self.names("a label")?,
            }
        } else if self.eat_dot(".calltargets") {
            Statement::CallTargets {
                label,
                targets: self.names("a function")?,
            }
        } else if self.eat_dot(".callprototype") {
            Statement::CallPrototype(self.call_prototype(label)?)
        } else {
            Statement::Label(label)
        });
        Ok(())
    }

    fn body_directive(&mut self, into: &mut Vec<Statement>) -> Parsed<()> {
        if self.eat_dot(".loc") {
            into.push(self.loc()?);
            return Ok(());
        }
        if self.eat_dot(".pragma") {
            into.push(Statement::Pragma(self.pragma()?));
            return Ok(());
        }
        let linkage = self.linkage();
        match self.variables(linkage)? {
            Some(variables) => into.extend(variables.into_iter().map(Statement::Variable)),
            None if self.peek().kind == Kind::Dot => return Err(self.unknown_directive(DIRECTIVES)),
            None => return Err(self.expected("a state space such as `.shared`")),
        }
        Ok(())
    }

    /// `file line column`, then `, function_name label+offset, inlined_at file line column`.
    pub(super) fn loc(&mut self) -> Parsed<Statement> {
        let file = self.unsigned("a file number")?;
        let line = self.unsigned("a line")?;
        let column = if self.peek().kind == Kind::Number {
            self.unsigned("a column")?
        } else {
            0
        };
        let mut rest = String::new();
        while self.eat(b',') {
            let key = self.ident("`function_name` or `inlined_at`")?;
            match key.name.as_str() {
                "function_name" => {
                    let label = self.ident("a label")?.name;
                    let offset = self.symbol_offset()?;
                    let _ = write!(rest, ", function_name {label}");
                    if offset != 0 {
                        let _ = write!(rest, "+{offset}");
                    }
                }
                "inlined_at" => {
                    let place = [
                        self.unsigned("a file number")?,
                        self.unsigned("a line")?,
                        self.unsigned("a column")?,
                    ];
                    let _ = write!(rest, ", inlined_at {} {} {}", place[0], place[1], place[2]);
                }
                _ => {
                    return Err(Diagnostic::error(
                        key.span,
                        format!("`{}` does not belong in `.loc`", key.name),
                    )
                    .with_label("expected `function_name` or `inlined_at`"));
                }
            }
        }
        Ok(Statement::Loc {
            file,
            line,
            column,
            rest,
        })
    }
}
