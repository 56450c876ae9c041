// Registers that have not arrived yet: those that a warp's next instruction needs, and all others in flight.

/** Looking back over so many issues finds what is in flight. */
const FLIGHT = 64;

/** The registers that a warp's next instruction reads or writes and that have not arrived yet.
 *  @param {Run} run @param {Track} track @param {number} cycle @param {Stretch} stretch @returns {WaitLook[]} */
function waitsAt(run, track, cycle, stretch) {
    const last = lastAt(track.issues.at, cycle);
    if (last + 1 >= track.issues.count || track.issues.at[last + 1] >= stretch.to) return [];
    const kernel = kernelOf(run, track);
    const next = kernel.code[track.issues.columns[0][last + 1]];
    /** @type {WaitLook[]} */
    const waits = [];
    for (const register of new Set([...next.reads, ...next.writes])) {
        const writer = lastWriter(kernel, track, last, register);
        if (writer < 0 || track.issues.at[writer] < stretch.from || hasArrived(track, register, track.issues.at[writer], cycle)) continue;
        waits.push(waitLook(kernel, track, writer, register));
    }
    return waits;
}

/** The last issue up to `i` that writes the register; -1: none is recorded.
 *  @param {KernelData} kernel @param {Track} track @param {number} i @param {number} register */
function lastWriter(kernel, track, i, register) {
    const [pcs, lanes] = track.issues.columns;
    while (i >= 0 && !(lanes[i] && kernel.code[pcs[i]].writes.includes(register))) i--;
    return i;
}

/** @param {Track} track @param {number} register @param {number} after @param {number} cycle */
function hasArrived(track, register, after, cycle) {
    const { at, columns } = track.written;
    for (let i = lastAt(at, cycle); i >= 0 && at[i] > after; i--) if (columns[0][i] === register) return true;
    return false;
}

/** @param {KernelData} kernel @param {Track} track @param {number} writer @param {number} register @returns {WaitLook} */
function waitLook(kernel, track, writer, register) {
    const pc = track.issues.columns[0][writer];
    const { text, ptxFile, ptx } = kernel.code[pc];
    return { register: kernel.registers[register], since: track.issues.at[writer], pc, text, ptxFile, ptx };
}

/** All registers that were issued for and have not arrived: some machines wait for every one of them before
 *  they form a warp anew. @param {Run} run @param {Track} track @param {number} cycle @param {Stretch} stretch
 *  @returns {WaitLook[]} */
function inFlightAt(run, track, cycle, stretch) {
    const kernel = kernelOf(run, track);
    const [pcs, lanes] = track.issues.columns;
    const last = lastAt(track.issues.at, cycle);
    const seen = new Set();
    /** @type {WaitLook[]} */
    const flying = [];
    for (let i = last; i >= 0 && i > last - FLIGHT && track.issues.at[i] >= stretch.from; i--) {
        for (const register of lanes[i] ? kernel.code[pcs[i]].writes : []) {
            if (seen.has(register)) continue;
            seen.add(register);
            if (!hasArrived(track, register, track.issues.at[i], cycle)) flying.push(waitLook(kernel, track, i, register));
        }
    }
    return flying.reverse();
}
