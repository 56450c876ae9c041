//! From text to [`Study`].

use super::model::*;
use super::table::{Table, key, text};
use super::{beside, configurations, figure, references, repeats, trade_off};
use warpsim_present::{Node, Source, SourceError, Value};
use warpsim_workloads::suite::Size;

const KEYS: &[&str] = &[
    "schema",
    "name",
    "title",
    "paper",
    "description",
    "machine",
    "size",
    "seed",
    "max_cycles",
    "awaited",
    "inputs",
    "repeats",
    "changed",
    "labels",
    "groups",
    "configurations",
    "grid",
    "metrics",
    "figures",
    "timelines",
    "expected_failures",
    "experiments",
    "sensitivity",
    "few_blocks",
    "trade_offs",
    "headlines",
    "baseline",
];

/// The sizes a study can ask for.
pub const SIZES: &[(&str, Size)] = &[
    ("tiny", Size::Tiny),
    ("small", Size::Small),
    ("large", Size::Large),
];

/// Reads the text of a study file.
pub fn parse(source: &Source) -> Result<Study, SourceError> {
    let root = Node::parse(source)?;
    check_schema(source, &root)?;
    let table = Table::new(source, &root, "a study", KEYS)?;
    let name = table
        .text("name")?
        .ok_or_else(|| table.missing("name", "for example `name = \"my-study\"`"))?;
    check_word(source, &name, "a study's name")?;
    let mut study = Study {
        source: source.clone(),
        directory: None,
        title: table.text_or("title", &name.value)?,
        paper: table.text("paper")?.map(|t| t.value),
        description: table.text("description")?.map(|t| t.value),
        machine: table
            .text("machine")?
            .ok_or_else(|| table.missing("machine", "for example `machine = \"gtx480\"`"))?,
        size: table.choice("size", SIZES)?.unwrap_or_default(),
        seed: table.whole("seed", 0, i64::MAX as u64)?.map(|s| s.value),
        max_cycles: table
            .whole("max_cycles", 1, i64::MAX as u64)?
            .map(|m| m.value),
        awaited: table
            .texts("awaited")?
            .into_iter()
            .map(|t| t.value)
            .collect(),
        inputs: configurations::inputs(&table)?,
        repeats: repeats::read(&table)?,
        changed: table
            .texts("changed")?
            .into_iter()
            .map(|t| t.value)
            .collect(),
        labels: labels(&table)?,
        groups: groups(&table)?,
        configurations: configurations::all(&table)?,
        metrics: metrics(&table)?,
        figures: figure::all(&table)?,
        timelines: timelines(&table)?,
        expected_failures: expected_failures(&table)?,
        experiments: beside::experiments(&table)?,
        sensitivities: beside::sensitivities(&table)?,
        waivers: beside::waivers(&table)?,
        trade_offs: trade_off::all(&table)?,
        headlines: table.texts("headlines")?,
        baseline: table.text("baseline")?,
        name: name.value,
    };
    if study.figures.is_empty() {
        study.figures = figure::plain(&study, None).map_err(|e| source.error_without_place(e))?;
    }
    if let Some(wanted) = study.baseline.clone() {
        figure::rebase(&mut study, &wanted.value).map_err(|text| {
            let (message, help) = text.split_once('\n').unwrap_or((&text, ""));
            let error = source.error(wanted.place, message.to_string());
            error.with_help(help.to_string())
        })?;
    }
    references::check(&study)?;
    Ok(study)
}

fn check_schema(source: &Source, root: &Node) -> Result<(), SourceError> {
    match root.get("schema").map(|n| (&n.value, n)) {
        Some((Value::Integer(1), _)) => Ok(()),
        Some((_, node)) => Err(source
            .error(node.span.clone(), "this version of warpsim reads schema 1")
            .with_help("write `schema = 1`")),
        None => Err(source
            .error_without_place("the file does not say which format it is in")
            .with_help("start it with `schema = 1`")),
    }
}

/// Names go into file names, and stand between blanks in claims.
pub fn check_word(source: &Source, word: &At<String>, what: &str) -> Result<(), SourceError> {
    let fits = |c: char| !c.is_whitespace() && !c.is_control() && !"/\\\"<>|*?:".contains(c);
    if word.value.is_empty() || !word.value.chars().all(fits) || word.value.starts_with('.') {
        let message = format!("{what} is one word, without blanks and slashes");
        return Err(source.error(word.place.clone(), message));
    }
    Ok(())
}

