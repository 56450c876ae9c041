// The chosen warp's part of the panel.

/** @param {Run} run @param {Look} look */
function warpPart(run, look) {
    const { warp } = look;
    const track = run.tracks[warp.track];
    const head = element("h2", {}, warp.name[0].toUpperCase() + warp.name.slice(1));
    const where = element("p", { class: "soft" }, `slot ${track.slot}, scheduler ${track.scheduler}, launch ${track.launch}`);
    if (!warp.here && warp.state !== null) {
        return element("section", { id: "part-warp" }, head, where, stateWords(run, look));
    }
    if (!warp.here) {
        const when = look.cycle < track.from ? `comes in cycle ${grouped(track.from)}` : `left in cycle ${grouped(track.to)}`;
        return element("section", { id: "part-warp" }, head, where, element("p", {}, `Not on the SM in this cycle: it ${when}.`));
    }
    return element("section", { id: "part-warp" }, head, where, stateWords(run, look),
        element("dl", { class: "facts" },
            ...issueWords(run, "issued last", warp.last, look.cycle),
            ...issueWords(run, "issues next", warp.next, look.cycle),
            ...waitWords(run, warp), ...barrierWords(run, look), ...gangWords(warp), ...holdWords(track, warp)),
        ...laneCells(warp), pathTable(run, track, warp));
}

/** @param {Run} run @param {Look} look */
function stateWords(run, look) {
    const { state, since } = look.warp;
    if (state === null || since === null) return element("p", {}, "Its state is not recorded.");
    const code = run.states.findIndex((s) => s.name === state);
    const long = look.cycle - since + 1;
    const { from } = run.tracks[look.warp.track];
    // A state that the window begins with may be older than it.
    const cut = since === from && from === run.from && from > 0;
    const time = cut ? `for at least ${counted(long, "cycle")}` : long === 1 ? "since this cycle" : `for ${counted(long, "cycle")}, since ${grouped(since)}`;
    return element("p", { class: "state" }, swatch(run, code), element("strong", {}, titleOf(run, state)),
        `${titleOf(run, state) === state ? "" : ` (${state})`}, ${time}`);
}

/** @param {string} term @param {(Node | string | null)[]} says @returns {HTMLElement[]} */
function fact(term, ...says) {
    return [element("dt", {}, term), element("dd", {}, ...says)];
}

/** @param {Run} run @param {string} term @param {IssueLook | null} issue @param {number} cycle */
function issueWords(run, term, issue, cycle) {
    if (!issue) return fact(term, "nothing that is recorded");
    const when = issue.cycle === cycle ? "in this cycle" : `in cycle ${grouped(issue.cycle)}`;
    const folded = issue.folded ? `, folded into ${counted(issue.folded, "cycle")}` : "";
    return fact(term, element("code", {}, issue.text), ` ${when}${folded} `,
        lineButton(run, issue.ptxFile, issue.ptx), " ", lineButton(run, issue.file, issue.line));
}

/** @param {Run} run @param {WarpLook} warp */
function waitWords(run, warp) {
    const others = warp.inFlight.filter(({ register }) => !warp.waitsFor.some((wait) => wait.register === register));
    return [...registerList(run, "needs still", warp.waitsFor), ...registerList(run, "also in flight", others)];
}

/** @param {Run} run @param {string} term @param {WaitLook[]} waits */
function registerList(run, term, waits) {
    if (!waits.length) return [];
    return fact(term, element("ul", {}, ...waits.map((wait) => element("li", {},
        element("code", {}, wait.register), " by ", element("code", {}, wait.text), ` issued in cycle ${grouped(wait.since)} `,
        lineButton(run, wait.ptxFile, wait.ptx)))));
}

/** @param {Run} run @param {Look} look */
function barrierWords(run, look) {
    const { barrier, track: chosen } = look.warp;
    if (!barrier) return [];
    const ids = [...new Set([...barrier.waits, ...barrier.arrived].map(({ id }) => id))].sort((a, b) => a - b);
    const lines = ids.map((id) => {
        const at = (/** @type {ArrivalLook[]} */ of) => of.filter((a) => a.id === id).map((a) => a.track);
        const [waits, arrived] = [at(barrier.waits), at(barrier.arrived)];
        const missing = barrier.left.filter((track) => !waits.includes(track) && !arrived.includes(track));
        const names = (/** @type {string} */ says, /** @type {number[]} */ tracks) => (tracks.length
            ? element("p", {}, `${says}: ${tracks.length} `, ...tracks.map((track) => warpButton(run, track, look.cycle, chosen, `${says} ${id}`)))
            : null);
        return element("li", {}, ids.length > 1 || id ? `barrier ${id}` : null,
            names("wait", waits), names("arrived and went on", arrived), names("not there yet", missing));
    });
    return fact("block's barriers", element("ul", {}, ...lines));
}

