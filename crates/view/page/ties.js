// Two runs beside each other: where the other one is, and where they first differ.

/** @param {Track} track */
function pairKey(track) {
    return track.block < 0 ? `${track.launch} slot ${track.slot}` : `${track.launch} ${track.block} ${track.warp}`;
}

/** The same warps of two runs; a warp that one alone has stands beside null.
 *  @param {Run} one @param {Run} two @returns {[Track | null, Track | null][]} */
function pairTracks(one, two) {
    /** @type {Map<string, Track[]>} */
    const others = new Map();
    for (const track of two.tracks) {
        const of = others.get(pairKey(track));
        if (of) of.push(track);
        else others.set(pairKey(track), [track]);
    }
    /** @type {[Track | null, Track | null][]} */
    const pairs = one.tracks.map((track) => [track, (others.get(pairKey(track)) || []).shift() || null]);
    for (const left of others.values()) for (const track of left) pairs.push([null, track]);
    return pairs;
}

/** The same warp in the other run, found for all warps when the first is asked for. @type {Map<Track, Track>} */
const partners = new Map();

/** @param {Run[]} runs @param {Track} track @returns {Track | null} in the other run */
function partnerOf(runs, track) {
    if (!partners.size) {
        for (const [one, two] of pairTracks(runs[0], runs[1])) {
            if (one && two) partners.set(one, two).set(two, one);
        }
    }
    return partners.get(track) || null;
}

/** What of run `index` is shown at a place. @param {Run[]} runs @param {Place} place @param {number} index @returns {Spot} */
function spotIn(runs, place, index) {
    const { cycle, track, from, to } = place;
    if (index === place.run) return { cycle, track, from, to };
    const run = runs[index];
    const mine = runs[place.run].tracks[track];
    const partner = mine ? partnerOf(runs, mine) : null;
    const spot = { cycle, track: partner ? partner.index : -1, from, to };
    if (place.tie === "cycle" || !partner) return spot;
    const nth = lastAt(mine.issues.at, cycle);
    const other = partner.issues.count ? partner.issues.at[clamp(nth, 0, partner.issues.count - 1)] : partner.from;
    const shift = (nth < 0 ? partner.from : other) - cycle;
    return { ...spot, cycle: clamp(cycle + shift, run.from, run.to - 1), from: from + shift, to: to + shift };
}

/** The cursor handed over to another run, which stays as it is shown.
 *  @param {Run[]} runs @param {Place} place @param {number} index @returns {Place} */
function focusRun(runs, place, index) {
    const spot = spotIn(runs, place, index);
    return index === place.run ? place : { ...place, ...spot, track: Math.max(spot.track, 0), run: index };
}

/** @param {Run} run @param {Track | null} track @param {number} cycle */
function stateName(run, track, cycle) {
    const code = track ? stateCode(track, cycle) : -1;
    return code < 0 ? "" : run.states[code].name;
}

/** The next cycle in which a warp comes, goes or changes its state. @param {Track | null} track @param {number} cycle */
function nextChange(track, cycle) {
    if (!track || cycle >= track.to) return Infinity;
    if (cycle < track.from) return track.from;
    const { at, count } = track.states;
    const i = lastAt(at, cycle) + 1;
    return i < count ? Math.min(at[i], track.to) : track.to;
}

/** The first cycle from `from` to `to` in which two tracks' states differ by name; `to`: none.
 *  @param {Run[]} runs @param {Track | null} one @param {Track | null} two @param {number} from @param {number} to */
function firstDifference(runs, one, two, from, to) {
    let cycle = from;
    while (cycle < to && stateName(runs[0], one, cycle) === stateName(runs[1], two, cycle)) {
        cycle = Math.min(nextChange(one, cycle), nextChange(two, cycle));
    }
    return Math.min(cycle, to);
}

/** Cycle and, in the first run, track of the first difference in what both have recorded; null: there is none.
 *  @param {Run[]} runs @returns {{ cycle: number, one: Track | null, two: Track | null } | null} */
function findDifference(runs) {
    const [a, b] = runs;
    const from = Math.max(a.from, b.from);
    let to = Math.min(a.to, b.to);
    const end = to;
    /** @type {[Track | null, Track | null]} */
    let found = [null, null];
    for (const [one, two] of pairTracks(a, b)) {
        const start = Math.max(from, Math.min(one ? one.from : to, two ? two.from : to));
        if (start >= to) continue;
        const cycle = firstDifference(runs, one, two, start, to);
        // What comes later than the earliest so far need not be looked at.
        if (cycle < to) [to, found] = [cycle, [one, two]];
    }
    return to < end ? { cycle: to, one: found[0], two: found[1] } : null;
}