fn labels(table: &Table) -> Result<Vec<(At<String>, String)>, SourceError> {
    table
        .named("labels")?
        .iter()
        .map(|e| Ok((key(e), text(table.source, &e.node, &e.key)?.value)))
        .collect()
}

fn groups(table: &Table) -> Result<Vec<Group>, SourceError> {
    const KEYS: &[&str] = &["title", "workloads", "sets", "without", "of"];
    let mut groups = Vec::new();
    for entry in table.named("groups")? {
        let what = format!("group `{}`", entry.key);
        let fields = Table::new(table.source, &entry.node, what, KEYS)?;
        let group = Group {
            name: key(entry),
            title: fields.text_or("title", &entry.key)?,
            workloads: fields.texts("workloads")?,
            sets: fields.texts("sets")?,
            without: fields.texts("without")?,
            of: fields.whole("of", 1, 10_000)?.map(|n| n.value),
        };
        if group.workloads.is_empty() && group.sets.is_empty() {
            return Err(fields.missing(
                "workloads",
                "for example `workloads = [\"matmul\"]` or `sets = [\"divergent\"]`",
            ));
        }
        check_word(table.source, &group.name, "a group's name")?;
        if group.name.value == ALL {
            let message = "`all` means every workload of a figure: choose another name";
            return Err(table.source.error(group.name.place, message));
        }
        groups.push(group);
    }
    if groups.is_empty() {
        return Err(table.missing(
            "groups",
            "a study runs workloads: write `[groups.NAME]` with `workloads = [\"matmul\"]`",
        ));
    }
    Ok(groups)
}

/// What a figure's workloads are called together.
pub const ALL: &str = "all";

fn metrics(table: &Table) -> Result<Vec<Metric>, SourceError> {
    const KEYS: &[&str] = &["title", "value", "paper", "definition"];
    let mut metrics = Vec::new();
    for entry in table.named("metrics")? {
        let what = format!("metric `{}`", entry.key);
        let fields = Table::new(table.source, &entry.node, what, KEYS)?;
        let help = "for example `value = \"warp_states.barrier / warp_cycles\"`";
        metrics.push(Metric {
            name: key(entry),
            title: fields.text_or("title", &entry.key)?,
            value: fields
                .text("value")?
                .ok_or_else(|| fields.missing("value", help))?,
            paper: fields.text("paper")?.map(|t| t.value),
            definition: fields.text("definition")?.map(|t| t.value),
        });
    }
    Ok(metrics)
}

fn timelines(table: &Table) -> Result<Vec<Timeline>, SourceError> {
    const KEYS: &[&str] = &["workload", "configurations", "title", "sm", "from", "to"];
    /// Longer ones make a report that is slow to open.
    const LONGEST: u64 = 200_000;
    let mut timelines = Vec::new();
    for node in table.tables("timelines")? {
        let fields = Table::new(table.source, node, "a timeline", KEYS)?;
        let from = fields
            .whole("from", 0, i64::MAX as u64)?
            .map_or(0, |n| n.value);
        let to = fields.whole("to", from + 1, from + LONGEST)?;
        timelines.push(Timeline {
            workload: fields
                .text("workload")?
                .ok_or_else(|| fields.missing("workload", "for example `workload = \"matmul\"`"))?,
            configurations: fields.texts("configurations")?,
            title: fields.text_or("title", "")?,
            sm: fields.whole("sm", 0, 1023)?.map_or(0, |n| n.value as u16),
            cycles: (from, to.map_or(from + 10_000, |n| n.value)),
        });
    }
    Ok(timelines)
}

fn expected_failures(table: &Table) -> Result<Vec<ExpectedFailure>, SourceError> {
    const KEYS: &[&str] = &["workload", "configurations", "reason"];
    let mut all = Vec::new();
    for node in table.tables("expected_failures")? {
        let fields = Table::new(table.source, node, "an expected failure", KEYS)?;
        let need = |key: &str| fields.missing(key, "say which run fails and why");
        let reason = fields.text("reason")?.ok_or_else(|| need("reason"))?;
        all.push(ExpectedFailure {
            workload: fields.text("workload")?.ok_or_else(|| need("workload"))?,
            configurations: fields.texts("configurations")?,
            reason: reason.value,
        });
    }
    Ok(all)
}
