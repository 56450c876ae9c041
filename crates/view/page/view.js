// The parts of the page that belong to one run: title, map and raster.

class RunView {
    /** @param {Stage} stage @param {Run} run @param {HTMLElement} host */
    constructor(stage, run, host) {
        const other = stage.runs[1 - run.index];
        const name = stage.runs.length > 1 ? run.options : run.title;
        const map = canvas({ class: "map", role: "img", "aria-label": `${name}: issue rate of the whole run; drag to move` });
        const axis = canvas({ class: "axis", "aria-hidden": "true" });
        const below = canvas({ class: "below", "aria-hidden": "true" });
        const above = canvas({ class: "above", tabindex: 0, role: "application", "aria-roledescription": "raster of warps and cycles" });
        const heading = element("h2", { class: "run-title" }, other && other.title !== run.title ? `${run.title}, ${run.options}` : run.options);
        this.section = element("section", { class: "run", "aria-label": name }, heading, map);
        const box = element("div", { class: "raster" }, element("div", { class: "sheet" }, axis, below, above));
        this.section.append(box);
        host.append(this.section);
        this.chosen = "";
        this.run = run;
        this.name = name;
        this.raster = new Raster(run, stage.runs.length, box, { axis, below, above });
        this.map = new IssueMap(run, stage.runs, map);
        rasterPointer(stage, this.raster);
        mapPointer(stage, this.map);
        hoverOver(stage, this.raster);
        above.addEventListener("focus", () => {
            if (stage.place.run !== run.index && above.matches(":focus-visible")) {
                const { cycle, track, from, to } = focusRun(stage.runs, stage.place, run.index);
                stage.change({ run: run.index, cycle, track, from, to });
            }
        });
    }

    /** @param {Place} place @param {Spot} spot */
    draw(place, spot) {
        this.section.classList.toggle("chosen", place.run === this.run.index);
        this.raster.draw(place, spot);
        this.showRow(place, spot);
        this.map.draw(spot);
        const track = this.run.tracks[spot.track];
        const where = track ? `, ${longName(track, spot.cycle)}` : "";
        const label = `${this.name}: cycle ${grouped(spot.cycle)}${where}; arrow keys move`;
        if (this.raster.above.getAttribute("aria-label") !== label) this.raster.above.setAttribute("aria-label", label);
    }

    /** The chosen warp's row comes into sight when it is another than before. @param {Place} place @param {Spot} spot */
    showRow(place, spot) {
        const chosen = `${place.by} ${spot.track}`;
        if (chosen !== this.chosen && spot.track >= 0) this.raster.scrollTo(this.run.rowOf[place.by][spot.track]);
        this.chosen = chosen;
    }

    /** Takes the colours anew: light has turned to dark, or back. */
    repaint() {
        this.raster.paints = this.map.paints = readPaints(this.run);
        this.raster.drawn = "";
    }
}

/** @param {Record<string, string | number>} attributes */
function canvas(attributes) {
    return /** @type {HTMLCanvasElement} */ (element("canvas", attributes));
}

/** What the other of two runs does where the first one is. @param {Run} run @param {Spot} spot */
function otherPart(run, spot) {
    const head = element("h3", {}, `Beside it: ${run.options}`);
    if (spot.track < 0) return element("section", { id: "part-other" }, head, element("p", {}, "This warp is not in the other run's record."));
    const look = lookAt(run, spot.cycle, spot.track);
    const { warp } = look;
    const words = warp.state !== null || warp.here ? stateWords(run, look) : element("p", {}, "Not on the SM in this cycle.");
    return element("section", { id: "part-other" }, head, element("p", { class: "soft" }, `cycle ${grouped(spot.cycle)}, ${warp.name}`), words,
        element("dl", { class: "facts" }, ...issueWords(run, "issued last", warp.last, spot.cycle), ...issueWords(run, "issues next", warp.next, spot.cycle),
            ...(warp.here ? fact("lanes", lanesInWords(warp)) : [])));
}
