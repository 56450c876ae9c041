//! Machine code: an ELF file with a section for each kernel. It is not executed here; what it says about its kernels is
//! read, and the PTX that it was made from, which it has if it was compiled with line information.

use crate::attributes::{self, Attribute};
use crate::bytes::{Bytes, size};
use crate::capability::{Capability, Variant};
use crate::error::Error;
use crate::text::{self, Origin};
use crate::{Image, attributes as nv};
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};
use object::{LittleEndian, Object, ObjectSection};

/// Where the PTX stands.
const PTX: &str = ".nv_debug_ptx_txt";
/// What `e_machine` says of CUDA's machine code.
const EM_CUDA: object::elf::Machine = elf::EM_CUDA;
/// Version of the format from which on the architecture stands elsewhere.
const NEWER: u8 = 8;

/// Code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// The architecture.
    pub capability: Capability,
    /// Its kernels, by name.
    pub kernels: Vec<Kernel>,
    /// Whether it has the PTX that it was made from.
    pub has_ptx: bool,
}

/// What machine code says of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Its name, mangled.
    pub name: String,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of shared memory that a block has without asking for more.
    pub shared: u64,
    /// Bytes of local memory that a thread has.
    pub local: u64,
    /// Bytes of the constants that it and its file declare.
    pub constant: u64,
    /// Size of each parameter, in order.
    pub params: Vec<u32>,
    /// Most threads of a block, if it was compiled for that many.
    pub max_threads: Option<[u32; 3]>,
}

type Header = elf::FileHeader64<LittleEndian>;

/// Adds what an ELF file has, which begins at byte `before` of the whole image.
pub(crate) fn read(bytes: &[u8], before: usize, image: &mut Image) -> Result<(), Error> {
    let broken = |what: String| Error::broken(before, what);
    let file = ElfFile64::<LittleEndian>::parse(bytes)
        .map_err(|e| broken(format!("its ELF file is damaged ({e})")))?;
    let header: &Header = file.elf_header();
    let machine = header.e_machine(LittleEndian);
    if machine != EM_CUDA {
        return Err(Error::Unknown {
            what: format!("it is an ELF file for another processor (machine {machine})"),
        });
    }
    let capability = capability(header);
    let whole = Bytes { all: bytes, before };
    let mut cubin = Cubin {
        capability,
        kernels: kernels(&file, whole)?,
        has_ptx: false,
    };
    if let Some(section) = file.section_by_name(PTX) {
        let data = section
            .uncompressed_data()
            .map_err(|e| broken(format!("its section {PTX} is damaged ({e})")))?;
        let lines = lines(&data);
        if !lines.is_empty() {
            cubin.has_ptx = true;
            let origin = Origin::LineInformation;
            let ptx = text::stored(&lines, before, origin, (0, 0), capability)?;
            image.ptx.push(ptx);
        }
    }
    image.cubins.push(cubin);
    Ok(())
}

