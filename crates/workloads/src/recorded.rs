//! What the reference simulator took for the launches of our workloads, and the same runs here:
//! with the registers that it counted with, so that as many blocks are resident.

use crate::host::device::{Device, DeviceError, ModuleId};
use crate::host::session::Session;
use crate::host::simulated::{Simulated, compile};
use crate::micro::Measured;
use crate::suite::{self, Kernel, Parameters, Size};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use warpsim_ptx::kernel::Program;
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_sim::gpu::api::{Launch, Texture};

/// The reference's results at `tiny`, one launch per line.
const TINY: &str = include_str!("../recorded/tiny.csv");
/// The seed of the workloads' input there.
const SEED: u64 = 1;

/// A workload's run on the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    /// Workload.
    pub workload: String,
    /// Issue policy.
    pub scheduler: String,
    /// The beginning of its PTX's SHA-256 in hexadecimal digits.
    pub ptx_sha256: String,
    /// Its launches in order.
    pub launches: Vec<RecordedLaunch>,
}

/// A launch of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedLaunch {
    /// Kernel.
    pub kernel: String,
    /// Registers per thread that occupancy counted with.
    pub registers: u32,
    /// Blocks that an SM held at most.
    pub resident_blocks: u32,
    /// Cycles.
    pub cycles: u64,
    /// Thread instructions.
    pub thread_instructions: u64,
}

/// All runs in the reference's order.
pub fn runs() -> Vec<RecordedRun> {
    let mut all: Vec<RecordedRun> = Vec::new();
    for (run, number) in TINY.lines().skip(1).filter_map(parse) {
        match all.last_mut() {
            Some(last) if number > 0 => last.launches.extend(run.launches),
            _ => all.push(run),
        }
    }
    all
}

/// A line of the results: a launch, and its number in its run.
fn parse(line: &str) -> Option<(RecordedRun, usize)> {
    let fields: Vec<&str> = line.split(',').collect();
    let text = |i: usize| Some(fields.get(i)?.to_string());
    let number = |i: usize| fields.get(i)?.parse::<u64>().ok();
    let launch = RecordedLaunch {
        kernel: text(3)?,
        registers: number(6)? as u32,
        resident_blocks: number(7)? as u32,
        cycles: number(8)?,
        thread_instructions: number(9)?,
    };
    let run = RecordedRun {
        workload: text(0)?,
        scheduler: text(1)?,
        ptx_sha256: text(15)?,
        launches: vec![launch],
    };
    Some((run, number(2)? as usize))
}

impl RecordedRun {
    /// Whether the kernels have changed since, so that a comparison would say nothing.
    pub fn is_outdated(&self) -> Result<bool, DeviceError> {
        let kernel: Kernel = suite::find(&self.workload)?.info().kernel;
        let digest = Sha256::digest(kernel.ptx.as_bytes());
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(!digits.starts_with(&self.ptx_sha256))
    }

    /// Makes the run here; what each launch took.
    pub fn run(&self, machine: Machine) -> Result<Vec<Measured>, DeviceError> {
        let workload = suite::find(&self.workload)?;
        let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[])?;
        let mut device = AsRecorded {
            simulated: Simulated::new(machine, Options::default())?,
            launches: &self.launches,
        };
        let mut session = Session {
            device: &mut device,
            compiler: &compile,
        };
        workload.run(&parameters, SEED, &mut session)?;
        let reports = device.simulated.gpu.reports();
        if reports.len() != self.launches.len() {
            return Err(DeviceError::bad_input(format!(
                "{} made {} launches, {} on the reference",
                self.workload,
                reports.len(),
                self.launches.len()
            )));
        }
        Ok(reports.iter().map(Measured::of).collect())
    }
}

/// A simulated GPU whose launches have the registers that the reference counted with.
struct AsRecorded<'a> {
    simulated: Simulated,
    launches: &'a [RecordedLaunch],
}

impl AsRecorded<'_> {
    /// The launch that comes next, with its registers; an error where it is another one, or
    /// where fewer or more blocks of it would be resident.
    fn as_recorded(&self, module: ModuleId, launch: &Launch) -> Result<Launch, DeviceError> {
        let number = self.simulated.gpu.reports().len();
        let differs = |what: String| DeviceError::bad_input(format!("launch {number}: {what}"));
        let recorded = self.launches.get(number);
        let recorded = recorded.ok_or_else(|| differs("not made on the reference".into()))?;
        let launch = Launch {
            registers: Some(recorded.registers),
            ..launch.clone()
        };
        let blocks = self.simulated.resident_blocks(module, &launch)?;
        let sms = self.simulated.gpu.machine().gpu.sms;
        let expected = recorded.resident_blocks;
        match blocks {
            Some(blocks) if blocks != expected * sms => Err(differs(format!(
                "{} blocks of {} are resident on an SM, {expected} on the reference",
                blocks / sms,
                recorded.kernel
            ))),
            _ => Ok(launch),
        }
    }
}

impl Device for AsRecorded<'_> {
    fn alloc(&mut self, bytes: u64, label: &str) -> Result<u64, DeviceError> {
        self.simulated.alloc(bytes, label)
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.simulated.write(address, data)
    }

    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.simulated.read(address, bytes)
    }

    fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), DeviceError> {
        self.simulated.fill(address, bytes, value)
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError> {
        self.simulated.copy(from, to, bytes)
    }

    fn load(&mut self, program: Arc<Program>) -> Result<ModuleId, DeviceError> {
        self.simulated.load(program)
    }

    fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)> {
        self.simulated.symbol(module, name)
    }

    fn bind_texture(
        &mut self,
        module: ModuleId,
        name: Option<&str>,
        texture: Texture,
    ) -> Result<u64, DeviceError> {
        self.simulated.bind_texture(module, name, texture)
    }

    fn resident_blocks(
        &self,
        module: ModuleId,
        launch: &Launch,
    ) -> Result<Option<u32>, DeviceError> {
        let launch = self.as_recorded(module, launch)?;
        self.simulated.resident_blocks(module, &launch)
    }

    fn launch(&mut self, module: ModuleId, launch: &Launch) -> Result<(), DeviceError> {
        let launch = self.as_recorded(module, launch)?;
        self.simulated.launch(module, &launch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_of_known_workloads_under_both_schedulers() {
        let all = runs();
        assert_eq!(all.len(), 72);
        assert_eq!(all.iter().map(|r| r.launches.len()).sum::<usize>(), 188);
        for pair in all.chunks(2) {
            assert_eq!(pair[0].workload, pair[1].workload);
            assert_ne!(pair[0].scheduler, pair[1].scheduler);
            assert!(suite::find(&pair[0].workload).is_ok());
        }
    }

    #[test]
    fn other_kernels_make_a_run_outdated() {
        let mut run = runs().remove(0);
        assert_eq!(run.is_outdated(), Ok(false));
        run.ptx_sha256.replace_range(..1, "x");
        assert_eq!(run.is_outdated(), Ok(true));
    }
}
