//! Steps and the arguments of launches.

use super::fields::{Fields, count, scalar, tables, wrong_kind};
use super::model::*;
use super::parse_data::{extent, offset, scalar_type, slice};
use warpsim_present::{Entry, Node, Source, SourceError, Value};

/// A `while` without a limit of its own ends here: a broken kernel would run for ever.
const DEFAULT_LIMIT: u64 = 1_000_000;

/// The keys that say what a step is.
const KINDS: [&str; 6] = ["launch", "fill", "copy", "write", "repeat", "while"];

/// `[[steps]]`.
pub(super) fn steps(source: &Source, node: &Node) -> Result<Vec<Step>, SourceError> {
    tables(source, node, "steps")?
        .iter()
        .map(|n| step(source, n))
        .collect()
}

fn step(source: &Source, node: &Node) -> Result<Step, SourceError> {
    let Some(entries) = node.entries() else {
        return Err(wrong_kind(source, node, "steps", "tables"));
    };
    let kind = KINDS.iter().find(|k| node.get(k).is_some());
    let kind = match kind {
        Some(&"launch") => StepKind::Launch(launch(source, node)?),
        Some(&"fill") => fill(source, node)?,
        Some(&"copy") => copy(source, node)?,
        Some(&"write") => write(source, node)?,
        Some(&"repeat") => {
            let fields = Fields::new(source, node, "a repetition", &["repeat", "steps"])?;
            StepKind::Repeat {
                times: fields
                    .count("repeat", u32::MAX.into())?
                    .map_or(0, |n| n.value),
                steps: inner(&fields)?,
            }
        }
        Some(_) => repeat_while(source, node)?,
        None => {
            // A step with one unknown key is more likely a slip than an empty step.
            let known = [&KINDS[..], &["for", "grid", "block", "args", "steps"]].concat();
            Fields::new(source, node, "a step", &known)?;
            let place = entries
                .first()
                .map_or(node.span.clone(), |e| e.key_span.clone());
            return Err(source
                .error(place, "the step does not say what it does")
                .with_help(format!("a step has one of: {}, for", KINDS.join(", "))));
        }
    };
    Ok(Step {
        place: node.span.clone(),
        kind,
    })
}

fn inner(fields: &Fields<'_>) -> Result<Vec<Step>, SourceError> {
    match fields.node("steps") {
        Some(node) => steps(fields.source, node),
        None => Err(fields.missing("steps", "what to repeat, as `[[steps.steps]]`")),
    }
}

fn repeat_while(source: &Source, node: &Node) -> Result<StepKind, SourceError> {
    let fields = Fields::new(source, node, "a repetition", &["while", "limit", "steps"])?;
    let word = match fields.node("while") {
        Some(Node {
            value: Value::String(name),
            span,
        }) => Slice {
            buffer: At {
                value: name.clone(),
                place: span.clone(),
            },
            offset: Offset::START,
            count: Some(1),
        },
        Some(node) => {
            let word = Fields::new(
                source,
                node,
                "`while`",
                &["buffer", "offset", "byte_offset"],
            )?;
            Slice {
                count: Some(1),
                ..slice(&word, "buffer")?
            }
        }
        None => return Err(fields.missing("while", "the name of a buffer")),
    };
    Ok(StepKind::While {
        word,
        limit: fields
            .count("limit", u64::MAX)?
            .map_or(DEFAULT_LIMIT, |n| n.value),
        steps: inner(&fields)?,
    })
}

fn fill(source: &Source, node: &Node) -> Result<StepKind, SourceError> {
    let fields = Fields::new(
        source,
        node,
        "a fill",
        &["fill", "value", "offset", "byte_offset", "count"],
    )?;
    let value = fields
        .node("value")
        .ok_or_else(|| fields.missing("value", "what to fill with, as `value = 0`"))?;
    Ok(StepKind::Fill {
        slice: slice(&fields, "fill")?,
        value: scalar(source, value, "value")?,
    })
}

fn copy(source: &Source, node: &Node) -> Result<StepKind, SourceError> {
    let keys = [
        "copy",
        "to",
        "offset",
        "byte_offset",
        "to_offset",
        "to_byte_offset",
        "count",
    ];
    let fields = Fields::new(source, node, "a copy", &keys)?;
    let from = slice(&fields, "copy")?;
    let to = fields
        .string("to")?
        .ok_or_else(|| fields.missing("to", "the buffer to copy to"))?;
    Ok(StepKind::Copy {
        to: Slice {
            buffer: to,
            offset: offset(&fields, ["to_offset", "to_byte_offset"])?,
            count: None,
        },
        from,
    })
}

fn write(source: &Source, node: &Node) -> Result<StepKind, SourceError> {
    let fields = Fields::new(
        source,
        node,
        "a write",
        &["write", "file", "offset", "byte_offset"],
    )?;
    Ok(StepKind::Write {
        to: fields
            .string("write")?
            .ok_or_else(|| fields.missing("write", "a buffer or a variable of the PTX"))?,
        offset: offset(&fields, ["offset", "byte_offset"])?,
        file: fields
            .string("file")?
            .ok_or_else(|| fields.missing("file", "what to write, as `file = \"data.bin\"`"))?,
    })
}

