//! Kernels and device functions: everything but their statements.

use crate::ast::{CallPrototype, Directive, Function, Ident, Linkage, Variable};
use crate::diagnostic::{Diagnostic, shorten};
use crate::name::Name;
use crate::parse::lexer::Kind;
use crate::parse::{Parsed, Parser};

/// Directives of functions that mean nothing here: clusters and calling conventions.
const WITHOUT_EFFECT: &[&str] = &[
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
    ".abi_preserve",
    ".abi_preserve_control",
    ".unified",
];

/// Every function directive, for hints.
const DIRECTIVES: &[&str] = &[
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnctapersm",
    ".maxnreg",
    ".noreturn",
    ".pragma",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
    ".abi_preserve",
];

impl Parser<'_> {
    /// After `.entry` or `.func`. An error in the head is noted here, so that the errors of
    /// the body are found too.
    pub(in crate::parse) fn function(&mut self, linkage: Linkage, entry: bool) -> Parsed<Function> {
        let mut function = Function {
            entry,
            linkage,
            returns: Vec::new(),
            name: Ident {
                name: Name::default(),
                span: self.peek().span(),
            },
            params: Vec::new(),
            directives: Vec::new(),
            body: None,
        };
        if let Err(error) = self.function_head(&mut function) {
            self.report(error);
            self.skip_head();
        }
        if self.is_punct(b'{') {
            function.body = Some(self.body(&function.name)?);
        }
        Ok(function)
    }

    /// Everything before the `{` of the body, which is not taken, or a declaration up to
    /// and with its `;`.
    fn function_head(&mut self, function: &mut Function) -> Parsed<()> {
        self.attributes()?;
        if !function.entry && self.eat(b'(') {
            function.returns = self.list(b')', Self::parameter)?;
        }
        function.name = self.ident("the name of the function")?;
        if self.eat(b'(') {
            function.params = self.list(b')', Self::parameter)?;
        }
        while self.peek().kind == Kind::Dot {
            function.directives.push(self.directive()?);
        }
        if self.eat(b';') || self.is_punct(b'{') {
            return Ok(());
        }
        let name = shorten(&function.name.name);
        Err(self.expected(&format!("`{{` or `;` after the head of `{name}`")))
    }

    /// After an error in a head: to the body, past the `;`, or to the next function.
    fn skip_head(&mut self) {
        while !self.is_punct(b'{') && self.peek().kind != Kind::End {
            if self.eat(b';') || (self.at_line_start() && self.at_module_item()) {
                return;
            }
            self.skip(1);
        }
    }

    fn body(&mut self, name: &Ident) -> Parsed<Vec<crate::ast::Statement>> {
        let open = self.next();
        let statements = self.statements();
        if self.eat(b'}') {
            return Ok(statements);
        }
        Err(Diagnostic::error(
            open.span(),
            format!("the body of `{}` does not end", shorten(&name.name)),
        )
        .with_label("this `{` has no `}`"))
    }

    /// `.attribute(…)`: read and dropped, as nothing here depends on it.
    pub(in crate::parse) fn attributes(&mut self) -> Parsed<()> {
        while self.eat_dot(".attribute") {
            self.expect(b'(')?;
            let mut depth = 1u32;
            while depth > 0 {
                match self.peek().kind {
                    Kind::Punct(b'(') => depth += 1,
                    Kind::Punct(b')') => depth -= 1,
                    Kind::Dot | Kind::Word | Kind::Number | Kind::Punct(b',') => {}
                    _ => return Err(self.expected("`)` after the attribute")),
                }
                self.skip(1);
            }
        }
        Ok(())
    }

    fn directive(&mut self) -> Parsed<Directive> {
        let token = self.peek();
        let text = self.str(token);
        let known = DIRECTIVES.contains(&text) || WITHOUT_EFFECT.contains(&text);
        if !known {
            return Err(self.unknown_directive(DIRECTIVES));
        }
        self.skip(1);
        Ok(match text {
            ".maxntid" => Directive::MaxNtid(self.dimensions(text)?),
            ".reqntid" => Directive::ReqNtid(self.dimensions(text)?),
            ".minnctapersm" => Directive::MinNctaPerSm(self.unsigned("a number of blocks")?),
            ".maxnctapersm" => Directive::MaxNctaPerSm(self.unsigned("a number of blocks")?),
            ".maxnreg" => Directive::MaxNreg(self.unsigned("a number of registers")?),
            ".noreturn" => Directive::Noreturn,
            ".pragma" => Directive::Pragma(self.pragma()?),
            _ => {
                let mut written = text.to_string();
                let mut separator = " ";
                while self.peek().kind == Kind::Number {
                    written.push_str(separator);
                    written.push_str(&self.unsigned("a number")?.to_string());
                    separator = ", ";
                    if !self.eat(b',') {
                        break;
                    }
                }
                Directive::Other(written)
            }
        })
    }

    /// One to three numbers.
    fn dimensions(&mut self, directive: &str) -> Parsed<Vec<u32>> {
        let start = self.peek();
        let mut sizes = vec![self.unsigned("a number of threads")?];
        while self.eat(b',') {
            sizes.push(self.unsigned("a number of threads")?);
        }
        if sizes.len() > 3 {
            let message = format!(
                "`{directive}` has one to three sizes, found {}",
                sizes.len()
            );
            return Err(Diagnostic::error(start.span(), message));
        }
        Ok(sizes)
    }

    /// `.callprototype (…) _ (…) .noreturn;` after the directive.
    pub(in crate::parse) fn call_prototype(&mut self, label: Ident) -> Parsed<CallPrototype> {
        let mut returns = Vec::new();
        if self.eat(b'(') {
            returns = self.list(b')', Self::parameter)?;
        }
        self.ident("`_`")?;
        let params: Vec<Variable> = if self.eat(b'(') {
            self.list(b')', Self::parameter)?
        } else {
            Vec::new()
        };
        let mut noreturn = false;
        while self.peek().kind == Kind::Dot {
            noreturn |= self.directive()? == Directive::Noreturn;
        }
        self.expect(b';')?;
        Ok(CallPrototype {
            label,
            returns,
            params,
            noreturn,
        })
    }
}
