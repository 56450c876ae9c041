//! Laying machine files over one another, remembering who set what.

use super::Machine;
use super::set::Override;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use warpsim_present::{Node, Source, SourceError, Value, nearest};

/// One file of an `extends` chain.
pub(super) struct Layer {
    pub source: Source,
    pub root: Node,
}

/// A leaf's value and where it was set.
struct Setting {
    value: Value,
    source: Source,
    span: Range<usize>,
}

/// The merged settings by dotted key. Arrays are leaves.
pub(super) struct Merged {
    schema: BTreeMap<String, Value>,
    tables: Vec<String>,
    settings: BTreeMap<String, Setting>,
}

impl Merged {
    pub fn new(schema: &Node) -> Merged {
        let mut leaves = BTreeMap::new();
        let mut tables = Vec::new();
        flatten_schema(schema, "", &mut leaves, &mut tables);
        Merged {
            schema: leaves,
            tables,
            settings: BTreeMap::new(),
        }
    }

    /// Lays a file over what is there.
    pub fn apply(&mut self, layer: &Layer) -> Result<(), SourceError> {
        self.apply_table(&layer.source, &layer.root, "")
    }

    fn apply_table(&mut self, source: &Source, table: &Node, at: &str) -> Result<(), SourceError> {
        for entry in table.entries().unwrap_or_default() {
            if at.is_empty() && entry.key == "extends" {
                continue;
            }
            let key = join(at, &entry.key);
            let is_table = self.tables.contains(&key);
            if !is_table && !self.schema.contains_key(&key) {
                return Err(self.unknown(source, entry.key_span.clone(), &key));
            }
            match (&entry.node.value, is_table) {
                (Value::Table(_), true) => self.apply_table(source, &entry.node, &key)?,
                (other, true) => {
                    return Err(source.error(
                        entry.node.span.clone(),
                        format!("`{key}` is a section, not {}", other.kind()),
                    ));
                }
                (_, false) => self.set(source, &key, &entry.node)?,
            }
        }
        Ok(())
    }

    /// Applies `--set key=value`.
    pub fn apply_override(&mut self, o: &Override) -> Result<(), SourceError> {
        let Some(expected) = self.schema.get(&o.key) else {
            return Err(self.unknown(&o.source, o.key_span.clone(), &o.key));
        };
        let mut node = o.node.clone();
        if matches!(expected, Value::String(_)) && !matches!(node.value, Value::String(_)) {
            node.value = Value::String(o.raw.clone());
        }
        self.set(&o.source, &o.key, &node)
    }

    fn set(&mut self, source: &Source, key: &str, node: &Node) -> Result<(), SourceError> {
        if let Some(expected) = self.schema.get(key)
            && !same_kind(expected, &node.value)
        {
            return Err(source.error(
                node.span.clone(),
                format!(
                    "`{key}` takes {}, not {}",
                    expected.kind(),
                    node.value.kind()
                ),
            ));
        }
        self.settings.insert(
            key.to_string(),
            Setting {
                value: node.value.clone(),
                source: source.clone(),
                span: node.span.clone(),
            },
        );
        Ok(())
    }

    fn unknown(&self, source: &Source, span: Range<usize>, key: &str) -> SourceError {
        let keys = self.schema.keys().chain(&self.tables).map(String::as_str);
        // A key given without its section, or in the wrong one, is found by its last part.
        let last = key.rsplit('.').next().unwrap_or(key);
        let elsewhere: Vec<&str> = self
            .schema
            .keys()
            .map(String::as_str)
            .filter(|k| k.rsplit('.').next() == Some(last))
            .collect();
        let help = if !elsewhere.is_empty() && elsewhere.len() <= 4 {
            let quoted: Vec<String> = elsewhere.iter().map(|k| format!("`{k}`")).collect();
            Some(format!("did you mean {}?", quoted.join(" or ")))
        } else {
            // Compare within the section first: `sm.shcedulers` is more like `sm.schedulers`
            // than like anything elsewhere.
            let section = key.rfind('.').map_or("", |i| &key[..=i]);
            let siblings = keys.clone().filter(|k| {
                k.strip_prefix(section)
                    .is_some_and(|rest| !rest.contains('.'))
            });
            nearest(key, siblings)
                .or_else(|| nearest(key, keys))
                .map(|n| format!("did you mean `{n}`?"))
        };
        source
            .error(span, format!("unknown key `{key}`"))
            .with_optional_help(help)
    }

