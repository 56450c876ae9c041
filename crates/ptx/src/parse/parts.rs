//! Large files, read a part at a time: parts end behind functions, several are read at once, and
//! the tokens of a part are gone when the next one is read.
//!
//! Where a part ends is a guess by how compilers lay out their output. Wrong or right, it cannot
//! change what a file means: items do not depend on each other while they are read, and a part that
//! ends inside one has a mistake. Whatever has one is read again as a whole, from its start, so that
//! mistakes are told in the same way whatever the size of a file.

use super::Parser;
use super::lexer::Part;
use crate::ast::Module;
use crate::workers::side_by_side;

/// Bytes of a part at least.
const PART_BYTES: usize = 1 << 20;

/// A file, or nothing if there is a mistake in it.
pub(super) fn module(text: &str) -> Option<Module> {
    in_parts(text, &parts(text, PART_BYTES))
}

fn in_parts(text: &str, parts: &[Part]) -> Option<Module> {
    let read = |parser: &mut Parser<'_>, number: usize| {
        parser.read(parts[number]);
        let mut module = match number {
            0 => Parser::empty(),
            // So that it shows if the head of a file stands here, which is not usual.
            _ => Module::default(),
        };
        parser.items(&mut module);
        parser.diagnostics.is_empty().then_some(module)
    };
    let modules = side_by_side(parts.len(), || Parser::new(text, true), read)?;
    let items: usize = modules.iter().map(|module| module.items.len()).sum();
    let mut modules = modules.into_iter();
    let mut whole = modules.next()?;
    whole.items.reserve_exact(items - whole.items.len());
    for module in modules {
        if module.version != (0, 0) || module.address_size != 0 || !module.target.is_empty() {
            return None;
        }
        whole.items.extend(module.items);
    }
    (whole.version != (0, 0)).then_some(whole)
}

/// Cuts a text where lines that are only a `}` are followed by a directive, after so many bytes at
/// least.
fn parts(text: &str, bytes: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut part = Part::whole(text);
    while let Some(end) = end_of_function(text.as_bytes(), part.start + bytes) {
        parts.push(Part { end, ..part });
        let lines = text.as_bytes()[part.start..end].iter();
        part.line += lines.map(|byte| u32::from(*byte == b'\n')).sum::<u32>();
        part.start = end;
    }
    parts.push(part);
    parts
}

/// Where the line behind a function begins, which probably ends at `from` or further on.
fn end_of_function(text: &[u8], from: usize) -> Option<usize> {
    let line_at = |at: usize| {
        let rest = text.get(at..)?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        Some((rest[..end].trim_ascii(), at + end + 1))
    };
    let (_, mut at) = line_at(from)?;
    loop {
        let (line, behind) = line_at(at)?;
        if line == b"}" {
            let mut next = behind;
            let first = loop {
                let (line, behind) = line_at(next)?;
                if !line.is_empty() && !line.starts_with(b"//") {
                    break line;
                }
                next = behind;
            };
            if first.starts_with(b".") {
                return Some(behind);
            }
        }
        at = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{Item, Statement};

    const HEAD: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

    /// A file of four kernels with an inner block each, é in a comment.
    fn file() -> String {
        let kernel = |n: usize| {
            format!(
                "// é\n.visible .entry k{n}()\n{{\n.reg .b32 %r<3>;\n{{\n.reg .b32 %x;\nmov.u32 %x, {n};\n\
                 }}\nL:\n{{\nmov.u32 %r1, 1;\n}}\n.pragma \"nounroll\";\nbra L;\n}}\n\n"
            )
        };
        (0..4).fold(HEAD.to_string(), |all, n| all + &kernel(n))
    }

    fn lines(module: &Module) -> Vec<(u32, u32, u32)> {
        let mut lines = Vec::new();
        for item in &module.items {
            let Item::Function(function) = item else {
                continue;
            };
            for statement in function.body.iter().flatten() {
                if let Statement::Label(id) = statement {
                    lines.push((id.span.line, id.span.column, id.span.start));
                }
            }
        }
        lines
    }

    fn whole(text: &str) -> Option<Module> {
        let mut parser = Parser::new(text, false);
        parser.read(Part::whole(text));
        let module = parser.module();
        parser.diagnostics.is_empty().then_some(module)
    }

    #[test]
    fn parts_together_are_the_file_wherever_they_end() {
        let text = file();
        let expected = whole(&text).expect("valid");
        let mut read = 0;
        for bytes in 1..400 {
            let parts = parts(&text, bytes);
            assert!(parts.len() > 1, "{bytes}");
            assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
            if let Some(module) = in_parts(&text, &parts) {
                assert_eq!(module, expected);
                assert_eq!(lines(&module), lines(&expected));
                read += 1;
            }
        }
        // Some end in an inner block, which the guess takes for a function.
        assert!((10..399).contains(&read), "{read}");
    }

    #[test]
    fn a_mistake_in_any_part_is_left_to_who_reads_the_whole() {
        for (from, to) in [
            ("mov.u32 %x, 3", "mov.u32 %x 3"),
            ("k2()", "k2("),
            (".version", ""),
        ] {
            let text = file().replacen(from, to, 1);
            assert!(in_parts(&text, &parts(&text, 150)).is_none(), "{to}");
            assert!(whole(&text).is_none());
        }
    }

    #[test]
    fn a_second_head_is_left_to_who_reads_the_whole() {
        let text = file() + ".address_size 32\n";
        assert!(in_parts(&text, &parts(&text, 150)).is_none());
        assert_eq!(whole(&text).map(|module| module.address_size), Some(32));
    }
}
