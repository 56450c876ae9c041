// The palette's colours as the page has them now, for canvases. Read again when light turns to dark.

/** @param {string} name */
function cssColour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#888888";
}

/** A colour as a pixel of an image: bytes red, green, blue, alpha. @param {string} colour */
function pixelOf(colour) {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    if (!context) return 0xff888888;
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Black or white, whichever reads better on a colour. @param {string} colour */
function inkOn(colour) {
    const pixel = pixelOf(colour);
    const light = 0.3 * (pixel & 255) + 0.59 * ((pixel >> 8) & 255) + 0.11 * ((pixel >> 16) & 255);
    return light > 140 ? "#10141c" : "#ffffff";
}

/** States that share a colour with an earlier one are hatched. @param {Run} run @param {number} code */
function isHatched(run, code) {
    return run.states.findIndex((state) => state.colour === run.states[code].colour) < code;
}

/** @param {string} colour @param {string} line @returns {CanvasPattern | string} */
function hatch(colour, line) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const context = tile.getContext("2d");
    if (!context) return colour;
    context.fillStyle = colour;
    context.fillRect(0, 0, 6, 6);
    context.strokeStyle = line;
    context.lineWidth = 1.4;
    context.beginPath();
    for (const x of [-6, 0, 6]) {
        context.moveTo(x - 1, 7);
        context.lineTo(x + 7, -1);
    }
    context.stroke();
    return context.createPattern(tile, "repeat") || colour;
}

/** @typedef {ReturnType<typeof readPaints>} Paints */
/** @param {Run} run */
function readPaints(run) {
    const colours = run.states.map((state) => cssColour(state.colour));
    const page = cssColour("page");
    return {
        page, ink: cssColour("ink"), soft: cssColour("soft"), faint: cssColour("faint"), bad: cssColour("bad"),
        accent: cssColour("c0"),
        fills: colours.map((colour, code) => (isHatched(run, code) ? hatch(colour, page) : colour)),
        inks: colours.map(inkOn),
        pixels: Uint32Array.from(colours, pixelOf),
        gap: pixelOf(page),
    };
}
