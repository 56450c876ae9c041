//! A launch file to begin with, from kernels alone: what each takes, with sizes and contents to fill in.

use crate::compile::mangled::{self, CType};
use crate::host::args::find_kernel;
use crate::host::element::{Element, Scalar};
use crate::host_code::{HostCode, Written};
use std::collections::HashMap;
use std::fmt::Write;
use warpsim_present::mangled::{Function, shown};
use warpsim_ptx::isa::{Space, Special, Type};
use warpsim_ptx::kernel::{Kernel, Operand, Param, Program};

/// One parameter of a kernel, as far as it is known.
struct Taken {
    name: String,
    kind: TakenKind,
}

enum TakenKind {
    /// A pointer to elements of this type; `None` where only a guess.
    Buffer(Option<Element>),
    Number(Element),
    Bytes(u32),
}

/// A kernel's name in C++ without namespaces, arguments and parameters.
fn plain_name(kernel: &Kernel) -> String {
    let name = Function::of(&kernel.name).map_or(kernel.name.clone(), |f| f.name);
    name.rsplit("::").next().unwrap_or(&name).to_string()
}

/// A kernel whose threads are numbered in more than one dimension, and whose launch the host code does not
/// say in a way that can be read: any shape that is made up would be wrong.
pub fn unknown_shape<'a>(program: &'a Program, cuda: &str) -> Option<&'a str> {
    let code = HostCode::read(cuda);
    let wide = |special: &Special| {
        matches!(
            special,
            Special::Tid(axis) | Special::Ctaid(axis) if *axis != 0
        )
    };
    let reads = |kernel: &Kernel| {
        let mut operands = kernel.code.iter().flat_map(|i| &i.src);
        operands.any(|o| matches!(o, Operand::Special(s) if wide(s)))
    };
    let mut kernels = program.kernels.iter();
    let written = |kernel: &Kernel| {
        let launch = code.launch(&plain_name(kernel));
        launch.is_some_and(|w| w.arguments.len() == kernel.params.len())
    };
    let found = kernels.find(|k| reads(k) && !written(k));
    found.map(|kernel| kernel.name.as_str())
}

/// Whether there is a `main`, which nothing here runs.
pub fn has_main(cuda: &str) -> bool {
    HostCode::read(cuda).has_main()
}

/// The parameter `n`: as large as what the launches that were read have.
fn largest(read: &[Option<Written>]) -> u64 {
    let threads = read.iter().flatten().map(|written| {
        let all = written.grid.iter().chain(&written.block);
        all.map(|n| u64::from(*n)).fold(1, u64::saturating_mul)
    });
    threads.max().map_or(1024, |most| most.clamp(1024, 1 << 24))
}

