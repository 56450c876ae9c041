//! Texts of others on a terminal: what would command it is shown, not obeyed.

use std::borrow::Cow;
use std::fmt::Write;

/// What a terminal obeys instead of showing it: control characters other than a line's end and a tab, and
/// marks that make it show what follows in another order.
fn commands(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        c => c.is_control(),
    }
}

/// The text with such characters as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    visible_but(text, &[])
}

/// The same, with these sequences left as they are: those by which a program colours what it writes.
pub fn visible_but<'a>(text: &'a str, allowed: &[&str]) -> Cow<'a, str> {
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(sequence) = allowed.iter().find(|s| rest.starts_with(**s)) {
            out.push_str(sequence);
            rest = &rest[sequence.len()..];
            continue;
        }
        match commands(c) {
            true => push(&mut out, c),
            false => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    Cow::Owned(out)
}

/// Appends a character as `\u{1b}`.
fn push(out: &mut String, c: char) {
    // Writing to a String cannot fail.
    let _ = write!(out, "{}", c.escape_unicode());
}

/// Appends a part of a line: control characters are shown too, tabs as `tab`, returns not at all.
pub(crate) fn push_visible(out: &mut String, part: &str, tab: &str) {
    for c in part.chars() {
        match c {
            '\t' => out.push_str(tab),
            '\r' => {}
            c if c == '\n' || commands(c) => push(out, c),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(visible("\x1b[2Jx\r\u{7}"), "\\u{1b}[2Jx\\u{d}\\u{7}");
        assert_eq!(visible("\u{202e}gnp.exe"), "\\u{202e}gnp.exe");
        assert_eq!(visible("é \u{9b}1m"), "é \\u{9b}1m");
    }

    #[test]
    fn sequences_of_our_own_stay() {
        let text = "\x1b[1mname \x1b[8mhidden\x1b[0m";
        let shown = visible_but(text, &["\x1b[1m", "\x1b[0m"]);
        assert_eq!(shown, "\x1b[1mname \\u{1b}[8mhidden\x1b[0m");
    }
}
