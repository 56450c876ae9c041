// The source panel: a tab per file, and of the chosen file the lines that are in sight, each with its shares.

const LINE_HEIGHT = 18;

class SourceView {
    /** @param {Stage} stage @param {HTMLElement} tabs @param {HTMLElement} box @param {HTMLElement} note */
    constructor(stage, tabs, box, note) {
        this.stage = stage;
        this.tabs = tabs;
        this.box = box;
        this.note = note;
        this.body = element("div", { class: "lines" });
        box.append(this.body);
        /** @type {string[]} */
        this.lines = [];
        this.shown = "";
        this.active = 1;
        this.followed = "";
        this.time = this.issues = new Float64Array(1);
        this.totals = { time: 1, issues: 1, most: 1 };
        this.last = this.next = 0;
        this.timer = 0;
        this.ranged = "";
        box.addEventListener("scroll", () => requestAnimationFrame(() => this.drawLines()));
        box.addEventListener("click", (event) => this.clicked(event));
        box.addEventListener("keydown", (event) => this.pressed(event));
        tabs.addEventListener("click", (event) => {
            const tab = event.target instanceof Element ? event.target.closest("[data-file]") : null;
            if (tab instanceof HTMLElement) stage.change({ file: Number(tab.dataset.file) });
        });
        tabs.addEventListener("keydown", (event) => this.turned(event));
    }

    /** @param {Place} place @param {Look} look */
    draw(place, look) {
        const { run } = this.stage;
        if (!run.files.length) return;
        const shown = `${run.index} ${place.file}`;
        if (shown !== this.shown) this.openFile(run, place.file, shown);
        const { last, next, state } = look.warp;
        this.last = last ? lineIn(last, place.file) : 0;
        this.next = next ? lineIn(next, place.file) : 0;
        const now = state !== null && run.states[run.issued] && state === run.states[run.issued].name ? this.last : this.next || this.last;
        const followed = `${shown} ${place.cycle} ${place.track}`;
        if (followed !== this.followed && now) this.scrollTo(now);
        this.followed = followed;
        this.countLater(run, place);
        this.drawLines();
        this.drawMarked();
    }

    /** What of the marked line is in sight, if it is of the open file. */
    drawMarked() {
        const { marked, file } = this.stage.place;
        const shown = marked !== null && marked.file === file;
        byId("marked").hidden = !shown;
        if (!shown) return;
        const issues = this.issues[marked.line] || 0;
        const words = `Line ${marked.line} is marked: ${issues ? counted(issues, "issue") : "no issue"} in the visible cycles.`;
        if (byId("marked-words").textContent !== words) byId("marked-words").textContent = words;
    }

