//! Kernels by name, and arguments laid out as a kernel expects them.

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
                    param.name,
                    param.size,
                    signature(kernel)
                ),
            });
        }
        if let Some(why) = mismatch(arg, param) {
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
fn mismatch(arg: &Arg, param: &Param) -> Option<String> {
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
            "a pointer, but `{}` takes {takes}; write `{help}`",
            param.name
        )),
        Arg::Scalar(ty, _) if ty.starts_with('f') != float => Some(format!(
            "{ty}, but `{}` takes {takes}; write `{help}`",
            param.name
        )),
        _ => None,
    }
}

/// A kernel's signature, as the PTX declares it.
pub fn signature(kernel: &Kernel) -> String {
    let params: Vec<String> = kernel
        .params
        .iter()
        .map(|p| {
            if p.array {
                format!("  .b8 {}[{}]  ({} bytes)", p.name, p.size, p.size)
            } else {
                format!("  .{} {}  ({} bytes)", type_name(p.ty), p.name, p.size)
            }
        })
        .collect();
    format!("{}(\n{}\n)", kernel.name, params.join(",\n"))
}

fn type_name(ty: Type) -> String {
    format!("{ty:?}").to_lowercase()
}

/// The kernel with this name, or the only one whose name contains it. The first line of an
/// error says what is wrong, the others what there is.
pub fn find_kernel(program: &Program, name: &str) -> Result<usize, String> {
    let names = || program.kernels.iter().map(|k| k.name.as_str());
    if let Some(exact) = names().position(|n| n == name) {
        return Ok(exact);
    }
    if let Some((_, reasons)) = program.rejected.iter().find(|(n, _)| n == name) {
        let reasons: Vec<&str> = reasons.iter().map(|d| d.message.as_str()).collect();
        return Err(format!(
            "kernel `{name}` cannot be run: {}",
            reasons.join("; ")
        ));
    }
    let matching: Vec<(usize, &str)> = names()
        .enumerate()
        .filter(|(_, n)| n.contains(name))
        .collect();
    match matching.as_slice() {
        [(index, _)] => Ok(*index),
        [] if program.kernels.is_empty() => Err("the PTX has no kernels".to_string()),
        [] => {
            let hint = nearest(name, names())
                .map(|n| format!("did you mean `{n}`?\n"))
                .unwrap_or_default();
            let all: Vec<&str> = names().collect();
            Err(format!(
                "no kernel is called `{name}`\n{hint}kernels: {}",
                all.join(", ")
            ))
        }
        several => {
            let all: Vec<&str> = several.iter().map(|(_, n)| *n).collect();
            Err(format!(
                "several kernels have `{name}` in their name\nit could be: {}",
                all.join(", ")
            ))
        }
    }
}
