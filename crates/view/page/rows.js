// Which warp is drawn in which row. A row holds warps one after the other in time, never two at once.

/** Puts tracks with the same key into the same row, or into a further one where they overlap.
 *  @param {Track[]} tracks @param {(track: Track) => number} key @returns {Track[][]} by key */
function packTracks(tracks, key) {
    /** @type {Map<number, Track[][]>} */
    const rows = new Map();
    for (const track of [...tracks].sort((a, b) => a.from - b.from || a.index - b.index)) {
        const of = rows.get(key(track)) || [];
        rows.set(key(track), of);
        const free = of.find((row) => row[row.length - 1].to <= track.from);
        if (free) free.push(track);
        else of.push([track]);
    }
    return [...rows.keys()].sort((a, b) => a - b).flatMap((k) => rows.get(k) || []);
}

/** A row per slot, grouped by the scheduler that owns it. @param {Track[]} tracks @returns {Row[]} */
function rowsByScheduler(tracks) {
    const packed = packTracks(tracks, (track) => track.scheduler * 65536 + track.slot);
    return packed.map((row, i) => {
        const group = row[0].scheduler;
        return { group, first: i === 0 || packed[i - 1][0].scheduler !== group, tracks: row };
    });
}

/** Blocks take a stretch of rows each; a block that comes later takes rows that an ended one has left.
 *  @param {Track[]} tracks @returns {Row[]} */
function rowsByBlock(tracks) {
    /** @type {Map<string, Track[]>} */
    const blocks = new Map();
    for (const track of tracks) {
        // Warps that were formed of several blocks' threads stand together.
        const key = track.block < 0 ? "formed" : `${track.launch} ${track.block}`;
        const of = blocks.get(key);
        if (of) of.push(track);
        else blocks.set(key, [track]);
    }
    const units = [...blocks.values()].map((of) => ({
        from: Math.min(...of.map((t) => t.from)),
        to: Math.max(...of.map((t) => t.to)),
        rows: packTracks(of, (track) => (track.block < 0 ? track.slot : track.warp)),
    }));
    units.sort((a, b) => a.from - b.from);
    /** @type {{ to: number, rows: Track[][] }[]} */
    const stretches = [];
    for (const unit of units) {
        const free = stretches.find((s) => s.to <= unit.from && s.rows.length >= unit.rows.length);
        if (free) {
            free.to = unit.to;
            unit.rows.forEach((row, i) => free.rows[i].push(...row));
        } else {
            stretches.push({ to: unit.to, rows: unit.rows });
        }
    }
    return stretches.flatMap(({ rows }, group) => rows.map((row, i) => ({ group, first: i === 0, tracks: row })));
}

/** @param {Row[]} rows @param {number} count */
function rowOfTracks(rows, count) {
    const found = new Int32Array(count);
    rows.forEach((row, i) => row.tracks.forEach((track) => { found[track.index] = i; }));
    return found;
}

/** The row's track at `cycle`, or the one nearest to it. @param {Row} row @param {number} cycle */
function trackInRow(row, cycle) {
    const distance = (/** @type {Track} */ t) => Math.max(t.from - cycle, cycle - t.to + 1, 0);
    return row.tracks.reduce((best, track) => (distance(track) < distance(best) ? track : best));
}
