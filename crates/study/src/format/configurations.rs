//! Configurations: named one by one, or as the cross product of a grid.

use super::model::{At, Configuration, Input};
use super::parse::check_word;
use super::table::{Table, at, items, key, setting};
use warpsim_present::{Entry, Node, Source, SourceError, Value};

/// Keys that stand for a machine setting.
const SHORT: [(&str, &str); 6] = [
    // First, so that what is set singly goes over what a name sets.
    ("warps", "warps"),
    ("power", "power"),
    ("scheduler", "scheduler"),
    ("fetch", "fetch.policy"),
    ("divergence", "divergence"),
    ("virtualize", "virtual.mode"),
];

/// The axis whose values are repeats of one another.
pub const SEED: &str = "seed";

/// More than this is a slip.
const MOST: usize = 10_000;

/// Everything under `configurations` and `grid`.
pub fn all(table: &Table) -> Result<Vec<Configuration>, SourceError> {
    let mut all = Vec::new();
    for entry in table.named("configurations")? {
        all.push(one(table.source, entry)?);
    }
    for node in table.tables("grid")? {
        grid(table.source, node, &mut all)?;
    }
    if all.is_empty() {
        return Err(table.missing(
            "configurations",
            "for example `[configurations]` with `gto = { scheduler = \"gto\" }`, or a `[[grid]]`",
        ));
    }
    for (i, c) in all.iter().enumerate() {
        check_word(table.source, &c.name, "a configuration's name")?;
        let before: &[Configuration] = &all[..i];
        if before.iter().any(|b| b.name.value == c.name.value) {
            let message = format!("there are two configurations called `{}`", c.name.value);
            return Err(table.source.error(c.name.place.clone(), message));
        }
    }
    Ok(all)
}

/// What a configuration, or a grid of them, may say beside what it is called.
const fn keys(called: &str) -> [&str; 11] {
    [
        called,
        "machine",
        "warps",
        "power",
        "scheduler",
        "fetch",
        "divergence",
        "virtualize",
        "seed",
        "set",
        "param",
    ]
}

fn one(source: &Source, entry: &Entry) -> Result<Configuration, SourceError> {
    let what = format!("configuration `{}`", entry.key);
    let fields = Table::new(source, &entry.node, what, &keys("title"))?;
    let change = change(&fields)?;
    Ok(Configuration {
        title: fields.text_or("title", &entry.key)?,
        machine: change.machine,
        seed: change.seed,
        settings: change.settings,
        parameters: change.parameters,
        inputs: change.inputs,
        axes: Vec::new(),
        name: key(entry),
    })
}

/// What is said of a machine and its input.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Another machine.
    pub machine: Option<At<String>>,
    /// Another seed.
    pub seed: Option<u64>,
    /// Machine settings: `key=value`.
    pub settings: Vec<At<String>>,
    /// Workload parameters: `key=value`.
    pub parameters: Vec<At<String>>,
    /// Those of single workloads.
    pub inputs: Vec<Input>,
}

impl Change {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        let plain = self.machine.is_none() && self.seed.is_none();
        plain && self.settings.is_empty() && !self.resizes()
    }

    /// Whether workloads have other parameters.
    pub fn resizes(&self) -> bool {
        !self.parameters.is_empty() || !self.inputs.is_empty()
    }
}

/// What a table says of a machine and its input.
pub fn change(fields: &Table) -> Result<Change, SourceError> {
    let mut settings = Vec::new();
    for (short, full) in SHORT {
        settings.extend(fields.text(short)?.map(|t| At {
            value: format!("{full}={}", t.value),
            place: t.place,
        }));
    }
    settings.extend(pairs(fields, "set")?);
    Ok(Change {
        machine: fields.text("machine")?,
        seed: fields.whole("seed", 0, i64::MAX as u64)?.map(|s| s.value),
        settings,
        parameters: pairs(fields, "param")?,
        inputs: inputs(fields)?,
    })
}

