// Small pieces that panels are put together from.

/** @param {string} tag @param {Record<string, string | number | boolean | null | undefined>} attributes @param {(Node | string | null)[]} children */
function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.filter((child) => child !== null));
    return made;
}

/** @param {string} id @returns {HTMLElement} */
function byId(id) {
    const found = document.getElementById(id);
    if (!found) throw new Error(`the page has no element "${id}"`);
    return found;
}

/** Puts `node` in the place of the child that has its id, if it says something else: focus and screen readers
 *  are left alone where nothing has changed. @param {HTMLElement} host @param {HTMLElement} node */
function showPart(host, node) {
    const old = [...host.children].find((child) => child.id === node.id);
    if (!old) host.append(node);
    else if (!old.isEqualNode(node)) {
        const focus = old.contains(document.activeElement) ? document.activeElement : null;
        old.replaceWith(node);
        const key = focus instanceof HTMLElement ? focus.dataset.key : undefined;
        const again = key ? node.querySelector(`[data-key="${CSS.escape(key)}"]`) : null;
        if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    }
}

/** @param {Run} run @param {number} code */
function swatch(run, code) {
    const colour = `var(--${run.states[code].colour})`;
    return element("span", { class: isHatched(run, code) ? "swatch hatched" : "swatch", style: `--colour:${colour}`, "aria-hidden": "true" });
}

/** A button that chooses a warp. The tabulator passes it by: there are many, and the arrow keys choose warps too.
 *  @param {Run} run @param {number} index @param {number} cycle @param {number} chosen @param {string} where */
function warpButton(run, index, cycle, chosen, where) {
    const track = run.tracks[index];
    return element("button", {
        type: "button", class: "warp", tabindex: -1, "data-track": index, "data-key": `${where} ${index}`,
        "aria-pressed": index === chosen ? "true" : "false", "aria-label": longName(track, cycle), title: longName(track, cycle),
    }, shortName(track, cycle));
}

/** A button that shows a line of a source; words where no line is known. @param {Run} run @param {number} file @param {number} line @param {boolean} [short] */
function lineButton(run, file, line, short) {
    const source = run.files[file];
    if (!source || line <= 0) return null;
    const name = source.name.replace(/^.*\//, "");
    return element("button", { type: "button", class: "line", "data-run": run.index, "data-file": file, "data-line": line, "data-key": `${file}:${line}`, title: `${name}:${line}` }, short ? `line ${line}` : `${name}:${line}`);
}

/** @param {number} count @param {string} one @param {string} [many] */
function counted(count, one, many) {
    return `${grouped(count)} ${count === 1 ? one : many || `${one}s`}`;
}

/** A title as the rest of a sentence. @param {Run} run @param {string} name */
function titleOf(run, name) {
    const state = run.states.find((s) => s.name === name);
    return state ? state.title : name;
}
