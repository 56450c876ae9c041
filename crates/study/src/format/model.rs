//! A study file as data, names not yet resolved.

use super::{Bases, Experiment, Kind, Repeats, Sensitivity, Waiver};
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use warpsim_present::Source;
use warpsim_workloads::suite::Size;

/// A value with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Byte range.
    pub place: Range<usize>,
}

/// An experiment.
#[derive(Clone, Debug)]
pub struct Study {
    /// The text it was read from.
    pub source: Source,
    /// Where the file lies; paths in it are relative to that.
    pub directory: Option<PathBuf>,
    /// Short name.
    pub name: String,
    /// What it is called in a report.
    pub title: String,
    /// The paper it repeats: authors, title, venue.
    pub paper: Option<String>,
    /// A few sentences for the top of the report.
    pub description: Option<String>,
    /// Machine preset or file.
    pub machine: At<String>,
    /// Size of the workloads.
    pub size: Size,
    /// Seed of generated input; without one, 1, or what a launch file says.
    pub seed: Option<u64>,
    /// Give up a launch after this many cycles.
    pub max_cycles: Option<u64>,
    /// Names that this build may not have: what needs them is listed as missing.
    pub awaited: Vec<String>,
    /// Parameters of single workloads, at the study's own size.
    pub inputs: Vec<Input>,
    /// How runs are repeated.
    pub repeats: Repeats,
    /// What was changed after results had been seen: what, when and why.
    pub changed: Vec<String>,
    /// What the paper calls a workload.
    pub labels: Vec<(At<String>, String)>,
    /// Sets of workloads.
    pub groups: Vec<Group>,
    /// Machines and settings by name.
    pub configurations: Vec<Configuration>,
    /// Values computed from statistics.
    pub metrics: Vec<Metric>,
    /// What is shown.
    pub figures: Vec<Figure>,
    /// Runs whose timeline is recorded.
    pub timelines: Vec<Timeline>,
    /// Runs that are known to fail, and why.
    pub expected_failures: Vec<ExpectedFailure>,
    /// Runs that isolate why a claim fails.
    pub experiments: Vec<Experiment>,
    /// Settings whose effect on an average is looked at.
    pub sensitivities: Vec<Sensitivity>,
    /// Kernels that have few blocks because the paper's have.
    pub waivers: Vec<Waiver>,
    /// Figures whose averages a report begins with; those for which the paper has some if none are given.
    pub headlines: Vec<At<String>>,
    /// What a sweep's configurations are compared with.
    pub baseline: Option<At<String>>,
    /// Figures against each other.
    pub trade_offs: Vec<TradeOff>,
}

/// Parameters of one workload.
#[derive(Clone, Debug)]
pub struct Input {
    /// Workload.
    pub workload: At<String>,
    /// `key=value`.
    pub parameters: Vec<At<String>>,
}

/// Averages of one figure against those of another, a picture for each group.
#[derive(Clone, Debug)]
pub struct TradeOff {
    /// One word: names the picture's file.
    pub id: At<String>,
    /// What it shows.
    pub title: String,
    /// The figure whose averages go across, and the one whose go up.
    pub axes: [At<String>; 2],
    /// Whether more is better, across and up.
    pub more: [bool; 2],
    /// Remarks.
    pub note: Option<String>,
}

/// Workloads that are averaged together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name in the file.
    pub name: At<String>,
    /// Name in a report.
    pub title: String,
    /// Workloads by name.
    pub workloads: Vec<At<String>>,
    /// Everything in these sets of the suite.
    pub sets: Vec<At<String>>,
    /// Left out of `sets`.
    pub without: Vec<At<String>>,
    /// How many the paper has, when it has more than are listed.
    pub of: Option<u64>,
}

/// A machine with settings.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Name in the file: one word.
    pub name: At<String>,
    /// Name in a report.
    pub title: String,
    /// Another machine than the study's.
    pub machine: Option<At<String>>,
    /// Another seed than the study's.
    pub seed: Option<u64>,
    /// Machine settings: `key=value`.
    pub settings: Vec<At<String>>,
    /// Workload parameters: `key=value`.
    pub parameters: Vec<At<String>>,
    /// Parameters of single workloads.
    pub inputs: Vec<Input>,
    /// Of a grid: what was varied, and what was chosen here.
    pub axes: Vec<(String, String)>,
}

/// A value computed from statistics.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Name in the file.
    pub name: At<String>,
    /// What it is, in a report.
    pub title: String,
    /// Expression over declared statistics.
    pub value: At<String>,
    /// What it is, in the paper's words.
    pub paper: Option<String>,
    /// What it is, in ours.
    pub definition: Option<String>,
}

/// What a figure shows.
#[derive(Clone, Debug)]
pub struct Figure {
    /// One word: names the picture's file.
    pub id: At<String>,
    /// Where it is in the paper ("Figure 8").
    pub number: String,
    /// What it shows.
    pub title: String,
    /// Groups of workloads, in order.
    pub groups: Vec<At<String>>,
    /// Configurations, in order.
    pub configurations: Vec<At<String>>,
    /// What is measured.
    pub shape: Shape,
    /// The configuration that is 1, workload by workload.
    pub normalise: Option<At<String>>,
    /// Of a sweep: what each configuration is compared with.
    pub bases: Option<Bases>,
    /// The configuration by whose values the workloads of each group are sorted.
    pub sort: Option<At<String>>,
    /// How values are written.
    pub display: Display,
    /// Whether more of it is better, which says which workload is the worst; none where neither is.
    pub more: Option<bool>,
    /// How workloads are averaged.
    pub mean: Mean,
    /// What the paper reports.
    pub paper: PaperValues,
    /// What the paper says about it.
    pub claims: Vec<Claim>,
    /// Remarks.
    pub note: Option<String>,
}

