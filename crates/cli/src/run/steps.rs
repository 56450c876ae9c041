//! A wrong result on a machine on which the 32 threads of a warp are not in step: whether the program counts on that,
//! and where.

use super::{Job, execute};
use warpsim_sim::config::{Machine, in_step};
use warpsim_sim::gpu::Options;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::{DeviceError, Outcome};

/// Pairs of lines that are named.
const MOST: usize = 3;

/// What there is to say of a wrong result, if threads that are not in step explain it: executed without timing, with all 32
/// threads of a warp in step, the program is right, and there are accesses that nothing else orders.
pub fn explain(job: &Job, machine: &Machine, lowering: &Lowering) -> Option<String> {
    let (why, instead) = in_step::why_not(machine)?;
    let found = check(job, machine, lowering).ok()??;
    let pairs: String = found
        .iter()
        .take(MOST)
        .map(|pair| format!("\n  {pair}"))
        .collect();
    let more = match found.len().saturating_sub(MOST) {
        0 => String::new(),
        n => format!("\n  and {n} more: --check steps names them"),
    };
    Some(format!(
        "this program counts on the 32 threads of a warp being in step, and they are not: {why}.\n\
         With them in step its result is right, and these accesses race without:{pairs}{more}\n\
         What keeps them in step: {instead}. What makes the program right everywhere: __syncwarp() between the two \
         lines (`bar.warp.sync`)"
    ))
}

/// What is found, if the result is right where threads are in step.
fn check(
    job: &Job,
    machine: &Machine,
    lowering: &Lowering,
) -> Result<Option<Vec<String>>, DeviceError> {
    let options = Options {
        functional: true,
        check_steps: true,
        ..Options::default()
    };
    let mut device = Simulated::new(machine.clone(), options)?;
    let right = matches!(
        execute(&job.that_writes_nothing(), &mut device, lowering)?,
        Outcome::Correct { .. }
    );
    let found = device.gpu.steps();
    Ok((right && !found.is_empty()).then(|| found.to_vec()))
}
