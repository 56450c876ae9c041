//! Kernels as the API sees them: attributes, and how many blocks an SM holds.

use super::{Reply, Session};
use crate::refused::Answer;
use warpsim_doors::wire::status;
use warpsim_ptx::isa::Space;
use warpsim_sim::occupancy;

/// A kernel of a module.
pub struct Function {
    pub module: u64,
    /// Its place in the module's program.
    pub kernel: usize,
    pub name: String,
    /// What it may ask for beside what it declares: `cudaFuncAttributeMaxDynamicSharedMemorySize`.
    pub most_dynamic: Option<u64>,
    carveout: i32,
}

impl Function {
    pub fn new(module: u64, kernel: usize, name: &str) -> Function {
        Function {
            module,
            kernel,
            name: name.to_string(),
            most_dynamic: None,
            carveout: -1,
        }
    }
}

/// Shared memory that a launch may ask for without saying so first, as CUDA has it.
const WITHOUT_ASKING: u64 = 48 << 10;
const MAX_DYNAMIC: u32 = 8;
const CARVEOUT: u32 = 9;

impl Session {
    pub(super) fn known(&self, function: u64) -> Answer<&Function> {
        self.functions
            .get(&function)
            .ok_or(status::INVALID_FUNCTION.into())
    }

    /// Bytes of shared memory that a block of a kernel may have on demand.
    pub(super) fn dynamic_limit(&self, function: u64) -> Answer<u64> {
        let found = self.known(function)?;
        let of_block = u64::from(self.device.gpu.machine().shared.bytes);
        let declared =
            u64::from(self.module(found.module)?.program.kernels[found.kernel].shared_bytes);
        let usual = of_block.min(WITHOUT_ASKING).saturating_sub(declared);
        Ok(found.most_dynamic.unwrap_or(usual))
    }

    /// Threads of a block, shared, constant and local memory, registers, versions, cache mode, shared memory on demand, carve-out.
    pub(super) fn function_attributes(&self, function: u64) -> Answer<Reply> {
        let found = self.known(function)?;
        let module = self.module(found.module)?;
        let kernel = &module.program.kernels[found.kernel];
        let machine = self.device.gpu.machine();
        let registers = occupancy::registers(machine, kernel, 1).max(1);
        let of_registers = machine.sm.registers / registers / 32 * 32;
        let threads = kernel
            .bounds
            .threads()
            .unwrap_or(1024)
            .min(of_registers)
            .min(machine.sm.max_threads)
            .min(1024);
        let constants = module
            .program
            .symbols
            .iter()
            .filter(|s| s.space == Space::Const);
        Ok(Reply::words(vec![
            threads.into(),
            kernel.shared_bytes.into(),
            constants.map(|s| s.size).sum(),
            kernel.local_bytes.into(),
            registers.into(),
            module.capability.into(),
            self.settings.capability.number.into(),
            0,
            self.dynamic_limit(function)?,
            u64::from(found.carveout as u32),
        ]))
    }

    pub(super) fn set_function_attribute(
        &mut self,
        function: u64,
        attribute: u32,
        value: i32,
    ) -> Answer<Reply> {
        let found = self.known(function)?;
        let of_block = u64::from(self.device.gpu.machine().shared.bytes);
        let declared =
            u64::from(self.module(found.module)?.program.kernels[found.kernel].shared_bytes);
        let found = self
            .functions
            .get_mut(&function)
            .ok_or(status::INVALID_FUNCTION)?;
        match (attribute, u64::try_from(value)) {
            (MAX_DYNAMIC, Ok(bytes)) if bytes + declared <= of_block => {
                found.most_dynamic = Some(bytes)
            }
            (CARVEOUT, _) if (-1..=100).contains(&value) => found.carveout = value,
            _ => return Err(status::INVALID_VALUE.into()),
        }
        Ok(Reply::default())
    }

    pub(super) fn function_name(&self, function: u64) -> Answer<Reply> {
        let found = self.known(function)?;
        Ok(Reply {
            words: vec![found.module],
            bytes: found.name.clone().into_bytes(),
        })
    }

    /// Blocks that an SM holds.
    pub(super) fn occupancy(&self, function: u64, threads: u32, shared: u64) -> Answer<u64> {
        let found = self.known(function)?;
        let kernel = &self.module(found.module)?.program.kernels[found.kernel];
        let machine = self.device.gpu.machine();
        if threads == 0 {
            return Err(status::INVALID_VALUE.into());
        }
        let shared = u64::from(kernel.shared_bytes) + shared;
        if threads > machine.sm.max_threads.min(1024) || shared > u64::from(machine.shared.bytes) {
            return Ok(0);
        }
        let registers = occupancy::registers(machine, kernel, threads);
        Ok(
            occupancy::occupancy(machine, registers, shared as u32, threads)
                .blocks
                .into(),
        )
    }
}
