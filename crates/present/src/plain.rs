//! TOML as most people write it, read fast: tables under their headers, and keys with numbers,
//! strings, booleans and arrays of them. Whatever else there is, is left to the whole reader
//! ([`Node::parse`]), which takes ten times as long; both give the same tree.

use crate::document::{Entry, Node, Value};
use std::ops::Range;

/// Reads a text, if it is as plain as that.
pub(crate) fn read(text: &str) -> Option<Node> {
    let mut reader = Reader { text, at: 0 };
    let mut root = Node {
        span: 0..0,
        value: Value::Table(Vec::new()),
    };
    let mut table: Vec<Range<usize>> = Vec::new();
    loop {
        reader.skip_blank();
        let start = reader.at;
        match reader.next() {
            None => break,
            Some(b'[') => {
                reader.at += 1;
                table = reader.header()?;
                let span = start..reader.at;
                reader.end_line()?;
                let (own, above) = table.split_last()?;
                let into = find(text, &mut root, above)?;
                add(text, into, own, Value::Table(Vec::new()), span)?;
            }
            Some(_) => {
                let keys = reader.keys()?;
                reader.skip_spaces();
                reader.expect(b'=')?;
                reader.skip_spaces();
                let Node { value, span } = reader.value()?;
                reader.end_line()?;
                let into = find(text, &mut root, &table)?;
                // A table reaches from its header to its last value.
                if !table.is_empty() {
                    into.span.end = span.end;
                }
                let (key, within) = keys.split_last()?;
                // Whether a table may be added to depends on who made it: not for a fast reader.
                if within
                    .first()
                    .is_some_and(|part| into.get(&text[part.clone()]).is_some())
                {
                    return None;
                }
                add(text, find(text, into, within)?, key, value, span)?;
            }
        }
    }
    Some(root)
}

/// The table with this name, which is made where it is not there.
fn find<'a>(text: &str, mut table: &'a mut Node, path: &[Range<usize>]) -> Option<&'a mut Node> {
    for part in path {
        let key = &text[part.clone()];
        let known = table.entries()?.iter().position(|e| e.key == key);
        if known.is_none() {
            add(text, table, part, Value::Table(Vec::new()), part.clone())?;
        }
        let Value::Table(entries) = &mut table.value else {
            return None;
        };
        let at = known.unwrap_or(entries.len() - 1);
        table = &mut entries[at].node;
    }
    Some(table)
}

