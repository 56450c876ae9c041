// The one place where the reader is. Everything that moves asks `change`; everything that draws hears of it
// in the next frame and changes nothing.

const FEWEST_CYCLES = 4;

/** @param {Run[]} runs @returns {[number, number]} */
function recorded(runs) {
    return [Math.min(...runs.map((run) => run.from)), Math.max(...runs.map((run) => run.to))];
}

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
    return Math.max(low, Math.min(value, high));
}

/** The place made sound: what it names is there, and the visible cycles lie within those recorded.
 *  @param {Run[]} runs @param {Place} place @returns {Place} */
function settle(runs, place) {
    const number = (/** @type {number} */ value, /** @type {number} */ or) => (Number.isFinite(value) ? value : or);
    const run = runs[place.run] || runs[0];
    const [first, end] = recorded(runs);
    const span = clamp(number(place.to - place.from, end - first), Math.min(FEWEST_CYCLES, end - first), end - first);
    const from = clamp(number(place.from, first), first, end - span);
    return {
        ...place, run: run.index, from, to: from + span,
        cycle: clamp(Math.round(number(place.cycle, run.from)), run.from, run.to - 1),
        track: clamp(Math.round(number(place.track, 0)), 0, Math.max(run.tracks.length - 1, 0)),
        file: clamp(place.file, 0, Math.max(run.files.length - 1, 0)),
    };
}

/** Moves the visible cycles so that the cursor is among them. @param {Place} place @returns {Place} */
function follow(place) {
    const span = place.to - place.from;
    if (place.cycle >= place.from && place.cycle + 1 <= place.to) return place;
    const from = place.cycle < place.from ? place.cycle - span * 0.2 : place.cycle + 1 - span * 0.8;
    return { ...place, from, to: from + span };
}

class Stage {
    /** @param {Run[]} runs @param {Place} place */
    constructor(runs, place) {
        this.runs = runs;
        this.place = settle(runs, place);
        this.place.file = fileToShow(this.run, this.place);
        /** @type {((place: Place) => void)[]} */
        this.views = [];
        this.waiting = false;
    }

    /** The run that the cursor is of. */
    get run() {
        return this.runs[this.place.run];
    }

    /** @param {Partial<Place>} patch */
    change(patch) {
        const place = settle(this.runs, { ...this.place, ...patch });
        const moved = patch.cycle !== undefined && patch.from === undefined;
        this.place = moved ? settle(this.runs, follow(place)) : place;
        const elsewhere = patch.cycle !== undefined || patch.track !== undefined;
        if (elsewhere && patch.file === undefined) this.place.file = fileToShow(this.run, this.place);
        this.redraw();
    }

    redraw() {
        if (this.waiting) return;
        this.waiting = true;
        requestAnimationFrame(() => {
            this.waiting = false;
            for (const view of this.views) view(this.place);
        });
    }

    /** Fewer or more cycles in sight, `at` stays where it is. @param {number} factor @param {number} at */
    zoom(factor, at) {
        const [first, end] = recorded(this.runs);
        const span = this.place.to - this.place.from;
        const wanted = clamp(span * factor, Math.min(FEWEST_CYCLES, end - first), end - first);
        const from = at - (at - this.place.from) * (wanted / span);
        this.change({ from, to: from + wanted });
    }

    /** @param {number} cycles */
    pan(cycles) {
        this.change({ from: this.place.from + cycles, to: this.place.to + cycles });
    }
}
