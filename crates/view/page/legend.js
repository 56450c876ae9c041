// The legend: every state with its colour, and what else the raster shows.

/** @param {HTMLElement} host @param {Run[]} runs */
function drawLegend(host, runs) {
    /** @type {Map<string, HTMLElement>} */
    const lines = new Map();
    for (const run of runs) {
        run.states.forEach((state, code) => {
            if (code === run.absent) return;
            lines.set(state.name, element("li", {}, swatch(run, code), element("strong", {}, state.title), ` (${state.name})`));
        });
    }
    host.replaceChildren(...lines.values());
}
