//! Memory: given out and taken back.

use super::{Program, Reply, Session};
use crate::refused::{Answer, Refused};
use std::path::Path;
use warpsim_doors::wire::{Question, status};

/// Bytes that the device says it has.
pub const TOTAL: u64 = 16 << 30;

/// Who may use an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The GPU alone.
    Device,
    /// Both, by the same address.
    Managed,
    /// Both: it is the program's, pinned.
    Pinned,
}

/// An allocation of the program.
#[derive(Clone, Debug)]
pub struct Allocation {
    pub kind: Kind,
    pub bytes: u64,
    /// What the program has mapped: bytes of whole pages.
    pub mapped: Option<u64>,
    /// It is a module's variable, and stays.
    pub of_module: bool,
}

impl Session {
    /// Reserves memory of a kind.
    pub(super) fn allocate(
        &mut self,
        kind: u32,
        bytes: u64,
        stream: u64,
        program: &mut dyn Program,
    ) -> Answer<u64> {
        self.capturing(stream)?;
        let kind = match kind {
            0 => Kind::Device,
            1 => Kind::Managed,
            2 => Kind::Pinned,
            _ => return Err(status::INVALID_VALUE.into()),
        };
        let number = self.memory.len() + 1;
        let label = match kind {
            Kind::Device => format!("cudaMalloc of {bytes} bytes, {number}"),
            Kind::Managed => format!("cudaMallocManaged of {bytes} bytes, {number}"),
            Kind::Pinned => format!("cudaHostAlloc of {bytes} bytes, {number}"),
        };
        let full = || Refused::from(status::OUT_OF_MEMORY);
        if kind == Kind::Device {
            if bytes > self.memory_info()[0] {
                return Err(full());
            }
            let address = self.device.gpu.alloc(bytes, &label).ok_or_else(full)?;
            self.memory.insert(
                address,
                Allocation {
                    kind,
                    bytes,
                    mapped: None,
                    of_module: false,
                },
            );
            return Ok(address);
        }
        let page = page();
        let address = self
            .device
            .gpu
            .alloc_at_multiple(bytes, page, &label)
            .ok_or_else(full)?;
        self.memory.insert(
            address,
            Allocation {
                kind,
                bytes,
                mapped: None,
                of_module: false,
            },
        );
        if let Err(refused) = self.share(address, bytes.next_multiple_of(page), program) {
            let _ = self.release(address, program);
            return Err(refused);
        }
        Ok(address)
    }

    /// Makes the program see an allocation at its address.
    pub(super) fn share(
        &mut self,
        address: u64,
        bytes: u64,
        program: &mut dyn Program,
    ) -> Answer<()> {
        let path = self.folder.join(format!("{address:x}"));
        lend(&mut self.device.gpu, address, bytes, &path)?;
        let name = path.as_os_str().as_encoded_bytes();
        let asked = program.ask(&Question::Map { address, bytes }, name);
        // Both processes have it mapped, or neither keeps it.
        let _ = std::fs::remove_file(&path);
        asked?;
        if let Some(allocation) = self.memory.get_mut(&address) {
            allocation.mapped = Some(bytes);
        }
        Ok(())
    }

    /// Takes memory back that the program hands back.
    pub(super) fn free(
        &mut self,
        address: u64,
        stream: u64,
        program: &mut dyn Program,
    ) -> Answer<Reply> {
        let known = self.memory.get(&address).is_some_and(|a| !a.of_module);
        if !known {
            return Err(status::INVALID_VALUE.into());
        }
        if self.capturing(stream)? {
            // The graph may use it as often as it is launched: it stays.
            self.captured(stream, super::operation::Operation::Empty)?;
            return Ok(Reply::default());
        }
        self.release(address, program)?;
        Ok(Reply::default())
    }

    /// Takes memory back.
    pub(super) fn release(&mut self, address: u64, program: &mut dyn Program) -> Answer<()> {
        let Some(gone) = self.memory.remove(&address) else {
            return Ok(());
        };
        let _ = self.device.gpu.free(address);
        match gone.mapped {
            Some(bytes) => program
                .ask(&Question::Unmap { address, bytes }, &[])
                .map(drop),
            None => Ok(()),
        }
    }

    /// The allocation around an address.
    pub(super) fn around(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (start, found) = self.memory.range(..=address).next_back()?;
        (address - start < found.bytes.max(1)).then_some((*start, found))
    }

    /// Kind, start and bytes, by CUDA's numbers; zeros where it knows nothing.
    pub(super) fn pointer(&self, address: u64) -> [u64; 3] {
        if let Some((start, found)) = self.around(address) {
            let kind = match found.kind {
                Kind::Pinned => 1,
                Kind::Device => 2,
                Kind::Managed => 3,
            };
            return [kind, start, found.bytes];
        }
        let variables = self.modules.values().flat_map(|m| &m.variables);
        let mut ranges =
            variables.filter(|(start, bytes)| (*start..start + bytes).contains(&address));
        ranges
            .next()
            .map_or([0; 3], |(start, bytes)| [2, *start, *bytes])
    }

    /// Free and all bytes.
    pub(super) fn memory_info(&self) -> [u64; 2] {
        let used = self
            .memory
            .values()
            .filter(|a| a.kind == Kind::Device)
            .map(|a| a.bytes)
            .sum();
        [TOTAL.saturating_sub(used), TOTAL]
    }
}

#[cfg(target_os = "linux")]
pub(super) fn page() -> u64 {
    crate::shared::page()
}

#[cfg(target_os = "linux")]
fn lend(gpu: &mut warpsim_sim::gpu::Gpu, address: u64, bytes: u64, path: &Path) -> Answer<()> {
    let cannot = |why: String| {
        Refused::told(
            status::OUT_OF_MEMORY,
            format!("no memory to share with the program: {why}"),
        )
    };
    let mapping = crate::shared::Mapping::create(path, bytes).map_err(|e| cannot(e.to_string()))?;
    gpu.lend(address, Box::new(mapping))
        .map_err(|e| cannot(e.to_string()))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn page() -> u64 {
    4096
}

#[cfg(not(target_os = "linux"))]
fn lend(_gpu: &mut warpsim_sim::gpu::Gpu, _address: u64, _bytes: u64, _path: &Path) -> Answer<()> {
    Err(status::NOT_SUPPORTED.into())
}
