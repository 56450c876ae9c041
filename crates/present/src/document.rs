//! TOML as a tree that knows where every key and value stands.

use crate::{Source, SourceError, plain};
use std::ops::Range;
use toml_edit::{ImDocument, Item, TableLike};

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Byte range in the text. A table without a header of its own has its first key's.
    pub span: Range<usize>,
    /// What it is.
    pub value: Value,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// Kept as text: no format of ours uses dates.
    Date(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Range<usize>,
    /// The value.
    pub node: Node,
}

impl Value {
    /// What to call this kind of value in a message.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::String(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Date(_) => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }
}

impl Node {
    /// Reads TOML. The root is always a table.
    pub fn parse(source: &Source) -> Result<Node, SourceError> {
        let document = ImDocument::parse(&*source.text).map_err(|e| {
            let message = e.message().trim().replace('\n', "; ");
            match e.span() {
                Some(span) => source.error(span, format!("not valid TOML: {message}")),
                None => source.error_without_place(format!("not valid TOML: {message}")),
            }
        })?;
        Ok(Node {
            span: 0..0,
            value: Value::Table(entries(document.as_table())),
        })
    }

    /// Reads TOML that has nothing but tables under headers and plain values, much faster than
    /// [`Node::parse`]; `None` for any other text, right or wrong. The tree is the same.
    pub fn parse_plain(text: &str) -> Option<Node> {
        plain::read(text)
    }

    /// The entries, when this is a table.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key, when this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?
            .iter()
            .find(|e| e.key == key)
            .map(|e| &e.node)
    }
}

fn entries(table: &dyn TableLike) -> Vec<Entry> {
    table
        .iter()
        .filter_map(|(name, item)| {
            let key_span = table.key(name).and_then(|k| k.span());
            let node = item_node(item, key_span.clone())?;
            Some(Entry {
                key: name.to_string(),
                key_span: key_span.unwrap_or_else(|| node.span.clone()),
                node,
            })
        })
        .collect()
}

fn item_node(item: &Item, key_span: Option<Range<usize>>) -> Option<Node> {
    let span = item.span().or(key_span).unwrap_or(0..0);
    let value = match item {
        Item::None => return None,
        Item::Value(v) => value(v),
        Item::Table(t) => Value::Table(entries(t)),
        Item::ArrayOfTables(tables) => Value::Array(
            tables
                .iter()
                .map(|t| Node {
                    span: t.span().unwrap_or_else(|| span.clone()),
                    value: Value::Table(entries(t)),
                })
                .collect(),
        ),
    };
    Some(Node { span, value })
}

fn value(v: &toml_edit::Value) -> Value {
    use toml_edit::Value as Edit;
    match v {
        Edit::String(s) => Value::String(s.value().clone()),
        Edit::Integer(i) => Value::Integer(*i.value()),
        Edit::Float(f) => Value::Float(*f.value()),
        Edit::Boolean(b) => Value::Boolean(*b.value()),
        Edit::Datetime(d) => Value::Date(d.value().to_string()),
        Edit::Array(a) => Value::Array(
            a.iter()
                .map(|v| Node {
                    span: v.span().unwrap_or(0..0),
                    value: value(v),
                })
                .collect(),
        ),
        Edit::InlineTable(t) => Value::Table(entries(t)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_place() {
        let source = Source::new(
            "t",
            "a.b = 3\n[[s]]\nx = [1, 2.5]\n[[s]]\n[t.u]\nv = \"w\"\n",
        );
        let root = Node::parse(&source).unwrap();
        let b = root.get("a").unwrap().get("b").unwrap();
        assert_eq!(&source.text[b.span.clone()], "3");
        let Value::Array(steps) = &root.get("s").unwrap().value else {
            panic!("an array of tables is an array");
        };
        assert_eq!(steps.len(), 2);
        let Value::Array(x) = &steps[0].get("x").unwrap().value else {
            panic!("x is an array");
        };
        assert_eq!(&source.text[x[1].span.clone()], "2.5");
        let v = root.get("t").unwrap().get("u").unwrap().get("v").unwrap();
        assert_eq!(v.value, Value::String("w".into()));
    }

    #[test]
    fn broken_toml_is_an_error_with_a_place() {
        let error = Node::parse(&Source::new("t", "a = 1\nb = = 2\n")).unwrap_err();
        let place = error.excerpt().unwrap();
        assert_eq!((place.line, place.column), (2, 5));
    }

    #[test]
    fn deep_nesting_is_refused_not_overflowed() {
        let text = format!("a = {}", "[".repeat(100_000));
        assert!(Node::parse(&Source::new("t", &text)).is_err());
        let text = format!("{}a = 1", "a.".repeat(100_000));
        assert!(Node::parse(&Source::new("t", &text)).is_err());
    }
}
