// How cycles and rows lie on a canvas.

/** Above the rows: a line for launches, a line for cycles. */
const AXIS = 32;
const LAUNCHES = 8;
const CYCLES = 23;

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height in CSS pixels
 *  @returns {CanvasRenderingContext2D} with CSS pixels as its unit */
function sizeCanvas(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.height = `${height}px`;
    }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}

/** Low rows for many warps, high ones for few; lower ones where two rasters share the screen.
 *  @param {number} rows @param {number} rasters */
function rowHeight(rows, rasters) {
    if (rows <= 16) return 18;
    return rows > 64 || (rasters > 1 && rows > 32) ? 9 : rasters > 1 ? 12 : 14;
}

/** @param {number} width @param {number} rows @param {number} rasters @param {Spot} spot @returns {Frame} */
function frameOf(width, rows, rasters, spot) {
    const left = width < 600 ? 44 : 62;
    const high = rowHeight(rows, rasters);
    const { from, to } = spot;
    return { left, width, height: AXIS + rows * high, rowHeight: high, from, to, scale: (width - left) / (to - from) };
}

/** @param {Frame} frame @param {number} cycle */
function xOf(frame, cycle) {
    return frame.left + (cycle - frame.from) * frame.scale;
}

/** The same on a whole device pixel: edges of cells are sharp. @param {Frame} frame @param {number} cycle */
function sharpX(frame, cycle) {
    const ratio = window.devicePixelRatio || 1;
    return Math.round(xOf(frame, cycle) * ratio) / ratio;
}

/** @param {Frame} frame @param {number} x */
function cycleAt(frame, x) {
    return frame.from + (x - frame.left) / frame.scale;
}

/** A round number of cycles whose marks stand at least `apart` pixels from each other.
 *  @param {number} scale @param {number} apart */
function tickStep(scale, apart) {
    const least = Math.max(apart / scale, 1);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
    return step || 10 * power;
}

/** @param {number} value */
function grouped(value) {
    return Math.round(value).toLocaleString("en-US");
}

/** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Paints} paints */
function drawAxis(context, frame, paints) {
    const step = tickStep(frame.scale, 80);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (let cycle = Math.ceil(frame.from / step) * step; cycle < frame.to; cycle += step) {
        const x = xOf(frame, cycle);
        context.fillStyle = paints.faint;
        context.fillRect(x, CYCLES - 7, 1, frame.height);
        context.fillStyle = paints.soft;
        const text = grouped(cycle);
        if (x + 3 + context.measureText(text).width <= frame.width) context.fillText(text, x + 3, CYCLES);
    }
}
