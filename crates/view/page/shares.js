// How the visible cycles are shared among instructions and lines, by the rule of profiles: a wait belongs to the instruction
// that waits to issue, but time at a barrier, for a branch and after the end to the one issued last.

/** Adds what a warp did from `from` up to `to`. A slot in which warps are formed has several, one after the other.
 *  @param {Run} run @param {Track} track @param {number} from @param {number} to @param {Shares} shares */
function addShares(run, track, from, to, shares) {
    const kernel = run.launches[track.launch].kernel;
    const [time, issues] = [shares.time[kernel], shares.issues[kernel]];
    const { at, columns: [codes], count } = track.states;
    const { at: issuedAt, columns: [pcs], count: issued } = track.issues;
    const before = lastSince(issuedAt, from - 1, stretchAt(run, track, from).from);
    let last = before < 0 ? -1 : pcs[before];
    let next = lastAt(issuedAt, from - 1) + 1;
    let waited = 0;
    const settle = (/** @type {number} */ pc) => {
        if (waited && pc >= 0) time[pc] += waited;
        waited = 0;
    };
    for (let i = Math.max(0, lastAt(at, from)); i < count && at[i] < to; i++) {
        const code = codes[i];
        if (code === run.absent) {
            settle(last);
            last = -1;
            continue;
        }
        const since = Math.max(at[i], from);
        const cycles = Math.min(i + 1 < count ? at[i + 1] : track.to, to) - since;
        shares.allTime += cycles;
        if (code === run.issued) {
            for (; next < issued && issuedAt[next] < since + cycles; next++) {
                last = pcs[next];
                settle(last);
                time[last]++;
                issues[last]++;
                shares.allIssues++;
            }
        } else if (last >= 0 && run.states[code].ofLast) time[last] += cycles;
        else waited += cycles;
    }
    // What it waited for at the end is what it issues next, if it does.
    const goesOn = waited > 0 && next < issued && issuedAt[next] < stretchAt(run, track, to - 1).to;
    settle(goesOn ? pcs[next] : last);
}

/** Warp-cycles and issues of each instruction of each kernel. @param {Run} run @param {number} from @param {number} to @returns {Shares} */
function sharesOf(run, from, to) {
    const lists = () => run.kernels.map((kernel) => new Float64Array(kernel.code.length));
    /** @type {Shares} */
    const shares = { time: lists(), issues: lists(), allTime: 0, allIssues: 0 };
    for (const track of run.tracks) {
        const [first, end] = [Math.max(track.from, Math.floor(from)), Math.min(track.to, Math.ceil(to))];
        if (first < end) addShares(run, track, first, end, shares);
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
    if (text !== null) return text.replace(/\n$/, "").split("\n");
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