/// The text whose lines end in zeros.
fn lines(data: &[u8]) -> Vec<u8> {
    let lines = data.split(|&b| b == 0);
    let mut text = Vec::with_capacity(data.len());
    let mut begun = false;
    for line in lines {
        begun |= !line.is_empty();
        if begun {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    let end = text
        .iter()
        .rposition(|&b| b != b'\n')
        .map_or(0, |at| at + 2);
    text.truncate(end);
    text
}

fn capability(header: &Header) -> Capability {
    let flags = header.e_flags(LittleEndian).0;
    let newer = header.e_ident().abi_version >= NEWER;
    let (number, only) = match newer {
        true => (flags >> 8 & 0xffff, flags & 0x8 != 0),
        false => (flags & 0xff, flags & 0x800 != 0),
    };
    Capability {
        number,
        variant: match only {
            true => Variant::Only,
            false => Variant::All,
        },
    }
}

/// All functions that have a section of code, by name: what is not global is called by kernels.
fn kernels(file: &ElfFile64<LittleEndian>, whole: Bytes) -> Result<Vec<Kernel>, Error> {
    let sections = file.elf_section_table();
    let about = attributes_of(file, whole, ".nv.info")?;
    let declared = section_size(file, ".nv.constant3");
    let mut kernels = Vec::new();
    for section in file.sections() {
        let Some(name) = section.name().ok().and_then(|n| n.strip_prefix(".text.")) else {
            continue;
        };
        // What other functions are has no attributes of its own that name parameters' place.
        let own = attributes_of(file, whole, &format!(".nv.info.{name}"))?;
        if !own.iter().any(|a| a.which == nv::PARAM_CBANK) {
            continue;
        }
        let info = sections
            .section(section.index())
            .map_or(0, |s| s.sh_info(LittleEndian));
        let mut kernel = Kernel {
            name: name.to_string(),
            registers: Some(info >> 24).filter(|&count| count > 0),
            shared: section_size(file, &format!(".nv.shared.{name}")),
            constant: declared + section_size(file, &format!(".nv.constant2.{name}")),
            ..Kernel::default()
        };
        describe(&mut kernel, file, &about, &own);
        kernels.push(kernel);
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kernels)
}

/// What attributes say of a kernel. Those too short for what they are say nothing.
fn describe(
    kernel: &mut Kernel,
    file: &ElfFile64<LittleEndian>,
    about: &[Attribute],
    own: &[Attribute],
) {
    let what = "an attribute";
    for attribute in about {
        let value = attribute.value;
        let (Ok(symbol), Ok(number)) = (value.u32(0, what), value.u32(4, what)) else {
            continue;
        };
        if symbol_name(file, symbol) != Some(kernel.name.as_bytes()) {
            continue;
        }
        match attribute.which {
            nv::REGISTERS => kernel.registers = Some(number),
            nv::FRAME_SIZE | nv::MIN_STACK_SIZE => {
                kernel.local = kernel.local.max(u64::from(number));
            }
            _ => {}
        }
    }
    let mut params = Vec::new();
    for attribute in own {
        let value = attribute.value;
        match attribute.which {
            nv::PARAM => {
                if let (Ok(place), Ok(form)) = (value.u32(4, what), value.u32(8, what)) {
                    // The number below the offset; the size above flags.
                    params.push((place & 0xffff, form >> 18));
                }
            }
            nv::MAX_THREADS => {
                let each = [0, 4, 8].map(|at| value.u32(at, what).ok());
                if let [Some(x), Some(y), Some(z)] = each {
                    kernel.max_threads = Some([x, y, z]);
                }
            }
            _ => {}
        }
    }
    params.sort_unstable();
    kernel.params = params.into_iter().map(|(_, size)| size).collect();
}

fn symbol_name<'a>(file: &ElfFile64<'a, LittleEndian>, index: u32) -> Option<&'a [u8]> {
    let symbols = file.elf_symbol_table();
    let index = object::SymbolIndex(size(u64::from(index)));
    let symbol = symbols.symbol(index).ok()?;
    symbol.name(LittleEndian, symbols.strings()).ok()
}

fn section_size(file: &ElfFile64<LittleEndian>, name: &str) -> u64 {
    file.section_by_name(name).map_or(0, |s| s.size())
}

fn attributes_of<'a>(
    file: &ElfFile64<'a, LittleEndian>,
    whole: Bytes<'a>,
    name: &str,
) -> Result<Vec<Attribute<'a>>, Error> {
    let Some(section) = file.section_by_name(name) else {
        return Ok(Vec::new());
    };
    let damaged = || whole.broken(0, format!("its section {name} lies outside of it"));
    let (at, count) = section.file_range().ok_or_else(damaged)?;
    let data = whole.part(size(at), size(count), "a section")?;
    attributes::read(Bytes {
        all: data,
        before: whole.before.saturating_add(size(at)),
    })
}
