// A run's raster: a row per warp, a column per cycle. Canvases one above the other: what the warps do, drawn again only
// when the visible part changes; above it the cursor, the labels and the marks; and the axis, which stays when rows scroll.

class Raster {
    /** @param {Run} run @param {number} rasters @param {HTMLElement} box in which the rows scroll
     *  @param {{ axis: HTMLCanvasElement, below: HTMLCanvasElement, above: HTMLCanvasElement }} canvases */
    constructor(run, rasters, box, { axis, below, above }) {
        this.run = run;
        this.rasters = rasters;
        this.box = box;
        this.axis = axis;
        this.below = below;
        this.above = above;
        this.paints = readPaints(run);
        this.drawn = "";
        this.frame = frameOf(300, 1, 1, { cycle: 0, track: 0, from: run.from, to: run.to });
    }

    /** @param {Place} place @param {Spot} spot */
    draw(place, spot) {
        const width = this.above.clientWidth;
        if (!width) return;
        const rows = this.run.rows[place.by];
        this.frame = frameOf(width, rows.length, this.rasters, spot);
        const key = [width, window.devicePixelRatio, place.by, spot.from, spot.to, this.paints.page].join();
        if (key !== this.drawn) this.drawStates(rows, spot);
        this.drawn = key;
        this.drawAbove(rows, place, spot);
        this.drawTop(place, spot);
    }

    /** The axis, with what of the cursor and the launches is at its height. @param {Place} place @param {Spot} spot */
    drawTop(place, spot) {
        const { frame, paints } = this;
        const context = sizeCanvas(this.axis, frame.width, AXIS - 1);
        context.fillStyle = paints.page;
        context.fillRect(0, 0, frame.width, AXIS);
        context.fillStyle = paints.soft;
        context.font = "10px system-ui, sans-serif";
        context.textBaseline = "middle";
        context.textAlign = "right";
        context.fillText(frame.left < 50 ? place.by.slice(0, 5) : place.by === "block" ? "block·warp" : "scheduler", frame.left - 4, CYCLES);
        context.save();
        context.beginPath();
        context.rect(frame.left, 0, frame.width, AXIS);
        context.clip();
        drawAxis(context, frame, paints);
        this.drawLaunches(context);
        this.drawCycle(context, spot);
        context.restore();
    }

    /** @param {Row[]} rows @param {Spot} spot */
    drawStates(rows, spot) {
        const { frame, paints } = this;
        const context = sizeCanvas(this.below, frame.width, frame.height);
        context.fillStyle = paints.page;
        context.fillRect(0, 0, frame.width, frame.height);
        drawAxis(context, frame, paints);
        const ratio = window.devicePixelRatio || 1;
        if (frame.scale < 1) {
            const width = Math.max(1, Math.round((frame.width - frame.left) * ratio));
            const columns = new Columns(this.run, paints, width, Math.round(frame.rowHeight * ratio));
            rows.forEach((row, i) => columns.draw(context, row, spot, Math.round(frame.left * ratio), Math.round((AXIS + i * frame.rowHeight) * ratio)));
            return;
        }
        context.save();
        context.beginPath();
        context.rect(frame.left, 0, frame.width, frame.height);
        context.clip();
        rows.forEach((row, i) => drawCells(context, this.run, row, frame, AXIS + i * frame.rowHeight, paints));
        context.restore();
    }

    /** @param {Row[]} rows @param {Place} place @param {Spot} spot */
    drawAbove(rows, place, spot) {
        const { frame } = this;
        const context = sizeCanvas(this.above, frame.width, frame.height);
        context.clearRect(0, 0, frame.width, frame.height);
        context.save();
        context.beginPath();
        context.rect(frame.left, 0, frame.width, frame.height);
        context.clip();
        this.drawLaunches(context);
        this.drawMarked(context, rows, place);
        this.drawCursor(context, place, spot);
        context.restore();
        this.drawLabels(context, rows, place, spot);
    }

    /** @param {CanvasRenderingContext2D} context */
    drawLaunches(context) {
        const { frame, paints, run } = this;
        context.font = "600 11px system-ui, sans-serif";
        context.textBaseline = "middle";
        context.fillStyle = paints.ink;
        run.launches.forEach((launch, i) => {
            if (launch.to <= frame.from || launch.from >= frame.to) return;
            const starts = launch.from >= frame.from;
            const x = Math.max(xOf(frame, launch.from), frame.left);
            const end = i + 1 < run.launches.length ? xOf(frame, run.launches[i + 1].from) : frame.width;
            if (starts) context.fillRect(x, 0, 1.5, frame.height);
            const name = `${i}: ${run.kernels[launch.kernel].name}`;
            if (context.measureText(name).width + 8 < end - x) context.fillText(name, x + 4, LAUNCHES);
        });
    }

