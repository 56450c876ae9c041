//! Whether an array's elements are what the kernel takes them for.

use warpsim_present::mangled::Function;
use warpsim_ptx::analysis::elements;
use warpsim_ptx::isa::Type;
use warpsim_ptx::kernel::Kernel;

/// Why an array of this NumPy type is none that the kernel's argument points to. C++ says what it is, or, where the name is
/// none of C++, what the kernel reads and writes there.
pub fn contradiction(kernel: &Kernel, index: usize, dtype: &str) -> Option<String> {
    let given = Element::of_numpy(dtype)?;
    let function = Function::of(&kernel.name);
    let types = function.as_ref().map(|f| f.parameters.as_slice());
    let types = types.filter(|types| types.len() == kernel.params.len());
    let (takes, wanted) = match types {
        Some(types) => {
            let declared = types.get(index)?;
            (format!("takes {declared}"), Element::of_cpp(declared)?)
        }
        None => {
            let param = kernel.params.get(index)?;
            let used = elements(kernel).remove(&param.offset)?;
            let mut used = used.into_iter();
            let (only, None) = (used.next()?, used.next()) else {
                return None;
            };
            let wanted = Element::of_ptx(only)?;
            (format!("takes it as numbers of .{}", wanted.word()), wanted)
        }
    };
    let same = given == wanted || given.is_bits_of(wanted);
    (!same).then(|| {
        format!(
            "an array of {dtype}, but the kernel {takes}: pass array.astype(\"{}\"), or array.view(\"{}\") if its bytes are meant",
            wanted.numpy(),
            wanted.numpy()
        )
    })
}

/// Numbers of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    float: bool,
    bytes: u8,
}

const fn float(bytes: u8) -> Element {
    Element { float: true, bytes }
}

const fn whole(bytes: u8) -> Element {
    Element {
        float: false,
        bytes,
    }
}

impl Element {
    /// None where the type can be anything: structures, bytes.
    fn of_numpy(dtype: &str) -> Option<Element> {
        Some(match dtype {
            "float16" => float(2),
            "float32" | "complex64" => float(4),
            "float64" | "complex128" => float(8),
            "int16" | "uint16" => whole(2),
            "int32" | "uint32" => whole(4),
            "int64" | "uint64" => whole(8),
            "bool" | "int8" | "uint8" => whole(1),
            _ => return None,
        })
    }

    /// What a pointer points to, by its type in C++; none where that is bytes, or a type of the program.
    fn of_cpp(declared: &str) -> Option<Element> {
        let pointed = declared.strip_suffix("__restrict__").unwrap_or(declared);
        let pointed = pointed.trim_end().strip_suffix('*')?;
        let words = pointed.split_whitespace();
        let words: Vec<&str> = words
            .filter(|word| !matches!(*word, "const" | "volatile"))
            .collect();
        let name = words.join(" ");
        // A vector's elements: `float4`.
        let name = match name.strip_suffix(['2', '3', '4']) {
            Some(base) if VECTORS.contains(&base) => base,
            _ => &name,
        };
        Some(match name {
            "float" => float(4),
            "double" => float(8),
            "__half" => float(2),
            "short" | "unsigned short" | "ushort" => whole(2),
            "int" | "unsigned int" | "uint" => whole(4),
            "long" | "unsigned long" | "long long" | "unsigned long long" | "longlong"
            | "ulonglong" => whole(8),
            _ => return None,
        })
    }

    /// What an access says of its numbers; none where it says nothing but their size.
    fn of_ptx(ty: Type) -> Option<Element> {
        match ty {
            Type::F32 => Some(float(4)),
            Type::F64 => Some(float(8)),
            _ => None,
        }
    }

    /// Whether these are the bits of the other's numbers: half precision, which NumPy's users keep as 16-bit integers.
    fn is_bits_of(self, other: Element) -> bool {
        self == whole(2) && other == float(2)
    }

    /// As PTX has it.
    fn word(self) -> String {
        let kind = if self.float { "f" } else { "b" };
        format!("{kind}{}", 8 * u32::from(self.bytes))
    }

    /// As NumPy has it.
    fn numpy(self) -> String {
        let kind = if self.float { "float" } else { "int" };
        format!("{kind}{}", 8 * u32::from(self.bytes))
    }
}

/// The bases of CUDA's vectors.
const VECTORS: [&str; 9] = [
    "float",
    "double",
    "short",
    "ushort",
    "int",
    "uint",
    "longlong",
    "ulonglong",
    "__half",
];
