// Buttons and menus above the rasters: each does what a key does too.

/** @param {Stage} stage @param {{ help: () => void, difference: () => void }} acts */
function listenToToolbar(stage, acts) {
    /** @type {Record<string, () => void>} */
    const clicks = {
        "play": () => stage.change({ playing: !stage.place.playing }),
        "back": () => stepCycle(stage, -1),
        "on": () => stepCycle(stage, 1),
        "previous": () => stepIssue(stage, -1),
        "next": () => stepIssue(stage, 1),
        "larger": () => zoomAtCursor(stage, 0.6),
        "smaller": () => zoomAtCursor(stage, 1 / 0.6),
        "whole": () => showWhole(stage),
        "difference": acts.difference,
        "marked-next": () => stepMarked(stage),
        "unmark": () => stage.change({ marked: null }),
        "help": acts.help,
    };
    for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
    const menu = (/** @type {string} */ id, /** @type {(value: string) => void} */ act) =>
        byId(id).addEventListener("change", () => act(/** @type {HTMLSelectElement} */ (byId(id)).value));
    menu("by", (value) => stage.change({ by: value === "scheduler" ? "scheduler" : "block" }));
    menu("tie", (value) => stage.change({ tie: value === "instruction" ? "instruction" : "cycle" }));
    menu("speed", (value) => stage.change({ speed: Number(value) }));
    for (const two of document.querySelectorAll(".two")) /** @type {HTMLElement} */ (two).hidden = stage.runs.length < 2;
}

/** @param {Place} place */
function drawToolbar(place) {
    const menu = (/** @type {string} */ id, /** @type {string} */ value) => { /** @type {HTMLSelectElement} */ (byId(id)).value = value; };
    menu("by", place.by);
    menu("tie", place.tie);
    menu("speed", String(place.speed));
    const play = byId("play");
    play.setAttribute("aria-pressed", place.playing ? "true" : "false");
    play.textContent = place.playing ? "Stop" : "Play";
}

/** Chips and line buttons of the panel. @param {Stage} stage @param {HTMLElement} panel */
function listenToPanel(stage, panel) {
    panel.addEventListener("click", (event) => {
        const button = event.target instanceof Element ? event.target.closest("button") : null;
        if (!button) return;
        const { track, run, file, line } = button.dataset;
        if (track !== undefined) stage.change({ track: Number(track) });
        if (file !== undefined) showLine(stage, Number(run), Number(file), Number(line));
    });
}

/** Shows and marks a line of a file of run `index`. The source panel is of the run that the cursor is of: the cursor goes to
 *  the line's run. @param {Stage} stage @param {number} index @param {number} file @param {number} line */
function showLine(stage, index, file, line) {
    const { run, cycle, track, from, to } = focusRun(stage.runs, stage.place, index);
    const there = run === stage.place.run ? {} : { run, cycle, track, from, to };
    stage.change({ ...there, file, marked: markOf(stage.runs[index], file, line) });
}
