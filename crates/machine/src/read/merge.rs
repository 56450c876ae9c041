//! Laying machine files over one another, remembering which file set what.

use super::load::Explained;
use super::moved;
use super::set::Override;
use crate::mechanism::{Kind, Mechanisms, Parameter};
use crate::model::rule::Rule;
use crate::{Machine, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use warpsim_present::{Node, Source, SourceError, Value, nearest};

/// One file of an `extends` chain.
pub(super) struct Layer {
    pub source: Source,
    pub root: Arc<Node>,
}

/// A leaf's value and where it was set.
struct Setting {
    value: Value,
    source: Source,
    span: Range<usize>,
}

/// The merged settings by dotted key. Arrays are leaves.
///
/// A mechanism's parameters are kept under `scheduler.tls.active`, whichever mechanism is chosen: a file may
/// set them for when that one is. `scheduler.active` is short for the one that is chosen where it
/// is written.
pub(super) struct Merged {
    keys: BTreeMap<String, Key>,
    tables: Vec<String>,
    mechanisms: &'static Mechanisms,
}

/// What is known about a key. Together, as most that is asked about keys is asked about all of
/// them.
#[derive(Default)]
struct Key {
    /// What the schema has there, if it is a setting of machines.
    schema: Option<Value>,
    /// What it is, if it is a mechanism's.
    parameter: Option<&'static dyn Parameter>,
    /// What it was set to last.
    setting: Option<Setting>,
}

impl Merged {
    pub fn new(schema: &Node, mechanisms: &'static Mechanisms) -> Merged {
        let mut keys: BTreeMap<String, Key> = BTreeMap::new();
        let mut tables = Vec::new();
        flatten_schema(schema, "", &mut keys, &mut tables);
        for kind in Kind::ALL {
            for info in mechanisms.of(kind) {
                let table = join(kind.key(), info.name);
                for parameter in info.parameters {
                    let key = keys.entry(join(&table, parameter.name())).or_default();
                    key.parameter = Some(*parameter);
                }
                tables.push(table);
            }
        }
        Merged {
            keys,
            tables,
            mechanisms,
        }
    }

    /// What the schema has for a key.
    fn schema(&self, key: &str) -> Option<&Value> {
        self.keys.get(key)?.schema.as_ref()
    }

    fn setting(&self, key: &str) -> Option<&Setting> {
        self.keys.get(key)?.setting.as_ref()
    }

    /// The schema's keys in order, with what it has there and what they were set to.
    fn of_schema(&self) -> impl Iterator<Item = (&String, &Value, Option<&Setting>)> + Clone {
        let keys = self.keys.iter();
        keys.filter_map(|(name, key)| Some((name, key.schema.as_ref()?, key.setting.as_ref())))
    }

    /// Lays a file over what is there.
    pub fn apply(&mut self, layer: &Layer) -> Result<(), SourceError> {
        // Mechanisms first: what else the file says is about those it chooses.
        for kind in Kind::ALL {
            let mut at = Some(&*layer.root);
            for part in kind.key().split('.') {
                at = at.and_then(|node| node.get(part));
            }
            // `scheduler = "tls"` is short for `scheduler.name = "tls"`.
            let name = at.and_then(|node| match node.value {
                Value::String(_) => Some(node),
                _ => node.get("name"),
            });
            if let Some(name) = name {
                self.choose(kind, &layer.source, name)?;
            }
        }
        self.declare_units(layer)?;
        self.apply_table(&layer.source, &layer.root, "")
    }

    /// A file may have units of its own, beside those of the machine it extends: such a one says
    /// everything.
    fn declare_units(&mut self, layer: &Layer) -> Result<(), SourceError> {
        let units = layer.root.get("unit").and_then(Node::entries);
        for entry in units.unwrap_or_default() {
            let table = join("unit", &entry.key);
            if self.tables.contains(&table) || !matches!(entry.node.value, Value::Table(_)) {
                continue;
            }
            for setting in Unit::SETTINGS {
                let like = self.schema(&join("unit.sp", setting.name)).cloned();
                if entry.node.get(setting.name).is_none() {
                    let message = format!("the new unit `{}` lacks `{}`", entry.key, setting.name);
                    let all: Vec<&str> = Unit::SETTINGS.iter().map(|s| s.name).collect();
                    let help = format!("a unit of your own says everything: {}", all.join(", "));
                    let error = layer.source.error(entry.key_span.clone(), message);
                    return Err(error.with_help(help));
                }
                if let Some(like) = like {
                    let key = self.keys.entry(join(&table, setting.name)).or_default();
                    key.schema = Some(like);
                }
            }
            self.tables.push(table);
        }
        Ok(())
    }

    fn apply_table(&mut self, source: &Source, table: &Node, at: &str) -> Result<(), SourceError> {
        for entry in table.entries().unwrap_or_default() {
            if at.is_empty() && entry.key == "extends" {
                continue;
            }
            let key = join(at, &entry.key);
            // Most are settings, and those are found fast.
            if !matches!(entry.node.value, Value::Table(_))
                && let Some(known) = self.keys.get_mut(&key)
                && known.is_known()
            {
                known.set(source, &key, &entry.node)?;
                continue;
            }
            if self.is_elsewhere(&key) {
                continue;
            }
            let is_table = self.tables.contains(&key);
            // A table in the section of a kind of mechanisms is one of these.
            let kind = Kind::ALL.iter().find(|k| k.key() == at);
            if let (Value::Table(_), false, Some(kind)) = (&entry.node.value, is_table, kind) {
                let (message, help) = self.mechanisms.unknown(*kind, &entry.key);
                let error = source.error(entry.key_span.clone(), message);
                return Err(error.with_help(help));
            }
            match (&entry.node.value, is_table) {
                (Value::Table(_), true) => self.apply_table(source, &entry.node, &key)?,
                (Value::String(_), true) if Kind::ALL.iter().any(|k| k.key() == key) => {}
                (other, true) => {
                    return Err(source.error(
                        entry.node.span.clone(),
                        format!("`{key}` is a section, not {}", other.kind()),
                    ));
                }
                (_, false) => {
                    let key = self.find(source, &entry.key_span, &key)?;
                    self.set(source, &key, &entry.node)?;
                }
            }
        }
        Ok(())
    }

    /// Applies `--set key=value` of one command line, as one layer.
    pub fn apply_overrides(&mut self, overrides: &[Override]) -> Result<(), SourceError> {
        let chooses = |o: &Override| {
            let is = |k: &&Kind| o.key == k.key() || o.key == k.name_key();
            Kind::ALL.iter().find(is).copied()
        };
        for o in overrides {
            if let Some(kind) = chooses(o) {
                self.choose(kind, &o.source, &o.as_string())?;
            }
        }
        let here = |o: &&Override| chooses(o).is_none();
        for o in overrides.iter().filter(here) {
            if self.is_elsewhere(&o.key) {
                continue;
            }
            let key = self.find(&o.source, &o.key_span, &o.key)?;
            let is_word = self.keys.get(&key).is_some_and(|key| {
                let parameter = key.parameter;
                matches!(key.schema, Some(Value::String(_)))
                    || parameter.is_some_and(|p| matches!(p.rule(), Rule::Words(_)))
            });
            match is_word {
                true => self.set(&o.source, &key, &o.as_string())?,
                false => self.set(&o.source, &key, &o.node)?,
            }
        }
        Ok(())
    }

    /// Whether a key is a parameter of a mechanism that this program does not have.
    fn is_elsewhere(&self, key: &str) -> bool {
        let within = |kind: &Kind| {
            let rest = key.strip_prefix(kind.key());
            rest.is_some_and(|rest| rest.starts_with('.')) && key != kind.name_key()
        };
        let kind = Kind::ALL.iter().find(|kind| within(kind));
        kind.is_some_and(|kind| !self.mechanisms.has(*kind))
    }

    /// The full key that `key` stands for.
    fn find(&self, source: &Source, span: &Range<usize>, key: &str) -> Result<String, SourceError> {
        if self.keys.get(key).is_some_and(Key::is_known) {
            return Ok(key.to_string());
        }
        if let Some(now) = moved::to(key) {
            return Err(source
                .error(span.clone(), format!("`{key}` is no setting any more"))
                .with_help(now));
        }
        for kind in Kind::ALL {
            let rest = key.strip_prefix(kind.key());
            let Some(rest) = rest.and_then(|r| r.strip_prefix('.')) else {
                continue;
            };
            let (name, parameter) = match rest.split_once('.') {
                Some(pair) => pair,
                None if self.chosen(kind).is_empty() => continue,
                None => (self.chosen(kind), rest),
            };
            let Some(info) = self.mechanisms.find(kind, name) else {
                let (message, help) = self.mechanisms.unknown(kind, name);
                return Err(source.error(span.clone(), message).with_help(help));
            };
            if info.parameter(parameter).is_none() {
                let (message, help) = self.mechanisms.no_parameter(kind, &info, parameter);
                return Err(source.error(span.clone(), message).with_help(help));
            }
            return Ok(join(&join(kind.key(), name), parameter));
        }
        Err(self.unknown(source, span.clone(), key))
    }

    /// The mechanism chosen so far.
    fn chosen(&self, kind: Kind) -> &str {
        match self.setting(kind.name_key()) {
            Some(Setting {
                value: Value::String(name),
                ..
            }) => name,
            _ => "",
        }
    }

    /// Chooses a mechanism.
    fn choose(&mut self, kind: Kind, source: &Source, node: &Node) -> Result<(), SourceError> {
        if let Value::String(name) = &node.value
            && self.mechanisms.has(kind)
            && self.mechanisms.find(kind, name).is_none()
        {
            let (message, help) = self.mechanisms.unknown(kind, name);
            return Err(source.error(node.span.clone(), message).with_help(help));
        }
        self.set(source, kind.name_key(), node)
    }

    fn set(&mut self, source: &Source, key: &str, node: &Node) -> Result<(), SourceError> {
        let known = self.keys.entry(key.to_string()).or_default();
        known.set(source, key, node)
    }

    fn unknown(&self, source: &Source, span: Range<usize>, key: &str) -> SourceError {
        let within = format!("{key}.");
        if let Some((inside, ..)) = self
            .of_schema()
            .find(|(name, ..)| name.starts_with(&within))
        {
            let message = format!("`{key}` is a table of settings, and takes no value");
            let help = format!("its settings are written like `{inside} = ...`");
            return source.error(span, message).with_help(help);
        }
        let parameters = self.keys.iter().filter(|(_, key)| key.parameter.is_some());
        let keys = self.of_schema().map(|(name, ..)| name);
        let keys = keys.chain(parameters.map(|(name, _)| name));
        let keys = keys.chain(&self.tables).map(String::as_str);
        // A key given without its section, or in the wrong one, is found by its last part.
        let last = key.rsplit('.').next().unwrap_or(key);
        let elsewhere: Vec<&str> = self
            .of_schema()
            .map(|(name, ..)| name.as_str())
            .filter(|k| k.rsplit('.').next() == Some(last))
            .collect();
        let section = key.rfind('.').map_or("", |i| &key[..=i]);
        let size = matches!(last, "size" | "bytes" | "capacity" | "kb");
        let help = if size && self.schema(&format!("{section}sets")).is_some() {
            Some(format!(
                "a cache has `{section}sets` sets of `{section}ways` lines of `{section}line` bytes"
            ))
        } else if !elsewhere.is_empty() && elsewhere.len() <= 4 {
            let quoted: Vec<String> = elsewhere.iter().map(|k| format!("`{k}`")).collect();
            Some(format!("did you mean {}?", quoted.join(" or ")))
        } else {
            // Compare within the section first: `sm.shcedulers` is more like `sm.schedulers`
            // than like anything elsewhere.
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

    /// Every value with the file or option that set it and what stands behind it there.
    pub fn explained(&self) -> Vec<Explained> {
        let explain = |(key, setting): (&String, &Setting)| {
            let text = &setting.source.text;
            let rest = text.get(setting.span.end..).unwrap_or_default();
            let line = rest.lines().next().unwrap_or_default();
            let note = line.split_once('#').map_or("", |(_, note)| note.trim());
            Explained {
                key: key.clone(),
                value: to_toml(&setting.value).to_string(),
                origin: setting.source.name.to_string(),
                note: note.to_string(),
            }
        };
        let set = self.keys.iter();
        set.filter_map(|(name, key)| Some((name, key.setting.as_ref()?)))
            .map(explain)
            .collect()
    }

    /// A machine that extends nothing must set everything.
    pub fn require_complete(&self, root: &Source) -> Result<(), SourceError> {
        match self.of_schema().find(|(.., setting)| setting.is_none()) {
            None => Ok(()),
            Some((missing, ..)) => Err(root
                .error_without_place(format!("`{missing}` is not set"))
                .with_help("add `extends = \"gtx480\"` and write only what differs")),
        }
    }

    /// The typed machine.
    pub fn finish(&self) -> Result<Machine, SourceError> {
        // Those of mechanisms that are not chosen as well: they are about to be.
        for (key, known) in &self.keys {
            if let (Some(parameter), Some(setting)) = (known.parameter, &known.setting)
                && let Err(wrong) = parameter.rule().check(&to_toml(&setting.value))
            {
                return Err(self.error_at(key, format!("`{key}` {wrong}")));
            }
        }
        let error = match Machine::deserialize(self.table()) {
            Ok(machine) => return Ok(machine),
            Err(error) => error,
        };
        // Serde does not say which key it stumbled over: put the schema's own value (which is
        // known to be good) in the place of each setting in turn, and see which one cures it.
        for (key, good, setting) in self.of_schema() {
            let Some(setting) = setting else {
                continue;
            };
            let mut alone = toml::Table::new();
            for (k, v, _) in self.of_schema() {
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

    /// Every setting, with the parameters of the mechanisms that are chosen.
    fn table(&self) -> toml::Table {
        let mut table = toml::Table::new();
        for (key, _, setting) in self.of_schema() {
            if let Some(setting) = setting {
                insert(&mut table, key, to_toml(&setting.value));
            }
        }
        for kind in Kind::ALL {
            let name = self.chosen(kind);
            for parameter in self
                .mechanisms
                .find(kind, name)
                .map_or(&[][..], |info| info.parameters)
            {
                let full = join(&join(kind.key(), name), parameter.name());
                let value = match self.setting(&full) {
                    Some(setting) => to_toml(&setting.value),
                    None => parameter.default(),
                };
                insert(&mut table, &join(kind.key(), parameter.name()), value);
            }
        }
        table
    }

    /// An error at the place where `key` was last set.
    pub fn error_at(&self, key: &str, message: String) -> SourceError {
        match self.setting(key) {
            Some(s) => s.source.error(s.span.clone(), message),
            None => Source::new("machine", "").error_without_place(message),
        }
    }
}

impl Key {
    /// Whether there is such a key.
    fn is_known(&self) -> bool {
        self.schema.is_some() || self.parameter.is_some()
    }

    /// Sets it, if it takes such a value.
    fn set(&mut self, source: &Source, key: &str, node: &Node) -> Result<(), SourceError> {
        let wrong = match (&self.schema, self.parameter) {
            (Some(expected), _) if !same_kind(expected, &node.value) => Some(expected.kind()),
            (_, Some(p)) if !p.rule().takes(&to_toml(&node.value)) => Some(p.rule().kind()),
            _ => None,
        };
        if let Some(expected) = wrong {
            let message = format!("`{key}` takes {expected}, not {}", node.value.kind());
            return Err(source.error(node.span.clone(), message));
        }
        self.setting = Some(Setting {
            value: node.value.clone(),
            source: source.clone(),
            span: node.span.clone(),
        });
        Ok(())
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
        // What `format!` does takes ten times as long, and there are hundreds of keys.
        [at, ".", key].concat()
    }
}

fn flatten_schema(
    node: &Node,
    at: &str,
    leaves: &mut BTreeMap<String, Key>,
    tables: &mut Vec<String>,
) {
    for entry in node.entries().unwrap_or_default() {
        let key = join(at, &entry.key);
        if matches!(entry.node.value, Value::Table(_)) {
            flatten_schema(&entry.node, &key, leaves, tables);
            tables.push(key);
        } else {
            leaves.entry(key).or_default().schema = Some(entry.node.value.clone());
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
