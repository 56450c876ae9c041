//! Text to tokens. The lexer never fails: what it cannot read becomes a token that the
//! parser reports when it gets there, so that rubbish inside a skipped section is skipped.

pub(in crate::parse) mod number;
#[cfg(test)]
mod tests;

use crate::ast::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::parse) enum Kind {
    /// A name: `%r1`, `$L_1`, `add`, `_`.
    Word,
    /// A dotted word: `.global`, `.2d`, `.L1::evict_last`.
    Dot,
    /// Starts with a digit.
    Number,
    /// In double quotes.
    Text,
    /// One character of punctuation.
    Punct(u8),
    /// Not PTX.
    Bad,
    /// A string or comment that does not end.
    Unterminated,
    /// The end of the file.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(in crate::parse) struct Token {
    pub(in crate::parse) kind: Kind,
    pub(in crate::parse) start: u32,
    pub(in crate::parse) len: u32,
    pub(in crate::parse) line: u32,
    pub(in crate::parse) column: u32,
}

impl Token {
    /// The end of the token in the text.
    pub(in crate::parse) fn end(self) -> u32 {
        self.start + self.len
    }
    /// Its place.
    pub(in crate::parse) fn span(self) -> Span {
        Span {
            start: self.start,
            len: self.len,
            line: self.line,
            column: self.column,
        }
    }
}

/// A part of a text, from the start of a line to the end of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::parse) struct Part {
    pub(in crate::parse) start: usize,
    pub(in crate::parse) end: usize,
    /// The line that it begins with, counted from 1.
    pub(in crate::parse) line: u32,
}

impl Part {
    /// All of a text.
    pub(in crate::parse) fn whole(text: &str) -> Part {
        Part {
            start: 0,
            end: text.len(),
            line: 1,
        }
    }
}

/// Reads tokens one after the other, with an [`Kind::End`] at the end, again and again.
#[derive(Clone, Copy)]
pub(in crate::parse) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
    /// UTF-8 continuation bytes seen on this line: columns count characters.
    wide: usize,
}

/// What a byte begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Newline,
    /// A name.
    Letter,
    Digit,
    Dot,
    Quote,
    /// Perhaps a comment.
    Slash,
    /// A line for the preprocessor.
    Hash,
    /// Perhaps a line of debug data.
    At,
    Punct,
    /// What is no PTX.
    Other,
}

/// The class of every byte: looked up, because this is asked once for every byte of a file.
static CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut at = 0;
    while at < 256 {
        classes[at] = match at as u8 {
            b'\n' => Class::Newline,
            // NUL ends the PTX that drivers and object files hold.
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0 => Class::Blank,
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => Class::Letter,
            b'.' => Class::Dot,
            b'"' => Class::Quote,
            b'/' => Class::Slash,
            b'#' => Class::Hash,
            b'@' => Class::At,
            byte if byte.is_ascii_punctuation() => Class::Punct,
            _ => Class::Other,
        };
        at += 1;
    }
    classes
};

#[inline]
fn is_word(byte: u8) -> bool {
    matches!(CLASSES[usize::from(byte)], Class::Letter | Class::Digit)
}

impl<'a> Lexer<'a> {
    /// At the start of a part of `text`, which must be shorter than 4 GiB.
    pub(in crate::parse) fn new(text: &'a str, part: Part) -> Self {
        let marked = part.start == 0 && text.starts_with('\u{feff}');
        let start = part.start + if marked { 3 } else { 0 };
        Lexer {
            bytes: &text.as_bytes()[..part.end],
            at: start,
            line: part.line,
            line_start: start,
            wide: 0,
        }
    }

    /// The same text from a token on.
    pub(in crate::parse) fn back_to(&self, token: Token) -> Lexer<'a> {
        Lexer {
            at: token.start as usize,
            line: token.line,
            // As if the line had begun so many bytes before: columns count on from there.
            line_start: (token.start + 1 - token.column) as usize,
            wide: 0,
            ..*self
        }
    }
}

/// Steps of [`crate::parse::instruction::plain`], which reads bytes.
impl Lexer<'_> {
    /// Where it is in the text.
    #[inline]
    pub(in crate::parse) fn at(&self) -> usize {
        self.at
    }

    /// The next byte, or 0 at the end.
    #[inline]
    pub(in crate::parse) fn next_byte(&self) -> u8 {
        self.peek(0)
    }

    /// Passes a byte if it is next.
    #[inline]
    pub(in crate::parse) fn eat(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// Passes blanks on this line.
    #[inline]
    pub(in crate::parse) fn skip_spaces(&mut self) {
        while self.class() == Some(Class::Blank) {
            self.at += 1;
        }
    }

    /// Passes blanks, ends of lines and comments that go up to one.
    #[inline]
    pub(in crate::parse) fn skip_blank(&mut self) {
        loop {
            match self.class() {
                Some(Class::Blank) => self.at += 1,
                Some(Class::Newline) => self.newline(),
                Some(Class::Slash) if self.peek(1) == b'/' => self.skip_line(),
                _ => return,
            }
        }
    }

    /// Passes a word and all that is tied to it by dots.
    #[inline]
    pub(in crate::parse) fn mnemonic(&mut self) {
        self.word();
        while self.peek(0) == b'.' && is_word(self.peek(1)) {
            self.dotted();
        }
    }

    #[inline]
    fn class(&self) -> Option<Class> {
        Some(CLASSES[usize::from(*self.bytes.get(self.at)?)])
    }
}

