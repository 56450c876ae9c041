//! From what a launch asks for to what SMs run: how many blocks fit, the grid as the hardware sees it,
//! the kernel decoded.

use super::api::Launch;
use super::refuse::check_externals;
use super::{Decoded, Gpu, Module, SimError};
use crate::config;
use crate::exec::code::Code;
use crate::exec::grid::{Grid, VirtualBlocks};
use crate::exec::iterations::NextTid;
use crate::exec::memory::image::host_has;
use crate::occupancy::{Occupancy, occupancy, registers};
use crate::sm::Launched;
use crate::sm::facts::op_facts;
use std::sync::Arc;
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::{Kernel, Virtualised};

/// Local memory of a thread for which the host's memory is not looked at.
const SMALL_LOCAL: u32 = 4 << 10;

/// Parameters, blocks in x, y and z, and what virtual blocks run for.
type Shape = (Vec<u8>, [u32; 3], Option<VirtualBlocks>);

/// Where kernel parameters lie for the constant cache: where six channels begin anew, as at address
/// 0, and in the bank in which instruction memory begins.
const PARAM_BASE: u64 = 0xc000_0000;

impl Gpu {
    /// Registers per thread that occupancy counts with: what the launch says, else what the PTX
    /// needs and asks for.
    fn registers(&self, kernel: &Kernel, launch: &Launch) -> u32 {
        let threads = launch.block.iter().product();
        let limited = || registers(&self.machine, kernel, threads);
        launch.registers.unwrap_or_else(limited)
    }

    /// Blocks of a launch that the machine holds at once: all that kernels whose blocks wait for
    /// each other may have.
    pub fn resident_blocks(&self, module: usize, launch: &Launch) -> Result<u32, SimError> {
        let (launched, occupancy, _) = self.prepare(module, launch)?;
        let places = occupancy.blocks.saturating_mul(self.machine.gpu.sms);
        Ok(match &launched.kernel.virtualised {
            Virtualised::Form(_) => self.virtual_places(places),
            _ => places,
        })
    }

    /// Virtual blocks that are launched at most where the GPU has room for so many blocks.
    fn virtual_places(&self, places: u32) -> u32 {
        match self.machine.virtual_blocks.blocks {
            0 => places,
            most => places.min(most),
        }
    }

    /// The grid as the hardware sees it: as it was asked for, or virtual blocks for it.
    fn shape(&self, kernel: &Kernel, launch: &Launch, places: u32) -> Result<Shape, SimError> {
        let bad =
            |text: String| SimError::BadLaunch(format!("kernel {}: {text}", shown(&kernel.name)));
        let form = match &kernel.virtualised {
            Virtualised::No => return Ok((launch.params.clone(), launch.grid, None)),
            Virtualised::Refused(why) => {
                return Err(bad(format!(
                    "it cannot have virtual blocks: it {why}; --virtualize off runs it"
                )));
            }
            Virtualised::Form(form) => form,
        };
        if let Some(misfit) = form.misfit(launch.grid, launch.block) {
            return Err(bad(format!("it cannot have virtual blocks for {misfit}")));
        }
        let logical: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let blocks = u64::from(self.virtual_places(places)).min(logical) as u32;
        let params = form.parameters(&launch.params, launch.grid);
        let handed_out = form.hardware.then_some(VirtualBlocks {
            logical,
            next_tid: match self.machine.virtual_blocks.next_tid {
                config::NextTid::SameLane => NextTid::SameLane,
                config::NextTid::SlowestLane => NextTid::SlowestLane,
                config::NextTid::LowToHigh => NextTid::LowToHigh,
            },
        });
        Ok((params, [blocks, 1, 1], handed_out))
    }

    /// Checks a launch and gets everything ready for it.
    pub(super) fn prepare(
        &self,
        module: usize,
        launch: &Launch,
    ) -> Result<(Launched, Occupancy, u32), SimError> {
        let number = module;
        let module = &self.modules[number];
        if launch.kernel >= module.kernels.len() {
            let text = "the module has no such kernel";
            return Err(SimError::BadLaunch(text.into()));
        }
        let kernel = module.kernel(&self.machine, launch.kernel);
        self.check(kernel, launch)?;
        self.check_textures(module, kernel)?;
        check_externals(module, kernel)?;
        let bad =
            |text: String| SimError::BadLaunch(format!("kernel {}: {text}", shown(&kernel.name)));
        let total_shared =
            kernel.dynamic_shared.unwrap_or(kernel.shared_bytes) + launch.dynamic_shared;
        let registers = self.registers(kernel, launch);
        let threads = launch.block.iter().product::<u32>();
        let occupancy = occupancy(&self.machine, registers, total_shared, threads);
        if occupancy.blocks == 0 {
            return Err(bad(format!(
                "a block of {threads} threads with {registers} registers each and {total_shared} bytes of \
                 shared memory does not fit an SM of {}: limited by {}",
                self.machine.name, occupancy.limited_by
            )));
        }
        let places = occupancy.blocks.saturating_mul(self.machine.gpu.sms);
        // Small frames are not worth asking for.
        let resident = u64::from(places) * u64::from(threads.next_multiple_of(32));
        let local = u64::from(kernel.local_bytes) * resident;
        if kernel.local_bytes > SMALL_LOCAL && !host_has(local as usize) {
            return Err(bad(format!(
                "{} bytes of local memory for each of {resident} threads are {local} bytes, which the \
                 host does not have",
                kernel.local_bytes
            )));
        }
        let (params, blocks, virtual_blocks) = self.shape(kernel, launch, places)?;
        let decoded = self.decoded(module, launch.kernel)?;
        let grid = Grid {
            grid: blocks,
            block: launch.block,
            params,
            virtual_blocks,
            dynamic_shared: launch.dynamic_shared,
            total_shared,
            workspace: self.workspace,
            id: self.launches,
            sms: self.machine.gpu.sms,
            warps_per_sm: self.machine.sm.max_threads / 32,
            texrefs: module.texrefs.clone(),
            texture_objects: self.texture_objects.clone(),
        };
        // Parameters of every launch have a place of their own, unless the reference's
        // artifact (always constant address 0) is asked for.
        let own = if self.machine.fetch.kernels_back_to_back {
            0
        } else {
            self.launches % 4096
        };
        let launched = Launched {
            facts: decoded.facts.clone(),
            kernel: decoded.kernel.clone(),
            code: decoded.code.clone(),
            code_base: self.code_base(number, launch.kernel),
            param_base: PARAM_BASE + own * 4096,
            blocks_per_sm: occupancy.blocks,
            grid,
        };
        Ok((launched, occupancy, registers))
    }

    /// A kernel decoded for execution and timing. Host programs launch the same kernels over and
    /// over, often for a handful of warps: they are decoded with their first launch only.
    fn decoded<'a>(&self, module: &'a Module, number: usize) -> Result<&'a Decoded, SimError> {
        let place = &module.kernels[number].decoded;
        if let Some(decoded) = place.get() {
            return Ok(decoded);
        }
        let kernel = module.kernel(&self.machine, number);
        let code = Code::new(kernel, &module.symbols);
        let code = code.map_err(|e| SimError::BadLaunch(e.to_string()))?;
        Ok(place.get_or_init(|| Decoded {
            kernel: Arc::new(kernel.clone()),
            code: Arc::new(code),
            facts: op_facts(kernel, &self.machine).into(),
        }))
    }
}
