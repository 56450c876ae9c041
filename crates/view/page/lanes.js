// What the 32 lanes of a warp do, from the paths that the divergence model holds and the last issue.

/** The paths of record `i`, top first. @param {Track} track @param {number} i @returns {PathLook[]} */
function pathsOfRecord(track, i) {
    const { starts, flat } = track.paths;
    if (i < 0) return [];
    /** @type {PathLook[]} */
    const paths = [];
    for (let p = starts[i]; p < starts[i + 1]; p += 4) {
        paths.push({ pc: flat[p], until: flat[p + 1], lanes: flat[p + 2] >>> 0, kind: flat[p + 3] });
    }
    return paths;
}

/** Lanes of the paths of one kind (0 runs), or of all. @param {PathLook[]} paths @param {number} [kind] */
function lanesOfPaths(paths, kind) {
    return paths.reduce((lanes, path) => (kind === undefined || path.kind === kind ? lanes | path.lanes : lanes), 0) >>> 0;
}

/** The last record of paths up to `cycle`. A warp that is formed behind its scheduler's turn tells of them a cycle before it counts.
 *  @param {Track} track @param {number} cycle @param {Stretch} stretch */
function recordSince(track, cycle, stretch) {
    return lastSince(track.paths.at, cycle, stretch.from - 1);
}

/** The record under which the issue at `cycle` ran: the one before it, unless its lanes were not running there.
 *  A record of the issue's own cycle mostly says what the issue has made of the paths.
 *  @param {Track} track @param {number} cycle @param {number} lanes @param {Stretch} stretch */
function recordOfIssue(track, cycle, lanes, stretch) {
    const before = recordSince(track, cycle - 1, stretch);
    const runs = lanesOfPaths(pathsOfRecord(track, before), 0);
    return before >= 0 && (lanes & ~runs) === 0 ? before : recordSince(track, cycle, stretch);
}

/** Paths and lanes in a cycle; in the cycle of an issue, those under which it ran.
 *  @param {Track} track @param {number} cycle @param {Stretch} stretch @returns {{ paths: PathLook[], lanes: LanesLook }} */
function lanesAt(track, cycle, stretch) {
    const i = lastSince(track.issues.at, cycle, stretch.from);
    const issued = i < 0 ? 0 : track.issues.columns[1][i] >>> 0;
    const under = i < 0 ? -1 : recordOfIssue(track, track.issues.at[i], issued, stretch);
    const now = i >= 0 && track.issues.at[i] === cycle ? under : recordSince(track, cycle, stretch);
    if (now < 0) {
        const held = holdsAt(track, cycle, stretch, []).reduce((lanes, hold) => lanes | hold.lanes, issued) >>> 0;
        const threads = track.block < 0 ? held : track.threads >>> 0;
        const guarded = i < 0 ? 0 : (threads & ~issued) >>> 0;
        return { paths: [], lanes: { active: (threads & ~guarded) >>> 0, guarded, other: 0, exited: 0 } };
    }
    const paths = pathsOfRecord(track, now);
    // A record says where its paths begin; the running one is at what it issues, and goes straight on from there.
    if (now === under && paths[0].kind === 0) {
        const issues = track.issues.at[i] === cycle;
        paths[0].pc = track.issues.columns[0][i] + (issues ? 0 : 1);
    }
    const runs = lanesOfPaths(paths, 0);
    const all = lanesOfPaths(paths);
    // When the paths have changed since, the guard was that of another path: a branch's says who jumped.
    const guarded = now === under ? (runs & ~issued) >>> 0 : 0;
    // Which threads of a formed warp have exited is not recorded: others take their lanes.
    const exited = track.block < 0 ? 0 : (track.threads & ~all) >>> 0;
    return {
        paths,
        lanes: {
            active: (runs & ~guarded) >>> 0, guarded,
            other: (all & ~runs) >>> 0, exited,
        },
    };
}

/** @param {number} mask */
function countLanes(mask) {
    let n = 0;
    for (let m = mask >>> 0; m; m &= m - 1) n++;
    return n;
}

/** Positions of the bits that are set, such as lanes or slices. @param {number} mask */
function bitsOf(mask) {
    return Array.from({ length: 32 }, (_, i) => i).filter((i) => (mask >>> i) & 1);
}

/** The threads that lanes of a formed warp hold, as far as the lanes are on its paths. They are told all at once,
 *  and each time anew. @param {Track} track @param {number} cycle @param {Stretch} stretch @param {PathLook[]} paths @returns {HoldLook[]} */
function holdsAt(track, cycle, stretch, paths) {
    const { at, columns: [blocks, warps, masks] } = track.holds;
    const last = lastSince(at, cycle, stretch.from);
    let left = paths.length ? lanesOfPaths(paths) : track.block < 0 ? -1 : track.threads;
    /** @type {HoldLook[]} */
    const found = [];
    for (let i = last; i >= 0 && at[i] === at[last]; i--) {
        const lanes = (masks[i] & left) >>> 0;
        left &= ~lanes;
        const same = found.find((hold) => hold.block === blocks[i] && hold.warp === warps[i]);
        if (same) same.lanes = (same.lanes | lanes) >>> 0;
        else if (lanes) found.push({ block: blocks[i], warp: warps[i], lanes });
    }
    return found.reverse();
}
