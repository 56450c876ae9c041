//! Whether launches are large enough: waves of blocks, and SM-cycles without a resident warp.
//!
//! Below four waves the last, partly filled one decides; with more than a tenth of SM-cycles
//! without a warp, tails do.

use crate::evaluate::Results;
use crate::plan::Plan;
use crate::results::record::Record;
use serde_json::Value;
use std::collections::HashSet;

/// Waves that a launch that matters should have.
pub const ENOUGH_WAVES: f64 = 4.0;
/// SM-cycles without a resident warp that are tolerable.
pub const MOST_IDLE: f64 = 0.1;
/// A workload's kernels with less of its cycles do not matter.
pub const MATTERS: f64 = 0.1;

/// The launches of one of a workload's kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSize {
    /// Number of the workload.
    pub subject: usize,
    /// Kernel.
    pub kernel: String,
    /// How often it is launched.
    pub launches: usize,
    /// Fewest and most blocks of a launch.
    pub blocks: (u64, u64),
    /// Blocks that an SM holds, of the launch with the fewest waves.
    pub resident: u64,
    /// Fewest and most waves of a launch.
    pub waves: (f64, f64),
    /// Its share of the workload's cycles.
    pub share: f64,
    /// Its share of the workload's cycles in launches with too few waves.
    pub short: f64,
    /// Share of SM-cycles without a resident warp; results of older builds do not have it.
    pub idle: Option<f64>,
    /// Why few blocks are right, when the study says so.
    pub waived: Option<String>,
}

impl KernelSize {
    /// Whether it matters and is too small to be believed.
    pub fn too_small(&self) -> bool {
        let matters = self.share >= MATTERS;
        let idle = self.idle.is_some_and(|i| i > MOST_IDLE);
        self.waived.is_none() && matters && (self.short >= MATTERS || idle)
    }
}

/// A launch, as a record keeps it.
struct Launch<'a> {
    kernel: &'a str,
    blocks: u64,
    resident: u64,
    waves: f64,
    cycles: f64,
    active: Option<f64>,
}

fn sms(record: &Record) -> Option<f64> {
    record.inputs["machine"]["gpu"]["sms"].as_f64()
}

fn launches(record: &Record) -> Option<Vec<Launch<'_>>> {
    let sms = sms(record)?;
    let launch = |l: &'_ Value| {
        let grid = l["grid"].as_array()?.iter().map(|n| n.as_u64());
        let blocks = grid.product::<Option<u64>>()?;
        let resident = l["blocks_per_sm"].as_u64().filter(|n| *n > 0)?;
        Some((
            blocks,
            resident,
            l["cycles"].as_f64()?,
            l["active_cycles"].as_f64(),
        ))
    };
    let all = record.launches.as_array()?.iter();
    all.map(|l| {
        let (blocks, resident, cycles, active) = launch(l)?;
        Some(Launch {
            kernel: l["kernel"].as_str()?,
            blocks,
            resident,
            waves: blocks as f64 / (sms * resident as f64),
            cycles,
            active,
        })
    })
    .collect()
}

/// Waves of blocks of a run, or of a kernel: the average over its launches by their cycles.
pub fn waves(record: &Record, kernel: Option<&str>) -> Option<f64> {
    let mut launches = launches(record)?;
    launches.retain(|l| kernel.is_none_or(|k| l.kernel == k));
    let cycles: f64 = launches.iter().map(|l| l.cycles).sum();
    let waves: f64 = launches.iter().map(|l| l.waves * l.cycles).sum();
    (cycles > 0.0).then_some(waves / cycles)
}

/// Share of the SM-cycles of a run, or of a kernel's launches, without a resident warp.
pub fn idle(record: &Record, kernel: Option<&str>) -> Option<f64> {
    let totals = record.totals_of(kernel)?;
    let all = totals["cycles"].as_f64()? * sms(record)?;
    let active = totals["active_cycles"].as_f64()?;
    (all > 0.0).then_some(1.0 - active / all)
}

/// The sizes of a run's kernels, in the order of their first launches.
pub fn of(record: &Record, subject: usize) -> Vec<KernelSize> {
    let (Some(launches), Some(sms)) = (launches(record), sms(record)) else {
        return Vec::new();
    };
    let whole: f64 = launches.iter().map(|l| l.cycles).sum();
    let mut kernels: Vec<&str> = Vec::new();
    for launch in &launches {
        if !kernels.contains(&launch.kernel) {
            kernels.push(launch.kernel);
        }
    }
    let share = |cycles: f64| if whole > 0.0 { cycles / whole } else { 0.0 };
    let mut all = Vec::new();
    for kernel in kernels {
        let of: Vec<&Launch> = launches.iter().filter(|l| l.kernel == kernel).collect();
        let least = of.iter().min_by(|a, b| a.waves.total_cmp(&b.waves));
        let cycles: f64 = of.iter().map(|l| l.cycles).sum();
        let few = of.iter().filter(|l| l.waves < ENOUGH_WAVES);
        let active: Option<f64> = of.iter().map(|l| l.active).sum();
        all.push(KernelSize {
            subject,
            kernel: kernel.to_string(),
            launches: of.len(),
            blocks: (
                of.iter().map(|l| l.blocks).min().unwrap_or(0),
                of.iter().map(|l| l.blocks).max().unwrap_or(0),
            ),
            resident: least.map_or(0, |l| l.resident),
            waves: (
                least.map_or(0.0, |l| l.waves),
                of.iter().map(|l| l.waves).fold(0.0, f64::max),
            ),
            share: share(cycles),
            short: share(few.map(|l| l.cycles).sum()),
            idle: active
                .filter(|_| cycles > 0.0)
                .map(|a| 1.0 - a / (cycles * sms)),
            waived: None,
        });
    }
    all
}

