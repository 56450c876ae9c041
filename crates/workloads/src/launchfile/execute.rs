//! Running a plan and judging its result.

use super::limits::Done;
use super::model::Place;
use super::prepare::{Op, Plan, PlannedOutput};
use crate::files::write_whole;
use crate::host::compare::{Mismatch, Outcome, compare};
use crate::host::device::DeviceError;
use crate::host::session::Session;
use crate::input::npy;
use warpsim_present::mangled::shown;

/// Runs every step, then compares and writes the outputs. Nothing is written when a step
/// fails.
pub(super) fn execute(plan: &Plan, session: &mut Session<'_>) -> Result<Outcome, DeviceError> {
    run(plan, &plan.ops, &mut Done::default(), session)?;
    let mut results = Vec::new();
    let mut files = Vec::new();
    for output in &plan.outputs {
        let got = session.device.read(output.address, output.bytes)?;
        if let Some(result) = judge(output, &got) {
            results.push(result);
        }
        if let Some((path, place)) = &output.write {
            let bytes = match path.extension() {
                Some(e) if e == "npy" => npy::write(output.element, &got).map_err(|e| {
                    let message = format!("cannot write {}: {e}", path.display());
                    plan.source.error(place.clone(), message)
                })?,
                _ => got,
            };
            files.push((path, place, bytes));
        }
    }
    for (path, place, bytes) in files {
        write_whole(path, &bytes).map_err(|e| {
            let message = format!("cannot write {}: {e}", path.display());
            plan.source.error(place.clone(), message)
        })?;
    }
    Ok(Outcome::of(results))
}

fn judge(output: &PlannedOutput, got: &[u8]) -> Option<Result<u64, Mismatch>> {
    let expected = output.expected.as_ref()?;
    Some(compare(
        &output.what,
        output.element,
        expected,
        got,
        &output.tolerance,
    ))
}

fn run(
    plan: &Plan,
    ops: &[Op],
    done: &mut Done,
    session: &mut Session<'_>,
) -> Result<(), DeviceError> {
    if ops.is_empty() {
        // A pass of a repetition that does nothing.
        done.count(&plan.source, 0)?;
    }
    for op in ops {
        if let Some(bytes) = moved(op) {
            done.count(&plan.source, bytes)?;
        }
        match op {
            Op::Launch {
                launch,
                kernel,
                together,
                place,
            } => match together {
                false => session.device.launch(plan.module.id, launch),
                true => session.launch_prepared(&plan.module, kernel, launch),
            }
            .map_err(|e| e.context(format!("{}: {}", line(plan, place), shown(kernel))))?,
            Op::Write { address, data } => session.device.write(*address, data)?,
            Op::Fill {
                address,
                bytes,
                value,
            } => session.device.fill(*address, *bytes, *value)?,
            Op::Copy { from, to, bytes } => session.device.copy(*from, *to, *bytes)?,
            Op::Repeat { times, ops } => {
                for _ in 0..*times {
                    run(plan, ops, done, session)?;
                }
            }
            Op::While {
                address,
                bytes,
                limit,
                ops,
                name,
                place,
            } => {
                let mut passes = 0;
                while session
                    .device
                    .read(*address, *bytes)?
                    .iter()
                    .any(|b| *b != 0)
                {
                    if passes == *limit {
                        return Err(DeviceError::program_failed(format!(
                            "{}: `{name}` is still not zero after {limit} passes",
                            line(plan, place)
                        )));
                    }
                    passes += 1;
                    run(plan, ops, done, session)?;
                }
            }
        }
    }
    Ok(())
}

/// Bytes that a step moves by itself; `None` for those that are made of others.
fn moved(op: &Op) -> Option<u64> {
    match op {
        Op::Fill { bytes, .. } | Op::Copy { bytes, .. } => Some(*bytes),
        Op::Write { data, .. } => Some(data.len() as u64),
        Op::Launch { .. } => Some(0),
        Op::Repeat { .. } | Op::While { .. } => None,
    }
}

/// `file:line` of a place.
fn line(plan: &Plan, place: &Place) -> String {
    let at = plan.source.excerpt(place.clone());
    format!("{}:{}", at.file, at.line)
}
