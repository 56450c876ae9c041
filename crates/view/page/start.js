// Starts the page: data, then the place, then the views that draw it.

/** @param {string} text @returns {ViewData} */
function readView(text) {
    const view = /** @type {ViewData} */ (JSON.parse(text));
    if (view.schema !== 1) throw new Error(`this page reads views of schema 1, not ${view.schema}`);
    return view;
}

/** @param {Run[]} runs @returns {Place} */
function firstPlace(runs) {
    const [from, to] = recorded(runs);
    const [run] = runs;
    const track = run.tracks.length ? run.tracks[0] : null;
    const cycle = track ? Math.max(track.from, track.issues.count ? track.issues.at[0] : 0) : from;
    // Whoever has a source wants to see that, not what a compiler made of it.
    const source = run.files.findIndex(({ text }, i) => text !== null && run.kernels.some(({ code }) => code.some((c) => c.file === i)));
    const file = Math.max(source, 0);
    return { run: 0, cycle, track: 0, from, to, by: "block", tie: "cycle", playing: false, speed: 20, file, marked: null };
}

/** @param {Run[]} runs */
function start(runs) {
    const stage = new Stage(runs, { ...firstPlace(runs), ...readLink(location.hash) });
    const views = runs.map((run) => new RunView(stage, run, byId("runs")));
    const player = new Player(stage);
    const link = new Link(stage);
    const source = new SourceView(stage, byId("tabs"), byId("lines"), byId("source-note"));
    const panel = byId("panel");
    const dialog = /** @type {HTMLDialogElement} */ (byId("keys"));
    const acts = {
        help: () => dialog.showModal(),
        difference: () => { if (runs.length > 1) byId("said").textContent = goToDifference(stage); },
    };
    const table = keyTable(acts.help, acts.difference);
    byId("key-list").append(keyList(table));
    listenToKeys(stage, table);
    listenToToolbar(stage, acts);
    listenToPanel(stage, panel);

    stage.views.push((place) => {
        const look = lookAt(runs[place.run], place.cycle, place.track);
        views.forEach((view) => view.draw(place, spotIn(runs, place, view.run.index)));
        const beside = runs.length > 1 ? otherPart(runs[1 - place.run], spotIn(runs, place, 1 - place.run)) : null;
        drawPanel(panel, runs[place.run], look, beside, place.playing);
        source.draw(place, look);
        drawToolbar(place);
        player.heed(place);
        link.remember();
    });
    const repaint = () => {
        views.forEach((view) => view.repaint());
        stage.redraw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    new ResizeObserver(() => stage.redraw()).observe(byId("runs"));
    stage.redraw();
    window.viewAt = (cycle, track, run = 0) => lookAt(runs[run], cycle, track);
    window.sharesIn = (from, to, run = 0) => sharesOf(runs[run], from, to);
}

/** What was not recorded, and why. @param {RunData[]} all */
function showNotes(all) {
    const say = (/** @type {RunData} */ run, /** @type {string} */ note) =>
        element("li", {}, all.length > 1 ? `${run.options}: ${note}` : note);
    byId("notes").replaceChildren(...all.flatMap((run) => (run.notes || []).map((note) => say(run, note))));
}

/** A run without a warp has nothing to point at: it is left out, and its notes say so. */
function main() {
    const view = readView(byId("view").textContent || "");
    byId("view").remove();
    showNotes(view.runs);
    const runs = view.runs.filter((run) => run.tracks.length).map(decodeRun);
    document.body.classList.toggle("empty", !runs.length);
    if (!runs.length) return;
    drawLegend(byId("legend"), runs);
    start(runs);
}

main();
