//! Parameters of a launch file: `[param]` declares them with the values they have when the user does not say
//! otherwise, and wherever a number may stand, an expression over them may stand as a string. They are
//! replaced by their values before anything else reads the file.

use super::expression::{evaluate, number};
use super::fields::scalar;
use super::loops;
use crate::host::element::{Element, Scalar};
use warpsim_present::{Entry, Node, Source, SourceError, Value, nearest};

/// Keys whose values are numbers wherever they stand, and lists of them.
const NUMBERS: &[&str] = &[
    "count",
    "offset",
    "byte_offset",
    "to_offset",
    "to_byte_offset",
    "grid",
    "block",
    "shared",
    "registers",
    "repeat",
    "limit",
    "value",
    "size",
    "channels",
    "start",
    "step",
    "random",
    "values",
    "expect",
    "absolute",
    "relative",
    "ulp",
    "seed",
];

/// Names and values, in the file's order.
pub type Variables = Vec<(String, Scalar)>;

/// The parameters that a file declares, with changes over them (`KEY=VALUE`).
pub(super) fn declared(
    source: &Source,
    root: &Node,
    changes: &[String],
) -> Result<Variables, SourceError> {
    let mut known: Variables = Vec::new();
    let entries = match root.get("param") {
        None => &[][..],
        Some(node) => node.entries().ok_or_else(|| {
            source
                .error(node.span.clone(), "`param` is a table")
                .with_help("write `[param]` and below it `n = 4096`")
        })?,
    };
    let mut given = Vec::new();
    for change in changes {
        given.push(parse_change(source, change, entries)?);
    }
    for entry in entries {
        if entry
            .key
            .contains(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            || !entry
                .key
                .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        {
            let message = "a parameter's name has letters, digits and `_`";
            return Err(source.error(entry.key_span.clone(), message));
        }
        // The last change counts, as with settings.
        let change = given.iter().rev().find(|(key, _)| *key == entry.key);
        let value = match change {
            Some((_, value)) => *value,
            None => {
                let mut node = entry.node.clone();
                replace(source, &mut node, &known)?;
                scalar(source, &node, &entry.key)?.value
            }
        };
        known.push((entry.key.clone(), value));
    }
    Ok(known)
}

fn parse_change(
    source: &Source,
    change: &str,
    entries: &[Entry],
) -> Result<(String, Scalar), SourceError> {
    let refuse = |why: String| source.error_without_place(format!("--param {change}: {why}"));
    let (key, text) = change
        .split_once('=')
        .ok_or_else(|| refuse("a parameter is written KEY=VALUE".into()))?;
    let key = key.trim();
    if !entries.iter().any(|e| e.key == key) {
        let names: Vec<&str> = entries.iter().map(|e| e.key.as_str()).collect();
        let help = match nearest(key, names.iter().copied()) {
            Some(n) => format!("did you mean `{n}`?"),
            None if names.is_empty() => {
                "the file has no parameters: `[param]` declares them".into()
            }
            None => format!("parameters: {}", names.join(", ")),
        };
        return Err(refuse(format!("there is no parameter `{key}`")).with_help(help));
    }
    let value = number(text).ok_or_else(|| refuse(format!("`{}` is no number", text.trim())))?;
    Ok((key.to_string(), value))
}

/// Replaces every expression in a file by its value.
pub(super) fn substitute(
    source: &Source,
    root: &mut Node,
    known: &Variables,
) -> Result<(), SourceError> {
    let Value::Table(entries) = &mut root.value else {
        return Ok(());
    };
    for entry in entries {
        match entry.key.as_str() {
            "param" => {}
            "steps" => loops::write_out(source, &mut entry.node, known)?,
            // A buffer's `fill` is a number, a step's is a buffer's name.
            "buffers" | "symbols" => within(source, &mut entry.node, known, true)?,
            _ if NUMBERS.contains(&entry.key.as_str()) => {
                replace(source, &mut entry.node, known)?;
            }
            _ => within(source, &mut entry.node, known, false)?,
        }
    }
    Ok(())
}

pub(super) fn within(
    source: &Source,
    node: &mut Node,
    known: &Variables,
    data: bool,
) -> Result<(), SourceError> {
    match &mut node.value {
        Value::Array(items) => {
            for item in items {
                within(source, item, known, data)?;
            }
        }
        Value::Table(entries) => {
            for entry in entries {
                let key = entry.key.as_str();
                let numeric = NUMBERS.contains(&key)
                    || Element::parse(key).is_some()
                    || (data && key == "fill");
                // `[buffers.count]` is a buffer of that name.
                if numeric && !matches!(entry.node.value, Value::Table(_)) {
                    replace(source, &mut entry.node, known)?;
                } else {
                    within(source, &mut entry.node, known, data)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Replaces a string, or the strings in a list, by their values.
pub(super) fn replace(
    source: &Source,
    node: &mut Node,
    known: &Variables,
) -> Result<(), SourceError> {
    match &mut node.value {
        Value::Array(items) => {
            for item in items {
                replace(source, item, known)?;
            }
            Ok(())
        }
        Value::String(text) => {
            let lookup = |name: &str| known.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
            let value = evaluate(text, &lookup).map_err(|e| {
                // The string's place begins with its quotation mark.
                let at = node.span.start + 1 + e.at;
                let place = match at < node.span.end {
                    true => at..node.span.end - 1,
                    false => node.span.clone(),
                };
                let names: Vec<&str> = known.iter().map(|(n, _)| n.as_str()).collect();
                let help = match names.is_empty() {
                    true => {
                        "a string is an expression here, and the file has no `[param]`".to_string()
                    }
                    false => format!("parameters: {}", names.join(", ")),
                };
                source.error(place, e.message).with_help(help)
            })?;
            node.value = match value {
                Scalar::Integer(i) => i64::try_from(i).map(Value::Integer).map_err(|_| {
                    source.error(node.span.clone(), format!("the value, {i}, is too large"))
                })?,
                Scalar::Float(x) => Value::Float(x),
            };
            Ok(())
        }
        _ => Ok(()),
    }
}