impl Lexer<'_> {
    #[inline]
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next token.
    pub(in crate::parse) fn next(&mut self) -> Token {
        loop {
            let Some(&byte) = self.bytes.get(self.at) else {
                let mut token = self.here();
                token.kind = Kind::End;
                return token;
            };
            let class = CLASSES[usize::from(byte)];
            if class == Class::Blank {
                self.at += 1;
                continue;
            }
            let mut token = self.here();
            token.kind = match class {
                Class::Blank | Class::Newline => {
                    self.newline();
                    continue;
                }
                Class::Letter => {
                    self.word();
                    Kind::Word
                }
                Class::Digit => self.number(),
                Class::Dot if is_word(self.peek(1)) => {
                    self.dotted();
                    Kind::Dot
                }
                Class::Quote => self.string(),
                Class::Slash if self.peek(1) == b'/' => {
                    self.skip_line();
                    continue;
                }
                Class::Slash if self.peek(1) == b'*' => {
                    if self.skip_comment() {
                        continue;
                    }
                    token.kind = Kind::Unterminated;
                    token.len = 2;
                    return token;
                }
                Class::Hash => {
                    self.skip_line();
                    continue;
                }
                // Lines of old compilers.
                Class::At if self.bytes[self.at..].starts_with(b"@@DWARF") => {
                    self.skip_line();
                    continue;
                }
                Class::Other => self.foreign(),
                Class::Dot | Class::Slash | Class::At | Class::Punct => {
                    self.at += 1;
                    Kind::Punct(byte)
                }
            };
            token.len = self.at as u32 - token.start;
            return token;
        }
    }

    /// An empty token at the current place.
    #[inline]
    pub(in crate::parse) fn here(&self) -> Token {
        Token {
            kind: Kind::Bad,
            start: self.at as u32,
            len: 0,
            line: self.line,
            column: (self.at - self.line_start).saturating_sub(self.wide) as u32 + 1,
        }
    }

    /// Passes the end of a line.
    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
        self.wide = 0;
    }

    /// Passes one byte, keeping line and column.
    fn bump(&mut self) {
        match self.bytes[self.at] {
            b'\n' => return self.newline(),
            0x80..=0xbf => self.wide += 1,
            _ => {}
        }
        self.at += 1;
    }

    /// To the end of the line.
    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        match rest.iter().position(|byte| *byte == b'\n') {
            // What is wide on a line does not matter behind it.
            Some(length) => self.at += length,
            None => (0..rest.len()).for_each(|_| self.bump()),
        }
    }

    /// Passes a comment; false if it does not end.
    fn skip_comment(&mut self) -> bool {
        self.at += 2;
        while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
            if self.at >= self.bytes.len() {
                return false;
            }
            self.bump();
        }
        self.at += 2;
        true
    }

    /// One whole character that is no PTX, so that spans end on boundaries.
    fn foreign(&mut self) -> Kind {
        self.bump();
        while matches!(self.peek(0), 0x80..=0xbf) {
            self.bump();
        }
        Kind::Bad
    }

    /// A dot and what belongs to it.
    fn dotted(&mut self) {
        self.at += 1;
        self.word();
        while self.peek(0) == b':' && self.peek(1) == b':' && is_word(self.peek(2)) {
            self.at += 2;
            self.word();
        }
    }

    /// Passes what belongs to a name, if anything does.
    #[inline]
    pub(in crate::parse) fn word(&mut self) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| !is_word(*byte));
        self.at += length.unwrap_or(rest.len());
    }

    /// A number with its suffixes. What it is worth, and whether it is one at all, is
    /// decided in [`crate::parse::lexer::number`].
    fn number(&mut self) -> Kind {
        let hex =
            self.bytes[self.at] == b'0' && matches!(self.peek(1) | 0x20, b'x' | b'f' | b'd' | b'b');
        self.word();
        if !hex {
            if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
                self.at += 1;
                self.word();
            } else if self.peek(0) == b'.' && !is_word(self.peek(1)) {
                self.at += 1;
            }
            let exponent = matches!(self.bytes[self.at - 1] | 0x20, b'e');
            if exponent && matches!(self.peek(0), b'+' | b'-') && self.peek(1).is_ascii_digit() {
                self.at += 1;
                self.word();
            }
        }
        Kind::Number
    }

    fn string(&mut self) -> Kind {
        self.at += 1;
        loop {
            match self.peek(0) {
                b'"' => {
                    self.at += 1;
                    return Kind::Text;
                }
                b'\\' if self.at + 1 < self.bytes.len() && self.peek(1) != b'\n' => self.at += 1,
                b'\n' => return Kind::Unterminated,
                _ if self.at >= self.bytes.len() => return Kind::Unterminated,
                _ => {}
            }
            self.bump();
        }
    }
}
