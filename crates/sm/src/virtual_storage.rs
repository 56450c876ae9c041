//! The storage that virtual thread blocks add to an SM (virtual thread blocks and warps §4.5).

use crate::config::{Machine, NextTid};

/// Bytes for each SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// To hand out blocks: the logical block of each virtual one, how many of its warps have not
    /// got the next, and the number of the last one handed out.
    pub blocks: u32,
    /// To hand out thread indices.
    pub threads: u32,
    /// For the scheduler: warps of each block in the next iteration, progress of warps and blocks,
    /// iterations of warps, the lowest of each block.
    pub scheduler: u32,
}

impl Storage {
    /// Of a machine's SM.
    pub fn of(machine: &Machine) -> Storage {
        let blocks = machine.sm.max_blocks;
        let warps = machine.sm.max_threads / 32;
        Storage {
            blocks: blocks * 4 + blocks + 4,
            threads: match machine.virtual_blocks.next_tid {
                NextTid::SameLane => 0,
                NextTid::LowToHigh => 1,
                NextTid::SlowestLane => warps,
            },
            scheduler: blocks + 4 * (warps + blocks + warps + blocks),
        }
    }

    /// All together.
    pub fn total(&self) -> u32 {
        self.blocks + self.threads + self.scheduler
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReadMachine;

    #[test]
    fn the_papers_numbers() {
        let of = |scheme: &str| {
            let set = [format!("virtual.next_tid={scheme}")];
            Storage::of(&Machine::resolve("gtx480", &set).expect("a preset"))
        };
        let same = of("same-lane");
        assert_eq!((same.blocks, same.scheduler, same.total()), (44, 456, 500));
        assert_eq!(of("slowest-lane").total(), 548);
        assert_eq!(of("low-to-high").total(), 501);
    }
}
