//! Special registers.

use warpsim_ptx::isa::Special;

use crate::grid::Grid;
use crate::state::{LANES, Lanes, Moment, Threads, lanes_of};

/// What a special register holds for the threads on the lanes of `mask`; the others may hold
/// anything.
pub(crate) fn values(
    special: Special,
    lanes: &Lanes,
    mask: u32,
    threads: &Threads,
    grid: &Grid,
    now: Moment,
) -> [u64; LANES] {
    match (special, lanes) {
        (Special::Tid(d), Lanes::Static(home)) => {
            threads.warps[usize::from(*home)].tid[usize::from(d.min(2))].map(u64::from)
        }
        (
            Special::Ntid(_) | Special::Ctaid(_) | Special::Nctaid(_) | Special::Warpid,
            Lanes::Static(home),
        ) => [value(special, 0, *home, threads, grid, now); LANES],
        _ => {
            let mut values = [0; LANES];
            for lane in lanes_of(mask) {
                values[lane] = value(special, lane, lanes.home(lane), threads, grid, now);
            }
            values
        }
    }
}

/// What a special register holds for the thread on `lane` of home warp `home`.
fn value(
    special: Special,
    lane: usize,
    home: u16,
    threads: &Threads,
    grid: &Grid,
    now: Moment,
) -> u64 {
    let warp = &threads.warps[usize::from(home)];
    let dim = |d: u8| usize::from(d.min(2));
    let below = (1u64 << lane) - 1;
    let own = 1u64 << lane;
    let all = u64::from(u32::MAX);
    match special {
        Special::Tid(d) => u64::from(warp.tid[dim(d)][lane]),
        Special::Ntid(d) => u64::from(grid.block[dim(d)]),
        Special::Ctaid(d) => u64::from(threads.blocks[usize::from(warp.block)].ctaid[dim(d)]),
        Special::Nctaid(d) => u64::from(grid.grid[dim(d)]),
        Special::Laneid => lane as u64,
        Special::Warpid => u64::from(warp.index),
        Special::Nwarpid => u64::from(grid.warps_per_sm),
        Special::Smid => u64::from(now.sm),
        Special::Nsmid => u64::from(grid.sms),
        Special::Gridid => grid.id,
        Special::LanemaskEq => own,
        Special::LanemaskLe => own | below,
        Special::LanemaskLt => below,
        Special::LanemaskGe => all & !below,
        Special::LanemaskGt => all & !below & !own,
        Special::Clock | Special::Clock64 => now.cycle,
        Special::ClockHi => now.cycle >> 32,
        Special::Globaltimer | Special::GlobaltimerLo => now.nanoseconds(),
        Special::GlobaltimerHi => now.nanoseconds() >> 32,
        Special::DynamicSmemSize => u64::from(grid.dynamic_shared),
        Special::TotalSmemSize => u64::from(grid.total_shared),
        Special::Envreg(1) => grid.workspace >> 32,
        Special::Envreg(2) => grid.workspace & all,
        // Nothing sets these up, no performance monitor counts.
        Special::Envreg(_) | Special::Pm(_) => 0,
        Special::WarpSize => LANES as u64,
    }
}
