//! A cubin: an ELF file with the kernels' words, constants and sizes.

use object::elf;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionIndex};

/// Bytes of shared memory before a block's own.
const RESERVED_SHARED: u32 = 1024;

/// Attributes in `.nv.info` sections: numbers that NVIDIA's tools write there.
mod attribute {
    /// Bytes of a thread's stack, of a function.
    pub const MIN_STACK: u8 = 0x12;
    /// Where parameters lie, of a kernel.
    pub const PARAMETERS: u8 = 0x0a;
    /// Registers, of a function.
    pub const REGISTERS: u8 = 0x2f;
    /// Values of this form are a count of bytes with the bytes behind it.
    pub const SIZED: u8 = 0x04;
}

/// What is read of a cubin.
#[derive(Debug, Default)]
pub(super) struct Cubin {
    /// Constant bank 3.
    pub constants: Vec<u8>,
    /// Variables in it: name, offset, bytes.
    pub variables: Vec<(String, u32, u32)>,
    /// Kernels.
    pub kernels: Vec<Entry>,
}

/// A kernel of a cubin.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub name: String,
    /// Pairs of words, low word first.
    pub words: Vec<[u64; 2]>,
    /// Functions of the section and where they begin.
    pub functions: Vec<(u32, String)>,
    pub constants: Vec<u8>,
    pub shared: u32,
    pub registers: u32,
    pub stack: u32,
    pub parameters: u32,
    pub parameter_bytes: u32,
}

type File<'a> = ElfFile64<'a, Endianness>;

impl Cubin {
    /// Reads a cubin.
    pub fn read(bytes: &[u8]) -> Result<Cubin, String> {
        let file = File::parse(bytes).map_err(|e| format!("this is not a cubin: {e}"))?;
        let machine = file.elf_header().e_machine.get(file.endian());
        if machine != elf::EM_CUDA {
            return Err("this is an ELF file, but not one of a GPU (a cubin)".into());
        }
        refuse_what_is_not_linked(&file)?;
        let mut cubin = Cubin::default();
        if let Some(section) = file.section_by_name(".nv.constant3") {
            cubin.constants = data(&section)?;
            cubin.variables = variables(&file, section.index());
        }
        for section in file.sections() {
            let name = section.name().map_err(|e| e.to_string())?;
            if let Some(kernel) = name.strip_prefix(".text.") {
                cubin.kernels.push(entry(&file, &section, kernel)?);
            }
        }
        sizes(&file, &mut cubin)?;
        Ok(cubin)
    }
}

/// Code that other files are to be linked to has addresses that are not known yet.
fn refuse_what_is_not_linked(file: &File<'_>) -> Result<(), String> {
    for section in file.sections() {
        let name = section.name().unwrap_or_default();
        let code = name.starts_with(".text.") || name.starts_with(".nv.constant");
        let first = file.elf_header().e_type.get(file.endian()) == object::elf::ET_REL;
        if code && first && section.relocations().next().is_some() {
            return Err(format!(
                "section {name} refers to symbols of other files: link the program first (a cubin of `nvcc -cubin` \
                 without -rdc is linked)"
            ));
        }
    }
    if let Some(section) = file
        .section_by_name(".nv.global")
        .or(file.section_by_name(".nv.global.init"))
        && section.size() != 0
    {
        return Err("it has variables in global memory (`__device__`), which are not supported in machine code".into());
    }
    Ok(())
}

fn data<'a>(section: &impl ObjectSection<'a>) -> Result<Vec<u8>, String> {
    let bytes = section
        .data()
        .map_err(|e| format!("a section cannot be read: {e}"))?;
    Ok(bytes.to_vec())
}

fn variables(file: &File<'_>, section: SectionIndex) -> Vec<(String, u32, u32)> {
    let symbols = file
        .symbols()
        .filter(|s| s.section_index() == Some(section));
    let named = symbols.filter_map(|s| Some((s.name().ok()?.to_string(), s)));
    let mut found: Vec<(String, u32, u32)> = named
        .filter(|(name, symbol)| !name.is_empty() && symbol.size() != 0)
        .map(|(name, symbol)| (name, symbol.address() as u32, symbol.size() as u32))
        .collect();
    found.sort_by_key(|(_, offset, _)| *offset);
    found
}