/// The number of the study's reason for few blocks of a kernel, if it gives one.
pub fn waiver(plan: &Plan, size: &KernelSize) -> Option<usize> {
    let name = plan.subjects.workload(size.subject);
    plan.study.waivers.iter().position(|w| {
        let kernel = w.kernel.as_ref();
        w.workload.value == name && kernel.is_none_or(|k| *k == size.kernel)
    })
}

/// A kernel's size with that reason.
fn waived(plan: &Plan, size: KernelSize) -> KernelSize {
    let reason = |number: usize| plan.study.waivers[number].reason.clone();
    KernelSize {
        waived: waiver(plan, &size).map(reason),
        ..size
    }
}

/// The sizes of every workload of a study, under the first configuration that ran it.
pub fn all(results: &Results) -> Vec<KernelSize> {
    let plan = results.plan();
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    for subject in 0..plan.subjects.len() {
        // Rows that are kernels of a workload are of the same run.
        if !seen.insert(plan.subjects.workload(subject)) {
            continue;
        }
        let mut setups = (0..plan.setups.len()).filter(|s| plan.setups[*s].base.is_none());
        let good = |setup| results.record(subject, setup).filter(|r| r.status.good());
        let Some(record) = setups.find_map(good) else {
            continue;
        };
        all.extend(of(record, subject).into_iter().map(|s| waived(plan, s)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::Status;
    use serde_json::json;

    fn record() -> Record {
        Record {
            schema: 1,
            key: String::new(),
            status: Status::Correct,
            reason: String::new(),
            totals: json!({"cycles": 1000, "active_cycles": 8_000}),
            kernels: Value::Null,
            launches: json!([
                {"kernel": "a", "grid": [20, 2, 1], "blocks_per_sm": 2, "cycles": 300, "active_cycles": 2_000},
                {"kernel": "b", "grid": [200, 1, 1], "blocks_per_sm": 4, "cycles": 600, "active_cycles": 5_900},
                {"kernel": "a", "grid": [100, 1, 1], "blocks_per_sm": 2, "cycles": 100, "active_cycles": 900},
            ]),
            seconds: 0.0,
            inputs: json!({"machine": {"gpu": {"sms": 10}}}),
        }
    }

    #[test]
    fn waves_and_idle_shares_by_hand() {
        let record = record();
        // 2 waves for 300 cycles, 5 for 600, 5 for 100.
        assert_eq!(waves(&record, None), Some(4.1));
        assert_eq!(waves(&record, Some("a")), Some(2.75));
        assert!((idle(&record, None).unwrap() - 0.2).abs() < 1e-12);
        let sizes = of(&record, 7);
        assert_eq!(sizes.len(), 2);
        let a = &sizes[0];
        assert_eq!((a.subject, a.kernel.as_str(), a.launches), (7, "a", 2));
        assert_eq!((a.blocks, a.waves, a.resident), ((40, 100), (2.0, 5.0), 2));
        assert_eq!((a.share, a.short), (0.4, 0.3));
        assert!((a.idle.unwrap() - (1.0 - 2_900.0 / 4_000.0)).abs() < 1e-12);
        assert!(a.too_small());
        let b = &sizes[1];
        assert_eq!((b.share, b.short), (0.6, 0.0));
        assert!(!b.too_small(), "{b:?}");
        let idle = KernelSize {
            idle: Some(0.11),
            ..b.clone()
        };
        assert!(idle.too_small(), "too much of the time no warp is there");
        let waived = KernelSize {
            waived: Some("as the paper's".into()),
            ..idle
        };
        assert!(!waived.too_small());
    }

    #[test]
    fn what_an_older_record_lacks_is_not_made_up() {
        let mut record = record();
        for launch in record.launches.as_array_mut().unwrap() {
            launch.as_object_mut().unwrap().remove("active_cycles");
        }
        let sizes = of(&record, 0);
        assert_eq!(sizes[1].idle, None);
        assert_eq!(sizes[1].waves, (5.0, 5.0));
        record.launches = Value::Null;
        assert!(of(&record, 0).is_empty());
        assert_eq!(waves(&record, None), None);
    }
}
