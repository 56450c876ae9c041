//! What each event adds to a warp's track.

use crate::states::ABSENT;
use crate::track::Recorded;
use warpsim_ptx::kernel::NO_PC;
use warpsim_sim::observe::{Detail, Path, PathKind, WarpEvent};

/// Adds what a warp did to its track, where `begin` is the first cycle of the window; says how many bytes that takes.
pub fn note(recorded: &mut Recorded, begin: u64, cycle: u64, event: WarpEvent) -> usize {
    let Recorded {
        track,
        lists,
        barrier,
        ..
    } = recorded;
    let from = track.from;
    match event {
        WarpEvent::State(state) => lists.states.note(from, cycle, &[state as i64]),
        WarpEvent::Dissolved => lists.states.note(from, cycle, &[ABSENT]),
        WarpEvent::Holds { block, warp, lanes } => {
            let record = [block as i64, i64::from(warp), i64::from(lanes)];
            lists.holds.note(from, cycle, &record)
        }
        WarpEvent::NextBlock { block, warp } => {
            let record = [block as i64, i64::from(warp)];
            lists.blocks.note(from, cycle, &record)
        }
        WarpEvent::Ganged { slices } => lists.gangs.note(from, cycle, &[i64::from(slices)]),
        WarpEvent::Barrier { id, waits } => {
            *barrier = i64::from(id);
            let what = i64::from(!waits);
            lists.barriers.note(from, cycle, &[what, *barrier])
        }
        WarpEvent::Released => lists.barriers.note(from, cycle, &[2, *barrier]),
        WarpEvent::Issued { pc, lanes } if cycle >= begin => {
            let record = [i64::from(pc), i64::from(lanes)];
            lists.issues.note(from, cycle, &record)
        }
        // What a warp did before the window is over: only what it is and has stays, and where it has come to.
        WarpEvent::Issued { pc, .. } => {
            if let [_, at, _, _, RUNS, ..] = lists.paths.last_record() {
                *at = i64::from(pc) + 1;
            }
            0
        }
        _ => 0,
    }
}

/// Adds a detail to a warp's track; says how many bytes that takes.
pub fn note_detail(recorded: &mut Recorded, begin: u64, cycle: u64, detail: Detail) -> usize {
    let Recorded { track, lists, .. } = recorded;
    let from = track.from;
    match detail {
        Detail::Paths(paths) => {
            track.threads |= paths.iter().fold(0, |all, path| all | path.lanes);
            let grown = lists.paths.note(from, cycle, &[paths.len() as i64]);
            grown
                + paths
                    .iter()
                    .map(|p| lists.paths.more(&numbers(p)))
                    .sum::<usize>()
        }
        _ if cycle < begin => 0,
        Detail::Executed { lanes } => {
            lists.issues.correct_last(i64::from(lanes));
            0
        }
        Detail::Written { register } => lists.written.note(from, cycle, &[i64::from(register.0)]),
        // Kept apart: it is told later.
        Detail::Folded { .. } => 0,
    }
}

/// The number of a path that runs.
const RUNS: i64 = 0;

/// A path as the page has it.
fn numbers(path: &Path) -> [i64; 4] {
    let until = match path.until {
        NO_PC => -1,
        pc => i64::from(pc),
    };
    let kind = match path.kind {
        PathKind::Runs => RUNS,
        PathKind::Stacked => 1,
        PathKind::Parked => 2,
    };
    [i64::from(path.pc), until, i64::from(path.lanes), kind]
}