/// The text of a launch file for every kernel of a program. `file` is what it names the kernels' file;
/// `cuda` its text, where that is CUDA C, for the parameters' names and the launches, as far as they can be
/// read.
pub fn launch_file(program: &Program, file: &str, cuda: Option<&str>) -> String {
    let code = cuda.map(HostCode::read);
    let read: Vec<Option<Written>> = program
        .kernels
        .iter()
        .map(|kernel| {
            let written = code.as_ref()?.launch(&plain_name(kernel))?;
            (written.arguments.len() == kernel.params.len()).then_some(written)
        })
        .collect();
    let mut out = format!(
        "# A launch file for {file}: change what is given to the kernels, then `warpsim run` it.\n\
         # Numbers may be expressions over the parameters below, as strings.\n\
         schema = 1\nptx = {file:?}\n\n\
         [param]          # `--param n=...` and sweeps change these\n\
         n = {}\nthreads = 128\n",
        largest(&read)
    );
    let kernels: Vec<(&Kernel, String, Vec<Taken>)> = program
        .kernels
        .iter()
        .map(|kernel| {
            let name = plain_name(kernel);
            let taken = parameters(kernel, &name, cuda);
            (&**kernel, name, taken)
        })
        .collect();
    // Kernels that take pointers of one name and type share the buffer.
    let mut buffers: Vec<(String, Option<Element>)> = Vec::new();
    let mut sizes: HashMap<String, u64> = HashMap::new();
    let mut steps = String::new();
    for ((kernel, name, taken), written) in kernels.iter().zip(&read) {
        let mut arguments = Vec::new();
        for (index, parameter) in taken.iter().enumerate() {
            let given = written.as_ref().map(|w| w.arguments[index].as_str());
            let value = given.and_then(|text| code.as_ref()?.number(text));
            arguments.push(match parameter.kind {
                TakenKind::Buffer(element) => {
                    let mut buffer = parameter.name.clone();
                    let taken = |name: &str, element, buffers: &[(String, Option<Element>)]| {
                        buffers.iter().any(|(n, e)| n == name && *e != element)
                    };
                    if taken(&buffer, element, &buffers) {
                        buffer = format!("{name}_{buffer}");
                    }
                    if !buffers.iter().any(|(n, _)| *n == buffer) {
                        buffers.push((buffer.clone(), element));
                    }
                    if let Some(bytes) = given.and_then(|name| code.as_ref()?.allocated(name)) {
                        let each = element.unwrap_or(Element::F32).bytes() as u64;
                        let size = sizes.entry(buffer.clone()).or_default();
                        *size = bytes.div_ceil(each).max(*size);
                    }
                    format!("{buffer:?}")
                }
                TakenKind::Number(element) if fits(element, value) => {
                    format!("{{ {element} = {} }}", literal(element, value))
                }
                TakenKind::Number(element) if element.is_float() => {
                    format!("{{ {element} = 1.0 }}")
                }
                TakenKind::Number(element) if element.bytes() < 4 => format!("{{ {element} = 1 }}"),
                TakenKind::Number(element) => format!("{{ {element} = \"n\" }}"),
                TakenKind::Bytes(bytes) => {
                    format!("{{ bytes = \"{}\" }}", "00".repeat(bytes as usize))
                }
            });
        }
        step(
            &mut steps,
            kernel,
            &unique(program, kernel, name),
            written.as_ref(),
            &arguments,
        );
        for (parameter, argument) in taken.iter().zip(&arguments) {
            if !matches!(parameter.kind, TakenKind::Buffer(_)) {
                let _ = writeln!(steps, "# {}: {argument}", parameter.name);
            }
        }
    }
    for (name, element) in &buffers {
        let _ = writeln!(out, "\n[buffers.{name}]");
        match element {
            Some(e) => {
                let _ = writeln!(out, "type = \"{e}\"");
            }
            None => {
                out += "type = \"f32\"     # a guess: PTX does not say. If it is no pointer: { u64 = 0 } below\n"
            }
        }
        match sizes.get(name) {
            Some(count) => {
                let _ = writeln!(
                    out,
                    "count = {count}   # elements, as the file allocates them"
                );
            }
            None => out += "count = \"n\"      # elements\n",
        }
        out += match element.unwrap_or(Element::F32).is_float() {
            true => {
                "random = [0, 1]  # or fill, sequence, values, file = \"x.npy\"; zero without any\n"
            }
            false => {
                "sequence = { start = 0, step = 1 }  # or fill, random, values, file; zero without any\n"
            }
        };
    }
    for symbol in program
        .symbols
        .iter()
        .filter(|s| s.space == Space::Const && s.init.is_empty())
    {
        let _ = writeln!(
            out,
            "\n# {} bytes of constants that nothing has set:\n# [symbols.{}]\n# type = \"f32\"\n# values = [1, 2, 3]",
            symbol.size, symbol.name
        );
    }
    for texture in &program.textures {
        let _ = writeln!(
            out,
            "\n# [textures.{texture}]\n# buffer = \"NAME\"\n# size = [64, 64]"
        );
    }
    out += &steps;
    if let Some((last, _)) = buffers.last() {
        let _ = writeln!(
            out,
            "\n[[outputs]]\nbuffer = \"{last}\"\nwrite = \"{last}.npy\"\n# compare = \"expected.npy\"  # or expect = [...], with tolerance = {{ relative = 1e-5 }}"
        );
    }
    out
}

