//! Constant banks of a launch: what the driver puts there, parameters, variables.

use super::code::{Code, driver};
use crate::program::Program;
use warpsim_exec::grid::Grid;
use warpsim_exec::memory::image::GlobalMemory;
use warpsim_ptx::kernel::window;

/// What is in the banks beside a kernel's own constants.
#[derive(Clone, Debug, Default)]
pub struct Banks {
    /// Bank 3: `.const` variables.
    constants: Vec<u8>,
    /// Where bank 3 lies in global memory, for kernels that ask; once one has.
    address: Option<u64>,
}

impl Banks {
    /// Brings in what `.const` variables hold now. `symbol` says where a variable of that name lies in memory.
    pub fn refresh(
        &mut self,
        program: &Program,
        image: &GlobalMemory,
        symbol: impl Fn(&str) -> Option<(u64, u64)>,
    ) -> Result<(), String> {
        self.constants.clone_from(&program.constants);
        for variable in &program.variables {
            let Some((address, size)) = symbol(&variable.name) else {
                continue;
            };
            let from = variable.offset as usize;
            let size = size.min(u64::from(variable.size));
            let to = self.constants.get_mut(from..from + size as usize);
            let (Some(to), Ok(bytes)) = (to, image.slice(address, size)) else {
                return Err(format!(
                    "the variable {} does not fit constant bank 3",
                    variable.name
                ));
            };
            to.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Puts bank 3 into global memory, where kernels that ask for its address read it.
    pub(super) fn publish(&mut self, code: &Code, image: &mut GlobalMemory) -> Result<(), String> {
        if !code.asks_for_constants {
            return Ok(());
        }
        let size = self.constants.len() as u64;
        let address = match self.address {
            Some(address) => address,
            None => {
                let placed = image.alloc(size.max(1), 256, "constant bank 3");
                placed.ok_or("no room for constant bank 3 in global memory")?
            }
        };
        self.address = Some(address);
        image
            .write(address, &self.constants)
            .map_err(|e| e.to_string())?;
        image.protect(address);
        Ok(())
    }

    /// The banks by number, as a launch finds them.
    pub(super) fn of(&self, code: &Code, grid: &Grid) -> [Vec<u8>; 5] {
        let kernel = code.kernel();
        let mut first = vec![0; kernel.parameters as usize];
        let mut put = |at: u32, bytes: &[u8]| {
            if let Some(to) = first.get_mut(at as usize..at as usize + bytes.len()) {
                to.copy_from_slice(bytes);
            }
        };
        for axis in 0..3 {
            put(
                driver::BLOCK + 4 * axis,
                &grid.block[axis as usize].to_le_bytes(),
            );
            put(
                driver::GRID + 4 * axis,
                &grid.grid[axis as usize].to_le_bytes(),
            );
        }
        put(driver::LOCAL, &window::LOCAL.to_le_bytes());
        put(driver::STACK, &stack(code).to_le_bytes());
        put(driver::CONSTANTS, &self.address.unwrap_or(0).to_le_bytes());
        first.extend_from_slice(&grid.params);
        [
            first,
            Vec::new(),
            kernel.constants.clone(),
            self.constants.clone(),
            Vec::new(),
        ]
    }
}

/// Bytes of a thread's stack.
pub(super) fn stack(code: &Code) -> u32 {
    code.kernel().stack.next_multiple_of(16)
}
