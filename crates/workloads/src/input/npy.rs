//! NumPy's `.npy` format, as far as plain arrays of numbers need it.

use crate::host::element::Element;
use warpsim_present::memory::try_reserve;

/// An array read from a `.npy` file.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Type of the elements.
    pub element: Element,
    /// Shape; empty for a scalar.
    pub shape: Vec<u64>,
    /// Elements in C order, little-endian.
    pub data: Vec<u8>,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads a `.npy` file.
pub fn read(bytes: &[u8]) -> Result<Array, String> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or("not a .npy file: the first bytes are not \\x93NUMPY")?;
    let major = *rest.first().ok_or("the file ends in its header")?;
    let (length, start): (usize, usize) = match (major, rest) {
        (1, [_, _, a, b, ..]) => (usize::from(u16::from_le_bytes([*a, *b])), 4),
        (2 | 3, [_, _, a, b, c, d, ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 6),
        (1..=3, _) => return Err("the file ends in its header".to_string()),
        _ => return Err(format!("version {major} of the .npy format is not known")),
    };
    let header = rest
        .get(start..start.saturating_add(length))
        .ok_or("the file ends in its header")?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
    let data = &rest[start + length..];
    let (element, swap) = element(field(header, "descr")?)?;
    let shape = shape(field(header, "shape")?)?;
    let fortran = field(header, "fortran_order")?.starts_with("True");
    if fortran && shape.iter().filter(|&&n| n > 1).count() > 1 {
        return Err(
            "the array is in Fortran order; save it with numpy.ascontiguousarray".to_string(),
        );
    }
    let expected = shape
        .iter()
        .try_fold(element.bytes() as u64, |n, d| n.checked_mul(*d))
        .ok_or("the shape is too large")?;
    if expected != data.len() as u64 {
        return Err(format!(
            "the shape {shape:?} of {element} needs {expected} bytes, the file has {}",
            data.len()
        ));
    }
    let mut copy = Vec::new();
    copy_to(&mut copy, data)?;
    let mut data = copy;
    if swap {
        for item in data.chunks_exact_mut(element.bytes()) {
            item.reverse();
        }
    }
    Ok(Array {
        element,
        shape,
        data,
    })
}

/// Writes a one-dimensional array as `.npy`.
pub fn write(element: Element, data: &[u8]) -> Result<Vec<u8>, String> {
    let count = data.len() / element.bytes();
    let kind = match element.name().as_bytes()[0] {
        b'i' => 'i',
        b'u' => 'u',
        // As arrays of ml_dtypes.bfloat16 are saved: NumPy has no such type of its own.
        b'b' => 'V',
        _ => 'f',
    };
    let order = if element.bytes() == 1 { '|' } else { '<' };
    let mut header = format!(
        "{{'descr': '{order}{kind}{}', 'fortran_order': False, 'shape': ({count},), }}",
        element.bytes()
    );
    // Magic, version and length take 10 bytes; data starts at a multiple of 64.
    let padding = 63 - (10 + header.len()) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    copy_to(&mut out, data)?;
    Ok(out)
}

/// Adds bytes, as far as the host has the memory.
fn copy_to(out: &mut Vec<u8>, data: &[u8]) -> Result<(), String> {
    if !try_reserve(out, data.len()) {
        let mib = data.len().div_ceil(1 << 20);
        return Err(format!(
            "the host has no {mib} MiB of memory left for a copy"
        ));
    }
    out.extend_from_slice(data);
    Ok(())
}

/// The text after `'name':` in the header's dictionary.
fn field<'a>(header: &'a str, name: &str) -> Result<&'a str, String> {
    [format!("'{name}'"), format!("\"{name}\"")]
        .iter()
        .find_map(|key| header.find(key.as_str()).map(|at| at + key.len()))
        .and_then(|at| header[at..].trim_start().strip_prefix(':'))
        .map(str::trim_start)
        .ok_or_else(|| format!("the header has no `{name}`"))
}

fn element(text: &str) -> Result<(Element, bool), String> {
    let quote = text.chars().next().filter(|c| *c == '\'' || *c == '"');
    let descr = quote
        .and_then(|q| text[1..].split(q).next())
        .ok_or("`descr` is not a plain type: structured arrays are not supported")?;
    let (swap, name) = match descr.split_at_checked(1) {
        Some(("<" | "|" | "=", name)) => (false, name),
        Some((">", name)) => (true, name),
        _ => (false, descr),
    };
    let element = match name {
        "u1" | "b1" | "?" => Element::U8,
        "i1" => Element::I8,
        "u2" => Element::U16,
        "i2" => Element::I16,
        "u4" => Element::U32,
        "i4" => Element::I32,
        "u8" => Element::U64,
        "i8" => Element::I64,
        "f2" => Element::F16,
        "V2" => Element::BF16,
        "f4" => Element::F32,
        "f8" => Element::F64,
        _ => return Err(format!("elements of type `{descr}` are not supported")),
    };
    Ok((element, swap))
}

fn shape(text: &str) -> Result<Vec<u64>, String> {
    text.strip_prefix('(')
        .and_then(|t| t.split(')').next())
        .ok_or("`shape` is not a tuple")?
        .split(',')
        .map(str::trim)
        .filter(|n| !n.is_empty())
        .map(|n| {
            n.trim_end_matches('L')
                .parse()
                .map_err(|_| format!("`{n}` in `shape` is not a number"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend([version, 0]);
        if version == 1 {
            out.extend((header.len() as u16).to_le_bytes());
        } else {
            out.extend((header.len() as u32).to_le_bytes());
        }
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    #[test]
    fn what_is_written_reads_back() {
        for element in Element::ALL {
            let data: Vec<u8> = (0..element.bytes() as u8 * 3).collect();
            let bytes = write(element, &data).expect("room");
            assert_eq!((bytes.len() - data.len()) % 64, 0);
            let array = read(&bytes).unwrap();
            assert_eq!(
                (array.element, array.shape, array.data),
                (element, vec![3], data)
            );
        }
    }

    #[test]
    fn headers_as_numpy_writes_them() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";
        let array = read(&file(1, header, &[0; 24])).unwrap();
        assert_eq!((array.element, array.shape), (Element::F32, vec![2, 3]));
        let header = "{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}\n";
        assert_eq!(
            read(&file(2, header, &[1, 2, 3, 4])).unwrap().data,
            [2, 1, 4, 3]
        );
        let header = "{'descr': '<i8', 'fortran_order': False, 'shape': ()}\n";
        assert_eq!(
            read(&file(3, header, &[0; 8])).unwrap().shape,
            Vec::<u64>::new()
        );
    }

    #[test]
    fn damaged_files_are_errors() {
        let header = |h: &str| read(&file(1, h, &[0; 8])).unwrap_err();
        assert!(header("{}").contains("descr"));
        assert!(header("{'descr': [('a', '<f4')], 'shape': (2,)}").contains("structured"));
        assert!(header("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}").contains("<c8"));
        assert!(header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}").contains("12"));
        assert!(
            header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}").contains("Fortran")
        );
        assert!(
            header("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999,9999999999)}")
                .contains("large")
        );
        let whole = write(Element::U32, &[1; 16]).expect("room");
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err());
        }
    }
}