/// The tables under `inputs`, one for each workload.
pub fn inputs(fields: &Table) -> Result<Vec<Input>, SourceError> {
    let all = fields.named("inputs")?.iter().map(|entry| {
        let Some(parameters) = entry.node.entries() else {
            let message = format!("the parameters of `{}` are a table", entry.key);
            let error = fields.source.error(entry.node.span.clone(), message);
            return Err(error.with_help("for example `matmul = { n = 144 }`"));
        };
        let mut pairs = Vec::new();
        flatten(parameters, "", &mut |name, node| {
            let value = setting(fields.source, node, name)?;
            pairs.push(at(format!("{name}={value}"), node));
            Ok(())
        })?;
        Ok(Input {
            workload: key(entry),
            parameters: pairs,
        })
    });
    all.collect()
}

/// A setting, with one value or several.
pub type SettingList = (String, Vec<At<String>>);

/// The settings under `set`.
pub fn setting_lists(fields: &Table) -> Result<Vec<SettingList>, SourceError> {
    let mut lists = Vec::new();
    flatten(fields.named("set")?, "", &mut |name, node| {
        let axis = axis(fields.source, name, What::Setting, node)?;
        lists.push((axis.name, axis.values));
        Ok(())
    })?;
    Ok(lists)
}

/// The entries of a table as `key=value`.
fn pairs(fields: &Table, key: &str) -> Result<Vec<At<String>>, SourceError> {
    let mut pairs = Vec::new();
    flatten(fields.named(key)?, "", &mut |name, node| {
        let value = setting(fields.source, node, name)?;
        pairs.push(at(format!("{name}={value}"), node));
        Ok(())
    })?;
    Ok(pairs)
}

/// Calls `f` with dotted names: `"sm.schedulers" = 2` and `sm.schedulers = 2` are the same.
fn flatten<'a>(
    entries: &'a [Entry],
    prefix: &str,
    f: &mut dyn FnMut(&str, &'a Node) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    for entry in entries {
        let name = format!("{prefix}{}", entry.key);
        match &entry.node.value {
            Value::Table(below) => flatten(below, &format!("{name}."), f)?,
            _ => f(&name, &entry.node)?,
        }
    }
    Ok(())
}

/// One dimension of a grid: what is set, and to what.
struct Axis {
    name: String,
    what: What,
    values: Vec<At<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Machine,
    Seed,
    Policy(&'static str),
    Setting,
    Parameter,
}

fn grid(source: &Source, node: &Node, all: &mut Vec<Configuration>) -> Result<(), SourceError> {
    let fields = Table::new(source, node, "a grid", &keys("name"))?;
    let template = fields.text("name")?;
    let axes = axes(&fields)?;
    let product = axes
        .iter()
        .try_fold(1usize, |n, a| n.checked_mul(a.values.len()))
        .filter(|n| (1..=MOST).contains(n));
    let Some(product) = product.filter(|_| !axes.is_empty()) else {
        let message = format!("a grid has between 1 and {MOST} combinations");
        return Err(source.error(node.span.clone(), message).with_help(
            "for example `scheduler = [\"lrr\", \"gto\"]` and `fetch = [\"lrr\", \"cff\"]`",
        ));
    };
    for number in 0..product {
        let chosen = choose(&axes, number);
        let name = match &template {
            Some(t) => filled(source, t, &chosen)?,
            None => default_name(&axes, &chosen),
        };
        let place = template
            .as_ref()
            .map_or(node.span.clone(), |t| t.place.clone());
        all.push(configuration(At { value: name, place }, &chosen, source)?);
    }
    Ok(())
}

fn axes(fields: &Table) -> Result<Vec<Axis>, SourceError> {
    let mut axes = Vec::new();
    let plain = [("machine", What::Machine)]
        .into_iter()
        .chain(SHORT.map(|(short, full)| (short, What::Policy(full))))
        .chain([(SEED, What::Seed)]);
    for (name, what) in plain {
        if let Some(node) = fields.node(name) {
            axes.push(axis(fields.source, name, what, node)?);
        }
    }
    for (table, what) in [("set", What::Setting), ("param", What::Parameter)] {
        flatten(fields.named(table)?, "", &mut |name, node| {
            axes.push(axis(fields.source, name, what, node)?);
            Ok(())
        })?;
    }
    Ok(axes)
}

fn axis(source: &Source, name: &str, what: What, node: &Node) -> Result<Axis, SourceError> {
    let value = |n: &Node| Ok(at(setting(source, n, name)?, n));
    Ok(Axis {
        name: name.to_string(),
        what,
        values: items(node).iter().map(value).collect::<Result<_, _>>()?,
    })
}

type Chosen<'a> = Vec<(&'a Axis, &'a At<String>)>;

/// Combination `number`: the last axis moves fastest.
fn choose(axes: &[Axis], mut number: usize) -> Chosen<'_> {
    let mut chosen: Chosen = Vec::new();
    for axis in axes.iter().rev() {
        chosen.push((axis, &axis.values[number % axis.values.len()]));
        number /= axis.values.len();
    }
    chosen.reverse();
    chosen
}

