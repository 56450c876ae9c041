//! What is run beside the figures: experiments that claims name, and machine settings whose effect
//! on a figure's average is looked at.

use super::configurations::{Change, change, setting_lists};
use super::model::At;
use super::parse::check_word;
use super::table::{Table, key, text};
use warpsim_present::SourceError;

/// A claim's configurations with something changed.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Name in the file.
    pub name: At<String>,
    /// What is done, in a report.
    pub title: String,
    /// What is changed.
    pub change: Change,
    /// The workloads for which it is changed; all if none are given.
    pub on: Vec<At<String>>,
    /// Workloads that run instead of others: another input, another variant of the kernel.
    pub workloads: Vec<(At<String>, At<String>)>,
    /// How often each run is made; as often as any if not given.
    pub repeats: Option<u64>,
    /// Why the several things that it sets are one change.
    pub together: Option<String>,
}

impl Experiment {
    /// How many things it changes; other workloads count as one.
    fn changes(&self) -> usize {
        let change = &self.change;
        let others = [
            change.machine.is_some(),
            change.seed.is_some(),
            !self.workloads.is_empty(),
        ];
        let others = others.into_iter().filter(|o| *o).count();
        change.settings.len() + change.parameters.len() + others
    }
}

/// How a figure's averages move with settings of the machine.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    /// The figure's id.
    pub figure: At<String>,
    /// The group whose average is shown; that over everything if not given.
    pub group: Option<At<String>>,
    /// Configurations whose average is shown; the figure's if none are given.
    pub configurations: Vec<At<String>>,
    /// Remarks.
    pub note: Option<String>,
    /// How often each run is made; as often as any if not given.
    pub repeats: Option<u64>,
    /// Settings, each with the values that are tried one after the other.
    pub settings: Vec<(String, Vec<At<String>>)>,
    /// Experiments, one after the other.
    pub experiments: Vec<At<String>>,
    /// What the paper leaves open: over these lines its headline has a range.
    pub open: Option<String>,
}

/// A kernel that has few blocks because the paper's has.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// Workload.
    pub workload: At<String>,
    /// One of its kernels; all if not given.
    pub kernel: Option<String>,
    /// What the paper has.
    pub reason: String,
}

/// Everything under `experiments`.
pub fn experiments(table: &Table) -> Result<Vec<Experiment>, SourceError> {
    const KEYS: &[&str] = &[
        "title",
        "machine",
        "scheduler",
        "fetch",
        "divergence",
        "seed",
        "set",
        "param",
        "inputs",
        "on",
        "workloads",
        "repeats",
        "together",
    ];
    let mut all = Vec::new();
    for entry in table.named("experiments")? {
        let what = format!("experiment `{}`", entry.key);
        let fields = Table::new(table.source, &entry.node, what, KEYS)?;
        let instead = fields.named("workloads")?.iter();
        let instead = instead.map(|e| Ok((key(e), text(table.source, &e.node, &e.key)?)));
        let experiment = Experiment {
            name: key(entry),
            title: fields.text_or("title", &entry.key)?,
            change: change(&fields)?,
            on: fields.texts("on")?,
            workloads: instead.collect::<Result<_, SourceError>>()?,
            repeats: repeats(&fields)?,
            together: fields.text("together")?.map(|t| t.value),
        };
        check_word(table.source, &experiment.name, "an experiment's name")?;
        if experiment.changes() > 1 && experiment.together.is_none() {
            let message = format!("experiment `{}` changes several things", entry.key);
            return Err(table
                .source
                .error(experiment.name.place, message)
                .with_help(
                    "with one change it is known what the effect comes from: make several experiments, or say \
                     under `together` why these settings are one change",
                ));
        }
        if experiment.change.is_empty() && experiment.workloads.is_empty() {
            return Err(fields.missing(
                "set",
                "say what is changed, for example `set = { \"interconnect.flit\" = 40 }` or \
                 `workloads = { bfs = \"bfs-mesh\" }`",
            ));
        }
        all.push(experiment);
    }
    Ok(all)
}

fn repeats(fields: &Table) -> Result<Option<u64>, SourceError> {
    let count = fields.whole("repeats", 1, super::repeats::MOST)?;
    Ok(count.map(|n| n.value))
}

/// Everything under `sensitivity`.
pub fn sensitivities(table: &Table) -> Result<Vec<Sensitivity>, SourceError> {
    const KEYS: &[&str] = &[
        "figure",
        "group",
        "configurations",
        "note",
        "repeats",
        "set",
        "experiments",
        "open",
    ];
    let mut all = Vec::new();
    for node in table.tables("sensitivity")? {
        let fields = Table::new(table.source, node, "a table of sensitivities", KEYS)?;
        let settings = setting_lists(&fields)?;
        let experiments = fields.texts("experiments")?;
        if settings.iter().all(|(_, values)| values.is_empty()) && experiments.is_empty() {
            let help = "for example `set = { \"l2.latency\" = [60, 240] }`, or name `experiments`";
            return Err(fields.missing("set", help));
        }
        all.push(Sensitivity {
            figure: fields
                .text("figure")?
                .ok_or_else(|| fields.missing("figure", "the `id` of a figure"))?,
            group: fields.text("group")?,
            configurations: fields.texts("configurations")?,
            note: fields.text("note")?.map(|t| t.value),
            repeats: repeats(&fields)?,
            settings,
            experiments,
            open: fields.text("open")?.map(|t| t.value),
        });
    }
    Ok(all)
}

/// Everything under `few_blocks`.
pub fn waivers(table: &Table) -> Result<Vec<Waiver>, SourceError> {
    const KEYS: &[&str] = &["workload", "kernel", "reason"];
    let mut all = Vec::new();
    for node in table.tables("few_blocks")? {
        let fields = Table::new(table.source, node, "an entry of `few_blocks`", KEYS)?;
        let need = |key: &str| fields.missing(key, "say which workload and what the paper has");
        all.push(Waiver {
            workload: fields.text("workload")?.ok_or_else(|| need("workload"))?,
            kernel: fields.text("kernel")?.map(|t| t.value),
            reason: fields.text("reason")?.ok_or_else(|| need("reason"))?.value,
        });
    }
    Ok(all)
}
