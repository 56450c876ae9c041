// The panel: what `lookAt` says of the cursor's cycle and warp, in words.

/** @param {HTMLElement} host @param {Run} run @param {Look} look @param {HTMLElement | null} other @param {boolean} playing */
function drawPanel(host, run, look, other, playing) {
    host.setAttribute("aria-live", playing ? "off" : "polite");
    showPart(host, cyclePart(run, look));
    showPart(host, warpPart(run, look));
    if (other) showPart(host, other);
    showPart(host, schedulersPart(run, look));
    if (look.gates.length) showPart(host, gatesPart(look));
}

/** @param {Run} run @param {Look} look */
function cyclePart(run, look) {
    const where = look.launch ? `launch ${look.launch.index}: ${look.launch.kernel}` : "between launches";
    const known = run.states.map((state, code) => ({ code, count: look.states[state.name] || 0 }))
        .filter(({ code, count }) => count && code !== run.absent);
    const all = known.reduce((sum, { count }) => sum + count, 0);
    return element("section", { id: "part-cycle" },
        element("h2", {}, `Cycle ${grouped(look.cycle)}`),
        element("p", { class: "soft" }, `${where}; ${counted(all, "warp")} on SM ${run.sm}`),
        element("div", { class: "bar", "aria-hidden": "true" }, ...known.map(({ code, count }) =>
            element("span", { style: `--colour:var(--${run.states[code].colour});flex:${count}` }))));
}

/** @param {Run} run @param {Look} look */
function schedulersPart(run, look) {
    return element("section", { id: "part-schedulers" }, ...look.schedulers.map((scheduler, i) => element("div", { class: "scheduler" },
        element("h3", {}, `Scheduler ${i}`),
        issuedLine(run, look, scheduler, i),
        element("ul", { class: "waits" },
            stateLine(run, look, `s${i}`, "ready", run.eligible, "ready", scheduler.ready),
            ...run.states.map((state, code) => {
                const tracks = scheduler.waiting[state.name];
                return tracks ? stateLine(run, look, `s${i}`, state.name, code, state.title, tracks) : null;
            })))));
}

/** @param {Run} run @param {Look} look @param {SchedulerLook} scheduler @param {number} i */
function issuedLine(run, look, scheduler, i) {
    if (!scheduler.issued) return element("p", {}, "issues nothing");
    const { track, pc } = scheduler.issued;
    return element("p", {}, "issues ", warpButton(run, track, look.cycle, look.warp.track, `issued ${i}`), " ",
        element("code", {}, kernelOf(run, run.tracks[track]).code[pc].text));
}

/** @param {Run} run @param {Look} look @param {string} where @param {string} name @param {number} code @param {string} title @param {number[]} tracks */
function stateLine(run, look, where, name, code, title, tracks) {
    const warps = tracks.map((track) => warpButton(run, track, look.cycle, look.warp.track, `${where} ${name}`));
    return element("li", {}, element("span", { class: "state" }, code < 0 ? null : swatch(run, code), `${title}: ${tracks.length}`),
        tracks.length ? element("span", { class: "warps" }, ...warps) : null);
}

/** @param {Look} look */
function gatesPart(look) {
    const words = ["on", "off", "waking"];
    return element("section", { id: "part-gates" }, element("h3", {}, "Power gates of lanes"),
        ...look.gates.map(({ pipe, gates }) => {
            const counts = words.map((word, gate) => [word, gates.filter((g) => g === gate).length]).filter(([, count]) => count);
            return element("p", { class: "gates" }, `${pipe}: ${counts.map(([word, count]) => `${count} ${word}`).join(", ")}`,
                element("span", { class: "cells", role: "img", "aria-label": gates.map((g, i) => `gate ${i} ${words[g]}`).join(", ") },
                    ...gates.map((gate) => element("span", { class: `gate-${words[gate]}` }))));
        }));
}