fn entry<'a>(
    file: &File<'_>,
    section: &impl ObjectSection<'a>,
    name: &str,
) -> Result<Entry, String> {
    let code = data(section)?;
    let (pairs, rest) = code.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(format!(
            "the code of {name} is no whole number of instructions"
        ));
    }
    let half = |pair: &[u8; 16], at: usize| {
        u64::from_le_bytes(pair[at..at + 8].try_into().expect("eight bytes"))
    };
    let symbols = file
        .symbols()
        .filter(|s| s.section_index() == Some(section.index()));
    let mut functions: Vec<(u32, String)> = symbols
        .filter(|s| s.kind() == object::SymbolKind::Text)
        .filter_map(|s| Some((s.address() as u32, s.name().ok()?.to_string())))
        .collect();
    functions.sort();
    let constants = match file.section_by_name(&format!(".nv.constant2.{name}")) {
        Some(section) => data(&section)?,
        None => Vec::new(),
    };
    let shared = file.section_by_name(&format!(".nv.shared.{name}"));
    Ok(Entry {
        name: name.to_string(),
        words: pairs
            .iter()
            .map(|pair| [half(pair, 0), half(pair, 8)])
            .collect(),
        functions,
        constants,
        // The section begins with what the hardware keeps for itself.
        shared: shared.map_or(0, |s| (s.size() as u32).saturating_sub(RESERVED_SHARED)),
        ..Entry::default()
    })
}

/// What the attributes say of kernels.
fn sizes(file: &File<'_>, cubin: &mut Cubin) -> Result<(), String> {
    let name_of = |index: u32| {
        let symbol = file
            .symbol_by_index(object::SymbolIndex(index as usize))
            .ok()?;
        symbol.name().ok().map(str::to_string)
    };
    if let Some(section) = file.section_by_name(".nv.info") {
        for (number, value) in attributes(&data(&section)?) {
            let (Some(symbol), Some(size)) = (word(&value, 0), word(&value, 4)) else {
                continue;
            };
            let Some(name) = name_of(symbol) else {
                continue;
            };
            let Some(kernel) = cubin.kernels.iter_mut().find(|k| k.name == name) else {
                continue;
            };
            match number {
                attribute::REGISTERS => kernel.registers = size,
                attribute::MIN_STACK => kernel.stack = size,
                _ => {}
            }
        }
    }
    for kernel in &mut cubin.kernels {
        let Some(section) = file.section_by_name(&format!(".nv.info.{}", kernel.name)) else {
            return Err(format!(
                "it says nothing of the parameters of {}",
                kernel.name
            ));
        };
        for (number, value) in attributes(&data(&section)?) {
            if let (attribute::PARAMETERS, Some(packed)) = (number, word(&value, 4)) {
                kernel.parameters = packed & 0xffff;
                kernel.parameter_bytes = packed >> 16;
            }
        }
    }
    Ok(())
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The attributes of a section that have bytes: number and bytes.
fn attributes(mut section: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut found = Vec::new();
    while let &[form, number, low, high, ref rest @ ..] = section {
        section = rest;
        if form == attribute::SIZED {
            let size = usize::from(u16::from_le_bytes([low, high])).min(section.len());
            let (value, behind) = section.split_at(size);
            found.push((number, value.to_vec()));
            section = behind;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_with_and_without_bytes() {
        let section = [
            0x03, 0x19, 0x2c, 0x00, // in two bytes
            0x04, 0x0a, 0x08, 0x00, 1, 0, 0, 0, 0x10, 2, 0x1c, 0, // with eight behind it
            0x01, 0x02, 0x00, 0x00,
        ];
        let found = attributes(&section);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, attribute::PARAMETERS);
        assert_eq!(word(&found[0].1, 4), Some(0x1c_0210));
        assert!(attributes(&[4, 1, 0xff, 0xff, 1]).len() == 1, "cut short");
    }

    #[test]
    fn other_files_are_refused() {
        assert!(Cubin::read(b"no").is_err_and(|e| e.contains("not a cubin")));
        let own = std::fs::read("/proc/self/exe");
        if let Ok(own) = own {
            let why = Cubin::read(&own).expect_err("a program of the host");
            assert!(why.contains("not one of a GPU"), "{why}");
        }
    }
}
