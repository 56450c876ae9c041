//! Buffers, symbols, textures and outputs.

use super::fields::{Fields, count, scalar, scalars, wrong_kind};
use super::model::*;
use crate::host::compare::Tolerance;
use crate::host::element::{Element, Scalar};
use warpsim_present::{Entry, Node, Source, SourceError, Value, nearest};

/// More than the simulated GPUs have.
pub(super) const MOST_BYTES: u64 = 4 << 30;

const SOURCES: &[&str] = &[
    "fill", "sequence", "random", "values", "file", "texture", "address",
];

/// What only a variable of the PTX can hold: what a host program writes there before it launches anything.
const OF_SYMBOLS: &[&str] = &["texture", "address"];

/// `[buffers.NAME]` or `[symbols.NAME]`.
pub(super) fn buffer(source: &Source, entry: &Entry, what: &str) -> Result<Buffer, SourceError> {
    let symbol = what != "a buffer";
    let mut keys = vec!["type", "count"];
    let known = SOURCES.iter().filter(|k| symbol || !OF_SYMBOLS.contains(k));
    keys.extend(known);
    let fields = Fields::new(source, &entry.node, what, &keys)?;
    let named = OF_SYMBOLS.iter().any(|key| fields.node(key).is_some());
    let element = match fields.string("type")? {
        // Addresses and handles have one size.
        None => named.then_some(Element::U64),
        Some(name) => Some(element(source, &name.value, name.place)?),
    };
    let given: Vec<(&str, &Node)> = SOURCES
        .iter()
        .filter_map(|k| fields.node(k).map(|n| (*k, n)))
        .collect();
    let contents = match given.as_slice() {
        [] => At {
            value: Contents::Zero,
            place: entry.key_span.clone(),
        },
        [(key, node)] => At {
            value: contents(source, key, node, element)?,
            place: node.span.clone(),
        },
        [(first, _), (second, node), ..] => {
            return Err(source.error(
                node.span.clone(),
                format!("{what} has either `{first}` or `{second}`, not both"),
            ));
        }
    };
    let count = fields.count("count", MOST_BYTES)?;
    let from_file = matches!(contents.value, Contents::File(_));
    if element.is_none() && !from_file {
        return Err(fields.missing("type", "for example `type = \"f32\"`"));
    }
    let sized = matches!(contents.value, Contents::Values(_)) || from_file;
    if count.is_none() && !sized && what == "a buffer" {
        return Err(fields.missing("count", "the number of elements"));
    }
    Ok(Buffer {
        name: At {
            value: entry.key.clone(),
            place: entry.key_span.clone(),
        },
        element,
        count,
        contents,
    })
}

fn element(source: &Source, name: &str, place: Place) -> Result<Element, SourceError> {
    Element::parse(name).ok_or_else(|| {
        let names = Element::ALL.map(Element::name);
        source
            .error(place, format!("there is no element type `{name}`"))
            .with_help(format!("types: {}", names.join(", ")))
    })
}

fn contents(
    source: &Source,
    key: &str,
    node: &Node,
    element: Option<Element>,
) -> Result<Contents, SourceError> {
    match key {
        "texture" => Ok(Contents::Handles(names(source, node, key)?)),
        "address" => Ok(Contents::Addresses(names(source, node, key)?)),
        "fill" => Ok(Contents::Fill(scalar(source, node, key)?.value)),
        "values" => Ok(Contents::Values(scalars(source, node, key)?)),
        "file" => match &node.value {
            Value::String(path) => Ok(Contents::File(path.clone())),
            _ => Err(wrong_kind(source, node, key, "a file name")),
        },
        "sequence" => {
            let fields = Fields::new(source, node, "a sequence", &["start", "step"])?;
            let part = |key: &str, default| match fields.node(key) {
                None => Ok(Scalar::Integer(default)),
                Some(n) => scalar(source, n, key).map(|s| s.value),
            };
            Ok(Contents::Sequence {
                start: part("start", 0)?,
                step: part("step", 1)?,
            })
        }
        _ => random(source, node, element),
    }
}

