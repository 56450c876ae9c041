// How the visible cycles are shared among source lines. A warp's time up to an issue belongs to the instruction
// that it then issues: that is what it waited to do. Cycles in which a slot holds no warp are nobody's.

/** Cycles from `from` up to `to` in which a track holds a warp. @param {Run} run @param {Track} track @param {number} from @param {number} to */
function cyclesHere(run, track, from, to) {
    let here = Math.max(0, to - from);
    if (run.absent < 0 || track.block >= 0) return here;
    const { at, columns: [codes], count } = track.states;
    for (let i = Math.max(0, lastAt(at, from)); i < count && at[i] < to; i++) {
        if (codes[i] !== run.absent) continue;
        here -= Math.max(0, Math.min(i + 1 < count ? at[i + 1] : track.to, to) - Math.max(at[i], from));
    }
    return here;
}

/** Warp-cycles and issues of each instruction of each kernel. @param {Run} run @param {number} from @param {number} to @returns {Shares} */
function sharesOf(run, from, to) {
    const lists = () => run.kernels.map((kernel) => new Float64Array(kernel.code.length));
    /** @type {Shares} */
    const shares = { time: lists(), issues: lists(), allTime: 0, allIssues: 0 };
    const end = Math.ceil(to);
    for (const track of run.tracks) {
        let since = Math.max(track.from, Math.floor(from));
        shares.allTime += cyclesHere(run, track, since, Math.min(track.to, end));
        const kernel = run.launches[track.launch].kernel;
        const { at, columns: [pcs], count } = track.issues;
        for (let i = lastAt(at, since - 1) + 1; i < count; i++) {
            const until = Math.min(at[i] + 1, end);
            if (until <= since) break;
            shares.time[kernel][pcs[i]] += cyclesHere(run, track, since, until);
            since = until;
            if (at[i] >= end) break;
            shares.issues[kernel][pcs[i]]++;
            shares.allIssues++;
        }
    }
    return shares;
}

/** Sums over the instructions of each line of a file. @param {Run} run @param {number} file @param {Float64Array[]} values @param {number} lines */
function sumByLine(run, file, values, lines) {
    const sums = new Float64Array(lines + 1);
    run.kernels.forEach((kernel, k) => kernel.code.forEach((instruction, pc) => {
        const line = lineIn(instruction, file);
        if (line > 0 && line <= lines) sums[line] += values[k][pc];
    }));
    return sums;
}

/** The lines of a file; of a file that is not to be had, what its instructions say.
 *  @param {Run} run @param {number} file @returns {string[]} */
function textOf(run, file) {
    const { text } = run.files[file];
    if (text !== null) return text.split("\n");
    /** @type {string[]} */
    const lines = [];
    for (const kernel of run.kernels) {
        for (const instruction of kernel.code) {
            const line = lineIn(instruction, file);
            if (line > 0) lines[line - 1] = instruction.ptxFile === file ? instruction.text : "";
        }
    }
    return Array.from(lines, (line) => line || "");
}
