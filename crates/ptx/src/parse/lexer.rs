//! Text to tokens. The lexer never fails: what it cannot read becomes a token that the
//! parser reports when it gets there, so that rubbish inside a skipped section is skipped.

use crate::ast::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Token {
    /// The end of the token in the text.
    pub(super) fn end(self) -> u32 {
        self.start + self.len
    }
    /// Its place.
    pub(super) fn span(self) -> Span {
        Span {
            start: self.start,
            len: self.len,
            line: self.line,
            column: self.column,
        }
    }
}

/// All tokens of `text` (which must be shorter than 4 GiB), with an [`Kind::End`] last.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    // Compilers' output has a token every five bytes or so; the bound is for what is no PTX.
    let mut tokens = Vec::with_capacity((text.len() / 5).min(1 << 22));
    let byte_order_mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lexer = Lexer {
        bytes: text.as_bytes(),
        at: byte_order_mark,
        line: 1,
        line_start: byte_order_mark,
        wide: 0,
    };
    loop {
        let token = lexer.next();
        tokens.push(token);
        if token.kind == Kind::End {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
    /// UTF-8 continuation bytes seen on this line: columns count characters.
    wide: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%')
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Token {
        let unterminated = self.skip_blank();
        if let Some(token) = unterminated {
            return token;
        }
        let mut token = self.here();
        token.kind = if self.at >= self.bytes.len() {
            Kind::End
        } else {
            self.scan()
        };
        token.len = self.at as u32 - token.start;
        token
    }

    /// An empty token at the current place.
    fn here(&self) -> Token {
        Token {
            kind: Kind::Bad,
            start: self.at as u32,
            len: 0,
            line: self.line,
            column: (self.at - self.line_start - self.wide.min(self.at - self.line_start)) as u32
                + 1,
        }
    }

    /// Passes one byte, keeping line and column.
    fn bump(&mut self) {
        match self.bytes[self.at] {
            b'\n' => {
                self.line += 1;
                self.line_start = self.at + 1;
                self.wide = 0;
            }
            0x80..=0xbf => self.wide += 1,
            _ => {}
        }
        self.at += 1;
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
            self.bump();
        }
    }

    /// Passes white space, comments, preprocessor lines and the `@@DWARF` lines of old
    /// compilers. Returns the comment that does not end, if there is one.
    fn skip_blank(&mut self) -> Option<Token> {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                // NUL ends the PTX that drivers and object files hold.
                b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c | 0 => self.bump(),
                b'/' if self.peek(1) == b'/' => self.skip_line(),
                b'#' => self.skip_line(),
                b'@' if self.bytes[self.at..].starts_with(b"@@DWARF") => self.skip_line(),
                b'/' if self.peek(1) == b'*' => {
                    let mut token = self.here();
                    self.at += 2;
                    while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
                        if self.at >= self.bytes.len() {
                            token.kind = Kind::Unterminated;
                            token.len = 2;
                            return Some(token);
                        }
                        self.bump();
                    }
                    self.at += 2;
                }
                _ => break,
            }
        }
        None
    }

    fn scan(&mut self) -> Kind {
        match self.bytes[self.at] {
            b'0'..=b'9' => self.number(),
            byte if is_word(byte) => {
                self.word();
                Kind::Word
            }
            b'.' if is_word(self.peek(1)) => {
                self.at += 1;
                self.word();
                while self.peek(0) == b':' && self.peek(1) == b':' && is_word(self.peek(2)) {
                    self.at += 2;
                    self.word();
                }
                Kind::Dot
            }
            b'"' => self.string(),
            byte if byte.is_ascii_punctuation() => {
                self.at += 1;
                Kind::Punct(byte)
            }
            _ => {
                // One whole character, so that spans end on boundaries.
                self.bump();
                while matches!(self.peek(0), 0x80..=0xbf) {
                    self.bump();
                }
                Kind::Bad
            }
        }
    }

    fn word(&mut self) {
        while is_word(self.peek(0)) {
            self.at += 1;
        }
    }

    /// A number with its suffixes. What it is worth, and whether it is one at all, is
    /// decided in [`super::number`].
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

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let all = tokens(text);
        all.iter()
            .filter(|t| t.kind != Kind::End)
            .map(|t| &text[t.start as usize..t.end() as usize])
            .collect()
    }

    #[test]
    fn mnemonics_split_at_dots() {
        assert_eq!(
            texts("ld.global.L1::no_allocate.v4.f32"),
            ["ld", ".global", ".L1::no_allocate", ".v4", ".f32"]
        );
        assert_eq!(texts("tex.2d.v4"), ["tex", ".2d", ".v4"]);
        assert_eq!(texts("%tid.x"), ["%tid", ".x"]);
    }

    #[test]
    fn numbers_keep_their_suffixes() {
        let source = "0f3F800000 0d3FF0000000000000 0x1fU 017 0b101 1.5e-3 1e+5 7.8 12U -4 3.";
        let expected = [
            "0f3F800000",
            "0d3FF0000000000000",
            "0x1fU",
            "017",
            "0b101",
            "1.5e-3",
            "1e+5",
            "7.8",
            "12U",
            "-",
            "4",
            "3.",
        ];
        assert_eq!(texts(source), expected);
    }

    #[test]
    fn blank_is_passed_and_lines_are_counted() {
        let source = "a // x\n/* b\n c */ d\n# 1 \"f.cu\"\n@@DWARF .byte 1\n  e";
        let all = tokens(source);
        let places: Vec<_> = all.iter().map(|t| (t.line, t.column)).collect();
        assert_eq!(texts(source), ["a", "d", "e"]);
        assert_eq!(places[..3], [(1, 1), (3, 7), (6, 3)]);
    }

    #[test]
    fn byte_order_mark_and_trailing_nul_are_passed() {
        let all = tokens("\u{feff}.version 7.8\0\0");
        assert_eq!((all.len(), all[0].kind, all[0].column), (3, Kind::Dot, 1));
    }

    #[test]
    fn columns_count_characters() {
        let all = tokens("/* é€ */ x");
        assert_eq!((all[0].kind, all[0].column), (Kind::Word, 10));
    }

    #[test]
    fn what_does_not_end_is_marked() {
        assert_eq!(
            tokens("\"abc\n").first().map(|t| t.kind),
            Some(Kind::Unterminated)
        );
        assert_eq!(
            tokens("/* abc").first().map(|t| t.kind),
            Some(Kind::Unterminated)
        );
        assert_eq!(
            tokens("\"abc\\").first().map(|t| t.kind),
            Some(Kind::Unterminated)
        );
    }
}
