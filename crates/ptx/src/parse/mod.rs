//! Text to [`ast::Module`].
//!
//! A recursive-descent parser over a token list. Each statement or item is parsed on its
//! own: an error is noted, the parser skips to where the next one plausibly starts, and
//! goes on, so that all independent errors of a file are reported at once. Nesting is
//! bounded everywhere, so that no input can exhaust the stack.

mod body;
#[cfg(test)]
mod haste_tests;
pub(crate) mod instruction;
mod lexer;
mod module;
mod parts;
mod short;

use crate::ast::{self, Ident, Span};
use crate::diagnostic::{Diagnostic, shorten};
use crate::name::{Name, NameTable};
use instruction::mnemonic::Known;
use lexer::{Kind, Lexer, Part, Token};
use short::Short;

/// Parsing stops after so many errors: the rest is most likely not PTX at all.
pub const MAX_ERRORS: usize = 50;

/// Reads a PTX file. On failure, every independent error (at most [`MAX_ERRORS`] and a
/// note) in file order.
///
/// ```
/// let text = ".version 7.8 .target sm_35 .address_size 64 .entry k() { ad.s32 %r1, %r2, 1; }";
/// let errors = warpsim_ptx::parse(text).unwrap_err();
/// assert!(errors[0].render("k.ptx", text).contains("did you mean `add`?"));
/// ```
pub fn parse(text: &str) -> Result<ast::Module, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        let message = "the file is too large: 4 GiB is the limit";
        return Err(vec![Diagnostic::error(
            Span {
                line: 1,
                column: 1,
                ..Span::default()
            },
            message,
        )]);
    }
    if let Some(module) = parts::module(text) {
        return Ok(module);
    }
    let mut parser = Parser::new(text, false);
    parser.read(Part::whole(text));
    let module = parser.module();
    if parser.diagnostics.is_empty() {
        Ok(module)
    } else {
        Err(parser.diagnostics)
    }
}

/// What a parsing function gives: its piece of tree, or the one error of the statement.
type Parsed<T> = Result<T, Diagnostic>;

struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// Tokens up to [`AHEAD`] behind the next one at least, or up to the [`Kind::End`].
    tokens: Vec<Token>,
    /// Index of the next token. Never past [`Kind::End`].
    at: usize,
    /// Whether the first mistake ends it: a caller that wants to know of all reads again without haste.
    /// Until then plain instructions are read in a shorter way, and tokens are not kept.
    hasty: bool,
    diagnostics: Vec<Diagnostic>,
    /// Mnemonics seen so far: a file has few different ones.
    mnemonics: NameTable<&'a str, Known>,
    short_mnemonics: Short<Known>,
    /// Names seen so far, for the same reason.
    names: NameTable<&'a str, Name>,
    short_names: Short<Name>,
    /// How deep the current block, initialiser or expression is nested.
    depth: u32,
}

/// Tokens that are looked at before they are passed, at most.
const AHEAD: usize = 3;

/// The deepest nesting of blocks, initialisers and expressions.
const MAX_DEPTH: u32 = 128;

/// Whether a statement goes on after this token even when the line ends.
fn continues(kind: Kind) -> bool {
    matches!(kind, Kind::Punct(b',' | b'(' | b'[' | b'{'))
}

impl<'a> Parser<'a> {
    /// A parser that has nothing before it yet.
    fn new(text: &'a str, hasty: bool) -> Self {
        Parser {
            text,
            lexer: Lexer::new(text, Part::whole(text)),
            tokens: Vec::new(),
            at: 0,
            hasty,
            diagnostics: Vec::new(),
            mnemonics: NameTable::default(),
            short_mnemonics: Short::default(),
            names: NameTable::default(),
            short_names: Short::default(),
            depth: 0,
        }
    }

    /// Turns to a part of the text, from its start. What it knows of names, it keeps.
    fn read(&mut self, part: Part) {
        self.resume(Lexer::new(self.text, part));
    }

    /// Goes on from where a lexer is.
    fn resume(&mut self, lexer: Lexer<'a>) {
        self.lexer = lexer;
        self.tokens.clear();
        self.at = 0;
        self.look_ahead();
    }

    /// Passes so many tokens.
    #[inline]
    fn skip(&mut self, count: usize) {
        self.at += count;
        if self.at + AHEAD > self.tokens.len() {
            self.look_ahead();
        }
    }

    fn look_ahead(&mut self) {
        let ended = |tokens: &[Token]| tokens.last().is_some_and(|t| t.kind == Kind::End);
        while self.tokens.len() < self.at + AHEAD && !ended(&self.tokens) {
            let token = self.lexer.next();
            self.tokens.push(token);
        }
    }

    /// Between two statements: lets tokens go that the parser will not look at again. Without haste they
    /// are all kept, for errors that are about what came before.
    fn forget(&mut self) {
        if self.hasty && self.at > 64 {
            self.tokens.drain(..self.at - 1);
            self.at = 1;
        }
    }