    /** @param {Run} run @param {number} file @param {string} shown */
    openFile(run, file, shown) {
        this.shown = shown;
        this.lines = textOf(run, file);
        this.ranged = "";
        this.time = this.issues = new Float64Array(this.lines.length + 1);
        this.active = 1;
        this.body.style.height = `${this.lines.length * LINE_HEIGHT}px`;
        this.box.scrollTop = 0;
        const held = this.tabs.contains(document.activeElement);
        this.tabs.replaceChildren(...run.files.map((source, i) => element("button", {
            type: "button", role: "tab", "data-file": i, id: `tab-${i}`, "aria-selected": i === file ? "true" : "false",
            "aria-controls": "lines", tabindex: i === file ? 0 : -1, title: source.name,
        }, source.name.replace(/^.*\//, ""))));
        if (held) byId(`tab-${file}`).focus();
        this.box.setAttribute("aria-labelledby", `tab-${file}`);
        this.note.textContent = run.files[file].text === null ? `The text of ${run.files[file].name} is not to be had; its lines are here by number.` : "";
    }

    /** Shares are counted when the visible cycles have come to rest. @param {Run} run @param {Place} place */
    countLater(run, place) {
        const ranged = `${this.shown} ${place.from} ${place.to}`;
        if (ranged === this.ranged) return;
        this.ranged = ranged;
        window.clearTimeout(this.timer);
        this.timer = window.setTimeout(() => {
            const shares = sharesOf(run, place.from, place.to);
            this.time = sumByLine(run, place.file, shares.time, this.lines.length);
            this.issues = sumByLine(run, place.file, shares.issues, this.lines.length);
            this.totals = { time: Math.max(shares.allTime, 1), issues: Math.max(shares.allIssues, 1), most: Math.max(...this.time, 1) };
            this.drawLines();
            this.drawMarked();
        }, 120);
    }

    drawLines() {
        const first = Math.max(0, Math.floor(this.box.scrollTop / LINE_HEIGHT) - 4);
        const count = Math.ceil(this.box.clientHeight / LINE_HEIGHT) + 8;
        const rows = this.lines.slice(first, first + count).map((text, i) => this.lineRow(first + i + 1, text));
        this.body.replaceChildren(...rows);
        const active = document.getElementById(`line-${this.active}`);
        if (active) this.box.setAttribute("aria-activedescendant", active.id);
        else this.box.removeAttribute("aria-activedescendant");
    }

    /** @param {number} line @param {string} text */
    lineRow(line, text) {
        const chosen = this.isMarked(line);
        const time = this.time[line] / this.totals.time * 100;
        const issues = this.issues[line] / this.totals.issues * 100;
        const share = (/** @type {number} */ value) => (value > 0 ? (value < 9.95 ? value.toFixed(1) : value.toFixed(0)) : "");
        const sign = line === this.last ? "●" : line === this.next ? "▷" : "";
        const kinds = ["source-line", chosen ? "marked" : "", line === this.last ? "last" : "", line === this.next ? "next" : "", line === this.active ? "active" : ""];
        return element("div", {
            class: kinds.filter(Boolean).join(" "), id: `line-${line}`, role: "option", "data-line": line, "aria-selected": chosen ? "true" : "false",
            style: `top:${(line - 1) * LINE_HEIGHT}px;--share:${(this.time[line] / this.totals.most).toFixed(3)}`,
            "aria-label": `line ${line}: ${text.trim()}${time > 0 ? `, ${share(time)} percent of time, ${share(issues) || 0} percent of issues` : ""}`,
        }, element("span", { class: "sign" }, sign), element("span", { class: "number" }, String(line)),
        element("span", { class: "share time" }, share(time)), element("span", { class: "share" }, share(issues)), element("code", {}, text || " "));
    }

    /** @param {number} line */
    scrollTo(line) {
        const top = (line - 1) * LINE_HEIGHT;
        const { scrollTop, clientHeight } = this.box;
        if (top < scrollTop || top + LINE_HEIGHT > scrollTop + clientHeight) this.box.scrollTop = Math.max(0, top - clientHeight / 3);
    }

    /** @param {number} line */
    isMarked(line) {
        const { marked, file } = this.stage.place;
        return marked !== null && marked.file === file && marked.line === line;
    }

    /** Marks the line's issues in the raster, or takes the marks away. @param {number} line */
    mark(line) {
        const { file } = this.stage.place;
        this.active = line;
        this.stage.change({ marked: this.isMarked(line) ? null : markOf(this.stage.run, file, line) });
    }

    /** @param {MouseEvent} event */
    clicked(event) {
        const row = event.target instanceof Element ? event.target.closest("[data-line]") : null;
        if (row instanceof HTMLElement) this.mark(Number(row.dataset.line));
    }

    /** @param {KeyboardEvent} event */
    pressed(event) {
        const page = Math.max(1, Math.floor(this.box.clientHeight / LINE_HEIGHT) - 1);
        /** @type {Record<string, number>} */
        const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
        if (event.key in steps) {
            this.active = clamp(this.active + steps[event.key], 1, this.lines.length);
            this.scrollTo(this.active);
            this.drawLines();
        } else if (event.key === "Enter" || event.key === " ") this.mark(this.active);
        else return;
        event.preventDefault();
    }

    /** @param {KeyboardEvent} event */
    turned(event) {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (!step) return;
        event.preventDefault();
        const count = this.stage.run.files.length;
        const file = (this.stage.place.file + step + count) % count;
        this.stage.change({ file });
    }
}
