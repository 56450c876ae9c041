//! Steps with names turned into addresses.

use super::model::*;
use super::prepare::{Names, Op};
use super::prepare_data::load_file;
use crate::host::args::{self, Arg};
use crate::host::session::{Module, Session};
use std::collections::HashMap;
use warpsim_present::memory::try_reserve;
use warpsim_present::{Source, SourceError, nearest};
use warpsim_sim::gpu::api::Launch;

/// Resolves steps in order.
pub(super) fn steps(
    names: &Names<'_>,
    steps: &[Step],
    session: &Session<'_>,
) -> Result<Vec<Op>, SourceError> {
    steps.iter().map(|s| step(names, s, session)).collect()
}

fn step(names: &Names<'_>, step: &Step, session: &Session<'_>) -> Result<Op, SourceError> {
    match &step.kind {
        StepKind::Launch(spec) => launch(names, spec),
        StepKind::Fill { slice, value } => fill(names, slice, value),
        StepKind::Copy { from, to } => copy(names, from, to),
        StepKind::Write { to, offset, file } => write(names, to, *offset, file, session),
        StepKind::Repeat { times, steps: s } => Ok(Op::Repeat {
            times: *times,
            ops: steps(names, s, session)?,
        }),
        StepKind::While {
            word,
            limit,
            steps: s,
        } => {
            let part = names.slice(word)?;
            Ok(Op::While {
                address: part.address,
                bytes: part.element.bytes() as u64,
                limit: *limit,
                ops: steps(names, s, session)?,
                name: word.buffer.value.clone(),
                place: word.buffer.place.clone(),
            })
        }
    }
}

fn fill(
    names: &Names<'_>,
    slice: &Slice,
    value: &At<crate::host::element::Scalar>,
) -> Result<Op, SourceError> {
    let part = names.slice(slice)?;
    let mut one = Vec::new();
    if part.element.encode(value.value, &mut one).is_none() {
        let message = format!("{} does not fit in {}", value.value, part.element);
        return Err(names.file.source.error(value.place.clone(), message));
    }
    let same = one.iter().all(|b| *b == one[0]);
    Ok(if same {
        Op::Fill {
            address: part.address,
            bytes: part.count * part.element.bytes() as u64,
            value: one[0],
        }
    } else {
        let bytes = part.count as usize * one.len();
        let mut data = Vec::new();
        if !try_reserve(&mut data, bytes) {
            let message = format!("the host has no {bytes} bytes left to fill memory from");
            return Err(names.file.source.error(value.place.clone(), message));
        }
        for _ in 0..part.count {
            data.extend_from_slice(&one);
        }
        Op::Write {
            address: part.address,
            data,
        }
    })
}

fn copy(names: &Names<'_>, from: &Slice, to: &Slice) -> Result<Op, SourceError> {
    let source = names.slice(from)?;
    let bytes = source.count * source.element.bytes() as u64;
    let target = names.slice(to)?;
    let room = target.count * target.element.bytes() as u64;
    if bytes > room {
        let message = format!(
            "{bytes} bytes do not fit in `{}`, which has {room} there",
            to.buffer.value
        );
        return Err(names.file.source.error(to.buffer.place.clone(), message));
    }
    Ok(Op::Copy {
        from: source.address,
        to: target.address,
        bytes,
    })
}

