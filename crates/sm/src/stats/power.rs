//! What the lanes' pipelines of one side, integer or floating point, did; counted where power is
//! looked at (`gating` other than `none`, or `gating.watch`).

use super::decl::counters;

counters! {
    /// Counters of one side.
    pub struct PipeCounters {
        busy: "lane-cycles", "an instruction that uses the lane is in its pipeline";
        idle: "lane-cycles", "the lane is on, and nothing is in it";
        gated_early: "lane-cycles", "switched off, for less than the break-even time so far";
        gated: "lane-cycles", "switched off, for longer than the break-even time";
        waking: "lane-cycles", "between the request and the first use of a lane that was off";
        gatings: "lanes", "lanes switched off, each time";
        overhead: "lane-cycles", "what switching costs, as leakage: lanes switched off times the break-even time";
        leaking: "lane-cycles", "lane-cycles not switched off, and the overhead of switching";
        critical_wakes: "wake-ups", "requests that waited in the cycle in which a blackout ended";
        issues: "instructions", "instructions that entered";
        folded: "instructions", "of those: in two halves";
        shifts: "half-warps", "passages through the logic that shifts lanes, where there is any";
        folding_cycles: "cycles", "SM-cycles in which instructions of this side are folded";
        bubbles: "cycles", "pipeline-cycles between two instructions in which the entry was free";
        short_bubbles: "cycles", "of those: in gaps of less than 10 cycles";
        pipeline_cycles: "cycles", "pipelines times cycles";
    }
}
