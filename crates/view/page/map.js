// The whole run above its raster: how many instructions were issued when, what is recorded, what is in sight.

const MAP_HEIGHT = 46;

class IssueMap {
    /** @param {Run} run @param {Run[]} runs which have one scale @param {HTMLCanvasElement} canvas */
    constructor(run, runs, canvas) {
        this.run = run;
        this.length = Math.max(...runs.map(({ whole, to }) => Math.max(whole, to)), 1);
        this.canvas = canvas;
        this.paints = readPaints(run);
        this.left = 62;
        this.scale = 1;
    }

    /** @param {number} cycle */
    x(cycle) {
        return this.left + cycle * this.scale;
    }

    /** @param {number} x */
    cycleAt(x) {
        return (x - this.left) / this.scale;
    }

    /** @param {Spot} spot */
    draw(spot) {
        const width = this.canvas.clientWidth;
        if (!width) return;
        const { run, paints } = this;
        this.left = width < 600 ? 44 : 62;
        this.scale = (width - this.left) / this.length;
        const context = sizeCanvas(this.canvas, width, MAP_HEIGHT);
        context.fillStyle = paints.page;
        context.fillRect(0, 0, width, MAP_HEIGHT);
        context.fillStyle = paints.faint;
        context.fillRect(this.x(run.from), 0, Math.max((run.to - run.from) * this.scale, 1), MAP_HEIGHT);
        this.drawRates(context, width);
        this.drawLaunches(context);
        this.drawSight(context, spot);
        this.drawLabels(context, width);
    }

    /** @param {CanvasRenderingContext2D} context @param {number} width */
    drawRates(context, width) {
        const { every, issued } = this.run.map;
        const most = Math.max(this.run.schedulers * every, 1);
        context.fillStyle = this.run.issued < 0 ? this.paints.accent : cssColour(this.run.states[this.run.issued].colour);
        const rates = new Float64Array(Math.ceil(width) + 1);
        // Of several stretches in one pixel the busiest is shown.
        issued.forEach((count, i) => {
            const from = Math.floor(this.x(i * every));
            const to = Math.max(Math.floor(this.x((i + 1) * every)), from + 1);
            for (let x = from; x < to && x < rates.length; x++) rates[x] = Math.max(rates[x], count / most);
        });
        const base = MAP_HEIGHT - 2;
        rates.forEach((rate, x) => {
            if (rate > 0) context.fillRect(x, base - Math.max(rate * (base - 4), 1), 1, Math.max(rate * (base - 4), 1));
        });
    }

    /** @param {CanvasRenderingContext2D} context */
    drawLaunches(context) {
        context.fillStyle = this.paints.soft;
        for (const launch of this.run.launches) context.fillRect(this.x(launch.from), 0, 1, MAP_HEIGHT);
    }

    /** @param {CanvasRenderingContext2D} context @param {Spot} spot */
    drawSight(context, spot) {
        const x = this.x(spot.from);
        const width = Math.max((spot.to - spot.from) * this.scale, 4);
        context.globalAlpha = 0.16;
        context.fillStyle = this.paints.ink;
        context.fillRect(x, 0, width, MAP_HEIGHT);
        context.globalAlpha = 1;
        context.strokeStyle = this.paints.ink;
        context.lineWidth = 1.5;
        context.strokeRect(x, 1, width, MAP_HEIGHT - 2);
        context.fillStyle = this.paints.bad;
        context.fillRect(this.x(spot.cycle), 0, 1.5, MAP_HEIGHT);
    }

    /** @param {CanvasRenderingContext2D} context @param {number} width */
    drawLabels(context, width) {
        context.fillStyle = this.paints.page;
        context.fillRect(0, 0, this.left, MAP_HEIGHT);
        context.font = "10px system-ui, sans-serif";
        context.textBaseline = "middle";
        context.textAlign = "right";
        context.fillStyle = this.paints.soft;
        const words = width < 600 ? ["whole", "run"] : ["whole run,", "issue rate"];
        context.fillText(words[0], this.left - 4, MAP_HEIGHT / 2 - 7);
        context.fillText(words[1], this.left - 4, MAP_HEIGHT / 2 + 7);
        context.textAlign = "left";
    }
}
