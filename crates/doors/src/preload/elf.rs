//! What is looked for in a program's file: sections, libraries that it needs, its functions by name. Nothing in it is believed: what is not
//! there is none.

/// A program's file.
pub struct Elf<'a> {
    file: &'a [u8],
    sections: Vec<Section<'a>>,
}

struct Section<'a> {
    name: &'a [u8],
    kind: u32,
    bytes: &'a [u8],
    link: usize,
}

/// A function of the program.
#[derive(Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Where it is, by the file.
    pub address: u64,
    /// Bytes from there to the next function, or to what it is aligned to.
    pub room: u64,
}

const SYMBOLS: u32 = 2;
const DYNAMIC: u32 = 6;
const SYMBOL: usize = 24;
const NEEDED: u64 = 1;
const IS_FUNCTION: u8 = 2;

fn at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}

fn half(bytes: &[u8], offset: usize) -> Option<usize> {
    at(bytes, offset).map(|b| u16::from_le_bytes(b).into())
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    at(bytes, offset).map(u32::from_le_bytes)
}

fn long(bytes: &[u8], offset: usize) -> Option<u64> {
    at(bytes, offset).map(u64::from_le_bytes)
}

/// A text that ends in NUL.
fn text(bytes: &[u8], offset: usize) -> &[u8] {
    let rest = bytes.get(offset..).unwrap_or_default();
    rest.split(|b| *b == 0).next().unwrap_or_default()
}

impl<'a> Elf<'a> {
    /// A little-endian file of 64 bits.
    pub fn read(file: &'a [u8]) -> Option<Elf<'a>> {
        if !file.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let (table, size) = (long(file, 40)? as usize, half(file, 58)?);
        let (count, names) = (half(file, 60)?, half(file, 62)?);
        let header = |n: usize| file.get(table.checked_add(n.checked_mul(size)?)?..);
        let contents = |header: &[u8]| -> Option<&'a [u8]> {
            let (offset, bytes) = (long(header, 24)? as usize, long(header, 32)? as usize);
            file.get(offset..offset.checked_add(bytes)?)
        };
        let strings = header(names).and_then(contents).unwrap_or_default();
        let mut sections = Vec::with_capacity(count);
        for n in 0..count {
            let header = header(n)?;
            sections.push(Section {
                name: text(strings, word(header, 0)? as usize),
                kind: word(header, 4)?,
                bytes: contents(header).unwrap_or_default(),
                link: word(header, 40)? as usize,
            });
        }
        Some(Elf { file, sections })
    }

    /// Whether it has a section of this name.
    pub fn has_section(&self, name: &[u8]) -> bool {
        self.sections.iter().any(|s| s.name == name)
    }

    /// Whether it has a table of symbols.
    pub fn has_symbols(&self) -> bool {
        self.sections.iter().any(|s| s.kind == SYMBOLS)
    }

    /// The strings that a section's numbers point into.
    fn strings(&self, section: &Section) -> &'a [u8] {
        self.sections.get(section.link).map_or(&[], |s| s.bytes)
    }

    /// Whether it needs a library whose name begins so.
    pub fn needs(&self, library: &[u8]) -> bool {
        let tables = self.sections.iter().filter(|s| s.kind == DYNAMIC);
        tables.into_iter().any(|table| {
            let strings = self.strings(table);
            table.bytes.chunks_exact(16).any(|entry| {
                let (tag, value) = (long(entry, 0), long(entry, 8).unwrap_or_default());
                tag == Some(NEEDED) && text(strings, value as usize).starts_with(library)
            })
        })
    }

    /// Its functions whose names are wanted.
    pub fn functions(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<Function<'a>> {
        let mut all: Vec<(u64, &[u8])> = Vec::new();
        for table in self.sections.iter().filter(|s| s.kind == SYMBOLS) {
            let strings = self.strings(table);
            for symbol in table.bytes.chunks_exact(SYMBOL) {
                let is_defined = half(symbol, 6) != Some(0);
                if symbol[4] & 0xf == IS_FUNCTION && is_defined {
                    let name = text(strings, word(symbol, 0).unwrap_or_default() as usize);
                    all.push((long(symbol, 8).unwrap_or_default(), name));
                }
            }
        }
        all.sort_unstable();
        let mut found = Vec::new();
        for (index, &(address, name)) in all.iter().enumerate() {
            if wanted(name) {
                let next = all[index..].iter().map(|f| f.0).find(|a| *a > address);
                let room = next.map_or(16, |next| next - address);
                found.push(Function {
                    name,
                    address,
                    room,
                });
            }
        }
        found
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> usize {
        self.file.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_functions_and_needs_c() {
        let file = std::fs::read("/proc/self/exe").expect("itself");
        let elf = Elf::read(&file).expect("a program");
        assert!(elf.has_section(b".text") && elf.needs(b"libc.so"));
        assert!(!elf.needs(b"libcudart.so") && elf.bytes() == file.len());
        let main = elf.functions(|name| name == b"main");
        assert_eq!(main.len(), 1);
        assert!(main[0].address > 0 && main[0].room > 0);
    }

    #[test]
    fn damaged_files_are_no_programs_or_have_less() {
        let file = std::fs::read("/proc/self/exe").expect("itself");
        let table = long(&file, 40).expect("a header") as usize;
        for cut in [0, 5, 16, 63, 64, table, table + 10, file.len() - 1] {
            if let Some(elf) = Elf::read(&file[..cut]) {
                let _ = (
                    elf.has_symbols(),
                    elf.needs(b"libc"),
                    elf.functions(|_| true),
                );
            }
        }
        let mut damaged = file[..4096].to_vec();
        for at in 0..64 {
            damaged[at] ^= 0xff;
            let _ = Elf::read(&damaged).map(|elf| elf.functions(|_| true));
        }
    }
}
