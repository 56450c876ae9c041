//! Reading a TOML table key by key, with errors that point at the key.

use super::model::At;
use warpsim_present::{Entry, Node, Source, SourceError, Value, nearest};

/// A table whose keys are all known.
pub struct Table<'a> {
    pub source: &'a Source,
    what: String,
    node: &'a Node,
    entries: &'a [Entry],
}

impl<'a> Table<'a> {
    /// Takes a table and refuses keys that are not `known`.
    pub fn new(
        source: &'a Source,
        node: &'a Node,
        what: impl Into<String>,
        known: &[&str],
    ) -> Result<Table<'a>, SourceError> {
        let what = what.into();
        let entries = node.entries().ok_or_else(|| {
            source.error(
                node.span.clone(),
                format!("{what} is a table, not {}", node.value.kind()),
            )
        })?;
        if let Some(stray) = entries.iter().find(|e| !known.contains(&e.key.as_str())) {
            let help = match nearest(&stray.key, known.iter().copied()) {
                Some(n) => format!("did you mean `{n}`?"),
                None => format!("{what} has: {}", known.join(", ")),
            };
            let message = format!("{what} has no key `{}`", stray.key);
            return Err(source
                .error(stray.key_span.clone(), message)
                .with_help(help));
        }
        Ok(Table {
            source,
            what,
            node,
            entries,
        })
    }

    /// The value of a key.
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    /// That a key is not there, with what to write.
    pub fn missing(&self, key: &str, help: &str) -> SourceError {
        let message = format!("{} needs `{key}`", self.what);
        let error = if self.node.span.is_empty() {
            self.source.error_without_place(message)
        } else {
            self.source.error(self.node.span.clone(), message)
        };
        error.with_help(help)
    }

    /// A string.
    pub fn text(&self, key: &str) -> Result<Option<At<String>>, SourceError> {
        self.node(key)
            .map(|node| text(self.source, node, key))
            .transpose()
    }

    /// A string's value, or what to use without one.
    pub fn text_or(&self, key: &str, default: &str) -> Result<String, SourceError> {
        Ok(self.text(key)?.map_or(default.to_string(), |t| t.value))
    }

    /// A string, or several in an array.
    pub fn texts(&self, key: &str) -> Result<Vec<At<String>>, SourceError> {
        let Some(node) = self.node(key) else {
            return Ok(Vec::new());
        };
        items(node)
            .iter()
            .map(|n| text(self.source, n, key))
            .collect()
    }

    /// A whole number in a range.
    pub fn whole(&self, key: &str, low: u64, high: u64) -> Result<Option<At<u64>>, SourceError> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let in_range = match node.value {
            Value::Integer(i) => u64::try_from(i).ok().filter(|n| (low..=high).contains(n)),
            _ => None,
        };
        let value = in_range.ok_or_else(|| {
            let message = format!("`{key}` is a whole number from {low} to {high}");
            self.source.error(node.span.clone(), message)
        })?;
        Ok(Some(at(value, node)))
    }

    /// One of several words.
    pub fn choice<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, SourceError> {
        let Some(word) = self.text(key)? else {
            return Ok(None);
        };
        let found = words.iter().find(|(name, _)| *name == word.value);
        let names = || words.iter().map(|(name, _)| *name);
        found.map(|(_, value)| Some(*value)).ok_or_else(|| {
            let all = names().collect::<Vec<_>>().join(", ");
            self.source
                .error(word.place, format!("`{key}` is one of: {all}"))
                .with_optional_help(
                    nearest(&word.value, names()).map(|n| format!("did you mean `{n}`?")),
                )
        })
    }

    /// Whether a key is true; it is not if it is not given.
    pub fn switch(&self, key: &str) -> Result<bool, SourceError> {
        match self.node(key) {
            None => Ok(false),
            Some(node) => match node.value {
                Value::Boolean(on) => Ok(on),
                _ => Err(self
                    .source
                    .error(node.span.clone(), format!("`{key}` is true or false"))),
            },
        }
    }

    /// The entries of a table of anything.
    pub fn named(&self, key: &str) -> Result<&'a [Entry], SourceError> {
        let Some(node) = self.node(key) else {
            return Ok(&[]);
        };
        node.entries().ok_or_else(|| {
            let message = format!("`{key}` is a table, not {}", node.value.kind());
            self.source.error(node.span.clone(), message)
        })
    }

    /// Tables that were written `[[key]]`.
    pub fn tables(&self, key: &str) -> Result<&'a [Node], SourceError> {
        match self.node(key).map(|n| (&n.value, n)) {
            None => Ok(&[]),
            Some((Value::Array(nodes), _)) => Ok(nodes),
            Some((other, node)) => Err(self
                .source
                .error(
                    node.span.clone(),
                    format!("`{key}` is a list of tables, not {}", other.kind()),
                )
                .with_help(format!("write `[[{key}]]` above each"))),
        }
    }
}

/// An array's items, or the value itself as the only one.
pub fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::Array(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}

/// A value with the place of its node.
pub fn at<T>(value: T, node: &Node) -> At<T> {
    At {
        value,
        place: node.span.clone(),
    }
}

/// A key of a table.
pub fn key(entry: &Entry) -> At<String> {
    At {
        value: entry.key.clone(),
        place: entry.key_span.clone(),
    }
}

/// A string.
pub fn text(source: &Source, node: &Node, key: &str) -> Result<At<String>, SourceError> {
    match &node.value {
        Value::String(s) => Ok(at(s.clone(), node)),
        other => Err(source.error(
            node.span.clone(),
            format!("`{key}` takes text, not {}", other.kind()),
        )),
    }
}

/// A finite number.
pub fn number(source: &Source, node: &Node, key: &str) -> Result<f64, SourceError> {
    let value = match node.value {
        Value::Integer(i) => i as f64,
        Value::Float(f) => f,
        _ => f64::NAN,
    };
    if value.is_finite() {
        Ok(value)
    } else {
        Err(source.error(node.span.clone(), format!("`{key}` takes a number")))
    }
}

/// A setting's value as `--set` takes it.
pub fn setting(source: &Source, node: &Node, key: &str) -> Result<String, SourceError> {
    match &node.value {
        Value::String(s) => Ok(s.clone()),
        Value::Integer(i) => Ok(i.to_string()),
        Value::Float(f) => Ok(f.to_string()),
        Value::Boolean(b) => Ok(b.to_string()),
        other => Err(source.error(
            node.span.clone(),
            format!("`{key}` takes one value, not {}", other.kind()),
        )),
    }
}
