//! Listings: machine code as text, as it lies in the repository for our own kernels.
//!
//! A line says one thing, its first word what: `kernel NAME` begins a kernel, a line that begins with two words of 16
//! hexadecimal digits is an instruction.

use crate::program::instruction::{BYTES, Instruction};
use crate::program::{Kernel, Program, Variable};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::{Read, Write as _};

/// The first line.
const FORMAT: &str = "warpsim machine code 1";
/// The most bytes of a listing that is read.
const MOST_BYTES: u64 = 256 << 20;

/// A program as text.
pub fn write(program: &Program) -> String {
    let mut out = format!("{FORMAT}\narchitecture {}\n", program.architecture);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "made-by {}", program.made_by);
    if let Some(source) = &program.source {
        let _ = writeln!(out, "ptx {source}");
    }
    if !program.constants.is_empty() {
        let _ = writeln!(out, "constants {}", hex(&program.constants));
    }
    for v in &program.variables {
        let _ = writeln!(out, "variable {:#x} {} {}", v.offset, v.size, v.name);
    }
    for k in &program.kernels {
        let _ = writeln!(out, "kernel {}", k.name);
        let _ = writeln!(
            out,
            "sizes registers {} shared {} stack {} parameters {:#x} {}",
            k.registers, k.shared, k.stack, k.parameters, k.parameter_bytes
        );
        if !k.constants.is_empty() {
            let _ = writeln!(out, "constants {}", hex(&k.constants));
        }
        for (offset, name) in &k.functions {
            let _ = writeln!(out, "function {offset:#x} {name}");
        }
        for i in &k.code {
            let [low, high] = i.words;
            let _ = writeln!(out, "{low:016x} {high:016x} {}", i.text);
        }
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Reads a listing; errors say file and line.
pub fn read(name: &str, text: &str) -> Result<Program, String> {
    let mut program = Program {
        name: name.to_string(),
        ..Program::default()
    };
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, line)| line) != Some(FORMAT) {
        return Err(format!("{name}:1: a listing begins with `{FORMAT}`"));
    }
    for (number, line) in lines {
        let number = number as u32 + 1;
        let read = take(&mut program, line, number);
        read.map_err(|why| format!("{name}:{number}: {why}"))?;
    }
    Ok(program)
}

fn take(program: &mut Program, line: &str, place: u32) -> Result<(), String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let wrong = || format!("`{line}` cannot be read");
    let kernel = program.kernels.last_mut();
    match (word, kernel) {
        ("architecture", None) => program.architecture = number(rest).ok_or_else(wrong)?,
        ("made-by", None) => program.made_by = rest.to_string(),
        ("ptx", None) => program.source = Some(rest.to_string()),
        ("constants", None) => program.constants = unhex(rest).ok_or_else(wrong)?,
        ("constants", Some(kernel)) => kernel.constants = unhex(rest).ok_or_else(wrong)?,
        ("variable", None) => {
            let parts: Vec<&str> = rest.splitn(3, ' ').collect();
            let [offset, size, name] = parts[..] else {
                return Err(wrong());
            };
            program.variables.push(Variable {
                name: name.to_string(),
                offset: number(offset).ok_or_else(wrong)?,
                size: number(size).ok_or_else(wrong)?,
            });
        }
        ("kernel", _) => program.kernels.push(Kernel {
            name: rest.to_string(),
            ..Kernel::default()
        }),
        ("sizes", Some(kernel)) => sizes(kernel, rest).ok_or_else(wrong)?,
        ("function", Some(kernel)) => {
            let (offset, name) = rest.split_once(' ').ok_or_else(wrong)?;
            let offset = number(offset).ok_or_else(wrong)?;
            kernel.functions.push((offset, name.to_string()));
        }
        (low, Some(kernel)) if low.len() == 16 => {
            let (high, text) = rest.split_once(' ').ok_or_else(wrong)?;
            let half = |text: &str| u64::from_str_radix(text, 16).map_err(|_| wrong());
            let offset = kernel.code.len() as u32 * BYTES;
            let words = [half(low)?, half(high)?];
            kernel.code.push(Instruction::read(offset, words, text)?);
            kernel.lines.push(place);
        }
        _ => return Err(wrong()),
    }
    Ok(())
}

fn sizes(kernel: &mut Kernel, text: &str) -> Option<()> {
    let words: Vec<&str> = text.split(' ').collect();
    let [
        "registers",
        registers,
        "shared",
        shared,
        "stack",
        stack,
        "parameters",
        at,
        bytes,
    ] = words[..]
    else {
        return None;
    };
    kernel.registers = number(registers)?;
    kernel.shared = number(shared)?;
    kernel.stack = number(stack)?;
    kernel.parameters = number(at)?;
    kernel.parameter_bytes = number(bytes)?;
    Some(())
}

/// A listing, compressed. The same text gives the same bytes.
pub fn compress(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder
        .write_all(text.as_bytes())
        .and_then(|()| encoder.finish());
    written.expect("memory takes what is written to it")
}

/// The text of a compressed listing.
pub fn decompress(name: &str, bytes: &[u8]) -> Result<String, String> {
    let mut text = String::new();
    let mut limited = GzDecoder::new(bytes).take(MOST_BYTES);
    let read = limited.read_to_string(&mut text);
    read.map_err(|e| format!("{name}: this is not a compressed listing: {e}"))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "warpsim machine code 1\narchitecture 90\nmade-by hand\nptx abc\nconstants 0102\nvariable 0x0 2 table\n\
        kernel k\nsizes registers 8 shared 16 stack 4 parameters 0x210 12\nconstants ff\nfunction 0x0 k\n\
        000000000000794d 000fea0003800000 @P0 EXIT\n";

    #[test]
    fn what_is_written_is_read() {
        let program = read("k.sass", TEXT).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(write(&program), TEXT);
        let kernel = program.kernel("k").expect("it is there");
        assert_eq!((kernel.parameters, kernel.parameter_bytes), (0x210, 12));
        assert_eq!(kernel.lines, [11]);
        let packed = compress(TEXT);
        assert_eq!(decompress("k", &packed).as_deref(), Ok(TEXT));
        assert_eq!(packed, compress(TEXT));
    }

    #[test]
    fn errors_say_file_and_line() {
        let wrong = |text: &str| read("k.sass", text).expect_err("it is wrong");
        assert!(wrong("x").starts_with("k.sass:1: a listing begins with"));
        let with = |line: &str| wrong(&TEXT.replace("function 0x0 k", line));
        assert_eq!(with("func"), "k.sass:10: `func` cannot be read");
        assert_eq!(
            with("000000000000794d 000fea0003800000 MOV R1,$"),
            "k.sass:10: `$` is not an operand"
        );
        assert!(decompress("k.gz", b"no").is_err_and(|e| e.starts_with("k.gz: this is not")));
    }
}
