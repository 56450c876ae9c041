//! Atomics: L2 performs them, in the order in which they come there.

use super::{Flight, LoadStore};
use crate::exec::access::atomic;
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::memory::image::GlobalMemory;
use crate::exec::state::LANES;
use crate::sm::launch::SmFault;
use crate::sm::memory::untoken;
use warpsim_ptx::isa::Space;

impl LoadStore {
    /// Performs an atomic, given by its token, that has reached L2.
    pub fn perform_atomic(&mut self, token: u32, image: &mut GlobalMemory) -> Result<(), SmFault> {
        let Flight { op, lanes } = *self.flights.get(untoken(token).1);
        let record = self.ops.get_mut(op);
        let pc = record.pc;
        let Some(data) = record.atomic.as_deref_mut() else {
            return Ok(());
        };
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 != 0) {
            let operands = [data.operands[0][lane], data.operands[1][lane]];
            let old = atomic::apply(image, data.address[lane], &data.what, operands);
            data.old[lane] = old.map_err(|cause| {
                let kind = FaultKind::Memory {
                    space: Space::Global,
                    address: data.address[lane],
                    bytes: data.what.ty.bytes(),
                    store: true,
                    cause,
                };
                SmFault::new(Fault::new(kind, lane, data.lanes.home(lane)), pc)
            })?;
        }
        Ok(())
    }
}
