// Rows of a raster in which a cycle takes a pixel or more: a cell per cycle, with the instruction where there is room.

const TEXT_FROM = 26;

/** @param {CanvasRenderingContext2D} context @param {Run} run @param {Row} row @param {Frame} frame @param {number} y @param {Paints} paints */
function drawCells(context, run, row, frame, y, paints) {
    const height = frame.rowHeight - 1;
    // Cells get a gap between them where that costs little of them.
    const gap = frame.scale >= 6 ? 1 : 0;
    for (const track of row.tracks) {
        if (track.to <= frame.from || track.from >= frame.to) continue;
        drawStates(context, track, frame, y, height, gap, paints);
        if (frame.scale >= TEXT_FROM) drawTexts(context, run, track, frame, y, paints);
    }
}

/** @param {CanvasRenderingContext2D} context @param {Track} track @param {Frame} frame @param {number} y @param {number} height @param {number} gap @param {Paints} paints */
function drawStates(context, track, frame, y, height, gap, paints) {
    const { at, columns: [codes], count } = track.states;
    for (let i = Math.max(0, lastAt(at, frame.from)); i < count && at[i] < frame.to; i++) {
        const end = Math.min(i + 1 < count ? at[i + 1] : track.to, Math.ceil(frame.to));
        context.fillStyle = paints.fills[codes[i]];
        const from = Math.max(at[i], Math.floor(frame.from));
        if (gap) {
            for (let cycle = from; cycle < end; cycle++) drawCell(context, frame, cycle, cycle + 1, y, height, gap);
        } else {
            drawCell(context, frame, from, end, y, height, 0);
        }
    }
}

/** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {number} from @param {number} to @param {number} y @param {number} height @param {number} gap */
function drawCell(context, frame, from, to, y, height, gap) {
    const x = sharpX(frame, from);
    context.fillRect(x, y, sharpX(frame, to) - x - gap, height);
}

/** @param {CanvasRenderingContext2D} context @param {Run} run @param {Track} track @param {Frame} frame @param {number} y @param {Paints} paints */
function drawTexts(context, run, track, frame, y, paints) {
    const { code } = kernelOf(run, track);
    const { at, columns: [pcs], count } = track.issues;
    context.font = `${Math.min(10, frame.rowHeight - 1)}px ui-monospace, Menlo, Consolas, monospace`;
    context.textBaseline = "middle";
    context.fillStyle = run.issued < 0 ? paints.ink : paints.inks[run.issued];
    const room = Math.floor((frame.scale - 5) / 6.1);
    for (let i = Math.max(0, lastAt(at, frame.from)); i < count && at[i] < frame.to; i++) {
        const x = Math.max(xOf(frame, at[i]), frame.left) + 2;
        const left = Math.floor((xOf(frame, at[i] + 1) - x - 3) / 6.1);
        context.fillText(shortened(code[pcs[i]].text, Math.min(room, left)), x, y + frame.rowHeight / 2);
    }
}

/** What of an instruction has room; of a few characters the operation is most. @param {string} text @param {number} room in characters */
function shortened(text, room) {
    if (room < 2) return "";
    if (room < 8) return text.replace(/^@\S+ /, "").split(/[. ]/)[0].slice(0, room);
    return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

/** Marks the issues of chosen instructions: a frame where cells are wide, a tick from above where they are narrow.
 *  @param {CanvasRenderingContext2D} context @param {Row} row @param {Frame} frame @param {number} y @param {Paints} paints
 *  @param {(track: Track) => Uint8Array} chosen by pc */
function drawMarks(context, row, frame, y, paints, chosen) {
    const wide = frame.scale >= 5;
    context.strokeStyle = context.fillStyle = paints.ink;
    context.lineWidth = 2;
    let last = -Infinity;
    for (const track of row.tracks) {
        if (track.to <= frame.from || track.from >= frame.to) continue;
        const pcs = chosen(track);
        const { at, columns: [its], count } = track.issues;
        for (let i = Math.max(0, lastAt(at, frame.from)); i < count && at[i] < frame.to; i++) {
            if (!pcs[its[i]] || at[i] < frame.from - 1) continue;
            const x = Math.max(xOf(frame, at[i]), frame.left);
            if (wide) context.strokeRect(x + 1, y + 1, Math.max(frame.scale - 3, 2), frame.rowHeight - 3);
            else if (x - last >= 1) {
                context.fillRect(x, y, Math.max(frame.scale, 1.5), frame.rowHeight * 0.55);
                last = x;
            }
        }
    }
}
