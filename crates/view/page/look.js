// What can be said of a cycle and a warp: everything the panel shows comes from `lookAt`.

/** @param {Run} run @param {number} cycle @param {number} trackIndex @returns {Look} */
function lookAt(run, cycle, trackIndex) {
    const launch = launchAt(run, cycle);
    const here = run.tracks.filter((track) => isHere(track, cycle));
    return {
        cycle, run: run.index,
        launch: launch < 0 ? null : { index: launch, kernel: run.kernels[run.launches[launch].kernel].name },
        states: countStates(run, here, cycle),
        schedulers: Array.from({ length: run.schedulers }, (_, s) =>
            schedulerAt(run, here.filter((track) => track.scheduler === s), cycle)),
        warp: warpAt(run, run.tracks[trackIndex], cycle),
        gates: run.pipes.map(({ pipe, gates }) => ({ pipe, gates: gates.map((changes) => gateAt(changes, cycle)) })),
    };
}

/** @param {Records} changes @param {number} cycle */
function gateAt(changes, cycle) {
    const i = lastAt(changes.at, cycle);
    return i < 0 ? 0 : changes.columns[0][i];
}

/** @param {Run} run @param {Track[]} here @param {number} cycle */
function countStates(run, here, cycle) {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const track of here) {
        const state = run.states[stateCode(track, cycle)];
        if (state) counts[state.name] = (counts[state.name] || 0) + 1;
    }
    return counts;
}

/** @param {Run} run @param {Track[]} its @param {number} cycle @returns {SchedulerLook} */
function schedulerAt(run, its, cycle) {
    /** @type {SchedulerLook} */
    const look = { ready: [], issued: null, waiting: {} };
    for (const track of its) {
        const i = lastAt(track.issues.at, cycle);
        if (!look.issued && i >= 0 && track.issues.at[i] === cycle) look.issued = { track: track.index, pc: track.issues.columns[0][i] };
        const code = stateCode(track, cycle);
        if (code < 0 || code === run.absent) continue;
        const { name } = run.states[code];
        if (code === run.issued || code === run.eligible) look.ready.push(track.index);
        else (look.waiting[name] = look.waiting[name] || []).push(track.index);
    }
    return look;
}

/** @param {Run} run @param {Track} track @param {number} cycle @returns {WarpLook} */
function warpAt(run, track, cycle) {
    const here = hasWarp(run, track, cycle);
    const stretch = stretchAt(run, track, cycle);
    const state = isHere(track, cycle) ? lastAt(track.states.at, cycle) : -1;
    const last = lastSince(track.issues.at, cycle, stretch.from);
    const next = lastAt(track.issues.at, cycle) + 1;
    const { paths, lanes } = here ? lanesAt(track, cycle, stretch) : { paths: [], lanes: { active: 0, guarded: 0, other: 0, exited: 0 } };
    const gang = lastSince(track.gangs.at, cycle, stretch.from);
    return {
        track: track.index, name: longName(track, cycle), here,
        state: state < 0 ? null : run.states[track.states.columns[0][state]].name,
        since: state < 0 ? null : track.states.at[state],
        last: issueLook(run, track, last), next: track.issues.at[next] < stretch.to ? issueLook(run, track, next) : null,
        lanes, paths,
        waitsFor: here ? waitsAt(run, track, cycle, stretch) : [], inFlight: here ? inFlightAt(run, track, cycle, stretch) : [],
        barrier: here ? barrierAt(run, track, cycle) : null,
        gang: gang < 0 || !here ? null : bitsOf(track.gangs.columns[0][gang]),
        holds: here ? holdsAt(track, cycle, stretch, paths) : [],
    };
}

/** @param {Run} run @param {Track} track @param {number} i @returns {IssueLook | null} */
function issueLook(run, track, i) {
    if (i < 0 || i >= track.issues.count) return null;
    const cycle = track.issues.at[i];
    const pc = track.issues.columns[0][i];
    const { text, ptxFile, ptx, file, line } = kernelOf(run, track).code[pc];
    const fold = lastAt(track.folds.at, cycle);
    const folded = fold >= 0 && track.folds.at[fold] === cycle ? track.folds.columns[0][fold] : 0;
    return { cycle, pc, lanes: track.issues.columns[1][i] >>> 0, text, ptxFile, ptx, file, line, folded };
}

/** Who of the warp's block is at which barrier; null: nobody.
 *  @param {Run} run @param {Track} track @param {number} cycle @returns {BarrierLook | null} */
function barrierAt(run, track, cycle) {
    const { block } = holderAt(track, cycle);
    const its = block < 0 ? [track] : run.tracks.filter((other) =>
        other.launch === track.launch && hasWarp(run, other, cycle) && holderAt(other, cycle).block === block);
    /** @type {BarrierLook} */
    const look = { left: [], waits: [], arrived: [] };
    for (const other of its) {
        const state = run.states[stateCode(other, cycle)];
        if (!state || !state.name.startsWith("exit_")) look.left.push(other.index);
        const [what, ids] = other.barriers.columns;
        const { from } = stretchAt(run, other, cycle);
        const seen = new Set();
        for (let i = lastAt(other.barriers.at, cycle); i >= 0 && other.barriers.at[i] >= from; i--) {
            if (seen.has(ids[i])) continue;
            seen.add(ids[i]);
            const arrival = { track: other.index, id: ids[i], since: other.barriers.at[i] };
            if (what[i] === 0) look.waits.push(arrival);
            if (what[i] === 1) look.arrived.push(arrival);
        }
    }
    if (look.arrived.length) {
        const opened = openingsAt(run, track.launch, block, its, cycle);
        look.arrived = look.arrived.filter(({ id, since }) => since > (opened.get(id) ?? -1));
    }
    return look.waits.length + look.arrived.length ? look : null;
}

/** When each of a block's barriers opened last: only warps that wait are told so, by tracks that may have left since.
 *  @param {Run} run @param {number} launch @param {number} block @param {Track[]} its @param {number} cycle @returns {Map<number, number>} by id */
function openingsAt(run, launch, block, its, cycle) {
    /** @type {Map<number, number>} */
    const opened = new Map();
    for (const other of block < 0 ? its : run.tracks.filter((t) => t.launch === launch && t.from <= cycle)) {
        const { at, columns: [what, ids] } = other.barriers;
        for (let i = lastAt(at, cycle); i >= 0; i--) {
            if (what[i] !== 2 || (opened.get(ids[i]) ?? -1) >= at[i]) continue;
            if (block < 0 || holderAt(other, at[i]).block === block) opened.set(ids[i], at[i]);
        }
    }
    return opened;
}
