//! From a preset's name or a file to a checked [`Machine`]: follows `extends`, merges the
//! layers, applies overrides, validates.

use super::merge::{Layer, Merged};
use super::presets;
use crate::check::validate;
use crate::mechanism::Mechanisms;
use crate::{Machine, power, warps};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpsim_present::{Node, Source, SourceError, Value, nearest, reading};

/// `extends` chains longer than this are refused.
const LONGEST_CHAIN: usize = 64;

/// Where a machine description comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A preset's name.
    Preset(String),
    /// A file.
    File(PathBuf),
}

impl Origin {
    /// A name with a path separator or ending in `.toml` is a file, relative to `directory`;
    /// any other a preset.
    pub fn parse(name: &str, directory: Option<&Path>) -> Origin {
        if name.contains(['/', '\\']) || name.ends_with(".toml") {
            let path = Path::new(name);
            Origin::File(match directory {
                Some(directory) => directory.join(path),
                None => path.to_path_buf(),
            })
        } else {
            Origin::Preset(name.to_string())
        }
    }
}

/// Loads a machine and applies `key=value` overrides.
pub fn load(
    origin: &Origin,
    overrides: &[String],
    mechanisms: &'static Mechanisms,
) -> Result<Machine, SourceError> {
    checked(origin, overrides, mechanisms, validate::validate)
}

/// Loads a machine whose mechanisms may not go together: of the combinations of a sweep some do
/// not, and are not to keep the others from running.
pub fn load_combination(
    origin: &Origin,
    overrides: &[String],
    mechanisms: &'static Mechanisms,
) -> Result<Machine, SourceError> {
    checked(origin, overrides, mechanisms, validate::settings)
}

/// Loads a machine whose mechanisms may not go together for any reason.
pub fn load_anyhow(
    origin: &Origin,
    overrides: &[String],
    mechanisms: &'static Mechanisms,
) -> Result<Machine, SourceError> {
    checked(origin, overrides, mechanisms, validate::single)
}

/// A value of a resolved machine and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Dotted key.
    pub key: String,
    /// The value, as TOML.
    pub value: String,
    /// The file or preset that sets it, or the override.
    pub origin: String,
    /// What the file says about the value, behind it.
    pub note: String,
}

/// Every value that files and overrides set for a machine, which must be a sensible one.
pub fn explain(
    origin: &Origin,
    overrides: &[String],
    mechanisms: &'static Mechanisms,
) -> Result<Vec<Explained>, SourceError> {
    load(origin, overrides, mechanisms)?;
    let mut layers = chain_from(open(origin, None)?, vec![identity(origin)], true)?;
    layers.reverse();
    let schema = schema()?;
    let mut merged = Merged::new(&schema, mechanisms);
    for layer in &layers {
        merged.apply(layer)?;
    }
    let overrides = power::overrides(overrides)?;
    let overrides = warps::overrides(&overrides, || merged.finish())?;
    merged.apply_overrides(&overrides)?;
    Ok(merged.explained())
}

/// A machine from a text that may extend a preset, but no file; then the overrides.
pub fn from_source(
    source: &Source,
    overrides: &[String],
    mechanisms: &'static Mechanisms,
) -> Result<Machine, SourceError> {
    let first = Opened {
        source: source.clone(),
        root: Node::parse(source)?.into(),
        directory: None,
    };
    let mut layers = chain_from(first, Vec::new(), false)?;
    layers.reverse();
    merged(&layers, overrides, mechanisms, validate::validate)
}

