// What the page reads (`…Data`, written by crates/view/src) and what its scripts hand to each other.

interface ViewData { schema: number; runs: RunData[] }
interface RunData {
    title: string; options: string; sm: number; cycles: [number, number]; whole: number; notes: string[];
    states: StateData[]; schedulers: number; launches: LaunchData[]; kernels: KernelData[]; files: FileData[];
    map: { every: number; issued: number[] }; tracks: TrackData[]; lanes: PipeData[];
}
interface StateData { name: string; title: string; colour: string; ofLast: boolean }
interface LaunchData { kernel: number; from: number; to: number }
interface KernelData { name: string; code: InstructionData[]; registers: string[] }
interface FileData { name: string; text: string | null }
interface InstructionData {
    text: string; ptx: number; ptxFile: number; file: number; line: number; reads: number[]; writes: number[];
}
interface PipeData { pipe: string; gates: number; changes?: number[] }
interface TrackData {
    slot: number; scheduler: number; launch: number; block: number; warp: number;
    from: number; to: number; threads: number;
    states?: number[]; issues?: number[]; paths?: number[]; written?: number[]; barriers?: number[];
    gangs?: number[]; holds?: number[]; blocks?: number[]; folds?: number[];
}

/** Records in the order of time: record i came in cycle `at[i]`, its k-th value is `columns[k][i]`. */
interface Records { count: number; at: Int32Array; columns: Int32Array[] }
/** Records of several paths: those of record i are the fours in `flat` from `starts[i]` to `starts[i + 1]`. */
interface PathRecords { count: number; at: Int32Array; starts: Int32Array; flat: Int32Array }
interface Track {
    index: number; slot: number; scheduler: number; launch: number; block: number; warp: number;
    from: number; to: number; threads: number;
    states: Records; issues: Records; paths: PathRecords; written: Records; barriers: Records;
    gangs: Records; holds: Records; blocks: Records; folds: Records;
}
/** The cycles in which a slot holds the same formed warp; any other track's have no bounds. */
interface Stretch { from: number; to: number }
interface Row { group: number; first: boolean; tracks: Track[] }
interface Run {
    index: number; title: string; options: string; sm: number; from: number; to: number; whole: number;
    notes: string[]; states: StateData[]; issued: number; eligible: number; absent: number; schedulers: number;
    launches: LaunchData[]; kernels: KernelData[]; files: FileData[];
    map: { every: number; issued: number[] }; tracks: Track[];
    pipes: { pipe: string; gates: Records[] }[];
    rows: { block: Row[]; scheduler: Row[] };
    /** For each track, the row in which it is drawn. */
    rowOf: { block: Int32Array; scheduler: Int32Array };
}

type Grouping = "block" | "scheduler";
type Tie = "cycle" | "instruction";
/** Where the reader is. `cycle` and `track` are of the run `run`; the other run follows by `tie`. */
interface Place {
    run: number; cycle: number; track: number; from: number; to: number;
    by: Grouping; tie: Tie; playing: boolean; speed: number;
    file: number; marked: Mark | null;
}
/** A line whose issues are marked; `name` is its file's, for a run that counts its files otherwise. */
interface Mark { file: number; line: number; name: string }
/** A place in one run: what its raster and its map show. */
interface Spot { cycle: number; track: number; from: number; to: number }

/** What the panel says; `window.viewAt` returns it. Masks of lanes are unsigned; tracks are positions. */
interface Look {
    cycle: number; run: number; launch: { index: number; kernel: string } | null;
    states: Record<string, number>;
    schedulers: SchedulerLook[];
    warp: WarpLook;
    gates: { pipe: string; gates: number[] }[];
}
interface SchedulerLook {
    ready: number[]; issued: { track: number; pc: number } | null; waiting: Record<string, number[]>;
}
interface WarpLook {
    track: number; name: string; here: boolean; state: string | null; since: number | null;
    last: IssueLook | null; next: IssueLook | null;
    lanes: LanesLook; paths: PathLook[]; waitsFor: WaitLook[]; inFlight: WaitLook[];
    barrier: BarrierLook | null; gang: number[] | null; holds: HoldLook[];
}
interface IssueLook {
    cycle: number; pc: number; lanes: number; text: string; ptxFile: number; ptx: number; file: number; line: number;
    folded: number;
}
interface LanesLook { active: number; guarded: number; other: number; exited: number }
interface PathLook { pc: number; until: number; lanes: number; kind: number }
interface WaitLook { register: string; since: number; pc: number; text: string; ptxFile: number; ptx: number }
/** `left`: the block's warps that have not finished. */
interface BarrierLook { left: number[]; waits: ArrivalLook[]; arrived: ArrivalLook[] }
interface ArrivalLook { track: number; id: number; since: number }
interface HoldLook { block: number; warp: number; lanes: number }

/** How a raster lies on its canvas, in CSS pixels. */
interface Frame { left: number; width: number; height: number; rowHeight: number; from: number; to: number; scale: number }
interface Shares { time: Float64Array[]; issues: Float64Array[]; allTime: number; allIssues: number }

/** What tests ask. */
interface Window {
    viewAt: (cycle: number, track: number, run?: number) => Look;
    sharesIn: (from: number, to: number, run?: number) => Shares;
}
