// What is under the mouse, in a word. It is not the place: the cursor stays where it is.

/** @param {Stage} stage @param {Raster} raster */
function hoverOver(stage, raster) {
    const note = element("div", { class: "hover", hidden: true, "aria-hidden": "true" });
    raster.above.after(note);
    raster.above.addEventListener("pointermove", (event) => {
        const words = event.pointerType === "mouse" && !event.buttons ? hoverWords(stage, raster, event) : "";
        note.hidden = !words;
        if (!words) return;
        note.textContent = words;
        const room = raster.frame.width - note.offsetWidth;
        note.style.left = `${clamp(event.offsetX + 14, 0, Math.max(room, 0))}px`;
        const below = event.offsetY + 16;
        const fits = below + note.offsetHeight <= raster.box.scrollTop + raster.box.clientHeight;
        note.style.top = `${fits ? below : event.offsetY - note.offsetHeight - 8}px`;
    });
    for (const end of ["pointerleave", "pointerdown"]) raster.above.addEventListener(end, () => { note.hidden = true; });
}

/** @param {Stage} stage @param {Raster} raster @param {PointerEvent} event */
function hoverWords(stage, raster, event) {
    const { run } = raster;
    const { cycle, track: index } = raster.under(event.offsetX, event.offsetY, stage.place.by);
    if (event.offsetX < raster.frame.left || index < 0) return "";
    const track = run.tracks[index];
    const state = run.states[stateCode(track, cycle)];
    if (!state) return "";
    const i = lastAt(track.issues.at, cycle);
    const issued = i >= 0 && track.issues.at[i] === cycle ? `: ${kernelOf(run, track).code[track.issues.columns[0][i]].text}` : "";
    return `cycle ${grouped(cycle)}, ${longName(track, cycle)}: ${state.title}${issued}`;
}