/// A name or a list of them.
fn names(source: &Source, node: &Node, key: &str) -> Result<Vec<At<String>>, SourceError> {
    let one = |node: &Node| match &node.value {
        Value::String(name) => Ok(At {
            value: name.clone(),
            place: node.span.clone(),
        }),
        _ => Err(wrong_kind(source, node, key, "a name, or a list of names")),
    };
    match &node.value {
        Value::Array(items) => items.iter().map(one).collect(),
        _ => Ok(vec![one(node)?]),
    }
}

/// `random = [low, high]`.
fn random(source: &Source, node: &Node, element: Option<Element>) -> Result<Contents, SourceError> {
    let bounds = scalars(source, node, "random")?;
    let [low, high] = bounds.as_slice() else {
        return Err(source.error(node.span.clone(), "`random` takes two bounds: [low, high]"));
    };
    let empty = || source.error(node.span.clone(), "the lower bound exceeds the upper");
    let is_float = element.is_some_and(Element::is_float);
    match (low.value, high.value) {
        (Scalar::Integer(l), Scalar::Integer(h)) if !is_float => {
            if l > h {
                return Err(empty());
            }
            let (least, most) = element.map_or((l, h), Element::range);
            if l < least || h > most {
                return Err(source.error(
                    node.span.clone(),
                    format!("the bounds must lie between {least} and {most}"),
                ));
            }
            Ok(Contents::RandomIntegers(l, h))
        }
        (l, h) if is_float => {
            let number = |s| match s {
                Scalar::Integer(i) => i as f64,
                Scalar::Float(f) => f,
            };
            let (l, h) = (number(l), number(h));
            if !l.is_finite() || !h.is_finite() {
                return Err(source.error(node.span.clone(), "the bounds must be finite"));
            }
            if l > h {
                return Err(empty());
            }
            Ok(Contents::RandomFloats(l, h))
        }
        _ => Err(source.error(node.span.clone(), "an integer type takes integer bounds")),
    }
}

/// `buffer`, `offset` and `count` of a table.
pub(super) fn slice(fields: &Fields<'_>, buffer_key: &str) -> Result<Slice, SourceError> {
    let help = "the name of a buffer of this file";
    Ok(Slice {
        buffer: fields
            .string(buffer_key)?
            .ok_or_else(|| fields.missing(buffer_key, help))?,
        offset: offset(fields, ["offset", "byte_offset"])?,
        count: fields.count("count", MOST_BYTES)?.map(|n| n.value),
    })
}

/// Where something begins: the first key counts elements, the second bytes.
pub(super) fn offset(
    fields: &Fields<'_>,
    [elements, bytes]: [&str; 2],
) -> Result<Offset, SourceError> {
    let given = (
        fields.count(elements, MOST_BYTES)?,
        fields.count(bytes, MOST_BYTES)?,
    );
    match given {
        (None, None) => Ok(Offset::START),
        (Some(n), None) => Ok(Offset::Elements(n.value)),
        (None, Some(n)) => Ok(Offset::Bytes(n.value)),
        (Some(_), Some(n)) => Err(fields.source.error(
            n.place,
            format!("either `{elements}` (in elements) or `{bytes}`, not both"),
        )),
    }
}

/// `[textures.NAME]`.
pub(super) fn texture(source: &Source, entry: &Entry) -> Result<TextureSpec, SourceError> {
    let keys = [
        "buffer",
        "offset",
        "byte_offset",
        "size",
        "channels",
        "texref",
        "linear_memory",
        "filter",
        "address",
        "normalized",
        "read",
    ];
    let fields = Fields::new(source, &entry.node, "a texture", &keys)?;
    let data = slice(&fields, "buffer")?;
    let size_node = fields
        .node("size")
        .ok_or_else(|| fields.missing("size", "texels, as in `size = [64, 64]`"))?;
    let (size, dimensions) = extent(source, size_node, "size")?;
    let channels = match fields.node("channels") {
        None => 1,
        Some(node) => match count(source, node, "channels", 1, 4)? {
            3 => return Err(source.error(node.span.clone(), "a texel has 1, 2 or 4 channels")),
            n => n as u8,
        },
    };
    Ok(TextureSpec {
        name: At {
            value: entry.key.clone(),
            place: entry.key_span.clone(),
        },
        texref: fields.string("texref")?,
        data,
        size,
        dimensions,
        channels,
        linear_memory: fields.flag("linear_memory")?,
        filter_linear: fields.either("filter", ["nearest", "linear"])?,
        wrap: fields.either("address", ["clamp", "wrap"])?,
        normalized: fields.flag("normalized")?,
        read_normalized: fields.either("read", ["element", "normalized"])?,
    })
}

