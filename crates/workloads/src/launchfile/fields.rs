//! Reading a table field by field, with errors that point at the field.

use super::model::{At, Place};
use crate::host::element::Scalar;
use warpsim_present::{Entry, Node, Source, SourceError, Value, nearest};

/// A table whose keys are all known.
pub(super) struct Fields<'a> {
    pub source: &'a Source,
    pub place: Place,
    what: &'a str,
    entries: &'a [Entry],
}

impl<'a> Fields<'a> {
    /// Takes a table and refuses keys that are not `known`.
    pub fn new(
        source: &'a Source,
        node: &'a Node,
        what: &'a str,
        known: &[&str],
    ) -> Result<Fields<'a>, SourceError> {
        let Some(entries) = node.entries() else {
            return Err(source.error(
                node.span.clone(),
                format!("{what} is a table, not {}", node.value.kind()),
            ));
        };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let help = match nearest(&entry.key, known.iter().copied()) {
                    Some(n) => format!("did you mean `{n}`?"),
                    None => format!("{what} has: {}", known.join(", ")),
                };
                let message = format!("{what} has no key `{}`", entry.key);
                return Err(source
                    .error(entry.key_span.clone(), message)
                    .with_help(help));
            }
        }
        Ok(Fields {
            source,
            place: node.span.clone(),
            what,
            entries,
        })
    }

    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    pub fn missing(&self, key: &str, help: &str) -> SourceError {
        let message = format!("{} needs `{key}`", self.what);
        let error = if self.place.is_empty() {
            self.source.error_without_place(message)
        } else {
            self.source.error(self.place.clone(), message)
        };
        error.with_help(help)
    }

    fn wrong(&self, node: &Node, key: &str, wanted: &str) -> SourceError {
        wrong_kind(self.source, node, key, wanted)
    }

    pub fn string(&self, key: &str) -> Result<Option<At<String>>, SourceError> {
        match self.node(key) {
            None => Ok(None),
            Some(node) => match &node.value {
                Value::String(s) => Ok(Some(At {
                    value: s.clone(),
                    place: node.span.clone(),
                })),
                _ => Err(self.wrong(node, key, "a string")),
            },
        }
    }

    /// A list of strings, empty if it is not there.
    pub fn strings(&self, key: &str) -> Result<Vec<At<String>>, SourceError> {
        let Some(node) = self.node(key) else {
            return Ok(Vec::new());
        };
        let Value::Array(items) = &node.value else {
            return Err(self.wrong(node, key, "a list of strings"));
        };
        let one = |item: &Node| match &item.value {
            Value::String(s) => Ok(At {
                value: s.clone(),
                place: item.span.clone(),
            }),
            _ => Err(self.wrong(item, key, "a list of strings")),
        };
        items.iter().map(one).collect()
    }

    pub fn flag(&self, key: &str) -> Result<bool, SourceError> {
        match self.node(key) {
            None => Ok(false),
            Some(node) => match node.value {
                Value::Boolean(b) => Ok(b),
                _ => Err(self.wrong(node, key, "true or false")),
            },
        }
    }

    /// An integer between 0 and `high`.
    pub fn count(&self, key: &str, high: u64) -> Result<Option<At<u64>>, SourceError> {
        match self.node(key) {
            None => Ok(None),
            Some(node) => Ok(Some(At {
                value: count(self.source, node, key, 0, high)?,
                place: node.span.clone(),
            })),
        }
    }

    /// A non-negative number.
    pub fn magnitude(&self, key: &str) -> Result<f64, SourceError> {
        let Some(node) = self.node(key) else {
            return Ok(0.0);
        };
        let value = match node.value {
            Value::Integer(i) => i as f64,
            Value::Float(f) => f,
            _ => return Err(self.wrong(node, key, "a number")),
        };
        if value.is_nan() || value < 0.0 {
            return Err(self
                .source
                .error(node.span.clone(), format!("`{key}` must not be negative")));
        }
        Ok(value)
    }

    /// One of several words; `false` for the first, `true` for the second.
    pub fn either(&self, key: &str, words: [&str; 2]) -> Result<bool, SourceError> {
        let Some(word) = self.string(key)? else {
            return Ok(false);
        };
        match words.iter().position(|w| *w == word.value) {
            Some(i) => Ok(i == 1),
            None => Err(self.source.error(
                word.place,
                format!("`{key}` is \"{}\" or \"{}\"", words[0], words[1]),
            )),
        }
    }
}

pub(super) fn wrong_kind(source: &Source, node: &Node, key: &str, wanted: &str) -> SourceError {
    source.error(
        node.span.clone(),
        format!("`{key}` takes {wanted}, not {}", node.value.kind()),
    )
}

/// An integer in a range.
pub(super) fn count(
    source: &Source,
    node: &Node,
    key: &str,
    low: u64,
    high: u64,
) -> Result<u64, SourceError> {
    let Value::Integer(i) = node.value else {
        return Err(wrong_kind(source, node, key, "an integer"));
    };
    match u64::try_from(i) {
        Ok(n) if (low..=high).contains(&n) => Ok(n),
        _ => Err(source.error(
            node.span.clone(),
            format!("`{key}` must lie between {low} and {high}"),
        )),
    }
}

/// A number.
pub(super) fn scalar(source: &Source, node: &Node, key: &str) -> Result<At<Scalar>, SourceError> {
    let value = match node.value {
        Value::Integer(i) => Scalar::Integer(i.into()),
        Value::Float(f) => Scalar::Float(f),
        _ => return Err(wrong_kind(source, node, key, "a number")),
    };
    Ok(At {
        value,
        place: node.span.clone(),
    })
}

/// A list of numbers.
pub(super) fn scalars(
    source: &Source,
    node: &Node,
    key: &str,
) -> Result<Vec<At<Scalar>>, SourceError> {
    let Value::Array(items) = &node.value else {
        return Err(wrong_kind(source, node, key, "a list of numbers"));
    };
    items.iter().map(|n| scalar(source, n, key)).collect()
}

/// A table or an array of tables as a list of nodes.
pub(super) fn tables<'a>(
    source: &Source,
    node: &'a Node,
    key: &str,
) -> Result<&'a [Node], SourceError> {
    match &node.value {
        Value::Array(items) => Ok(items),
        _ => Err(wrong_kind(source, node, key, "a list of tables")
            .with_help(format!("write `[[{key}]]`"))),
    }
}