    #[inline]
    fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    #[inline]
    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        if token.kind != Kind::End {
            self.skip(1);
        }
        token
    }

    #[inline]
    fn str(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end() as usize]
    }

    #[inline]
    fn is_punct(&self, punct: u8) -> bool {
        self.peek().kind == Kind::Punct(punct)
    }

    /// Takes the punctuation if it is next.
    #[inline]
    fn eat(&mut self, punct: u8) -> bool {
        let found = self.is_punct(punct);
        self.skip(usize::from(found));
        found
    }

    /// Takes the dotted word if it is next.
    fn eat_dot(&mut self, text: &str) -> bool {
        let token = self.peek();
        let found = token.kind == Kind::Dot && self.str(token) == text;
        self.skip(usize::from(found));
        found
    }

    fn expect(&mut self, punct: u8) -> Parsed<Token> {
        if self.is_punct(punct) {
            return Ok(self.next());
        }
        Err(self.expected(&format!("`{}`", punct as char)))
    }

    /// "Expected this, found that". When the line ends first, the place is its end: that
    /// is where the missing piece belongs (after a comma or an opening bracket it belongs on
    /// the next line just as well).
    fn expected(&self, what: &str) -> Diagnostic {
        let token = self.peek();
        let previous = self.at.checked_sub(1).map(|at| self.tokens[at]);
        match (token.kind, previous) {
            (Kind::Bad | Kind::Unterminated, _) => self.unreadable(token),
            (_, Some(previous))
                if token.kind == Kind::End
                    || (previous.line != token.line && !continues(previous.kind)) =>
            {
                let length = self.str(previous).chars().count() as u32;
                let span = Span {
                    start: previous.end(),
                    len: 1,
                    line: previous.line,
                    column: previous.column + length,
                };
                let found = if token.kind == Kind::End {
                    "the end of the file"
                } else {
                    "the end of the line"
                };
                Diagnostic::error(span, format!("expected {what}, found {found}"))
                    .with_label(format!("expected {what}"))
            }
            _ => self.unexpected(what),
        }
    }

    /// What was expected is not here, said of the next token: for the start of something.
    fn unexpected(&self, what: &str) -> Diagnostic {
        let token = self.peek();
        if matches!(token.kind, Kind::Bad | Kind::Unterminated) {
            return self.unreadable(token);
        }
        Diagnostic::error(
            token.span(),
            format!("expected {what}, found {}", self.describe(token)),
        )
        .with_label(format!("expected {what}"))
    }

    /// The error for a token that is not PTX.
    fn unreadable(&self, token: Token) -> Diagnostic {
        if token.kind == Kind::Unterminated {
            let what = if self.str(token).starts_with('"') {
                "string"
            } else {
                "comment"
            };
            return Diagnostic::error(token.span(), format!("this {what} does not end"))
                .with_label("begins here");
        }
        let message = format!("the character {:?} does not belong in PTX", self.str(token));
        Diagnostic::error(token.span(), message)
    }

    fn describe(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the file".into(),
            Kind::Text => "a string".into(),
            _ => format!("`{}`", shorten(self.str(token))),
        }
    }

    /// A part of the text as a name.
    #[inline]
    fn name(&mut self, start: u32, end: u32) -> Name {
        let (start, end) = (start as usize, end as usize);
        match self.short_names.get(self.text, start, end) {
            Some(name) => name.clone(),
            None => self.other_name(start, end),
        }
    }

    fn other_name(&mut self, start: usize, end: usize) -> Name {
        let text = &self.text[start..end];
        let name = self.names.entry(text).or_insert_with(|| Name::from(text));
        self.short_names.remember(self.text, start, end, name);
        name.clone()
    }

    #[inline]
    fn ident(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return Err(self.expected(what));
        }
        self.skip(1);
        Ok(Ident {
            name: self.name(token.start, token.end()),
            span: token.span(),
        })
    }

    /// Items separated by commas up to (and with) the closing punctuation.
    fn list<T>(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(b',') {
                return Err(self.expected(&format!("`,` or `{}`", close as char)));
            }
        }
    }

    /// Runs `inner` one level deeper, or refuses.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("nested too deeply: {MAX_DEPTH} levels are the limit");
            return Err(Diagnostic::error(self.peek().span(), message));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Notes an error; after [`MAX_ERRORS`] jumps to the end of the file.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.hasty {
            self.diagnostics.push(diagnostic);
            return self.stop();
        }
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
        if self.diagnostics.len() == MAX_ERRORS {
            let span = self.peek().span();
            let message = format!("{MAX_ERRORS} errors: the rest of the file is not read");
            self.diagnostics.push(Diagnostic::error(span, message));
            self.stop();
        }
    }

    /// Jumps to the end of the file.
    fn stop(&mut self) {
        let mut end = self.peek();
        (end.kind, end.len) = (Kind::End, 0);
        self.tokens.truncate(self.at + 1);
        self.tokens.push(end);
        self.at += 1;
    }

    /// Whether the next token is the first on its line.
    fn at_line_start(&self) -> bool {
        self.at == 0 || self.tokens[self.at - 1].line != self.peek().line
    }
}
