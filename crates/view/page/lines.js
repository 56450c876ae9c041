// Instructions and the lines of sources that they come from.

/** The instruction's line in a file; 0: it is of another.
 *  @param {{ ptxFile: number, ptx: number, file: number, line: number }} instruction @param {number} file */
function lineIn(instruction, file) {
    if (instruction.ptxFile === file) return instruction.ptx;
    return instruction.file === file ? instruction.line : 0;
}

/** @param {Run} run @param {number} file @param {number} line @returns {Mark} */
function markOf(run, file, line) {
    return { file, line, name: run.files[file].name };
}

/** The pcs whose instructions come from a line of a file. @param {Run} run @param {number} launch @param {number} file @param {number} line */
function pcsOfLine(run, launch, file, line) {
    const { code } = run.kernels[run.launches[launch].kernel];
    return Uint8Array.from(code, (instruction) => (lineIn(instruction, file) === line ? 1 : 0));
}

/** The instruction that a warp has issued last, or else issues next; null: none. @param {Run} run @param {Place} place */
function instructionAt(run, place) {
    const track = run.tracks[place.track];
    if (!track || !track.issues.count) return null;
    return kernelOf(run, track).code[track.issues.columns[0][Math.max(lastAt(track.issues.at, place.cycle), 0)]];
}

/** The file that shows the warp's instruction: the one already open, or else one of the same language.
 *  @param {Run} run @param {Place} place */
function fileToShow(run, place) {
    const instruction = instructionAt(run, place);
    if (!instruction || lineIn(instruction, place.file) > 0) return place.file;
    const cuda = run.kernels.some(({ code }) => code.some(({ file }) => file === place.file));
    const [first, second] = cuda ? [instruction.file, instruction.ptxFile] : [instruction.ptxFile, instruction.file];
    return [first, second].find((file) => file >= 0 && lineIn(instruction, file) > 0) ?? place.file;
}
