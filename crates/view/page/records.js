// Looking things up in records by cycle, by binary search.

/** Position of the last record at or before `cycle`; -1: none. @param {Int32Array} at @param {number} cycle */
function lastAt(at, cycle) {
    let low = 0;
    let high = at.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (at[middle] <= cycle) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

/** Whether the warp is on the SM. @param {Track} track @param {number} cycle */
function isHere(track, cycle) {
    return track.from <= cycle && cycle < track.to;
}

/** The code of a warp's state; -1: it is not here. @param {Track} track @param {number} cycle */
function stateCode(track, cycle) {
    const i = isHere(track, cycle) ? lastAt(track.states.at, cycle) : -1;
    return i < 0 ? -1 : track.states.columns[0][i];
}

/** Whether a warp is here: slots in which warps are formed stand empty in between. @param {Run} run @param {Track} track @param {number} cycle */
function hasWarp(run, track, cycle) {
    return isHere(track, cycle) && (run.absent < 0 || stateCode(track, cycle) !== run.absent);
}

/** The cycles of the records that tell of the warp in a slot at `cycle`: from where it was formed to where the slot falls
 *  empty again; or of the slot while it stands empty. @param {Run} run @param {Track} track @param {number} cycle @returns {Stretch} */
function stretchAt(run, track, cycle) {
    const stretch = { from: -Infinity, to: Infinity };
    if (run.absent < 0 || track.block >= 0) return stretch;
    const { at, columns: [codes], count } = track.states;
    const now = lastAt(at, cycle);
    const empty = (/** @type {number} */ i) => i < 0 || codes[i] === run.absent;
    let first = now;
    while (first > 0 && empty(first - 1) === empty(now)) first--;
    let next = now + 1;
    while (next < count && empty(next) === empty(now)) next++;
    if (first >= 0) stretch.from = at[first];
    if (next < count) stretch.to = at[next];
    return stretch;
}

/** Position of the last record from `from` to `cycle`; -1: none. @param {Int32Array} at @param {number} cycle @param {number} from */
function lastSince(at, cycle, from) {
    const i = lastAt(at, cycle);
    return i >= 0 && at[i] >= from ? i : -1;
}

/** The block and warp whose threads a track holds; -1: of several. @param {Track} track @param {number} cycle */
function holderAt(track, cycle) {
    const i = lastAt(track.blocks.at, cycle);
    if (i < 0) return { block: track.block, warp: track.warp };
    return { block: track.blocks.columns[0][i], warp: track.blocks.columns[1][i] };
}

/** Short, for rows and buttons. @param {Track} track @param {number} cycle */
function shortName(track, cycle) {
    const { block, warp } = holderAt(track, cycle);
    return block < 0 ? `slot ${track.slot}` : `${block}·${warp}`;
}

/** @param {Track} track @param {number} cycle */
function longName(track, cycle) {
    const { block, warp } = holderAt(track, cycle);
    return block < 0 ? `formed warp in slot ${track.slot}` : `warp ${warp} of block ${block}`;
}

/** @param {Run} run @param {Track} track */
function kernelOf(run, track) {
    return run.kernels[run.launches[track.launch].kernel];
}

/** The launch that runs in a cycle; -1: none. @param {Run} run @param {number} cycle */
function launchAt(run, cycle) {
    return run.launches.findIndex((launch) => launch.from <= cycle && cycle < launch.to);
}
