// Wheel, drag, pinch and click on rasters and maps: all of them only ask the stage to move.

/** @param {Stage} stage @param {Raster} raster */
function rasterPointer(stage, raster) {
    const canvas = raster.above;
    /** @type {Map<number, { x: number, y: number }>} */
    const fingers = new Map();
    let start = { x: 0, y: 0, from: 0, span: 0, distance: 0, top: 0 };
    let dragged = false;
    // The other run may be shifted against the place that moves.
    const shift = () => spotIn(stage.runs, stage.place, raster.run.index).from - stage.place.from;
    const middle = () => {
        const all = [...fingers.values()];
        const x = all.reduce((sum, finger) => sum + finger.x, 0) / all.length;
        const distance = all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0;
        // Rows scroll under the pointer.
        return { x, y: all[0].y - raster.box.scrollTop, distance };
    };
    const begin = () => {
        const { x, y, distance } = middle();
        start = { x, y, from: stage.place.from, span: stage.place.to - stage.place.from, distance, top: raster.box.scrollTop };
    };
    canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        canvas.setPointerCapture(event.pointerId);
        if (!fingers.size) dragged = false;
        fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        begin();
    });
    canvas.addEventListener("pointermove", (event) => {
        if (!fingers.has(event.pointerId)) return;
        fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        const now = middle();
        if (!dragged && fingers.size === 1 && Math.hypot(now.x - start.x, now.y - start.y) < 5) return;
        dragged = true;
        // Fingers that go up and down scroll by themselves.
        if (event.pointerType === "mouse") raster.box.scrollTop = start.top + start.y - now.y;
        const width = raster.frame.width - raster.frame.left;
        const span = start.distance ? clamp(start.span * start.distance / Math.max(now.distance, 1), FEWEST_CYCLES, Infinity) : start.span;
        // The cycle that was under the fingers stays under them.
        const held = start.from + (start.x - raster.frame.left) / width * start.span;
        const from = held - (now.x - raster.frame.left) / width * span;
        stage.change({ from, to: from + span });
    });
    canvas.addEventListener("pointerup", (event) => {
        const clicked = fingers.delete(event.pointerId) && !dragged;
        if (fingers.size) begin();
        if (!clicked) return;
        const { cycle, track } = raster.under(event.offsetX, event.offsetY, stage.place.by);
        const { run, from, to, track: chosen } = focusRun(stage.runs, stage.place, raster.run.index);
        stage.change({ run, from, to, cycle, track: track < 0 ? chosen : track, playing: false });
    });
    canvas.addEventListener("pointercancel", (event) => {
        fingers.delete(event.pointerId);
        if (fingers.size) begin();
    });
    canvas.addEventListener("wheel", (event) => {
        const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        const step = (sideways && event.deltaX) || event.deltaY;
        const pixels = event.deltaMode === 1 ? step * 16 : step;
        const [first, end] = recorded(stage.runs);
        // When everything is in sight already, the wheel scrolls the page.
        if (!sideways && pixels > 0 && stage.place.to - stage.place.from >= end - first) return;
        event.preventDefault();
        if (sideways) stage.pan(pixels / raster.frame.scale);
        else stage.zoom(Math.exp(clamp(pixels, -300, 300) * 0.002), cycleAt(raster.frame, Math.max(event.offsetX, raster.frame.left)) - shift());
    }, { passive: false });
}

/** @param {Stage} stage @param {IssueMap} map */
function mapPointer(stage, map) {
    const { canvas } = map;
    let held = -1;
    const move = (/** @type {PointerEvent} */ event) => {
        const { from, to } = stage.place;
        const spot = spotIn(stage.runs, stage.place, map.run.index);
        const at = map.cycleAt(event.offsetX) - held - (spot.from - from);
        stage.change({ from: at, to: at + (to - from) });
    };
    canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        canvas.setPointerCapture(event.pointerId);
        const spot = spotIn(stage.runs, stage.place, map.run.index);
        const at = map.cycleAt(event.offsetX);
        // What is in sight is dragged by the point at which it was taken; elsewhere it jumps there.
        const inside = at >= spot.from && at < spot.to;
        held = inside ? at - spot.from : (spot.to - spot.from) / 2;
        move(event);
    });
    canvas.addEventListener("pointermove", (event) => {
        if (canvas.hasPointerCapture(event.pointerId)) move(event);
    });
}
