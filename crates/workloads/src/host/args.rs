//! Kernels by name, and arguments laid out as a kernel expects them.

use warpsim_present::mangled::{Function, shown};
use warpsim_present::nearest;
use warpsim_ptx::isa::Type;
use warpsim_ptx::kernel::{Kernel, Param, Program};

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A device address.
    Pointer(u64),
    /// A scalar: the name of its type and its bytes.
    Scalar(&'static str, Vec<u8>),
    /// The bytes of a struct.
    Bytes(Vec<u8>),
}

impl Arg {
    /// An unsigned 32-bit scalar.
    pub fn u32(value: u32) -> Arg {
        Arg::Scalar("u32", value.to_le_bytes().to_vec())
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Arg::Pointer(address) => address.to_le_bytes().to_vec(),
            Arg::Scalar(_, bytes) | Arg::Bytes(bytes) => bytes.clone(),
        }
    }

    fn describe(&self) -> String {
        match self {
            Arg::Pointer(_) => "a pointer (8 bytes)".to_string(),
            Arg::Scalar(ty, bytes) => format!("{ty} ({} bytes)", bytes.len()),
            Arg::Bytes(bytes) => format!("{} raw bytes", bytes.len()),
        }
    }
}

/// Why arguments do not fit: which one (if it is one) and what to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgError {
    /// Index of the argument at fault; `None` when their number is wrong.
    pub index: Option<usize>,
    /// The message.
    pub message: String,
}

/// Lays arguments out in the kernel's parameter block.
pub fn pack(kernel: &Kernel, args: &[Arg]) -> Result<Vec<u8>, ArgError> {
    if args.len() != kernel.params.len() {
        return Err(ArgError {
            index: None,
            message: format!(
                "the kernel takes {} arguments and got {}\n{}",
                kernel.params.len(),
                args.len(),
                signature(kernel)
            ),
        });
    }
    let mut block = vec![0; kernel.param_bytes as usize];
    for (index, (param, arg)) in kernel.params.iter().zip(args).enumerate() {
        let bytes = arg.bytes();
        let start = param.offset as usize;
        let end = start + bytes.len();
        if bytes.len() != param.size as usize || end > block.len() {
            return Err(ArgError {
                index: Some(index),
                message: format!(
                    "argument {} is {}, but `{}` takes {} bytes\n{}",
                    index + 1,
                    arg.describe(),
                    kernel.short_name(param),
                    param.size,
                    signature(kernel)
                ),
            });
        }
        if let Some(why) = mismatch(arg, param, kernel.short_name(param)) {
            return Err(ArgError {
                index: Some(index),
                message: format!("argument {} is {why}\n{}", index + 1, signature(kernel)),
            });
        }
        block[start..end].copy_from_slice(&bytes);
    }
    Ok(block)
}

/// Why an argument of the right size is still not what the parameter takes: a float for an integer or
/// the other way round, whose bits would be taken for something else. Bits without a type take both.
fn mismatch(arg: &Arg, param: &Param, name: &str) -> Option<String> {
    let float = matches!(param.ty, Type::F16 | Type::F32 | Type::F64);
    let untyped = matches!(param.ty, Type::B8 | Type::B16 | Type::B32 | Type::B64);
    if param.array || untyped {
        return None;
    }
    let (takes, help) = match float {
        true => ("a float", "f"),
        false => ("an integer", "u"),
    };
    let help = format!("{{ {help}{} = ... }}", param.size * 8);
    match arg {
        Arg::Pointer(_) if float => Some(format!(
            "a pointer, but `{name}` takes {takes}; write `{help}`"
        )),
        Arg::Scalar(ty, _) if ty.contains('f') != float => {
            Some(format!("{ty}, but `{name}` takes {takes}; write `{help}`"))
        }
        _ => None,
    }
}

/// A kernel's signature: its name, and its parameters as the PTX declares them and, where the name says
/// so, as C++ does.
pub fn signature(kernel: &Kernel) -> String {
    let function = Function::of(&kernel.name);
    let types = function.as_ref().map(|f| f.parameters.as_slice());
    let types = types.filter(|t| t.len() == kernel.params.len());
    let params: Vec<String> = kernel
        .params
        .iter()
        .enumerate()
        .map(|(index, p)| {
            let name = kernel.short_name(p);
            let declared = match p.array {
                true => format!(".b8 {name}[{}]", p.size),
                false => format!(".{} {name}", type_name(p.ty)),
            };
            match types {
                Some(types) => format!("  {declared}  ({} bytes: {})", p.size, types[index]),
                None => format!("  {declared}  ({} bytes)", p.size),
            }
        })
        .collect();
    format!("{}(\n{}\n)", shown(&kernel.name), params.join(",\n"))
}