fn write(
    names: &Names<'_>,
    to: &At<String>,
    offset: Offset,
    file: &At<String>,
    session: &Session<'_>,
) -> Result<Op, SourceError> {
    let source = &names.file.source;
    let (_, data) = load_file(source, &file.value, &file.place, names.directory)?;
    let (address, room) = match names.buffers.get(to.value.as_str()) {
        Some(buffer) => {
            let bytes = buffer.element.bytes() as u64;
            let (skipped, size) = (offset.in_bytes(bytes), buffer.count * bytes);
            (buffer.address + skipped, size.saturating_sub(skipped))
        }
        None => match session.device.symbol(names.module.id, &to.value) {
            Some((address, size)) => {
                let skipped = offset.in_bytes(1);
                (address + skipped, size.saturating_sub(skipped))
            }
            None => {
                let message = format!("there is no buffer or variable `{}`", to.value);
                let known = names.buffers.keys().copied();
                let known = known.chain(names.module.program.symbols.iter().map(|s| &*s.name));
                let help = nearest(&to.value, known).map(|n| format!("did you mean `{n}`?"));
                let error = source.error(to.place.clone(), message);
                return Err(error.with_optional_help(help));
            }
        },
    };
    if data.len() as u64 > room {
        let message = format!(
            "{} bytes do not fit in `{}`, which has {room} there",
            data.len(),
            to.value
        );
        return Err(source.error(to.place.clone(), message));
    }
    Ok(Op::Write { address, data })
}

/// An error whose first line says what is wrong and whose others help.
pub(super) fn refuse(source: &Source, place: &Place, message: &str) -> SourceError {
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    let help = Some(rest.to_string()).filter(|r| !r.is_empty());
    source.error(place.clone(), first).with_optional_help(help)
}

/// What the file says of each kernel's registers.
pub(super) fn registers(
    file: &LaunchFile,
    module: &Module,
) -> Result<HashMap<usize, u32>, SourceError> {
    let mut known = HashMap::new();
    for spec in &file.kernels {
        let index = args::find_kernel(&module.program, &spec.name.value)
            .map_err(|e| refuse(&file.source, &spec.name.place, &e))?;
        if let Some(registers) = spec.registers {
            known.insert(index, registers);
        }
    }
    Ok(known)
}

fn launch(names: &Names<'_>, spec: &LaunchStep) -> Result<Op, SourceError> {
    let source = &names.file.source;
    let at_kernel = |message: &str| refuse(source, &spec.kernel.place, message);
    let program = &names.module.program;
    let index = args::find_kernel(program, &spec.kernel.value).map_err(|e| at_kernel(&e))?;
    let kernel = &program.kernels[index];
    let arguments = spec
        .args
        .value
        .iter()
        .map(|a| argument(names, a))
        .collect::<Result<Vec<_>, _>>()?;
    let params = args::pack(kernel, &arguments).map_err(|e| {
        let place = match e.index {
            Some(i) => &spec.args.value[i].place,
            None => &spec.args.place,
        };
        let (first, rest) = e.message.split_once('\n').unwrap_or((&e.message, ""));
        source.error(place.clone(), first).with_help(rest)
    })?;
    let threads: u64 = spec.block.iter().map(|d| u64::from(*d)).product();
    if threads > 1024 {
        return Err(at_kernel(&format!(
            "{threads} threads per block: 1024 is the most"
        )));
    }
    Ok(Op::Launch {
        launch: Launch {
            kernel: index,
            grid: spec.grid,
            block: spec.block,
            dynamic_shared: spec.shared,
            params,
            registers: spec.registers.or(names.registers.get(&index).copied()),
        },
        kernel: kernel.name.clone(),
        together: spec.together,
        place: spec.kernel.place.clone(),
    })
}

fn argument(names: &Names<'_>, arg: &At<ArgSpec>) -> Result<Arg, SourceError> {
    let source = &names.file.source;
    Ok(match &arg.value {
        ArgSpec::Buffer { name, offset } => {
            let part = names.slice(&Slice {
                buffer: At {
                    value: name.clone(),
                    place: arg.place.clone(),
                },
                offset: *offset,
                count: None,
            })?;
            Arg::Pointer(part.address)
        }
        ArgSpec::Scalar(element, value) => {
            let mut bytes = Vec::new();
            if element.encode(*value, &mut bytes).is_none() {
                let message = format!("{value} does not fit in {element}");
                return Err(source.error(arg.place.clone(), message));
            }
            Arg::Scalar(element.name(), bytes)
        }
        ArgSpec::Bytes(bytes) => Arg::Bytes(bytes.clone()),
        ArgSpec::Texture(name) => Arg::Pointer(names.texture(name, &arg.place)?),
    })
}