/// What is checked of a machine that has been read.
type Check = fn(&Machine, &'static Mechanisms) -> Result<(), validate::Problem>;

fn checked(
    origin: &Origin,
    overrides: &[String],
    mechanisms: &'static Mechanisms,
    check: Check,
) -> Result<Machine, SourceError> {
    let mut layers = chain_from(open(origin, None)?, vec![identity(origin)], true)?;
    // The chain runs from what the user named to the root; merging goes the other way.
    layers.reverse();
    merged(&layers, overrides, mechanisms, check)
}

/// Merges layers, the root first.
fn merged(
    layers: &[Layer],
    overrides: &[String],
    mechanisms: &'static Mechanisms,
    check: Check,
) -> Result<Machine, SourceError> {
    let schema = schema()?;
    let mut merged = Merged::new(&schema, mechanisms);
    for layer in layers {
        merged.apply(layer)?;
    }
    if let Some(root) = layers.first() {
        merged.require_complete(&root.source)?;
    }
    let overrides = power::overrides(overrides)?;
    let overrides = warps::overrides(&overrides, || merged.finish())?;
    merged.apply_overrides(&overrides)?;
    let machine = merged.finish()?;
    match check(&machine, mechanisms) {
        Ok(()) => Ok(machine),
        Err(problem) => Err(merged.error_at(&problem.key, problem.message)),
    }
}

/// The base preset as a tree: its keys and their kinds are what every machine file may use.
fn schema() -> Result<Arc<Node>, SourceError> {
    let base = presets::read(presets::BASE).expect("the base preset is one of them");
    base.map(|(_, root)| root)
}

/// The file itself, then what it extends, and so on. `seen` has what was opened before.
fn chain_from(
    first: Opened,
    mut seen: Vec<Origin>,
    files: bool,
) -> Result<Vec<Layer>, SourceError> {
    let mut layers = Vec::new();
    let mut next = first;
    loop {
        let source = &next.source;
        check_schema(source, &next.root)?;
        let extends = extends(&next)?;
        layers.push(Layer {
            source: source.clone(),
            root: next.root.clone(),
        });
        let Some((parent, at)) = extends else {
            return Ok(layers);
        };
        if !files && matches!(parent, Origin::File(_)) {
            return Err(source.error(at, "only a preset can be extended here"));
        }
        let opened = open(&parent, Some((source, at.clone())))?;
        let which = identity(&parent);
        if seen.contains(&which) {
            return Err(source.error(at, "`extends` goes in a circle"));
        }
        if layers.len() >= LONGEST_CHAIN {
            let message = format!("a machine is made of {LONGEST_CHAIN} files at most");
            return Err(source.error(at, message));
        }
        seen.push(which);
        next = opened;
    }
}

/// Which file or preset it is, however it is spelled.
fn identity(origin: &Origin) -> Origin {
    match origin {
        Origin::Preset(name) => Origin::Preset(name.clone()),
        Origin::File(path) => {
            Origin::File(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
        }
    }
}

/// A machine file, read.
struct Opened {
    source: Source,
    root: Arc<Node>,
    /// Where files that it names are.
    directory: Option<PathBuf>,
}

type Place<'a> = (&'a Source, std::ops::Range<usize>);

fn open(origin: &Origin, from: Option<Place<'_>>) -> Result<Opened, SourceError> {
    let fail = |name: &str, message: String| match &from {
        Some((source, span)) => source.error(span.clone(), message),
        None => Source::new(name, "").error_without_place(message),
    };
    match origin {
        Origin::Preset(name) => match presets::read(name) {
            Some(read) => read.map(|(source, root)| Opened {
                source,
                root,
                directory: None,
            }),
            None => {
                let known = presets::names().collect::<Vec<_>>().join(", ");
                let hint = nearest(name, presets::names())
                    .map(|n| format!("did you mean `{n}`? "))
                    .unwrap_or_default();
                Err(fail("--machine", format!("no preset is called `{name}`"))
                    .with_help(format!("{hint}presets: {known}; a file ends in .toml")))
            }
        },
        Origin::File(path) => {
            let name = path.display().to_string();
            let bytes = reading::read(path, reading::TEXT)
                .map_err(|e| fail(&name, format!("cannot read {name}: {e}")))?;
            let text = String::from_utf8(bytes)
                .map_err(|_| fail(&name, format!("{name} is not UTF-8 text")))?;
            let source = Source::new(&name, &text);
            Ok(Opened {
                root: Node::parse(&source)?.into(),
                source,
                directory: path.parent().map(Path::to_path_buf),
            })
        }
    }
}

fn check_schema(source: &Source, root: &Node) -> Result<(), SourceError> {
    match root.get("schema") {
        None => Err(source
            .error_without_place("the file does not say which format it is in")
            .with_help("start it with `schema = 1`")),
        Some(Node {
            value: Value::Integer(1),
            ..
        }) => Ok(()),
        Some(node) => Err(source
            .error(node.span.clone(), "this version of warpsim reads schema 1")
            .with_help("write `schema = 1`")),
    }
}

type Extends = Option<(Origin, std::ops::Range<usize>)>;

fn extends(opened: &Opened) -> Result<Extends, SourceError> {
    let Some(node) = opened.root.get("extends") else {
        return Ok(None);
    };
    match &node.value {
        Value::String(name) => Ok(Some((
            Origin::parse(name, opened.directory.as_deref()),
            node.span.clone(),
        ))),
        other => Err(opened.source.error(
            node.span.clone(),
            format!(
                "`extends` takes a preset's name or a file, not {}",
                other.kind()
            ),
        )),
    }
}