/// What differs, joined by `+`: `gto+cff`, `lrr+sm.schedulers=4`.
fn default_name(axes: &[Axis], chosen: &Chosen) -> String {
    let single = axes.iter().all(|a| a.values.len() == 1);
    let differing = chosen.iter().filter(|(a, _)| single || a.values.len() > 1);
    let part = |(axis, value): &(&Axis, &At<String>)| match axis.what {
        What::Machine | What::Policy(_) => value.value.clone(),
        _ => format!("{}={}", axis.name, value.value),
    };
    differing.map(part).collect::<Vec<_>>().join("+")
}

/// A name like `{scheduler}-{fetch.buffer}` with the chosen values.
fn filled(source: &Source, template: &At<String>, chosen: &Chosen) -> Result<String, SourceError> {
    let mut out = String::new();
    let mut rest = template.value.as_str();
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map(|i| open + i);
        let found = close.and_then(|close| {
            let name = &rest[open + 1..close];
            let value = chosen.iter().find(|(a, _)| a.name == name)?;
            Some((close, &value.1.value))
        });
        let Some((close, value)) = found else {
            let names: Vec<String> = chosen
                .iter()
                .map(|(a, _)| format!("{{{}}}", a.name))
                .collect();
            return Err(source
                .error(
                    template.place.clone(),
                    "a name in braces is no axis of this grid",
                )
                .with_help(format!("there are: {}", names.join(", "))));
        };
        out += &rest[..open];
        out += value;
        rest = &rest[close + 1..];
    }
    Ok(out + rest)
}

fn configuration(
    name: At<String>,
    chosen: &Chosen,
    source: &Source,
) -> Result<Configuration, SourceError> {
    let mut made = Configuration {
        title: name.value.clone(),
        name,
        machine: None,
        seed: None,
        settings: Vec::new(),
        parameters: Vec::new(),
        inputs: Vec::new(),
        axes: chosen
            .iter()
            .filter(|(axis, _)| axis.values.len() > 1)
            .map(|(axis, value)| (axis.name.clone(), value.value.clone()))
            .collect(),
    };
    for (axis, value) in chosen {
        let pair = |key: &str| At {
            value: format!("{key}={}", value.value),
            place: value.place.clone(),
        };
        match axis.what {
            What::Machine => made.machine = Some((*value).clone()),
            What::Policy(full) => made.settings.push(pair(full)),
            What::Setting => made.settings.push(pair(&axis.name)),
            What::Parameter => made.parameters.push(pair(&axis.name)),
            What::Seed => {
                let seed = value.value.parse().map_err(|_| {
                    source.error(
                        value.place.clone(),
                        "a seed is a whole number, not negative",
                    )
                })?;
                made.seed = Some(seed);
            }
        }
    }
    Ok(made)
}
