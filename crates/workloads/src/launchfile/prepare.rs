//! From a launch file to a plan in which every name is an address and every range is checked.

use super::destinations;
use super::model::*;
use super::prepare_data::{encode_all, load_file, resolve_buffer, resolve_symbol};
use super::prepare_steps::{self, refuse};
use crate::cuda;
use crate::host::compare::Tolerance;
use crate::host::device::DeviceError;
use crate::host::element::{Element, Scalar};
use crate::host::session::{Module, Session};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use warpsim_present::{Source, SourceError, nearest, reading};
use warpsim_ptx::link::link_texts;
use warpsim_sim::gpu::api::{Launch, TexelKind, Texture};

/// What to do, fully resolved.
pub(super) struct Plan {
    pub source: Source,
    pub module: Module,
    pub ops: Vec<Op>,
    pub outputs: Vec<PlannedOutput>,
}

/// One resolved step.
pub(super) enum Op {
    Launch {
        launch: Launch,
        kernel: String,
        /// Its blocks wait for each other.
        together: bool,
        place: Place,
    },
    Write {
        address: u64,
        data: Vec<u8>,
    },
    Fill {
        address: u64,
        bytes: u64,
        value: u8,
    },
    Copy {
        from: u64,
        to: u64,
        bytes: u64,
    },
    Repeat {
        times: u64,
        ops: Vec<Op>,
    },
    While {
        address: u64,
        bytes: u64,
        limit: u64,
        ops: Vec<Op>,
        name: String,
        place: Place,
    },
}

/// A resolved output.
pub(super) struct PlannedOutput {
    pub what: String,
    pub element: Element,
    pub address: u64,
    pub bytes: u64,
    pub write: Option<(PathBuf, Place)>,
    pub expected: Option<Vec<u8>>,
    pub tolerance: Tolerance,
}

/// A buffer on the device.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    pub address: u64,
    pub element: Element,
    pub count: u64,
}

/// Part of a buffer on the device.
pub(super) struct Resolved {
    pub address: u64,
    pub element: Element,
    pub count: u64,
}

/// Everything that names resolve to.
pub(super) struct Names<'a> {
    pub file: &'a LaunchFile,
    pub module: &'a Module,
    pub buffers: HashMap<&'a str, Loaded>,
    pub textures: HashMap<&'a str, u64>,
    /// Registers by the kernel's index.
    pub registers: HashMap<usize, u32>,
    /// Where files are.
    pub directory: &'a Path,
}

impl Names<'_> {
    /// A buffer by name; parsing has checked that it is there.
    pub fn buffer(&self, name: &At<String>) -> Result<Loaded, SourceError> {
        self.buffers
            .get(name.value.as_str())
            .copied()
            .ok_or_else(|| {
                let message = format!("there is no buffer `{}`", name.value);
                self.file.source.error(name.place.clone(), message)
            })
    }

    /// A texture's handle by its name.
    pub fn texture(&self, name: &str, place: &Place) -> Result<u64, SourceError> {
        self.textures.get(name).copied().ok_or_else(|| {
            let message = format!("there is no texture `{name}`");
            self.file.source.error(place.clone(), message)
        })
    }

    /// A symbol with addresses and handles in place of the names of buffers and textures.
    fn with_numbers(&self, symbol: &Buffer) -> Result<Buffer, SourceError> {
        let numbers: Vec<At<u64>> = match &symbol.contents.value {
            Contents::Handles(names) => {
                let handle = |n: &At<String>| {
                    let value = self.texture(&n.value, &n.place)?;
                    Ok(At {
                        value,
                        place: n.place.clone(),
                    })
                };
                names
                    .iter()
                    .map(handle)
                    .collect::<Result<_, SourceError>>()?
            }
            Contents::Addresses(names) => {
                let address = |n: &At<String>| {
                    let value = self.buffer(n)?.address;
                    Ok(At {
                        value,
                        place: n.place.clone(),
                    })
                };
                names
                    .iter()
                    .map(address)
                    .collect::<Result<_, SourceError>>()?
            }
            _ => return Ok(symbol.clone()),
        };
        let scalar = |n: At<u64>| At {
            value: Scalar::Integer(n.value.into()),
            place: n.place,
        };
        Ok(Buffer {
            contents: At {
                value: Contents::Values(numbers.into_iter().map(scalar).collect()),
                place: symbol.contents.place.clone(),
            },
            ..symbol.clone()
        })
    }

    /// Checks a slice against its buffer.
    pub fn slice(&self, slice: &Slice) -> Result<Resolved, SourceError> {
        let buffer = self.buffer(&slice.buffer)?;
        let each = buffer.element.bytes() as u64;
        let skipped = slice.offset.in_bytes(each);
        let rest = (buffer.count * each).checked_sub(skipped);
        let rest = rest.map(|bytes| bytes / each);
        let count = slice.count.or(rest).unwrap_or(0);
        match rest {
            Some(rest) if count <= rest => Ok(Resolved {
                address: buffer.address + skipped,
                element: buffer.element,
                count,
            }),
            _ => {
                let from = match slice.offset {
                    Offset::Elements(n) => format!("element {n}"),
                    Offset::Bytes(n) => format!("byte {n}"),
                };
                let (name, has) = (&slice.buffer.value, buffer.count);
                let message = format!(
                    "{} elements from {from} on: `{name}` has only {has}",
                    count.max(1)
                );
                Err(self.file.source.error(slice.buffer.place.clone(), message))
            }
        }
    }
}