    /// A machine that extends nothing must set everything.
    pub fn require_complete(&self, root: &Source) -> Result<(), SourceError> {
        match self.schema.keys().find(|k| !self.settings.contains_key(*k)) {
            None => Ok(()),
            Some(missing) => Err(root
                .error_without_place(format!("`{missing}` is not set"))
                .with_help("add `extends = \"gtx480\"` and write only what differs")),
        }
    }

    /// The typed machine.
    pub fn finish(&self) -> Result<Machine, SourceError> {
        let mut table = toml::Table::new();
        for (key, setting) in &self.settings {
            insert(&mut table, key, to_toml(&setting.value));
        }
        let error = match Machine::deserialize(table.clone()) {
            Ok(machine) => return Ok(machine),
            Err(error) => error,
        };
        // Serde does not say which key it stumbled over: put the schema's own value (which is
        // known to be good) in the place of each setting in turn, and see which one cures it.
        for (key, setting) in &self.settings {
            let Some(good) = self.schema.get(key) else {
                continue;
            };
            let mut alone = toml::Table::new();
            for (k, v) in &self.schema {
                let v = if k == key { &setting.value } else { v };
                insert(&mut alone, k, to_toml(v));
            }
            if *good != setting.value
                && let Err(error) = Machine::deserialize(alone)
            {
                return Err(self.error_at(key, format!("`{key}`: {}", first_line(&error))));
            }
        }
        Err(Source::new("machine", "").error_without_place(first_line(&error)))
    }

    /// An error at the place where `key` was last set.
    pub fn error_at(&self, key: &str, message: String) -> SourceError {
        match self.settings.get(key) {
            Some(s) => s.source.error(s.span.clone(), message),
            None => Source::new("machine", "").error_without_place(message),
        }
    }
}

fn first_line(error: &toml::de::Error) -> String {
    error
        .message()
        .lines()
        .next()
        .unwrap_or_default()
        .to_string()
}

fn join(at: &str, key: &str) -> String {
    if at.is_empty() {
        key.to_string()
    } else {
        format!("{at}.{key}")
    }
}

fn flatten_schema(
    node: &Node,
    at: &str,
    leaves: &mut BTreeMap<String, Value>,
    tables: &mut Vec<String>,
) {
    for entry in node.entries().unwrap_or_default() {
        let key = join(at, &entry.key);
        if matches!(entry.node.value, Value::Table(_)) {
            flatten_schema(&entry.node, &key, leaves, tables);
            tables.push(key);
        } else {
            leaves.insert(key, entry.node.value.clone());
        }
    }
}

fn same_kind(expected: &Value, got: &Value) -> bool {
    use Value::*;
    match (expected, got) {
        (Float(_), Integer(_)) => true,
        (Array(e), Array(g)) => {
            let element = e.first();
            g.iter()
                .all(|g| element.is_none_or(|e| same_kind(&e.value, &g.value)))
        }
        _ => std::mem::discriminant(expected) == std::mem::discriminant(got),
    }
}

fn to_toml(value: &Value) -> toml::Value {
    match value {
        Value::String(s) | Value::Date(s) => toml::Value::String(s.clone()),
        Value::Integer(i) => toml::Value::Integer(*i),
        Value::Float(f) => toml::Value::Float(*f),
        Value::Boolean(b) => toml::Value::Boolean(*b),
        Value::Array(a) => toml::Value::Array(a.iter().map(|n| to_toml(&n.value)).collect()),
        Value::Table(entries) => toml::Value::Table(
            entries
                .iter()
                .map(|e| (e.key.clone(), to_toml(&e.node.value)))
                .collect(),
        ),
    }
}

fn insert(table: &mut toml::Table, key: &str, value: toml::Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_string(), value);
        }
        Some((head, rest)) => {
            let inner = table
                .entry(head)
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if let toml::Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}