    /** @param {CanvasRenderingContext2D} context @param {Row[]} rows @param {Place} place */
    drawMarked(context, rows, place) {
        const { marked } = place;
        const file = marked ? this.run.files.findIndex(({ name }) => name === marked.name) : -1;
        if (!marked || file < 0) return;
        /** @type {Map<number, Uint8Array>} */
        const known = new Map();
        const chosen = (/** @type {Track} */ track) => {
            const pcs = known.get(track.launch) || pcsOfLine(this.run, track.launch, file, marked.line);
            known.set(track.launch, pcs);
            return pcs;
        };
        // What is not marked steps back.
        context.globalAlpha = 0.6;
        context.fillStyle = this.paints.page;
        context.fillRect(this.frame.left, AXIS, this.frame.width, this.frame.height);
        context.globalAlpha = 1;
        rows.forEach((row, i) => drawMarks(context, row, this.frame, AXIS + i * this.frame.rowHeight, this.paints, chosen));
    }

    /** @param {CanvasRenderingContext2D} context @param {Place} place @param {Spot} spot */
    drawCursor(context, place, spot) {
        this.drawCycle(context, spot);
        if (spot.track < 0) return;
        const { frame } = this;
        const y = AXIS + this.run.rowOf[place.by][spot.track] * frame.rowHeight;
        context.strokeRect(frame.left - 1, y - 1, frame.width - frame.left, frame.rowHeight + 1);
    }

    /** @param {CanvasRenderingContext2D} context @param {Spot} spot */
    drawCycle(context, spot) {
        const { frame, paints } = this;
        const x = xOf(frame, spot.cycle);
        const width = Math.max(frame.scale, 1.5);
        context.strokeStyle = paints.ink;
        context.lineWidth = 1.5;
        if (frame.scale >= 4) context.strokeRect(x, 1, width, frame.height - 2);
        else {
            context.fillStyle = paints.ink;
            context.fillRect(x + frame.scale / 2 - 0.75, 0, 1.5, frame.height);
        }
    }

    /** @param {CanvasRenderingContext2D} context @param {Row[]} rows @param {Place} place @param {Spot} spot */
    drawLabels(context, rows, place, spot) {
        const { frame, paints } = this;
        context.font = "10px system-ui, sans-serif";
        context.textBaseline = "middle";
        context.textAlign = "right";
        rows.forEach((row, i) => {
            const y = AXIS + i * frame.rowHeight;
            if (row.first) {
                context.fillStyle = paints.soft;
                context.fillRect(0, y - 1, frame.width, 1);
            }
            const track = trackInRow(row, spot.cycle);
            const chosen = track.index === spot.track;
            if (frame.rowHeight < 11 && !row.first && !chosen) return;
            context.fillStyle = chosen ? paints.ink : paints.soft;
            context.font = `${chosen ? "700 " : ""}10px system-ui, sans-serif`;
            const group = place.by === "scheduler" && row.first ? `${row.group}: ` : "";
            context.fillText(group + shortName(track, spot.cycle), frame.left - 4, y + frame.rowHeight / 2, frame.left - 5);
        });
        context.textAlign = "left";
    }

    /** Scrolls so that a row is in sight. @param {number} row */
    scrollTo(row) {
        const { box, frame } = this;
        const y = row * frame.rowHeight;
        const room = box.clientHeight - AXIS - frame.rowHeight;
        box.scrollTop = clamp(box.scrollTop, y - room, y);
    }

    /** Cycle and track under a point; the track is -1 on the axis. @param {number} x @param {number} y @param {Grouping} by */
    under(x, y, by) {
        const rows = this.run.rows[by];
        const cycle = Math.floor(cycleAt(this.frame, Math.max(x, this.frame.left)));
        if (y - this.box.scrollTop < AXIS) return { cycle, track: -1 };
        const row = rows[clamp(Math.floor((y - AXIS) / this.frame.rowHeight), 0, rows.length - 1)];
        return { cycle, track: row ? trackInRow(row, cycle).index : 0 };
    }
}