/// The PTX that a launch file names; a `.cu` file is compiled.
fn ptx_text(file: &LaunchFile, directory: &Path, name: &At<String>) -> Result<String, DeviceError> {
    let path = directory.join(&name.value);
    if cuda::is_cuda(&path) && path.is_file() {
        return cuda::compile(&path, &file.cuda);
    }
    let bytes = reading::read(&path, warpsim_ptx::MOST_BYTES).map_err(|e| e.to_string());
    bytes.and_then(warpsim_ptx::text).map_err(|why| {
        let message = format!("cannot read {}: {why}", path.display());
        refuse(&file.source, &name.place, &message).into()
    })
}

/// Loads everything and resolves every step.
pub(super) fn prepare(
    file: &LaunchFile,
    directory: &Path,
    seed: u64,
    session: &mut Session<'_>,
) -> Result<Plan, DeviceError> {
    let source = &file.source;
    destinations::check(file, directory)?;
    let ptx_path = directory.join(&file.ptx.value);
    let mut ptx = ptx_text(file, directory, &file.ptx)?;
    if !file.link.is_empty() {
        let mut units = vec![(ptx_path.display().to_string(), ptx)];
        for other in &file.link {
            let text = ptx_text(file, directory, other)?;
            units.push((directory.join(&other.value).display().to_string(), text));
        }
        let units: Vec<_> = units
            .iter()
            .map(|(n, t)| (n.as_str(), t.as_str()))
            .collect();
        ptx = link_texts(&units).map_err(DeviceError::bad_input)?;
    }
    let module = session.load_text(&ptx_path.display().to_string(), &ptx)?;
    let mut names = Names {
        file,
        module: &module,
        buffers: HashMap::new(),
        textures: HashMap::new(),
        registers: prepare_steps::registers(file, &module)?,
        directory,
    };
    for buffer in &file.buffers {
        let loaded = resolve_buffer(source, buffer, directory, seed, session)?;
        names.buffers.insert(&buffer.name.value, loaded);
    }
    for texture in &file.textures {
        let handle = bind(&names, texture, session)?;
        names.textures.insert(&texture.name.value, handle);
    }
    for symbol in &file.symbols {
        let symbol = &names.with_numbers(symbol)?;
        resolve_symbol(source, symbol, directory, seed, &module, session)?;
    }
    let ops = prepare_steps::steps(&names, &file.steps, session)?;
    let outputs = file
        .outputs
        .iter()
        .map(|o| output(&names, o, directory))
        .collect::<Result<Vec<_>, _>>()?;
    drop(names);
    Ok(Plan {
        source: source.clone(),
        module,
        ops,
        outputs,
    })
}

