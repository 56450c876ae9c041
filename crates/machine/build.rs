//! The presets as trees, read when warpsim is built: every run needs one or two of them, and reading
//! their TOML took longer than anything else before a small kernel starts. The reader is the one that
//! reads machine files.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};
use warpsim_present::{Entry, Node, Source, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../configs");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(folder)?
        .map(|file| file.map(|file| file.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    let mut out = String::from("static TREES: &[(&str, &[Leaf])] = &[\n");
    for path in files {
        println!("cargo:rerun-if-changed={}", path.display());
        let name = path.file_stem().ok_or("a file without a name")?;
        let source = Source::new(&path.display().to_string(), &fs::read_to_string(&path)?);
        // A file that is not TOML is reported when it is used, with all that users are told.
        if let Ok(root) = Node::parse(&source) {
            write!(out, "({:?}, ", name.to_string_lossy())?;
            table(&mut out, root.entries().unwrap_or_default())?;
            out.push_str("),\n");
        }
    }
    out.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("presets.rs"), out)?;
    Ok(())
}

/// Writes entries as an expression.
fn table(out: &mut String, entries: &[Entry]) -> Result<(), Box<dyn Error>> {
    out.push_str("&[");
    for Entry {
        key,
        key_span,
        node,
    } in entries
    {
        let (from, to) = (key_span.start, key_span.end);
        write!(
            out,
            "Leaf {{ key: {key:?}, key_span: ({from}, {to}), node: "
        )?;
        value(out, node)?;
        out.push_str(" },\n");
    }
    out.push(']');
    Ok(())
}

/// Writes a value with its place as an expression.
fn value(out: &mut String, node: &Node) -> Result<(), Box<dyn Error>> {
    let (from, to) = (node.span.start, node.span.end);
    write!(out, "Twig {{ span: ({from}, {to}), value: ")?;
    match &node.value {
        Value::String(text) => write!(out, "Known::String({text:?})")?,
        Value::Date(text) => write!(out, "Known::Date({text:?})")?,
        Value::Integer(number) => write!(out, "Known::Integer({number})")?,
        Value::Float(number) => write!(out, "Known::Float({})", number.to_bits())?,
        Value::Boolean(truth) => write!(out, "Known::Boolean({truth})")?,
        Value::Array(list) => {
            out.push_str("Known::Array(&[");
            for node in list {
                value(out, node)?;
                out.push(',');
            }
            out.push_str("])");
        }
        Value::Table(entries) => {
            out.push_str("Known::Table(");
            table(out, entries)?;
            out.push(')');
        }
    }
    out.push_str(" }");
    Ok(())
}