/// One to three positive numbers, or a single one; also how many there were.
pub(super) fn extent(
    source: &Source,
    node: &Node,
    key: &str,
) -> Result<([u32; 3], u8), SourceError> {
    let one = |n: &Node| count(source, n, key, 1, u32::MAX.into()).map(|v| v as u32);
    match &node.value {
        Value::Array(items) if (1..=3).contains(&items.len()) => {
            let mut extent = [1; 3];
            for (slot, item) in extent.iter_mut().zip(items) {
                *slot = one(item)?;
            }
            Ok((extent, items.len() as u8))
        }
        Value::Array(_) => Err(source.error(
            node.span.clone(),
            format!("`{key}` has one to three dimensions"),
        )),
        _ => Ok(([one(node)?, 1, 1], 1)),
    }
}

/// `[[outputs]]`.
pub(super) fn output(source: &Source, node: &Node) -> Result<Output, SourceError> {
    let keys = [
        "buffer",
        "offset",
        "byte_offset",
        "count",
        "write",
        "compare",
        "expect",
        "tolerance",
    ];
    let fields = Fields::new(source, node, "an output", &keys)?;
    let slice = slice(&fields, "buffer")?;
    let write = fields.string("write")?;
    let expected = match (fields.string("compare")?, fields.node("expect")) {
        (Some(_), Some(node)) => {
            return Err(source.error(
                node.span.clone(),
                "an output has either `compare` or `expect`, not both",
            ));
        }
        (Some(file), None) => Some(At {
            value: Expected::File(file.value),
            place: file.place,
        }),
        (None, Some(node)) => Some(At {
            value: match &node.value {
                Value::Array(_) => Expected::Values(scalars(source, node, "expect")?),
                _ => Expected::All(scalar(source, node, "expect")?.value),
            },
            place: node.span.clone(),
        }),
        (None, None) if write.is_none() => {
            return Err(fields.missing("write", "or `compare = \"FILE\"`, or `expect = [...]`"));
        }
        (None, None) => None,
    };
    let tolerance = match fields.node("tolerance") {
        None => Tolerance::EXACT,
        Some(node) if expected.is_none() => {
            return Err(source.error(
                node.span.clone(),
                "a tolerance without anything to compare with",
            ));
        }
        Some(node) => {
            let t = Fields::new(
                source,
                node,
                "a tolerance",
                &["absolute", "relative", "ulp"],
            )?;
            Tolerance {
                absolute: t.magnitude("absolute")?,
                relative: t.magnitude("relative")?,
                ulp: t.count("ulp", u64::MAX)?.map_or(0, |n| n.value),
            }
        }
    };
    Ok(Output {
        slice,
        write,
        expected,
        tolerance,
    })
}

/// The element type a scalar argument's only key names.
pub(super) fn scalar_type(source: &Source, entry: &Entry) -> Result<Element, SourceError> {
    Element::parse(&entry.key).ok_or_else(|| {
        let others = ["buffer", "texture", "bytes"];
        let names = Element::ALL.map(Element::name);
        let all = names.iter().chain(&others).copied();
        let help = match nearest(&entry.key, all) {
            Some(n) => format!("did you mean `{n}`?"),
            None => format!(
                "an argument is one of {}, {}",
                others.join(", "),
                names.join(", ")
            ),
        };
        source
            .error(
                entry.key_span.clone(),
                format!("`{}` is no kind of argument", entry.key),
            )
            .with_help(help)
    })
}
