// Steps that keys and buttons take: each asks the stage for another place.

/** @param {Stage} stage @param {number} cycles */
function stepCycle(stage, cycles) {
    stage.change({ cycle: stage.place.cycle + cycles, playing: false });
}

/** @param {Stage} stage @param {number} rows */
function stepWarp(stage, rows) {
    const { by, track, cycle } = stage.place;
    const all = stage.run.rows[by];
    const row = all[clamp(stage.run.rowOf[by][track] + rows, 0, all.length - 1)];
    if (row) stage.change({ track: trackInRow(row, cycle).index });
}

/** To the chosen warp's next issue, or the one before. @param {Stage} stage @param {1 | -1} direction */
function stepIssue(stage, direction) {
    const track = stage.run.tracks[stage.place.track];
    if (!track) return;
    const { at } = track.issues;
    const i = direction > 0 ? lastAt(at, stage.place.cycle) + 1 : lastAt(at, stage.place.cycle - 1);
    if (i >= 0 && i < at.length) stage.change({ cycle: at[i], playing: false });
}

/** To the next issue, of any warp, of the line that is marked; behind the last comes the first. @param {Stage} stage */
function stepMarked(stage) {
    const { run, place: { marked, cycle, track } } = stage;
    const file = marked ? run.files.findIndex(({ name }) => name === marked.name) : -1;
    if (!marked || file < 0) return;
    const pcs = run.launches.map((_, launch) => pcsOfLine(run, launch, file, marked.line));
    /** @type {{ cycle: number, track: number } | null} */
    let first = null;
    /** @type {{ cycle: number, track: number } | null} */
    let next = null;
    for (const { index, launch, issues: { at, columns: [its], count } } of run.tracks) {
        const isOne = (/** @type {number} */ i) => pcs[launch][its[i]] === 1;
        let i = 0;
        while (i < count && !isOne(i)) i++;
        if (i < count && (!first || at[i] < first.cycle)) first = { cycle: at[i], track: index };
        // Of the issues of one cycle those of later warps come behind.
        for (i = lastAt(at, index > track ? cycle - 1 : cycle) + 1; i < count && !isOne(i); i++);
        if (i < count && (!next || at[i] < next.cycle)) next = { cycle: at[i], track: index };
    }
    const found = next || first;
    if (found) stage.change({ ...found, playing: false });
}

/** @param {Stage} stage @param {number} factor */
function zoomAtCursor(stage, factor) {
    const { cycle, from, to } = stage.place;
    stage.zoom(factor, cycle >= from && cycle < to ? cycle + 0.5 : (from + to) / 2);
}

/** @param {Stage} stage */
function showWhole(stage) {
    const [from, to] = recorded(stage.runs);
    stage.change({ from, to });
}

/** @param {Stage} stage */
function switchGrouping(stage) {
    stage.change({ by: stage.place.by === "block" ? "scheduler" : "block" });
}

/** @param {Stage} stage @returns {string} what was found, in words */
function goToDifference(stage) {
    const found = findDifference(stage.runs);
    if (!found) return "The two runs do not differ in what both have recorded.";
    const { cycle, one, two } = found;
    const span = Math.min(stage.place.to - stage.place.from, 120);
    const from = cycle - span / 2;
    const where = one ? { run: 0, track: one.index } : { run: 1, track: two ? two.index : 0 };
    stage.change({ ...where, cycle, from, to: from + span, tie: "cycle", playing: false });
    const states = [one, two].map((track, i) => {
        const state = track && stage.runs[i].states[stateCode(track, cycle)];
        return state ? state.title : "is not there";
    });
    const name = one || two;
    return `First difference in cycle ${grouped(cycle)}, ${name ? longName(name, cycle) : ""}: ${states.join("; in the other run: ")}.`;
}