/// What a launch calls a kernel: the shortest name that means no other.
fn unique(program: &Program, kernel: &Kernel, name: &str) -> String {
    let written = [name.to_string(), shown(&kernel.name)];
    let this = |name: &&String| {
        find_kernel(program, name).is_ok_and(|at| program.kernels[at].name == kernel.name)
    };
    written.iter().find(this).unwrap_or(&kernel.name).clone()
}

/// Whether a value was read that a number of this type can be.
fn fits(element: Element, value: Option<Scalar>) -> bool {
    value.is_some_and(|value| element.encode(value, &mut Vec::new()).is_some())
}

/// A value as TOML has it.
fn literal(element: Element, value: Option<Scalar>) -> String {
    match value {
        Some(Scalar::Float(x)) => format!("{x:?}"),
        Some(Scalar::Integer(i)) if element.is_float() => format!("{i}.0"),
        Some(Scalar::Integer(i)) => i.to_string(),
        None => "0".to_string(),
    }
}

fn step(
    out: &mut String,
    kernel: &Kernel,
    name: &str,
    written: Option<&Written>,
    arguments: &[String],
) {
    let _ = writeln!(out, "\n[[steps]]\nlaunch = \"{name}\"");
    if name != kernel.name {
        let _ = writeln!(out, "# {}", kernel.name);
    }
    match written {
        Some(written) => {
            let (grid, block) = (written.grid, written.block);
            let _ = writeln!(
                out,
                "grid = {grid:?}  # as the file says\nblock = {block:?}"
            );
        }
        None => out.push_str(
            "grid = \"ceil_div(n, threads)\"  # or a number, or [x, y]\nblock = \"threads\"\n",
        ),
    }
    if let Some(written) = written.filter(|w| w.shared > 0) {
        let _ = writeln!(out, "shared = {}", written.shared);
    } else if kernel.dynamic_shared.is_some() {
        out.push_str("shared = \"threads * 4\"        # bytes of dynamic shared memory\n");
    }
    let _ = writeln!(out, "args = [{}]", arguments.join(", "));
}

fn parameters(kernel: &Kernel, name: &str, cuda: Option<&str>) -> Vec<Taken> {
    let types = mangled::parameters(&kernel.name);
    let types = types.filter(|t| t.len() == kernel.params.len());
    let names = cuda.and_then(|text| written_names(text, name));
    let names = names.filter(|n| n.len() == kernel.params.len());
    let prefix = format!("{}_param_", kernel.name);
    let taken = |(index, param): (usize, &Param)| {
        let ctype = types.as_ref().map(|t| &t[index]);
        let name = match &names {
            Some(names) => names[index].clone(),
            None if param.name.starts_with(&prefix) => format!("p{index}"),
            None => param
                .name
                .replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_"),
        };
        Taken {
            name,
            kind: kind(param, ctype),
        }
    };
    kernel.params.iter().enumerate().map(taken).collect()
}

fn kind(param: &Param, ctype: Option<&CType>) -> TakenKind {
    match ctype {
        // A half is a struct to the compiler.
        Some(CType::Number(element @ (Element::F16 | Element::BF16))) if param.size == 2 => {
            return TakenKind::Number(*element);
        }
        _ if param.array => return TakenKind::Bytes(param.size),
        Some(CType::Number(element)) if element.bytes() == param.size as usize => {
            return TakenKind::Number(*element);
        }
        Some(CType::Pointer(to)) => {
            return TakenKind::Buffer(match **to {
                CType::Number(element) => Some(element),
                _ => None,
            });
        }
        _ => {}
    }
    match (param.ty, param.size) {
        (Type::F32, _) => TakenKind::Number(Element::F32),
        (Type::F64, _) => TakenKind::Number(Element::F64),
        (Type::S32, _) => TakenKind::Number(Element::I32),
        (Type::S64, _) => TakenKind::Number(Element::I64),
        (_, 8) => TakenKind::Buffer(None),
        (_, 4) => TakenKind::Number(Element::U32),
        (_, 2) => TakenKind::Number(Element::U16),
        (_, 1) => TakenKind::Number(Element::U8),
        (_, bytes) => TakenKind::Bytes(bytes),
    }
}

