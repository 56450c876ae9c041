//! From text to [`LaunchFile`].

use super::fields::{Fields, tables};
use super::model::*;
use super::{limits, parse_data, parse_steps, variables};
use warpsim_present::{Node, Source, SourceError, Value, nearest};

const KEYS: &[&str] = &[
    "schema",
    "name",
    "description",
    "ptx",
    "link",
    "param",
    "kernels",
    "seed",
    "buffers",
    "symbols",
    "textures",
    "steps",
    "outputs",
];

/// Reads the text of a launch file.
pub fn parse(source: &Source) -> Result<LaunchFile, SourceError> {
    parse_with(source, &[])
}

/// Reads the text of a launch file with changes (`KEY=VALUE`) of its parameters.
pub fn parse_with(source: &Source, changes: &[String]) -> Result<LaunchFile, SourceError> {
    let mut root = Node::parse(source)?;
    check_schema(source, &root)?;
    let parameters = variables::declared(source, &root, changes)?;
    variables::substitute(source, &mut root, &parameters)?;
    let fields = Fields::new(source, &root, "a launch file", KEYS)?;
    fields.string("name")?;
    let description = fields.string("description")?;
    let ptx = fields
        .string("ptx")?
        .ok_or_else(|| fields.missing("ptx", "for example `ptx = \"kernel.ptx\"`"))?;
    let link = fields.strings("link")?;
    let seed = fields.count("seed", u64::MAX)?.map_or(1, |s| s.value);
    let named = |key: &str| match fields.node(key) {
        None => Ok(&[][..]),
        Some(node) => node.entries().ok_or_else(|| {
            source
                .error(node.span.clone(), format!("`{key}` is a table of tables"))
                .with_help(format!("write `[{key}.NAME]`"))
        }),
    };
    let buffers = named("buffers")?
        .iter()
        .map(|e| parse_data::buffer(source, e, "a buffer"))
        .collect::<Result<Vec<_>, _>>()?;
    let symbols = named("symbols")?
        .iter()
        .map(|e| parse_data::buffer(source, e, "a symbol"))
        .collect::<Result<Vec<_>, _>>()?;
    let textures = named("textures")?
        .iter()
        .map(|e| parse_data::texture(source, e))
        .collect::<Result<Vec<_>, _>>()?;
    let kernels = named("kernels")?
        .iter()
        .map(|e| parse_steps::kernel(source, e))
        .collect::<Result<Vec<_>, _>>()?;
    let steps = match fields.node("steps") {
        None => {
            return Err(fields.missing(
                "steps",
                "a launch is `[[steps]]` with `launch = \"KERNEL\"`",
            ));
        }
        Some(node) => parse_steps::steps(source, node)?,
    };
    limits::check(source, &steps)?;
    let outputs = match fields.node("outputs") {
        None => Vec::new(),
        Some(node) => tables(source, node, "outputs")?
            .iter()
            .map(|n| parse_data::output(source, n))
            .collect::<Result<Vec<_>, _>>()?,
    };
    let file = LaunchFile {
        source: source.clone(),
        description: description.map_or(String::new(), |d| d.value),
        ptx,
        link,
        parameters,
        kernels,
        seed,
        buffers,
        symbols,
        textures,
        steps,
        outputs,
        allow_outside: false,
        cuda: Default::default(),
    };
    check_names(&file)?;
    Ok(file)
}

fn check_schema(source: &Source, root: &Node) -> Result<(), SourceError> {
    match root.get("schema") {
        None => Err(source
            .error_without_place("the file does not say which format it is in")
            .with_help("start it with `schema = 1`")),
        Some(node) if node.value == Value::Integer(1) => Ok(()),
        Some(node) => Err(source
            .error(node.span.clone(), "this version of warpsim reads schema 1")
            .with_help("write `schema = 1`")),
    }
}

/// Every buffer and texture that is named must exist.
fn check_names(file: &LaunchFile) -> Result<(), SourceError> {
    let buffers: Vec<&str> = file.buffers.iter().map(|b| b.name.value.as_str()).collect();
    let textures: Vec<&str> = file
        .textures
        .iter()
        .map(|t| t.name.value.as_str())
        .collect();
    let check = |kind: &str, known: &[&str], name: &str, place: &Place| {
        if known.contains(&name) {
            return Ok(());
        }
        let help = match nearest(name, known.iter().copied()) {
            Some(n) => format!("did you mean `{n}`?"),
            None if known.is_empty() => format!("the file has no {kind}s"),
            None => format!("{kind}s: {}", known.join(", ")),
        };
        Err(file
            .source
            .error(place.clone(), format!("there is no {kind} `{name}`"))
            .with_help(help))
    };
    let slice = |s: &Slice| check("buffer", &buffers, &s.buffer.value, &s.buffer.place);
    for texture in &file.textures {
        slice(&texture.data)?;
    }
    for symbol in &file.symbols {
        let (kind, known, names) = match &symbol.contents.value {
            Contents::Handles(names) => ("texture", &textures, names),
            Contents::Addresses(names) => ("buffer", &buffers, names),
            _ => continue,
        };
        for name in names {
            check(kind, known, &name.value, &name.place)?;
        }
    }
    for output in &file.outputs {
        slice(&output.slice)?;
    }
    // Steps nest: walk them with a list instead of recursion.
    let mut pending: Vec<&Step> = file.steps.iter().rev().collect();
    while let Some(step) = pending.pop() {
        match &step.kind {
            StepKind::Fill { slice: s, .. } => slice(s)?,
            StepKind::Copy { from, to } => {
                slice(from)?;
                slice(to)?;
            }
            // A name that is no buffer's may be a variable's, which only the PTX knows.
            StepKind::Write { .. } => {}
            StepKind::Repeat { steps, .. } => pending.extend(steps.iter().rev()),
            StepKind::While { word, steps, .. } => {
                slice(word)?;
                pending.extend(steps.iter().rev());
            }
            StepKind::Launch(launch) => {
                for arg in &launch.args.value {
                    match &arg.value {
                        ArgSpec::Buffer { name, .. } => {
                            check("buffer", &buffers, name, &arg.place)?;
                        }
                        ArgSpec::Texture(name) => {
                            check("texture", &textures, name, &arg.place)?;
                        }
                        ArgSpec::Scalar(..) | ArgSpec::Bytes(_) => {}
                    }
                }
            }
        }
    }
    Ok(())
}
