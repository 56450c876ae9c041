//! Contents of buffers and module variables.

use super::model::*;
use super::parse_data::MOST_BYTES;
use super::prepare::Loaded;
use crate::host::device::DeviceError;
use crate::host::element::{Element, Scalar};
use crate::host::session::{Module, Session};
use crate::input::npy;
use crate::input::random::Random;
use std::path::Path;
use warpsim_present::memory::try_reserve;
use warpsim_present::{Source, SourceError, nearest, reading};

/// What a buffer holds: all zeros, or these bytes.
struct Data {
    element: Element,
    count: u64,
    bytes: Option<Vec<u8>>,
}

/// Allocates a buffer and gives it its contents.
pub(super) fn resolve_buffer(
    source: &Source,
    buffer: &Buffer,
    directory: &Path,
    seed: u64,
    session: &mut Session<'_>,
) -> Result<Loaded, DeviceError> {
    let data = data(source, buffer, directory, seed, None)?;
    let bytes = data.count * data.element.bytes() as u64;
    let name = &buffer.name.value;
    let context = |e: DeviceError| e.context(format!("buffer `{name}`"));
    let address = session.device.alloc(bytes, name).map_err(context)?;
    if let Some(bytes) = data.bytes {
        session.device.write(address, &bytes).map_err(context)?;
    }
    Ok(Loaded {
        address,
        element: data.element,
        count: data.count,
    })
}

