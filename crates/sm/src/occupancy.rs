//! How many blocks an SM holds, and what stops it from holding more.

use crate::config::Machine;
use std::fmt;
use warpsim_ptx::analysis::registers::spill;
use warpsim_ptx::kernel::Kernel;

/// What runs out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Limit {
    Blocks,
    Threads,
    Registers,
    SharedMemory,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Blocks => "blocks per SM",
            Limit::Threads => "threads per SM",
            Limit::Registers => "registers",
            Limit::SharedMemory => "shared memory",
        })
    }
}

/// How a kernel fits on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks an SM holds; 0 when not even one fits.
    pub blocks: u32,
    /// Warps (of 32 threads) an SM holds with them.
    pub warps: u32,
    /// Warps an SM could hold.
    pub max_warps: u32,
    /// What stops one more block. On a tie the first of blocks, threads, registers, shared
    /// memory.
    pub limited_by: Limit,
    /// Blocks that the block slots allow.
    pub by_blocks: u32,
    /// Blocks that the thread slots allow.
    pub by_threads: u32,
    /// Blocks that the register file allows; `u32::MAX` for a kernel without registers.
    pub by_registers: u32,
    /// Blocks that shared memory allows; `u32::MAX` for a kernel that uses none.
    pub by_shared: u32,
    /// Registers a thread takes after rounding.
    pub registers_per_thread: u32,
}

/// Registers per thread that occupancy counts with: what an assembler is expected to use (or was
/// asked for), within [`register_limit`].
pub fn registers(machine: &Machine, kernel: &Kernel, threads_per_block: u32) -> u32 {
    let limit = register_limit(machine, kernel, threads_per_block);
    kernel.register_demand.max(1).min(limit)
}

/// Registers per thread that a kernel may have on this machine: what a thread can name there, what
/// the PTX allows (`.maxnreg`), and what it promises (`.minnctapersm`: so few that so many blocks
/// fit). The blocks are those of `.reqntid` or `.maxntid`, otherwise of `threads_per_block`.
pub fn register_limit(machine: &Machine, kernel: &Kernel, threads_per_block: u32) -> u32 {
    let limit = kernel.bounds.max_nreg.unwrap_or(u32::MAX);
    let limit = limit.min(machine.sm.registers_per_thread).max(1);
    let Some(blocks) = kernel.bounds.min_ctas else {
        return limit;
    };
    let threads = kernel.bounds.threads().unwrap_or(threads_per_block);
    let threads = u64::from(threads.max(1).div_ceil(32)) * 32;
    let granularity = machine.sm.register_granularity.max(1);
    let threads = threads * u64::from(blocks.max(1));
    let share = u64::from(machine.sm.registers) / threads;
    let share = u32::try_from(share).unwrap_or(u32::MAX);
    limit.min((share / granularity * granularity).max(granularity))
}

/// Registers per thread beyond which values of a kernel go to local memory on this machine.
pub fn spill_limit(machine: &Machine, kernel: &Kernel) -> u32 {
    if !machine.sm.spills {
        return u32::MAX;
    }
    // Without bounds on its blocks, nothing of a launch is known when a kernel is assembled.
    register_limit(machine, kernel, 1)
}

/// Registers per thread within which the rewrite to virtual blocks hoists; 0, where it is not to.
pub fn hoist_limit(machine: &Machine, kernel: &Kernel) -> u32 {
    match machine.virtual_blocks.hoist {
        true => spill_limit(machine, kernel),
        false => 0,
    }
}

/// The kernel as an assembler would make it for this machine: what it may not keep in registers
/// goes to local memory. `None` when all of it may stay.
pub fn fitted(machine: &Machine, kernel: &Kernel) -> Option<Kernel> {
    spill::fit(kernel, spill_limit(machine, kernel))
}

