// Rows of a raster in which many cycles fall into one pixel: the state with the most cycles gives the colour,
// and a bar from below says how many of the cycles had an issue. One issue is seen too.

class Columns {
    /** @param {Run} run @param {Paints} paints @param {number} width @param {number} height of a row, device pixels */
    constructor(run, paints, width, height) {
        this.run = run;
        this.paints = paints;
        this.width = width;
        this.height = height;
        this.kinds = run.states.length;
        this.time = new Float32Array(width * this.kinds);
        this.image = new ImageData(width, height);
        this.pixels = new Uint32Array(this.image.data.buffer);
    }

    /** Cycles of each state in each column. @param {Row} row @param {Spot} spot */
    gather(row, spot) {
        this.time.fill(0);
        const scale = this.width / (spot.to - spot.from);
        for (const track of row.tracks) {
            if (track.to <= spot.from || track.from >= spot.to) continue;
            const { at, columns: [codes], count } = track.states;
            for (let i = Math.max(0, lastAt(at, spot.from)); i < count && at[i] < spot.to; i++) {
                const end = i + 1 < count ? at[i + 1] : track.to;
                this.add(codes[i], (at[i] - spot.from) * scale, (Math.min(end, spot.to) - spot.from) * scale);
            }
        }
    }

    /** @param {number} code @param {number} from @param {number} to in columns */
    add(code, from, to) {
        if (from < 0) from = 0;
        let column = from | 0;
        if (to <= column + 1) {
            if (column < this.width) this.time[column * this.kinds + code] += to - from;
            return;
        }
        this.time[column * this.kinds + code] += column + 1 - from;
        const last = Math.min(to | 0, this.width);
        for (column++; column < last; column++) this.time[column * this.kinds + code] += 1;
        if (column < this.width) this.time[column * this.kinds + code] += to - column;
    }

    /** The state that fills most of a column, issues apart; -1: no warp was there. @param {number} column */
    dominating(column) {
        let best = -1;
        let most = 0;
        for (let code = 0, p = column * this.kinds; code < this.kinds; code++, p++) {
            if (code !== this.run.issued && this.time[p] > most) {
                most = this.time[p];
                best = code;
            }
        }
        return best;
    }

    /** @param {CanvasRenderingContext2D} context @param {Row} row @param {Spot} spot @param {number} x @param {number} y device pixels */
    draw(context, row, spot, x, y) {
        this.gather(row, spot);
        const { pixels, width, height } = this;
        const { pixels: colours, gap } = this.paints;
        const body = height - 1;
        for (let column = 0; column < width; column++) {
            const state = this.dominating(column);
            const issued = this.run.issued < 0 ? 0 : this.time[column * this.kinds + this.run.issued];
            const bar = issued > 0 ? Math.min(body, Math.max(body * 0.25, body * issued)) : 0;
            const upper = Math.round(body - bar);
            const above = state < 0 ? gap : colours[state];
            let p = column;
            for (let line = 0; line < upper; line++, p += width) pixels[p] = above;
            for (let line = upper; line < body; line++, p += width) pixels[p] = colours[this.run.issued];
            pixels[p] = gap;
        }
        context.putImageData(this.image, x, y);
    }
}