fn bind(
    names: &Names<'_>,
    spec: &TextureSpec,
    session: &mut Session<'_>,
) -> Result<u64, DeviceError> {
    let source = &names.file.source;
    let data = names.slice(&spec.data)?;
    let kind = match data.element {
        Element::F32 => TexelKind::Float,
        Element::U8 | Element::U16 | Element::U32 => TexelKind::Unsigned,
        Element::I8 | Element::I16 | Element::I32 => TexelKind::Signed,
        wide => {
            let message = format!(
                "a texture cannot hold {wide}: its components are integers of at most 32 bits, or f32"
            );
            return Err(source.error(spec.data.buffer.place.clone(), message).into());
        }
    };
    let needed = spec
        .size
        .iter()
        .try_fold(u64::from(spec.channels), |n, d| n.checked_mul((*d).into()));
    if needed.is_none_or(|n| n > data.count) {
        let message = format!(
            "`{}` has {} elements, too few for the texture",
            spec.data.buffer.value, data.count
        );
        return Err(source.error(spec.data.buffer.place.clone(), message).into());
    }
    let known = &names.module.program.textures;
    let texref = match &spec.texref {
        Some(name) if !known.contains(&name.value) => {
            let help = nearest(&name.value, known.iter().map(String::as_str))
                .map(|n| format!("did you mean `{n}`?"));
            let message = format!("the PTX has no .texref `{}`", name.value);
            let error = source.error(name.place.clone(), message);
            return Err(error.with_optional_help(help).into());
        }
        Some(name) => Some(name.value.as_str()),
        None => Some(spec.name.value.as_str()).filter(|n| known.iter().any(|k| k == n)),
    };
    let texture = Texture {
        address: data.address,
        size: spec.size,
        dimensions: spec.dimensions,
        channels: spec.channels,
        bits: (data.element.bytes() * 8) as u8,
        kind,
        linear_memory: spec.linear_memory,
        filter_linear: spec.filter_linear,
        wrap: spec.wrap,
        normalized: spec.normalized,
        read_normalized: spec.read_normalized,
    };
    session
        .device
        .bind_texture(names.module.id, texref, texture)
        .map_err(|e| e.context(format!("texture `{}`", spec.name.value)))
}

fn output(
    names: &Names<'_>,
    output: &Output,
    directory: &Path,
) -> Result<PlannedOutput, SourceError> {
    let source = &names.file.source;
    let part = names.slice(&output.slice)?;
    let write = match &output.write {
        None => None,
        Some(path) => {
            let full = directory.join(&path.value);
            // Better now than after an hour of simulation.
            if full.file_name().is_none() || !full.parent().is_some_and(is_directory) {
                let message = format!("cannot write {}: no such directory", full.display());
                return Err(source.error(path.place.clone(), message));
            }
            Some((full, path.place.clone()))
        }
    };
    let expected = match &output.expected {
        None => None,
        Some(At { value, place }) => {
            let bytes = match value {
                Expected::File(path) => {
                    let (element, bytes) = load_file(source, path, place, directory)?;
                    if element.is_some_and(|e| e != part.element) {
                        let message = format!("the file does not hold {}", part.element);
                        return Err(source.error(place.clone(), message));
                    }
                    bytes
                }
                Expected::Values(values) => encode_all(source, part.element, values)?,
                Expected::All(value) => {
                    let mut one = Vec::new();
                    if part.element.encode(*value, &mut one).is_none() {
                        let message = format!("{value} does not fit in {}", part.element);
                        return Err(source.error(place.clone(), message));
                    }
                    one.repeat(part.count as usize)
                }
            };
            if bytes.len() as u64 != part.count * part.element.bytes() as u64 {
                let (size, count) = (part.element.bytes(), part.count);
                let message = match bytes.len().is_multiple_of(size) {
                    true => {
                        let have = bytes.len() / size;
                        format!("{have} values are expected, but the output has {count}")
                    }
                    false => format!(
                        "{} bytes are expected, which are no whole number of {}; the output has {count} of \
                         {size} bytes each",
                        bytes.len(),
                        part.element
                    ),
                };
                return Err(source
                    .error(place.clone(), message)
                    .with_help("`offset` and `count` select part of a buffer"));
            }
            Some(bytes)
        }
    };
    Ok(PlannedOutput {
        what: match output.slice.offset {
            Offset::START | Offset::Bytes(0) => output.slice.buffer.value.clone(),
            Offset::Elements(n) => format!("{} from [{n}]", output.slice.buffer.value),
            Offset::Bytes(n) => format!("{} from byte {n}", output.slice.buffer.value),
        },
        element: part.element,
        address: part.address,
        bytes: part.count * part.element.bytes() as u64,
        write,
        expected,
        tolerance: output.tolerance,
    })
}

fn is_directory(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.is_dir()
}
