//! Python's values as a kernel's arguments.

use crate::elements;
use pyo3::prelude::*;
use warpsim_ptx::isa::Type;
use warpsim_ptx::kernel::{Kernel, Param};
use warpsim_workloads::DeviceError;
use warpsim_workloads::args::{self, Arg};

/// An argument as Python hands it over: a kind and a value.
pub enum Given {
    /// The number of a buffer.
    Buffer(usize),
    /// A whole number: takes the parameter's type.
    Whole(i128),
    /// A number: takes the parameter's type.
    Real(f64),
    /// The bytes of a typed scalar or a struct.
    Bytes(Vec<u8>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Given {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Given> {
        let (kind, value): (String, Bound<'py, PyAny>) = given.extract()?;
        Ok(match kind.as_str() {
            "buffer" => Given::Buffer(value.extract()?),
            "int" => Given::Whole(value.extract()?),
            "float" => Given::Real(value.extract()?),
            _ => Given::Bytes(value.extract()?),
        })
    }
}

/// A buffer that may be passed: its address, and NumPy's name for its elements.
pub type Buffer<'a> = (u64, &'a str);

/// The parameter block of a launch, with these buffers.
pub fn pack(kernel: &Kernel, given: &[Given], buffers: &[Buffer]) -> Result<Vec<u8>, DeviceError> {
    let mut all = Vec::new();
    for (index, value) in given.iter().enumerate() {
        let parameter = kernel.params.get(index);
        let mut arg = typed(value, parameter, buffers);
        if let Given::Buffer(buffer) = value
            && let Some(why) = elements::contradiction(kernel, index, buffers[*buffer].1)
        {
            arg = Err(why);
        }
        all.push(arg.map_err(|text| {
            let signature = args::signature(kernel);
            DeviceError::bad_input(format!("argument {}: {text}\n{signature}", index + 1))
        })?);
    }
    args::pack(kernel, &all).map_err(|e| DeviceError::bad_input(e.message))
}

fn typed(value: &Given, parameter: Option<&Param>, buffers: &[Buffer]) -> Result<Arg, String> {
    let ty = parameter.filter(|p| !p.array).map(|p| p.ty);
    let name = parameter.map_or("", |p| &p.name);
    match value {
        Given::Buffer(index) => Ok(Arg::Pointer(buffers[*index].0)),
        Given::Bytes(bytes) => Ok(Arg::Bytes(bytes.clone())),
        Given::Whole(n) => match ty {
            Some(Type::F32 | Type::F64) => real(*n as f64, ty),
            _ => whole(*n, parameter),
        },
        Given::Real(x) => match ty {
            Some(Type::F32 | Type::F64) => real(*x, ty),
            // A parameter of bits says nothing of what they mean.
            Some(Type::B32) => real(*x, Some(Type::F32)),
            Some(Type::B64) => real(*x, Some(Type::F64)),
            _ => Err(format!(
                "{x} is no whole number, and `{name}` is no floating-point parameter of 32 or 64 bits \
                 (a NumPy scalar is passed as its bytes, whatever the parameter)"
            )),
        },
    }
}

fn real(x: f64, ty: Option<Type>) -> Result<Arg, String> {
    Ok(match ty {
        Some(Type::F32) => Arg::Scalar("f32", (x as f32).to_le_bytes().to_vec()),
        _ => Arg::Scalar("f64", x.to_le_bytes().to_vec()),
    })
}

fn whole(n: i128, parameter: Option<&Param>) -> Result<Arg, String> {
    // Without a parameter there are too many arguments, which is said later.
    let size = parameter.map_or(8, |p| p.size) as usize;
    let (ty, bits) = match size {
        1 => ("a byte", 8),
        2 => ("16 bits", 16),
        4 => ("32 bits", 32),
        8 => ("64 bits", 64),
        _ => {
            return Err(format!(
                "{n} is a number, and a struct of {size} bytes is wanted"
            ));
        }
    };
    if n < -(1i128 << (bits - 1)) || n >= 1i128 << bits {
        return Err(format!("{n} does not fit into {bits} bits"));
    }
    Ok(Arg::Scalar(ty, n.to_le_bytes()[..size].to_vec()))
}
