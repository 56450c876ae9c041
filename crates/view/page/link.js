// The part of the address after # says where the reader is, so that a link shows the same.

/** @param {Place} place @param {number} runs */
function linkOf(place, runs) {
    const { cycle, track, from, to, by, run, tie } = place;
    const round = (/** @type {number} */ n) => Number(n.toFixed(2));
    const link = `#c=${cycle}&w=${track}&from=${round(from)}&to=${round(to)}&by=${by}`;
    return runs > 1 ? `${link}&run=${run}&tie=${tie}` : link;
}

/** What a link says; what it leaves out or says wrongly is left as it is. @param {string} hash @returns {Partial<Place>} */
function readLink(hash) {
    const said = new URLSearchParams(hash.replace(/^#/, ""));
    /** @type {Partial<Place>} */
    const place = {};
    const number = (/** @type {string} */ name) => {
        const text = said.get(name);
        return text !== null && text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
    };
    const [cycle, track, from, to, run] = ["c", "w", "from", "to", "run"].map(number);
    if (cycle !== undefined) place.cycle = cycle;
    if (track !== undefined) place.track = track;
    if (from !== undefined && to !== undefined && from < to) [place.from, place.to] = [from, to];
    if (run === 0 || run === 1) place.run = run;
    const by = said.get("by");
    if (by === "block" || by === "scheduler") place.by = by;
    const tie = said.get("tie");
    if (tie === "cycle" || tie === "instruction") place.tie = tie;
    return place;
}

class Link {
    /** @param {Stage} stage */
    constructor(stage) {
        this.stage = stage;
        this.timer = 0;
        window.addEventListener("hashchange", () => {
            if (location.hash !== this.text()) stage.change(readLink(location.hash));
        });
    }

    text() {
        return linkOf(this.stage.place, this.stage.runs.length);
    }

    /** Browsers allow few replacements a second; the last place counts. */
    remember() {
        // A page inside another, as in a notebook, has no address of its own.
        if (this.timer || location.protocol === "about:") return;
        this.timer = window.setTimeout(() => {
            this.timer = 0;
            if (location.hash !== this.text()) history.replaceState(null, "", this.text());
        }, 400);
    }
}
