// From the lists of numbers in the page to typed arrays with absolute cycles. Done once, at the start.

/** @param {number[] | undefined} list @param {number} width @param {number} start @returns {Records} */
function decodeRecords(list, width, start) {
    const count = list ? Math.floor(list.length / width) : 0;
    const at = new Int32Array(count);
    /** @type {Int32Array[]} */
    const columns = [];
    if (list) {
        let cycle = start;
        for (let i = 0; i < count; i++) at[i] = cycle += list[i * width];
    }
    for (let k = 1; k < width; k++) columns.push(decodeColumn(list || [], width, k, count));
    return { count, at, columns };
}

/** Masks of 32 lanes wrap around here; `>>> 0` makes them unsigned again.
 *  @param {number[]} list @param {number} width @param {number} k @param {number} count */
function decodeColumn(list, width, k, count) {
    const column = new Int32Array(count);
    for (let i = 0, p = k; i < count; i++, p += width) column[i] = list[p];
    return column;
}

/** @param {number[] | undefined} list @param {number} start @returns {PathRecords} */
function decodePaths(list, start) {
    const values = list || [];
    let count = 0;
    for (let p = 0; p < values.length; p += 2 + 4 * values[p + 1]) count++;
    const at = new Int32Array(count);
    const starts = new Int32Array(count + 1);
    const flat = new Int32Array(values.length - 2 * count);
    let cycle = start;
    for (let i = 0, p = 0, out = 0; i < count; i++) {
        cycle += values[p];
        at[i] = cycle;
        const end = p + 2 + 4 * values[p + 1];
        for (p += 2; p < end; p++) flat[out++] = values[p];
        starts[i + 1] = out;
    }
    return { count, at, starts, flat };
}

/** @param {TrackData} data @param {number} index @returns {Track} */
function decodeTrack(data, index) {
    const { slot, scheduler, launch, block, warp, from, to, threads } = data;
    return {
        index, slot, scheduler, launch, block, warp, from, to, threads,
        states: decodeRecords(data.states, 2, from),
        issues: decodeRecords(data.issues, 3, from),
        paths: decodePaths(data.paths, from),
        written: decodeRecords(data.written, 2, from),
        barriers: decodeRecords(data.barriers, 3, from),
        gangs: decodeRecords(data.gangs, 2, from),
        holds: decodeRecords(data.holds, 4, from),
        blocks: decodeRecords(data.blocks, 3, from),
        folds: decodeRecords(data.folds, 2, from),
    };
}

/** Gate changes, apart for each gate of a pipe's lanes. @param {PipeData} data @param {number} start */
function decodePipe(data, start) {
    const all = decodeRecords(data.changes, 3, start);
    /** @type {number[][]} */
    const lists = Array.from({ length: data.gates }, () => []);
    const last = new Int32Array(data.gates).fill(start);
    for (let i = 0; i < all.count; i++) {
        const gate = all.columns[0][i];
        lists[gate].push(all.at[i] - last[gate], all.columns[1][i]);
        last[gate] = all.at[i];
    }
    return { pipe: data.pipe, gates: lists.map((list) => decodeRecords(list, 2, start)) };
}

/** @param {RunData} data @param {number} index @returns {Run} */
function decodeRun(data, index) {
    const tracks = data.tracks.map(decodeTrack);
    const rows = { block: rowsByBlock(tracks), scheduler: rowsByScheduler(tracks) };
    const named = (/** @type {string} */ name) => data.states.findIndex((state) => state.name === name);
    return {
        index, tracks, rows,
        title: data.title, options: data.options, sm: data.sm, whole: data.whole, notes: data.notes || [],
        from: data.cycles[0], to: Math.max(data.cycles[1], data.cycles[0] + 1),
        states: data.states, issued: named("issued"), eligible: named("eligible"), absent: named("absent"),
        schedulers: data.schedulers, launches: data.launches, kernels: data.kernels, files: data.files, map: data.map,
        pipes: (data.lanes || []).map((pipe) => decodePipe(pipe, data.cycles[0])),
        rowOf: { block: rowOfTracks(rows.block, tracks.length), scheduler: rowOfTracks(rows.scheduler, tracks.length) },
    };
}