/// Adds an entry to a table; none where its key is taken.
fn add(
    text: &str,
    table: &mut Node,
    key: &Range<usize>,
    value: Value,
    span: Range<usize>,
) -> Option<()> {
    let Value::Table(entries) = &mut table.value else {
        return None;
    };
    let name = &text[key.clone()];
    if entries.iter().any(|e| e.key == name) {
        return None;
    }
    entries.push(Entry {
        key: name.to_string(),
        key_span: key.clone(),
        node: Node { span, value },
    });
    Some(())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next() == Some(byte)).then(|| self.at += 1)
    }

    /// Passes all that are so, and says where they stand.
    fn while_so(&mut self, is: impl Fn(u8) -> bool) -> Range<usize> {
        let start = self.at;
        while self.next().is_some_and(&is) {
            self.at += 1;
        }
        start..self.at
    }

    fn skip_spaces(&mut self) {
        self.while_so(|b| b == b' ' || b == b'\t');
    }

    /// A comment, if one is next. Control characters are not for a fast reader.
    fn skip_comment(&mut self) {
        if self.next() == Some(b'#') {
            self.while_so(|b| b >= b' ' && b != 0x7f || b == b'\t');
        }
    }

    fn skip_blank(&mut self) {
        loop {
            let start = self.at;
            self.while_so(|b| matches!(b, b' ' | b'\t' | b'\n'));
            self.skip_comment();
            if self.at == start {
                return;
            }
        }
    }

    /// Nothing but a comment up to the end of the line.
    fn end_line(&mut self) -> Option<()> {
        self.skip_spaces();
        self.skip_comment();
        matches!(self.next(), None | Some(b'\n')).then_some(())
    }

    fn key(&mut self) -> Option<Range<usize>> {
        let key = self.while_so(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        (!key.is_empty()).then_some(key)
    }

    /// Keys with points between them.
    fn keys(&mut self) -> Option<Vec<Range<usize>>> {
        let mut keys = vec![self.key()?];
        while self.expect(b'.').is_some() {
            keys.push(self.key()?);
        }
        Some(keys)
    }

    /// What stands between the brackets of a header, and the closing one.
    fn header(&mut self) -> Option<Vec<Range<usize>>> {
        let keys = self.keys()?;
        self.expect(b']')?;
        Some(keys)
    }

    fn value(&mut self) -> Option<Node> {
        let start = self.at;
        let value = match self.next()? {
            b'"' => {
                self.at += 1;
                let inner = self.while_so(|b| b >= b' ' && !matches!(b, b'"' | b'\\' | 0x7f));
                // Three quotes begin a string of several lines.
                self.expect(b'"')?;
                if inner.is_empty() && self.next() == Some(b'"') {
                    return None;
                }
                Value::String(self.text[inner].to_string())
            }
            b'[' => {
                self.at += 1;
                self.elements()?
            }
            _ => self.word()?,
        };
        Some(Node {
            span: start..self.at,
            value,
        })
    }

    /// The elements of an array, and the bracket that closes it.
    fn elements(&mut self) -> Option<Value> {
        let mut elements = Vec::new();
        loop {
            self.skip_blank();
            if self.expect(b']').is_some() {
                return Some(Value::Array(elements));
            }
            // One in another is rare, and would have to be bounded.
            if self.next() == Some(b'[') {
                return None;
            }
            elements.push(self.value()?);
            self.skip_blank();
            if self.expect(b',').is_none() {
                self.expect(b']')?;
                return Some(Value::Array(elements));
            }
        }
    }

    /// A boolean, or a decimal number in digits and at most one point.
    fn word(&mut self) -> Option<Value> {
        let word = self.while_so(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'));
        let word = &self.text[word];
        let digits = word.strip_prefix('-').unwrap_or(word);
        let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let leads = |text: &str| number(text) && (text.len() == 1 || !text.starts_with('0'));
        match (word, digits.split_once('.')) {
            ("true", _) => Some(Value::Boolean(true)),
            ("false", _) => Some(Value::Boolean(false)),
            (_, None) if leads(digits) => word.parse().ok().map(Value::Integer),
            (_, Some((whole, part))) if leads(whole) && number(part) => {
                word.parse().ok().map(Value::Float)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn whole(text: &str) -> Option<Node> {
        Node::parse(&Source::new("t", text)).ok()
    }

    #[test]
    fn what_is_plain_is_read_as_the_whole_reader_does() {
        for text in [
            "",
            "# nothing\n",
            "a = 1\nb = -2 # two\n\n[t]\nc = 1.50\nd = \"x # y\"\n",
            "[a.b]\nx = true\n[a.c]\ny = [1, 2]\n[d]\n",
            "a = [\n  \"x\", # one\n  \"y\",\n]\nb = []\nc = [ 1 ]",
            "s = \"\"\nk-e_y = 0\n\t[ t ]\n",
            "[t]\n# é\nname = \"é\"\n",
            "[t]\na.b = 1\nc = 2\n[u]\na.b.c = \"x\"\n",
        ] {
            if let Some(plain) = read(text) {
                assert_eq!(Some(plain), whole(text), "{text}");
            } else {
                assert!(text.contains("[ t ]"), "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_is_left_to_it() {
        for text in [
            "a.b = 1\na.c = 2",
            "a . b = 1",
            "a = 1_000",
            "a = 0x10",
            "a = 01",
            "a = 1e3",
            "a = 'x'",
            "a = \"\"\"x\"\"\"",
            "a = \"\\n\"",
            "a = {b = 1}",
            "a = [[1]]",
            "[[t]]",
            "\"a\" = 1",
            "a = 1\na = 2",
            "[t]\n[t]",
            "[t.u]\n[t]",
            "a = 1 b = 2",
            "a = 1979-05-27",
            "a = inf",
            "a = 99999999999999999999",
            "a = .5",
            "a = 5.",
            "a =",
            "a = 1\r\n",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