/// Fills a `.global` or `.const` variable.
pub(super) fn resolve_symbol(
    source: &Source,
    symbol: &Buffer,
    directory: &Path,
    seed: u64,
    module: &Module,
    session: &mut Session<'_>,
) -> Result<(), DeviceError> {
    let name = &symbol.name.value;
    let Some((address, size)) = session.device.symbol(module.id, name) else {
        let known = module.program.symbols.iter().map(|s| s.name.as_str());
        let help = match nearest(name, known.clone()) {
            Some(n) => format!("did you mean `{n}`?"),
            None if module.program.symbols.is_empty() => "it has none at all".to_string(),
            None => format!("symbols: {}", known.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("the PTX has no .global or .const variable `{name}`");
        return Err(source
            .error(symbol.name.place.clone(), message)
            .with_help(help)
            .into());
    };
    let data = data(source, symbol, directory, seed, Some(size))?;
    let length = data.count * data.element.bytes() as u64;
    if length > size {
        let message = format!("{length} bytes do not fit in `{name}`, which has {size}");
        return Err(source.error(symbol.contents.place.clone(), message).into());
    }
    match data.bytes {
        Some(bytes) => session.device.write(address, &bytes),
        None => session.device.fill(address, length, 0),
    }
}

/// The contents of a buffer, or of a symbol of `symbol_size` bytes.
fn data(
    source: &Source,
    buffer: &Buffer,
    directory: &Path,
    seed: u64,
    symbol_size: Option<u64>,
) -> Result<Data, SourceError> {
    let At { value, place } = &buffer.contents;
    if let Contents::File(path) = value {
        return file(source, buffer, path, place, directory);
    }
    // Parsing asks for a type wherever no file can decide it.
    let element = buffer.element.unwrap_or(Element::U8);
    let listed = match value {
        Contents::Values(values) => Some(values.len() as u64),
        _ => None,
    };
    let whole_symbol = symbol_size.map(|s| s / element.bytes() as u64);
    let asked = buffer.count.as_ref().map(|c| c.value);
    let count = asked.or(listed).or(whole_symbol).unwrap_or(0);
    let count_place = buffer.count.as_ref().map_or(place, |c| &c.place);
    let most = symbol_size.unwrap_or(MOST_BYTES) / element.bytes() as u64;
    if count == 0 || count > most {
        let message = format!("the number of elements must lie between 1 and {most}");
        return Err(source.error(count_place.clone(), message));
    }
    if let Some(listed) = listed.filter(|l| *l > count) {
        let message = format!("{listed} values do not fit in {count} elements");
        return Err(source.error(place.clone(), message));
    }
    let bytes = generate(source, buffer, element, count, seed)?;
    Ok(Data {
        element,
        count,
        bytes,
    })
}

fn generate(
    source: &Source,
    buffer: &Buffer,
    element: Element,
    count: u64,
    seed: u64,
) -> Result<Option<Vec<u8>>, SourceError> {
    let At { value, place } = &buffer.contents;
    let misfit = |v: Scalar| {
        let message = format!("{v} does not fit in {element}");
        source.error(place.clone(), message)
    };
    let mut random = Random::new(seed, &buffer.name.value);
    let bytes = count * element.bytes() as u64;
    let mut out = Vec::new();
    if !matches!(value, Contents::Zero | Contents::File(_))
        && !try_reserve(&mut out, bytes as usize)
    {
        let message = format!("the host has no {bytes} bytes left for the contents");
        return Err(source.error(place.clone(), message));
    }
    let mut put = |v: Scalar| element.encode(v, &mut out).ok_or_else(|| misfit(v));
    match value {
        // Names have become values before.
        Contents::Zero | Contents::File(_) | Contents::Handles(_) | Contents::Addresses(_) => {
            return Ok(None);
        }
        Contents::Fill(v) => {
            put(*v)?;
            let one = out.len();
            while out.len() < bytes as usize {
                // What is there once more, or what is left to do.
                let more = out.len().min(bytes as usize - out.len());
                debug_assert!(more.is_multiple_of(one));
                out.extend_from_within(..more);
            }
            return Ok(Some(out));
        }
        Contents::Sequence { start, step } => {
            for i in 0..count {
                put(match (start, step) {
                    (Scalar::Integer(start), Scalar::Integer(step)) => {
                        Scalar::Integer(start + step * i128::from(i))
                    }
                    (start, step) => Scalar::Float(number(*start) + number(*step) * i as f64),
                })?;
            }
        }
        Contents::RandomIntegers(low, high) => {
            for _ in 0..count {
                put(Scalar::Integer(random.between(*low, *high)))?;
            }
        }
        Contents::RandomFloats(low, high) => {
            for _ in 0..count {
                put(Scalar::Float(random.float(*low, *high)))?;
            }
        }
        Contents::Values(values) => {
            out.extend(encode_all(source, element, values)?);
            // What is not listed is zero.
            out.resize(count as usize * element.bytes(), 0);
        }
    }
    Ok(Some(out))
}

fn number(value: Scalar) -> f64 {
    match value {
        Scalar::Integer(i) => i as f64,
        Scalar::Float(f) => f,
    }
}

/// Encodes a list of values.
pub(super) fn encode_all(
    source: &Source,
    element: Element,
    values: &[At<Scalar>],
) -> Result<Vec<u8>, SourceError> {
    let mut out = Vec::new();
    for v in values {
        element.encode(v.value, &mut out).ok_or_else(|| {
            let message = format!("{} does not fit in {element}", v.value);
            source.error(v.place.clone(), message)
        })?;
    }
    Ok(out)
}

fn file(
    source: &Source,
    buffer: &Buffer,
    path: &str,
    place: &Place,
    directory: &Path,
) -> Result<Data, SourceError> {
    let (found, bytes) = load_file(source, path, place, directory)?;
    let element = match (buffer.element, found) {
        (Some(asked), Some(found)) if asked != found => {
            let message = format!("the file holds {found}, the buffer {asked}");
            return Err(source.error(place.clone(), message));
        }
        (Some(element), _) | (None, Some(element)) => element,
        (None, None) => {
            let error = source.error(place.clone(), "a raw file needs `type`");
            return Err(error.with_help("for example `type = \"f32\"`"));
        }
    };
    let size = element.bytes();
    if bytes.is_empty() || !bytes.len().is_multiple_of(size) {
        let message = format!(
            "the file has {} bytes, not a whole number of {element}",
            bytes.len()
        );
        return Err(source.error(place.clone(), message));
    }
    let count = (bytes.len() / size) as u64;
    if let Some(asked) = &buffer.count
        && asked.value != count
    {
        let message = format!("the file has {count} elements");
        return Err(source.error(asked.place.clone(), message));
    }
    Ok(Data {
        element,
        count,
        bytes: Some(bytes),
    })
}

/// A raw file's bytes, or a `.npy` file's data and type.
pub(super) fn load_file(
    source: &Source,
    path: &str,
    place: &Place,
    directory: &Path,
) -> Result<(Option<Element>, Vec<u8>), SourceError> {
    let full = directory.join(path);
    let fail = |why: String| source.error(place.clone(), format!("{}: {why}", full.display()));
    let bytes = reading::read(&full, reading::DATA).map_err(|e| fail(e.to_string()))?;
    if path.ends_with(".npy") {
        let array = npy::read(&bytes).map_err(fail)?;
        return Ok((Some(array.element), array.data));
    }
    Ok((None, bytes))
}