fn type_name(ty: Type) -> String {
    format!("{ty:?}").to_lowercase()
}

/// The kernel that a name means: its name in the PTX; else its name in C++, with or without namespaces,
/// arguments of a template and parameters; else the only one that has it in its name. The first line of
/// an error says what is wrong, the others what there is.
pub fn find_kernel(program: &Program, name: &str) -> Result<usize, String> {
    let kernels = program.kernels.iter().map(|k| k.name.as_str());
    let rejected = program.rejected.iter().map(|(n, _)| n.as_str());
    let names: Vec<&str> = kernels.chain(rejected).collect();
    match choose(&names, name)? {
        index if index < program.kernels.len() => Ok(index),
        index => {
            let (kernel, reasons) = &program.rejected[index - program.kernels.len()];
            let reasons: Vec<&str> = reasons.iter().map(|d| d.message.as_str()).collect();
            Err(format!(
                "kernel `{}` cannot be run: {}",
                shown(kernel),
                reasons.join("; ")
            ))
        }
    }
}

/// Which of these names is meant.
fn choose(names: &[&str], written: &str) -> Result<usize, String> {
    if names.is_empty() {
        return Err("the PTX has no kernels".to_string());
    }
    if let Some(exact) = names.iter().position(|n| *n == written) {
        return Ok(exact);
    }
    let functions: Vec<Option<Function>> = names.iter().map(|n| Function::of(n)).collect();
    let signature = |index: usize| match &functions[index] {
        Some(function) => function.signature(),
        None => names[index].to_string(),
    };
    let called = |index: &usize| {
        let function = functions[*index].as_ref();
        function.is_some_and(|f| f.is_called(written))
    };
    let within =
        |index: &usize| names[*index].contains(written) || signature(*index).contains(written);
    let all = 0..names.len();
    let mut matching: Vec<usize> = all.clone().filter(called).collect();
    if matching.is_empty() {
        matching = all.clone().filter(within).collect();
    }
    match matching.as_slice() {
        [index] => Ok(*index),
        [] => {
            let known: Vec<String> = names.iter().map(|n| shown(n)).collect();
            let hint = nearest(written, known.iter().map(String::as_str))
                .map(|n| format!("did you mean `{n}`?\n"))
                .unwrap_or_default();
            Err(format!(
                "no kernel is called `{written}`\n{hint}kernels: {}",
                known.join(", ")
            ))
        }
        several => {
            let all: Vec<String> = several.iter().map(|i| signature(*i)).collect();
            Err(format!(
                "several kernels have `{written}` in their name\nit could be: {}",
                all.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = [
        "_Z5saxpyfPKfPfj",
        "_Z6saxpy2fPKfPfj",
        "_ZN2my5scaleIfEEvPKT_PS1_S1_i",
        "_ZN2my5scaleIiEEvPKT_PS1_S1_i",
        "plain",
    ];

    #[test]
    fn kernels_are_found_by_any_name_that_means_one() {
        let one = |written: &str| choose(&NAMES, written).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(one("_Z5saxpyfPKfPfj"), 0);
        // It is in the other's name too, but it is the name of this one.
        assert_eq!(one("saxpy"), 0);
        assert_eq!(one("saxpy(float, float const*, float*, unsigned int)"), 0);
        assert_eq!(one("saxpy2"), 1);
        assert_eq!(one("my::scale<float>"), 2);
        assert_eq!(one("scale<int>"), 3);
        assert_eq!(one("plain"), 4);
        assert_eq!(one("lai"), 4);
    }

    #[test]
    fn what_means_several_or_none_is_an_error_with_names() {
        let error = |written: &str| choose(&NAMES, written).expect_err("an error");
        let several = error("scale");
        assert!(
            several.contains("my::scale<float>(float const*, float*, float, int), my::scale<int>("),
            "{several}"
        );
        let none = error("saxpi");
        assert!(none.contains("did you mean `saxpy`?"), "{none}");
        assert!(!none.contains("_Z"), "{none}");
    }
}
