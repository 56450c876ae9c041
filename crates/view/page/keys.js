// Keys of the whole page. What has the focus comes first: lists and tabs take the keys that they use, menus all of them.

/** @typedef {[names: string[], shown: string, says: string, act: (stage: Stage, shift: boolean) => void]} Key */

/** @param {() => void} help @param {() => void} difference @returns {Key[]} */
function keyTable(help, difference) {
    return [
        [["ArrowLeft"], "←", "one cycle back (with shift: ten)", (stage, shift) => stepCycle(stage, shift ? -10 : -1)],
        [["ArrowRight"], "→", "one cycle on (with shift: ten)", (stage, shift) => stepCycle(stage, shift ? 10 : 1)],
        [["ArrowUp"], "↑", "the warp above", (stage) => stepWarp(stage, -1)],
        [["ArrowDown"], "↓", "the warp below", (stage) => stepWarp(stage, 1)],
        [["n"], "n", "next issue of the warp", (stage) => stepIssue(stage, 1)],
        [["p"], "p", "issue of the warp before", (stage) => stepIssue(stage, -1)],
        [["m"], "m", "next issue of the marked line", stepMarked],
        [["Escape"], "Esc", "takes the mark away", (stage) => stage.change({ marked: null })],
        [[" "], "space", "play and stop", (stage) => stage.change({ playing: !stage.place.playing })],
        [["+", "="], "+", "fewer cycles, larger", (stage) => zoomAtCursor(stage, 0.6)],
        [["-"], "−", "more cycles, smaller", (stage) => zoomAtCursor(stage, 1 / 0.6)],
        [["0"], "0", "all recorded cycles", showWhole],
        [["PageUp", "["], "page up", "half a screen back", (stage) => stage.pan((stage.place.from - stage.place.to) / 2)],
        [["PageDown", "]"], "page down", "half a screen on", (stage) => stage.pan((stage.place.to - stage.place.from) / 2)],
        [["Home"], "Home", "first recorded cycle", (stage) => stage.change({ cycle: stage.run.from, playing: false })],
        [["End"], "End", "last recorded cycle", (stage) => stage.change({ cycle: stage.run.to - 1, playing: false })],
        [["b"], "b", "rows by block or by scheduler", switchGrouping],
        [["d"], "d", "first difference of two runs", difference],
        [["?"], "?", "these keys", help],
    ];
}

/** @param {Stage} stage @param {Key[]} table */
function listenToKeys(stage, table) {
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        const target = event.target instanceof Element ? event.target : document.body;
        if (target.closest("input, select, textarea, dialog")) return;
        if (event.key === " " && target.closest("button, a, summary")) return;
        const key = table.find(([names]) => names.includes(event.key));
        if (!key) return;
        event.preventDefault();
        key[3](stage, event.shiftKey);
    });
}

/** @param {Key[]} table */
function keyList(table) {
    return element("dl", { class: "keys" }, ...table.flatMap(([, shown, says]) => [
        element("dt", {}, element("kbd", {}, shown)), element("dd", {}, says),
    ]));
}
