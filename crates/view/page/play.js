// Playing: while the place says so, the cursor goes on by itself.

class Player {
    /** @param {Stage} stage */
    constructor(stage) {
        this.stage = stage;
        this.going = false;
        this.time = 0;
        this.owed = 0;
    }

    /** Starts or stops to fit the place. @param {Place} place */
    heed(place) {
        if (place.playing && !this.going) {
            this.going = true;
            this.time = performance.now();
            this.owed = 0;
            requestAnimationFrame((now) => this.tick(now));
        }
    }

    /** @param {number} now */
    tick(now) {
        const { place, run } = this.stage;
        this.going = place.playing;
        if (!place.playing) return;
        this.owed += Math.min((now - this.time) / 1000, 0.25) * place.speed;
        this.time = now;
        const cycles = Math.floor(this.owed);
        this.owed -= cycles;
        const last = run.to - 1;
        if (cycles) this.stage.change({ cycle: Math.min(place.cycle + cycles, last), playing: place.cycle + cycles < last });
        requestAnimationFrame((next) => this.tick(next));
    }
}