impl Figure {
    /// The configuration that the values of column `index` are divided by.
    pub fn base(&self, index: usize) -> Option<&At<String>> {
        let bases = self.bases.as_ref();
        bases.map_or(self.normalise.as_ref(), |b| b.names.get(index))
    }
}

/// Bars or stacks of parts.
#[derive(Clone, Debug)]
pub enum Shape {
    /// One value each.
    Bars {
        /// Metric, statistic or expression.
        metric: At<String>,
    },
    /// Several values on top of each other.
    Stack {
        /// From the bottom up.
        parts: Vec<Part>,
    },
}

/// A layer of a stack.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is called.
    pub title: String,
    /// Metric, statistic or expression.
    pub metric: At<String>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// 1.084
    Ratio,
    /// +8.4%
    Change,
    /// 30.0%
    Percent,
    /// 12 or 0.25
    Number,
}

/// How workloads are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mean {
    Arithmetic,
    Geometric,
    Harmonic,
}

/// What the paper reports for a figure.
#[derive(Clone, Debug, Default)]
pub struct PaperValues {
    /// Average of a configuration over a group (or `all`).
    pub means: Vec<PaperMean>,
    /// A configuration's value on a workload.
    pub values: Vec<PaperValue>,
    /// Where the numbers stand, or how they were derived.
    pub source: Option<String>,
}

/// An average the paper prints.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperMean {
    /// A group of the figure, or `all`.
    pub group: At<String>,
    /// Configuration.
    pub configuration: At<String>,
    /// The value, on the figure's own scale.
    pub value: f64,
}

/// A value the paper prints for one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperValue {
    /// Configuration.
    pub configuration: At<String>,
    /// Workload.
    pub workload: At<String>,
    /// The value, on the figure's own scale.
    pub value: f64,
}

/// Something the paper says that can hold or not.
#[derive(Clone, Debug)]
pub struct Claim {
    /// In words.
    pub text: String,
    /// What it says: who wins, an order, a size or a detail.
    pub kind: Kind,
    /// Whether it is in the table that a report begins with.
    pub headline: bool,
    /// `a > b > c`; none for a claim that cannot be tested.
    pub chain: Option<At<Chain>>,
    /// Why it cannot be tested.
    pub untested: Option<String>,
    /// What the paper prints.
    pub paper: Option<String>,
    /// Where it is looked at.
    pub on: On,
    /// Only this group of the figure.
    pub group: Option<At<String>>,
    /// The layer of a stack it is about.
    pub part: Option<At<String>>,
    /// Workloads for which the paper says the opposite.
    pub except: Vec<At<String>>,
    /// What `~` allows, relative.
    pub within: f64,
    /// Why it does not hold here.
    pub reason: Option<Reason>,
    /// Experiments that isolate why.
    pub experiments: Vec<At<String>>,
    /// What was changed in its test after results had been seen: what, when and why.
    pub changed: Vec<String>,
}

/// Why a claim does not hold, and what shows that.
#[derive(Clone, Debug)]
pub struct Reason {
    /// In words.
    pub text: String,
    /// What shows it.
    pub by: By,
}

/// What shows a reason.
#[derive(Clone, Debug)]
pub enum By {
    /// The paper, which says so.
    Paper,
    /// An experiment of the claim.
    Experiment(At<String>),
}

/// Values to compare, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The first value.
    pub first: Term,
    /// Comparisons with what follows.
    pub rest: Vec<(Order, Term)>,
}

/// Something with a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A configuration.
    Configuration(String),
    /// One configuration over another.
    Quotient(String, String),
    /// A number.
    Number(f64),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Order {
    Above,
    NotBelow,
    Below,
    NotAbove,
    /// Equal but for the claim's relative difference.
    About,
    /// Equal but for this much to either side.
    Within(f64),
}

/// Where a claim is looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum On {
    /// The average over the workloads.
    Mean,
    /// The best value of any workload: the largest, or the smallest where less is better.
    Best,
    /// The worst value of any workload.
    Worst,
    /// Every workload.
    Every,
    /// At least one workload.
    Some,
    /// So many workloads, from the first number to the second.
    Count(RangeInclusive<u64>),
    /// Each of these workloads.
    Workloads(Vec<At<String>>),
}

/// A run whose timeline is recorded.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Workload.
    pub workload: At<String>,
    /// Configurations, one timeline each.
    pub configurations: Vec<At<String>>,
    /// What it shows.
    pub title: String,
    /// The SM.
    pub sm: u16,
    /// First cycle and first after the last.
    pub cycles: (u64, u64),
}

/// A run that is known to fail.
#[derive(Clone, Debug)]
pub struct ExpectedFailure {
    /// Workload.
    pub workload: At<String>,
    /// Configurations.
    pub configurations: Vec<At<String>>,
    /// Why.
    pub reason: String,
}