/// `[kernels.NAME]`.
pub(super) fn kernel(source: &Source, entry: &Entry) -> Result<KernelSpec, SourceError> {
    let fields = Fields::new(source, &entry.node, "a kernel", &["registers"])?;
    Ok(KernelSpec {
        name: At {
            value: entry.key.clone(),
            place: entry.key_span.clone(),
        },
        registers: registers(source, &fields)?,
    })
}

fn registers(source: &Source, fields: &Fields<'_>) -> Result<Option<u32>, SourceError> {
    let node = fields.node("registers");
    let registers = node.map(|node| count(source, node, "registers", 1, 255).map(|n| n as u32));
    registers.transpose()
}

fn launch(source: &Source, node: &Node) -> Result<LaunchStep, SourceError> {
    let keys = [
        "launch",
        "grid",
        "block",
        "shared",
        "registers",
        "together",
        "args",
    ];
    let fields = Fields::new(source, node, "a launch", &keys)?;
    let shape = |key: &str| match fields.node(key) {
        Some(node) => extent(source, node, key).map(|(e, _)| e),
        None => Err(fields.missing(key, "a number, or [x, y] or [x, y, z]")),
    };
    let kernel = fields
        .string("launch")?
        .ok_or_else(|| fields.missing("launch", "the name of a kernel"))?;
    let args = match fields.node("args") {
        None => At {
            value: Vec::new(),
            place: kernel.place.clone(),
        },
        Some(node) => {
            let Value::Array(items) = &node.value else {
                return Err(wrong_kind(source, node, "args", "a list"));
            };
            At {
                value: items
                    .iter()
                    .map(|n| argument(source, n))
                    .collect::<Result<_, _>>()?,
                place: node.span.clone(),
            }
        }
    };
    Ok(LaunchStep {
        kernel,
        grid: shape("grid")?,
        block: shape("block")?,
        shared: fields
            .count("shared", 1 << 20)?
            .map_or(0, |n| n.value as u32),
        registers: registers(source, &fields)?,
        together: match fields.node("together") {
            None => false,
            Some(node) => match node.value {
                Value::Boolean(value) => value,
                _ => return Err(wrong_kind(source, node, "together", "true or false")),
            },
        },
        args,
    })
}

fn argument(source: &Source, node: &Node) -> Result<At<ArgSpec>, SourceError> {
    let value = match &node.value {
        Value::String(name) => ArgSpec::Buffer {
            name: name.clone(),
            offset: Offset::START,
        },
        Value::Table(_) if node.get("buffer").is_some() => {
            let fields = Fields::new(
                source,
                node,
                "a buffer argument",
                &["buffer", "offset", "byte_offset"],
            )?;
            let slice = slice(&fields, "buffer")?;
            ArgSpec::Buffer {
                name: slice.buffer.value,
                offset: slice.offset,
            }
        }
        Value::Table(entries) => match entries.as_slice() {
            [e] if e.key == "texture" => match &e.node.value {
                Value::String(name) => ArgSpec::Texture(name.clone()),
                _ => return Err(wrong_kind(source, &e.node, "texture", "a name")),
            },
            [e] if e.key == "bytes" => ArgSpec::Bytes(bytes(source, &e.node)?),
            [e] => {
                let element = scalar_type(source, e)?;
                let value = scalar(source, &e.node, &e.key)?;
                if element.encode(value.value, &mut Vec::new()).is_none() {
                    return Err(source.error(
                        value.place,
                        format!("{} does not fit in {element}", value.value),
                    ));
                }
                ArgSpec::Scalar(element, value.value)
            }
            _ => {
                return Err(source
                    .error(node.span.clone(), "an argument has one kind")
                    .with_help(
                        "for example `{ u32 = 1024 }` or `{ buffer = \"a\", offset = 16 }`",
                    ));
            }
        },
        Value::Integer(_) | Value::Float(_) => {
            return Err(source
                .error(node.span.clone(), "a number needs its type")
                .with_help("for example `{ u32 = 1024 }`"));
        }
        _ => {
            return Err(wrong_kind(
                source,
                node,
                "args",
                "buffers and typed numbers",
            ));
        }
    };
    Ok(At {
        value,
        place: node.span.clone(),
    })
}

/// Bytes as a list of numbers or as hexadecimal digits, spaces allowed.
fn bytes(source: &Source, node: &Node) -> Result<Vec<u8>, SourceError> {
    match &node.value {
        Value::Array(items) => items
            .iter()
            .map(|n| count(source, n, "bytes", 0, 255).map(|b| b as u8))
            .collect(),
        Value::String(text) => {
            let digits: Vec<u8> = text
                .chars()
                .filter(|c| !c.is_whitespace() && *c != '_')
                .map(|c| c.to_digit(16).map(|d| d as u8))
                .collect::<Option<_>>()
                .filter(|d: &Vec<u8>| d.len().is_multiple_of(2))
                .ok_or_else(|| {
                    source.error(
                        node.span.clone(),
                        "`bytes` takes an even number of hexadecimal digits",
                    )
                })?;
            Ok(digits.chunks_exact(2).map(|d| d[0] << 4 | d[1]).collect())
        }
        _ => Err(wrong_kind(
            source,
            node,
            "bytes",
            "a list or hexadecimal digits",
        )),
    }
}