/// The names of a kernel's parameters in CUDA C, where its definition is plain enough to read.
fn written_names(text: &str, kernel: &str) -> Option<Vec<String>> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, _) in text.match_indices(kernel) {
        let before = text[..at].chars().next_back();
        let list = text[at + kernel.len()..].trim_start().strip_prefix('(');
        let Some(list) = list.filter(|_| !before.is_some_and(word)) else {
            continue;
        };
        // A definition or declaration stands after `__global__`, a call does not.
        let statement = text[..at].rfind([';', '}']).map_or(0, |i| i + 1);
        if !text[statement..at].contains("__global__") {
            continue;
        }
        let list = &list[..list.find(')')?];
        if list.trim().is_empty() {
            return Some(Vec::new());
        }
        let last_word = |part: &str| {
            let part = part.split('=').next().unwrap_or(part);
            let part = part.split('[').next().unwrap_or(part).trim_end();
            let start = part.rfind(|c| !word(c)).map_or(0, |i| i + 1);
            let name = &part[start..];
            let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            named.then(|| name.to_string())
        };
        return list.split(',').map(last_word).collect();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::simulated::compile;
    use crate::launchfile;
    use warpsim_present::Source;

    const PTX: &str = "
.version 6.3
.target sm_70
.address_size 64
.const .align 4 .b8 taps[12];
.visible .entry _Z5saxpyfPKfPfj(
.param .f32 _Z5saxpyfPKfPfj_param_0,
.param .u64 _Z5saxpyfPKfPfj_param_1,
.param .u64 _Z5saxpyfPKfPfj_param_2,
.param .u32 _Z5saxpyfPKfPfj_param_3
) { ret; }
.visible .entry plain(.param .u64 data, .param .align 4 .b8 s[6]) { ret; }
";

    #[test]
    fn the_text_is_a_launch_file() {
        let program = compile("k.ptx", PTX).expect("PTX");
        let cuda = "// saxpy(\n__global__ void saxpy(float a, const float *x,\n float *__restrict__ y, unsigned n) {}";
        let text = launch_file(&program, "k.cu", Some(cuda));
        let file = launchfile::parse(&Source::new("k.toml", &text)).expect("a launch file");
        let names: Vec<&str> = file.buffers.iter().map(|b| b.name.value.as_str()).collect();
        assert_eq!(names, ["x", "y", "data"]);
        assert!(
            text.contains("args = [{ f32 = 1.0 }, \"x\", \"y\", { u32 = \"n\" }]"),
            "{text}"
        );
        assert!(
            text.contains("args = [\"data\", { bytes = \"000000000000\" }]"),
            "{text}"
        );
        assert!(text.contains("# [symbols.taps]"), "{text}");
        // What the file says of its launches counts.
        let host = format!(
            "{cuda}\nconst int N = 500;\nint main() {{ cudaMalloc(&x, N * sizeof(float));\n\
            saxpy<<<4, dim3(64, 2)>>>(2.5f, x, y, N); }}"
        );
        let read = launch_file(&program, "k.cu", Some(&host));
        for part in [
            "grid = [4, 1, 1]",
            "block = [64, 2, 1]",
            "args = [{ f32 = 2.5 }, \"x\", \"y\", { u32 = 500 }]",
            "count = 500 ",
        ] {
            assert!(read.contains(part), "{part}: {read}");
        }
        launchfile::parse(&Source::new("k.toml", &read)).expect("a launch file");
        let without = launch_file(&program, "k.ptx", None);
        assert!(
            without.contains("args = [{ f32 = 1.0 }, \"p1\", \"p2\""),
            "{without}"
        );
    }
}