/** @param {WarpLook} warp */
function gangWords({ gang }) {
    if (!gang) return [];
    return fact("gang", gang.length > 1 ? `slices ${gang.join(", ")} go together` : gang.length ? "goes alone" : "has exited");
}

/** Threads of other warps; a warp that holds its own needs no word. @param {Track} track @param {WarpLook} warp */
function holdWords(track, { holds }) {
    if (holds.every(({ block, warp }) => block === track.block && warp === track.warp)) return [];
    // A narrow warp is part of one of 32 threads, with which it may go as a gang.
    if (track.gangs.count && holds.length === 1) return fact("part of", `the 32 threads of warp ${holds[0].warp} in block ${holds[0].block}`);
    return fact("holds threads of", element("ul", {}, ...holds.map((hold) =>
        element("li", {}, `block ${hold.block}, warp ${hold.warp}: ${counted(countLanes(hold.lanes), "lane")}`))));
}

const LANE_WORDS = { active: "active", guarded: "guarded off", other: "on another path", exited: "exited", none: "no thread" };

/** Lanes by what they do. @param {WarpLook} warp */
function lanesByKind({ lanes }) {
    const masks = { ...lanes, none: ~(lanes.active | lanes.guarded | lanes.other | lanes.exited) >>> 0 };
    return { masks, kinds: /** @type {(keyof typeof LANE_WORDS)[]} */ (Object.keys(LANE_WORDS)) };
}

/** In a line. @param {WarpLook} warp */
function lanesInWords(warp) {
    const { masks, kinds } = lanesByKind(warp);
    return kinds.filter((kind) => masks[kind]).map((kind) => `${countLanes(masks[kind])} ${LANE_WORDS[kind]}`).join(", ");
}

/** @param {WarpLook} warp */
function laneCells(warp) {
    const { masks, kinds } = lanesByKind(warp);
    const kindOf = (/** @type {number} */ lane) => kinds.find((kind) => (masks[kind] >>> lane) & 1) || "none";
    const words = kinds.filter((kind) => masks[kind]).map((kind) => element("span", { class: "state" },
        element("span", { class: `lane-${kind}` }), `${countLanes(masks[kind])} ${LANE_WORDS[kind]}`));
    return [
        element("h3", {}, "Lanes"),
        element("div", { class: "cells lanes", "aria-hidden": "true" }, ...Array.from({ length: 32 }, (_, lane) =>
            element("span", { class: `lane-${kindOf(lane)}`, title: `lane ${lane}: ${LANE_WORDS[kindOf(lane)]}` }, String(lane)))),
        element("p", { class: "lane-words" }, ...words),
    ];
}

/** @param {Run} run @param {Track} track @param {WarpLook} warp */
function pathTable(run, track, { paths }) {
    if (!paths.length) return null;
    const kinds = ["runs", "on the stack", "elsewhere"];
    const titles = ["", "until what is above it is done", "in another warp, or waiting for threads of other warps"];
    const { code } = kernelOf(run, track);
    const at = (/** @type {number} */ pc) => (pc < 0 ? "" : lineButton(run, code[pc] ? code[pc].ptxFile : -1, code[pc] ? code[pc].ptx : 0, true) || `pc ${pc}`);
    return element("div", { class: "wide" }, element("table", {},
        element("caption", {}, "Paths, the running one first"),
        element("thead", {}, element("tr", {}, ...["path", "goes on at", "ends at", "lanes"].map((word) => element("th", { scope: "col" }, word)))),
        element("tbody", {}, ...paths.map((path) => element("tr", {},
            element("td", { title: titles[path.kind] || null }, kinds[path.kind] || String(path.kind)), element("td", {}, at(path.pc)), element("td", {}, at(path.until)),
            element("td", {}, laneStrip(path.lanes)))))));
}

/** @param {number} lanes */
function laneStrip(lanes) {
    const hex = lanes.toString(16).padStart(8, "0");
    return element("span", { class: "strip", title: `lanes ${hex}`, "aria-label": counted(countLanes(lanes), "lane") },
        ...Array.from({ length: 32 }, (_, lane) => element("span", { class: (lanes >>> lane) & 1 ? "on" : "" })));
}