/// The occupancy of blocks of `threads_per_block` threads, each thread with
/// `kernel_registers` registers and each block with `shared_bytes` of shared memory (static
/// and dynamic). A block takes whole warps of threads and of registers.
pub fn occupancy(
    machine: &Machine,
    kernel_registers: u32,
    shared_bytes: u32,
    threads_per_block: u32,
) -> Occupancy {
    let sm = &machine.sm;
    let warps = threads_per_block.div_ceil(32).max(1);
    let granularity = sm.register_granularity.max(1);
    let registers = kernel_registers
        .div_ceil(granularity)
        .saturating_mul(granularity);
    let registers_a_block = u64::from(warps) * 32 * u64::from(registers);
    let room = |have: u32, need: u64| match need {
        0 => u32::MAX,
        need => u32::try_from(u64::from(have) / need).unwrap_or(u32::MAX),
    };
    let by_threads = room(sm.max_threads, u64::from(warps) * 32);
    let by_registers = room(sm.registers, registers_a_block);
    let by_shared = room(machine.shared.bytes, u64::from(shared_bytes));
    let limits = [
        (sm.max_blocks, Limit::Blocks),
        (by_threads, Limit::Threads),
        (by_registers, Limit::Registers),
        (by_shared, Limit::SharedMemory),
    ];
    let (blocks, limited_by) = limits
        .into_iter()
        .min_by_key(|(blocks, _)| *blocks)
        .unwrap_or((0, Limit::Blocks));
    Occupancy {
        blocks,
        warps: blocks * warps,
        max_warps: sm.max_threads / 32,
        limited_by,
        by_blocks: sm.max_blocks,
        by_threads,
        by_registers,
        by_shared,
        registers_per_thread: registers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReadMachine;

    fn gtx480() -> Machine {
        Machine::preset("gtx480").unwrap()
    }

    /// Table 7 of the paper on virtual thread blocks: with the registers it gives, before and after
    /// its rewrite, its numbers of resident blocks follow.
    #[test]
    fn registers_decide_residency_as_in_the_papers_table() {
        let machine = gtx480();
        let rows: [(&str, u32, [u32; 2], [u32; 2]); 10] = [
            ("mergeSortPass", 208, [28, 30], [75, 60]),
            ("findRangeK", 256, [19, 22], [90, 75]),
            ("cu_time_step", 192, [18, 22], [120, 105]),
            ("srad2", 512, [18, 22], [45, 30]),
            ("cu_comp_step_fact", 192, [19, 23], [120, 105]),
            ("srad_cu_1", 256, [19, 23], [90, 75]),
            ("kmeansPoint", 256, [17, 22], [90, 75]),
            ("ComputeQ_GPU", 256, [21, 20], [75, 90]),
            ("bpnn_adjust_wts_cu", 256, [18, 24], [90, 75]),
            ("srad_cu_2", 256, [17, 22], [90, 75]),
        ];
        for (kernel, threads, registers, resident) in rows {
            let blocks =
                registers.map(|r| occupancy(&machine, r, 0, threads).blocks * machine.gpu.sms);
            assert_eq!(blocks, resident, "{kernel}");
        }
    }

    #[test]
    fn small_blocks_are_limited_by_block_slots() {
        let o = occupancy(&gtx480(), 10, 0, 64);
        assert_eq!((o.blocks, o.limited_by, o.warps), (8, Limit::Blocks, 16));
        assert_eq!(o.by_shared, u32::MAX);
    }

    #[test]
    fn large_blocks_are_limited_by_threads() {
        let o = occupancy(&gtx480(), 16, 0, 512);
        assert_eq!((o.blocks, o.limited_by, o.warps), (3, Limit::Threads, 48));
    }

    #[test]
    fn registers_round_up_to_four_and_by_whole_warps() {
        // 33 registers take 36; 200 threads take 7 warps: 36 * 224 = 8064 per block.
        let o = occupancy(&gtx480(), 33, 0, 200);
        assert_eq!(o.registers_per_thread, 36);
        assert_eq!((o.blocks, o.limited_by), (4, Limit::Registers));
    }

    #[test]
    fn shared_memory_counts_static_and_dynamic() {
        let o = occupancy(&gtx480(), 8, 20_000, 128);
        assert_eq!((o.blocks, o.limited_by), (2, Limit::SharedMemory));
    }

    #[test]
    fn what_does_not_fit_at_all_is_zero_blocks() {
        assert_eq!(occupancy(&gtx480(), 8, 50_000, 128).blocks, 0);
        assert_eq!(occupancy(&gtx480(), 8, 0, 2048).blocks, 0);
        assert_eq!(occupancy(&gtx480(), u32::MAX, 0, u32::MAX).blocks, 0);
    }

    #[test]
    fn launch_bounds_keep_registers_low_enough_for_their_blocks() {
        let ptx = ".version 6.0 .target sm_35 .address_size 64 .visible .entry k() { ret; }";
        let module = warpsim_ptx::parse(ptx).expect("it parses");
        let program = warpsim_ptx::lower::lower_owned(module, Default::default()).expect("sound");
        let mut kernel = program.kernels[0].clone();
        kernel.bounds.min_ctas = Some(3);
        kernel.register_demand = 60;
        let machine = Machine::preset("fx5800").unwrap();
        // 16384 registers for 3 blocks of 192 threads: 28 a thread, in steps of 4.
        let kept = registers(&machine, &kernel, 192);
        assert_eq!((kept, occupancy(&machine, kept, 0, 192).blocks), (28, 3));
        assert_eq!(registers(&gtx480(), &kernel, 192), 56);
        kernel.bounds.max_nreg = Some(20);
        assert_eq!(registers(&machine, &kernel, 192), 20);
        (kernel.bounds.min_ctas, kernel.bounds.max_nreg) = (None, None);
        assert_eq!(registers(&machine, &kernel, 192), 60);
    }

    #[test]
    fn shapes_of_the_barrier_paper() {
        // 16 warps per block, 3 blocks; 8 warps per block, 6 blocks.
        assert_eq!(occupancy(&gtx480(), 20, 0, 512).blocks, 3);
        assert_eq!(occupancy(&gtx480(), 20, 0, 256).blocks, 6);
    }
}
