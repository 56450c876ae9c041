//! States of warps, with the words and colours that the page has for them.

use crate::format::State;
use warpsim_present::palette;
use warpsim_sim::stats::WarpState;

/// The code of the state of a slot in which no warp is: behind those of warps.
pub const ABSENT: i64 = WarpState::ALL.len() as i64;

/// The states, with their words and colours.
pub fn states() -> Vec<State> {
    let title = |state: &WarpState| match state {
        WarpState::Issued => "issued",
        WarpState::Eligible => "ready, another was chosen",
        WarpState::Fetch => "waits for instructions",
        WarpState::Control => "waits for a branch",
        WarpState::DataMemory => "waits for memory",
        WarpState::DataAlu => "waits for a result",
        WarpState::Structural => "its unit is busy",
        WarpState::Barrier => "at a barrier",
        WarpState::NextBlock => "waits for its next block",
        WarpState::ExitStores => "finished, stores under way",
        WarpState::ExitSiblings => "finished, siblings still run",
    };
    let state = |state: &WarpState| State {
        name: state.name(),
        title: title(state),
        colour: palette::state(state.name()).map_or("c9", |hue| hue.0),
        of_last: state.is_of_last_issue(),
    };
    let absent = State {
        name: "absent",
        title: "no warp here",
        colour: "page",
        of_last: false,
    };
    WarpState::ALL.iter().map(state).chain([absent]).collect()
}
