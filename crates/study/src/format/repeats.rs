//! Repeats: how often every run is made, and what is a little different each time.

use super::model::At;
use super::table::{Table, at, key, text};
use warpsim_present::{Entry, Node, Source, SourceError, Value};

/// Runs of everything when neither the study nor the command line says how many.
pub const USUAL: u64 = 3;

/// More than this is a slip.
pub const MOST: u64 = 100;

/// How runs are repeated.
#[derive(Clone, Debug)]
pub struct Repeats {
    /// How often everything runs.
    pub count: u64,
    /// What differs from repeat to repeat.
    pub vary: Vary,
    /// What the second repeat adds to the machine's settings, the third, and so on; without a list
    /// it is the L2's latency, up and down by turns.
    pub perturb: Option<At<Vec<At<Perturbation>>>>,
    /// Workloads for which something else differs than for the others.
    pub workloads: Vec<(At<String>, Vary)>,
}

/// Settings and what is added to each.
pub type Perturbation = Vec<(String, i64)>;

/// What differs from repeat to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vary {
    /// The seed of the input.
    Seed,
    /// A setting of the machine, by a little.
    Machine,
    /// Both.
    Both,
}

const VARY: &[(&str, Vary)] = &[
    ("seed", Vary::Seed),
    ("machine", Vary::Machine),
    ("both", Vary::Both),
];

const KEYS: &[&str] = &["count", "vary", "perturb", "workloads"];

impl Default for Repeats {
    fn default() -> Repeats {
        Repeats {
            count: USUAL,
            vary: Vary::Both,
            perturb: None,
            workloads: Vec::new(),
        }
    }
}

/// What stands under `repeats`.
pub fn read(table: &Table) -> Result<Repeats, SourceError> {
    let Some(node) = table.node("repeats") else {
        return Ok(Repeats::default());
    };
    let source = table.source;
    let fields = Table::new(source, node, "`repeats`", KEYS)?;
    let mut workloads = Vec::new();
    for entry in fields.named("workloads")? {
        let word = text(source, &entry.node, &entry.key)?;
        let Some((_, vary)) = VARY.iter().find(|(name, _)| *name == word.value) else {
            let all: Vec<&str> = VARY.iter().map(|(name, _)| *name).collect();
            let message = format!("`{}` is one of: {}", entry.key, all.join(", "));
            return Err(source.error(word.place, message));
        };
        workloads.push((key(entry), *vary));
    }
    Ok(Repeats {
        count: fields.whole("count", 1, MOST)?.map_or(USUAL, |n| n.value),
        vary: fields.choice("vary", VARY)?.unwrap_or(Vary::Both),
        perturb: fields
            .node("perturb")
            .map(|node| perturbations(source, node))
            .transpose()?,
        workloads,
    })
}

const EXAMPLE: &str = "for example `perturb = [{ \"l2.latency\" = 1 }, { \"l2.latency\" = -1 }]`: what the second \
     repeat adds to the machine's settings, the third, and so on";

fn perturbations(source: &Source, node: &Node) -> Result<At<Vec<At<Perturbation>>>, SourceError> {
    let wrong = |node: &Node, message: &str| {
        Err(source.error(node.span.clone(), message).with_help(EXAMPLE))
    };
    let Value::Array(items) = &node.value else {
        return wrong(node, "`perturb` is a list of tables");
    };
    let mut all = Vec::new();
    for item in items {
        let Some(entries) = item.entries().filter(|e| !e.is_empty()) else {
            return wrong(item, "each item of `perturb` has settings to add to");
        };
        let mut settings = Vec::new();
        if let Err(place) = offsets(entries, "", &mut settings) {
            return wrong(place, "`perturb` adds a whole number, and not 0");
        }
        all.push(at(settings, item));
    }
    if all.is_empty() {
        return wrong(node, "`perturb` is a list of tables");
    }
    Ok(at(all, node))
}

/// Settings with what is added; the node that is no such number if there is one.
fn offsets<'a>(
    entries: &'a [Entry],
    prefix: &str,
    settings: &mut Perturbation,
) -> Result<(), &'a Node> {
    for entry in entries {
        let name = format!("{prefix}{}", entry.key);
        match &entry.node.value {
            Value::Table(below) => offsets(below, &format!("{name}."), settings)?,
            Value::Integer(offset) if *offset != 0 => settings.push((name, *offset)),
            _ => return Err(&entry.node),
        }
    }
    Ok(())
}
