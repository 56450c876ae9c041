//! Module-level items.

pub(in crate::parse) mod expr;
pub(in crate::parse) mod function;
pub(in crate::parse) mod init;
pub(in crate::parse) mod variable;

use crate::ast::{Ident, Item, Linkage, Module};
use crate::diagnostic::{Diagnostic, shorten};
use crate::parse::lexer::Kind;
use crate::parse::{Parsed, Parser};
use warpsim_present::misspelt;

/// Directives that begin a module-level item.
const DIRECTIVES: &[&str] = &[
    ".version",
    ".target",
    ".address_size",
    ".entry",
    ".func",
    ".visible",
    ".extern",
    ".weak",
    ".common",
    ".global",
    ".const",
    ".shared",
    ".local",
    ".tex",
    ".reg",
    ".param",
    ".file",
    ".section",
    ".pragma",
    ".alias",
    ".loc",
];

/// Those that never stand inside a function: seeing one there means a `}` is missing.
const MODULE_ONLY: &[&str] = &[
    ".version",
    ".target",
    ".address_size",
    ".entry",
    ".func",
    ".section",
    ".alias",
];

impl Parser<'_> {
    /// The whole file.
    pub(in crate::parse) fn module(&mut self) -> Module {
        let mut module = Self::empty();
        self.items(&mut module);
        if self.diagnostics.is_empty() && module.version == (0, 0) {
            let span = self.tokens[0].span();
            let error = Diagnostic::error(span, "the file has no `.version`")
                .with_label("expected `.version` first")
                .with_hint("begin with lines such as `.version 7.8`, `.target sm_35` and `.address_size 64`");
            self.report(error);
        }
        module
    }

    /// A file that says nothing.
    pub(in crate::parse) fn empty() -> Module {
        Module {
            // 32 bits unless the file says otherwise, as the manual has it.
            address_size: 32,
            ..Module::default()
        }
    }

    /// Everything up to the end.
    pub(in crate::parse) fn items(&mut self, module: &mut Module) {
        while self.peek().kind != Kind::End {
            self.forget();
            let start = self.at;
            if let Err(error) = self.item(module) {
                self.report(error);
                self.skip_item(start);
            }
        }
    }

    /// Whether the next token begins a function or another thing that functions cannot
    /// contain.
    pub(in crate::parse) fn at_module_item(&self) -> bool {
        let token = self.peek();
        if token.kind != Kind::Dot {
            return false;
        }
        // Linkage may stand before a variable inside a function.
        let ahead = (0..3)
            .map(|n| self.peek_at(n))
            .find(|t| !matches!(self.str(*t), ".visible" | ".extern" | ".weak" | ".common"));
        ahead.is_some_and(|t| t.kind == Kind::Dot && MODULE_ONLY.contains(&self.str(t)))
    }

    /// After an error: to the next item. `start` is where the broken one began.
    fn skip_item(&mut self, start: usize) {
        if self.at == start {
            self.next();
            // A misspelt `.visible` before `.entry`: what follows is still a function.
            if self.at_module_item() {
                return;
            }
        }
        let mut depth = 0u32;
        while self.peek().kind != Kind::End {
            let starts = self.at_module_item() || (depth == 0 && self.at_directive());
            if starts && self.at_line_start() {
                return;
            }
            match self.next().kind {
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                Kind::Punct(b';') if depth == 0 => return,
                _ => {}
            }
        }
    }

    fn at_directive(&self) -> bool {
        let token = self.peek();
        // A parameter list has `.param` and `.reg` at the start of its lines.
        token.kind == Kind::Dot
            && DIRECTIVES.contains(&self.str(token))
            && !matches!(self.str(token), ".param" | ".reg")
    }

    fn item(&mut self, module: &mut Module) -> Parsed<()> {
        let token = self.peek();
        match token.kind {
            Kind::Dot => {}
            Kind::Punct(b';') => {
                self.skip(1);
                return Ok(());
            }
            Kind::Word if self.peek_at(1).kind == Kind::Punct(b':') => {
                let label = self.ident("a label")?;
                self.skip(1);
                if !self.eat_dot(".callprototype") {
                    return Err(
                        self.expected("`.callprototype` (other labels stand inside functions)")
                    );
                }
                module
                    .items
                    .push(Item::CallPrototype(self.call_prototype(label)?));
                return Ok(());
            }
            Kind::Bad | Kind::Unterminated => return Err(self.unreadable(token)),
            _ => return Err(self.outside_function()),
        }
        match self.str(token) {
            ".version" => {
                self.skip(1);
                module.version = self.version()?;
            }
            ".target" => {
                self.skip(1);
                loop {
                    module
                        .target
                        .push(self.ident("a target such as `sm_35`")?.name.to_string());
                    if !self.eat(b',') {
                        break;
                    }
                }
            }
            ".address_size" => {
                self.skip(1);
                let size = self.peek();
                module.address_size = self.unsigned("32 or 64")?;
                if !matches!(module.address_size, 32 | 64) {
                    return Err(Diagnostic::error(
                        size.span(),
                        "the address size is 32 or 64",
                    ));
                }
            }
            ".file" => {
                self.skip(1);
                module.items.push(self.file()?);
            }
            ".section" => {
                self.skip(1);
                module.items.push(self.section()?);
            }
            ".pragma" => {
                self.skip(1);
                module.items.push(Item::Pragma(self.pragma()?));
            }
            ".alias" => {
                self.skip(1);
                let alias = self.ident("the alias")?;
                self.expect(b',')?;
                let target = self.ident("the function it stands for")?;
                self.expect(b';')?;
                module.items.push(Item::Alias { alias, target });
            }
            ".loc" => {
                self.skip(1);
                self.loc()?;
            }
            _ => self.definition(module)?,
        }
        Ok(())
    }

    /// A function or variable with its linkage.
    fn definition(&mut self, module: &mut Module) -> Parsed<()> {
        let linkage = self.linkage();
        let token = self.peek();
        let text = if token.kind == Kind::Dot {
            self.str(token)
        } else {
            ""
        };
        if matches!(text, ".entry" | ".func") {
            self.skip(1);
            let function = self.function(linkage, text == ".entry")?;
            module.items.push(Item::Function(function));
        } else if let Some(variables) = self.variables(linkage)? {
            module
                .items
                .extend(variables.into_iter().map(Item::Variable));
        } else if token.kind == Kind::Dot && linkage == Linkage::Internal {
            return Err(self.unknown_directive(DIRECTIVES));
        } else {
            return Err(self.expected("`.entry`, `.func` or a state space such as `.global`"));
        }
        Ok(())
    }

    /// `.visible`, `.extern`, `.weak`, `.common`, if one is next.
    pub(in crate::parse) fn linkage(&mut self) -> Linkage {
        let token = self.peek();
        if token.kind != Kind::Dot {
            return Linkage::Internal;
        }
        let linkage = match self.str(token) {
            ".visible" => Linkage::Visible,
            ".extern" => Linkage::Extern,
            ".weak" => Linkage::Weak,
            ".common" => Linkage::Common,
            _ => return Linkage::Internal,
        };
        self.skip(1);
        linkage
    }

    /// The error for a directive that is not known here.
    pub(in crate::parse) fn unknown_directive(&self, known: &[&'static str]) -> Diagnostic {
        let token = self.peek();
        let text = self.str(token);
        let error = Diagnostic::error(
            token.span(),
            format!("unknown directive `{}`", shorten(text)),
        )
        .with_label("not expected here");
        match misspelt(text, known.iter().copied()) {
            Some(near) => error.with_hint(format!("did you mean `{near}`?")),
            None => error,
        }
    }

    fn outside_function(&self) -> Diagnostic {
        let error = self.unexpected("a directive such as `.entry`, `.func` or `.global`");
        match self.peek().kind {
            Kind::Word | Kind::Punct(b'@') => {
                error.with_hint("instructions stand inside `.entry` or `.func` bodies")
            }
            Kind::Punct(b'}') => error.with_hint("this `}` closes nothing"),
            _ => error,
        }
    }

    fn version(&mut self) -> Parsed<(u32, u32)> {
        let token = self.peek();
        let version = self
            .str(token)
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        match version {
            Some(version) if token.kind == Kind::Number => {
                self.skip(1);
                Ok(version)
            }
            _ => Err(self.expected("a version such as `7.8`")),
        }
    }

    /// `.file index "path"`, with or without time stamp and size.
    fn file(&mut self) -> Parsed<Item> {
        let index = self.unsigned("a file number")?;
        let path = self.string("a path in double quotes")?;
        while self.eat(b',') {
            self.integer("a time stamp or size")?;
        }
        Ok(Item::File { index, path })
    }

    /// A string without its quotes, otherwise as written.
    pub(in crate::parse) fn string(&mut self, what: &str) -> Parsed<String> {
        let token = self.peek();
        if token.kind != Kind::Text {
            return Err(self.expected(what));
        }
        self.skip(1);
        let text = self.str(token);
        Ok(text[1..text.len() - 1].to_string())
    }

    /// `"text", …;`
    pub(in crate::parse) fn pragma(&mut self) -> Parsed<Vec<String>> {
        let what = "a pragma in double quotes";
        let mut texts = vec![self.string(what)?];
        while self.eat(b',') {
            texts.push(self.string(what)?);
        }
        self.expect(b';')?;
        Ok(texts)
    }

    /// `name { … }` with everything between the braces as written.
    fn section(&mut self) -> Parsed<Item> {
        let name_start = self.peek().start;
        while !matches!(
            self.peek().kind,
            Kind::Punct(b'{' | b';' | b'}') | Kind::End
        ) {
            self.skip(1);
        }
        let open = self.expect(b'{')?;
        let name = self.text[name_start as usize..open.start as usize]
            .trim()
            .to_string();
        let mut depth = 1u32;
        loop {
            let token = self.peek();
            match token.kind {
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth -= 1,
                Kind::Unterminated => return Err(self.unreadable(token)),
                Kind::End => {
                    return Err(Diagnostic::error(
                        open.span(),
                        format!("the section `{name}` does not end"),
                    )
                    .with_label("this `{` has no `}`"));
                }
                _ => {}
            }
            self.skip(1);
            if depth == 0 {
                let text = self.text[open.end() as usize..token.start as usize]
                    .trim()
                    .to_string();
                return Ok(Item::Section { name, text });
            }
        }
    }

    /// A comma-separated list of names up to `;`.
    pub(in crate::parse) fn names(&mut self, what: &str) -> Parsed<Vec<Ident>> {
        self.list(b';', |p| p.ident(what))
    }
}
