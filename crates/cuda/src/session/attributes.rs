//! The device's numbered attributes: of the simulated machine where it has such a thing, else as a GPU of that capability has them.

use super::Session;
use crate::refused::Answer;
use warpsim_doors::wire::status;

impl Session {
    pub(super) fn device_name(&self) -> String {
        format!("warpsim {}", self.device.gpu.machine().name)
    }

    /// One of CUDA's numbered attributes.
    pub(super) fn attribute(&self, attribute: u32) -> Answer<u64> {
        let machine = self.device.gpu.machine();
        let capability = self.settings.capability.number;
        let (sm, gpu, dram) = (&machine.sm, &machine.gpu, &machine.dram);
        let l2 =
            u64::from(machine.l2.sets) * u64::from(machine.l2.ways) * u64::from(machine.l2.line);
        let slices = u64::from(machine.l2.slices_per_channel) * u64::from(dram.channels);
        let shared = u64::from(machine.shared.bytes);
        Ok(match attribute {
            1 => sm.max_threads.min(1024).into(),
            2 | 3 => 1024,
            4 => 64,
            5 => i32::MAX as u64,
            6 | 7 => 65_535,
            8 => shared.min(48 << 10),
            9 => 64 << 10,
            10 => 32,
            11 => i32::MAX as u64,
            12 | 82 => sm.registers.into(),
            13 => u64::from(gpu.core_mhz) * 1000,
            14 | 30 => 512,
            15 => 1,
            16 => gpu.sms.into(),
            19 => 1,
            21 | 77 => 131_072,
            22 | 23 | 55..=57 => 131_072,
            24..=26 | 58..=60 => 16_384,
            27 | 28 | 42 | 45 | 46 | 52 | 53 | 61 | 63 | 64 | 66 | 67 => 32_768,
            29 | 43 | 54 | 62 | 65 | 68 => 2_048,
            31 => 1,
            33 => 1,
            36 => u64::from(gpu.dram_mhz) * 1000,
            // Bits: what a burst moves in the clocks that it takes, on all channels.
            37 => {
                u64::from(dram.channels) * u64::from(dram.burst_bytes) * 8
                    / u64::from(dram.burst_clocks.max(1))
                    / 2
            }
            38 => l2 * slices,
            39 => sm.max_threads.into(),
            40 => 1,
            41 => 1,
            47..=49 => 8_192,
            51 => 32,
            69 => 1 << 28,
            70..=72 => 131_072,
            73 | 74 => 32_768,
            75 => (capability / 10).into(),
            76 => (capability % 10).into(),
            79 | 80 => 1,
            81 | 97 => shared,
            83 => 1,
            87 => 2,
            // Managed memory is the program's and the GPU's, one after the other.
            89 | 90 => 0,
            95 => 1,
            99 => 1,
            106 => sm.max_blocks.into(),
            115 => 1,
            // What there is not: other GPUs, error correction, windows of L2, clusters and the rest.
            other if other <= 160 && other > 0 => 0,
            _ => return Err(status::INVALID_VALUE.into()),
        })
    }
}
