//! Figures: what is shown, and what the paper has there.

use super::model::*;
use super::parse::{ALL, check_word};
use super::table::{Table, key, number};
use super::{baseline, claim};
use warpsim_present::{Node, SourceError};

const KEYS: &[&str] = &[
    "id",
    "number",
    "title",
    "groups",
    "configurations",
    "metric",
    "parts",
    "normalise",
    "sort",
    "display",
    "mean",
    "better",
    "paper",
    "claims",
    "note",
];

/// What `better` says.
const BETTER: [(&str, bool); 2] = [("more", true), ("less", false)];

/// Everything under `figures`.
pub fn all(table: &Table) -> Result<Vec<Figure>, SourceError> {
    let mut figures: Vec<Figure> = Vec::new();
    for node in table.tables("figures")? {
        let figure = one(table, node)?;
        if figures.iter().any(|f| f.id.value == figure.id.value) {
            let message = format!("there are two figures called `{}`", figure.id.value);
            return Err(table.source.error(figure.id.place, message));
        }
        figures.push(figure);
    }
    Ok(figures)
}

/// What is shown of a grid that names no figures: the speed-up over a baseline, cycles and instructions per cycle.
pub fn plain(study: &Study, wanted: Option<&str>) -> Result<Vec<Figure>, String> {
    let here = |value: &str| At {
        value: value.to_string(),
        place: 0..0,
    };
    let bases = baseline::resolve(study, wanted)?;
    let figure = |id: &str, title: String, metric: &str| Figure {
        id: here(id),
        number: String::new(),
        title,
        groups: study.groups.iter().map(|g| g.name.clone()).collect(),
        configurations: study
            .configurations
            .iter()
            .map(|c| c.name.clone())
            .collect(),
        shape: Shape::Bars {
            metric: here(metric),
        },
        normalise: None,
        bases: None,
        sort: None,
        display: Display::Number,
        more: Some(metric != "cycles"),
        mean: Mean::Geometric,
        paper: PaperValues::default(),
        claims: Vec::new(),
        note: None,
    };
    let speedup = Figure {
        display: Display::Change,
        bases: Some(bases.clone()),
        ..figure(
            SPEEDUP,
            format!("Speed-up over {}", bases.title),
            "1 / cycles",
        )
    };
    let mut figures = vec![
        figure("cycles", "Core cycles".into(), "cycles"),
        figure("ipc", "Thread instructions per cycle".into(), "ipc"),
    ];
    if study.configurations.len() > 1 {
        figures.insert(0, speedup);
    }
    Ok(figures)
}

/// The id of a sweep's speed-up.
pub const SPEEDUP: &str = "speedup";

/// Compares a sweep's configurations with another baseline. The text says why that cannot be.
pub fn rebase(study: &mut Study, wanted: &str) -> Result<(), String> {
    if !study.figures.iter().any(|f| f.bases.is_some()) {
        return Err(format!(
            "study `{}` has {}: there is nothing to compare with a baseline\na baseline is for a grid, or \
             several configurations, without `[[figures]]`",
            study.name,
            match study.configurations.len() {
                1 => "one configuration",
                _ => "figures of its own, which say what they are normalised to",
            }
        ));
    }
    study.figures = plain(study, Some(wanted))?;
    Ok(())
}

fn one(table: &Table, node: &Node) -> Result<Figure, SourceError> {
    let source = table.source;
    let fields = Table::new(source, node, "a figure", KEYS)?;
    let id = fields
        .text("id")?
        .ok_or_else(|| fields.missing("id", "for example `id = \"fig8\"`"))?;
    check_word(source, &id, "a figure's id")?;
    let groups = fields.texts("groups")?;
    if groups.is_empty() {
        return Err(fields.missing("groups", "for example `groups = [\"barrier\"]`"));
    }
    let configurations = fields.texts("configurations")?;
    if configurations.is_empty() {
        let help = "for example `configurations = [\"lrr\", \"gto\"]`";
        return Err(fields.missing("configurations", help));
    }
    let normalise = fields.text("normalise")?;
    let display = fields.choice(
        "display",
        &[
            ("ratio", Display::Ratio),
            ("change", Display::Change),
            ("percent", Display::Percent),
            ("number", Display::Number),
        ],
    )?;
    let plain = if normalise.is_some() {
        Display::Ratio
    } else {
        Display::Number
    };
    let means = [
        ("arithmetic", Mean::Arithmetic),
        ("geometric", Mean::Geometric),
        ("harmonic", Mean::Harmonic),
    ];
    let shape = shape(&fields)?;
    let claims = fields.tables("claims")?;
    let normalised = normalise.is_some();
    Ok(Figure {
        number: fields.text_or("number", "")?,
        title: fields.text_or("title", &id.value)?,
        groups,
        configurations,
        normalise,
        bases: None,
        sort: fields.text("sort")?,
        display: display.unwrap_or(plain),
        more: fields
            .choice("better", &BETTER)?
            .or(normalised.then_some(true)),
        mean: fields.choice("mean", &means)?.unwrap_or(Mean::Arithmetic),
        paper: paper(&fields)?,
        claims: claims
            .iter()
            .map(|n| claim::one(source, n, &shape, normalised))
            .collect::<Result<_, _>>()?,
        note: fields.text("note")?.map(|t| t.value),
        shape,
        id,
    })
}

fn shape(fields: &Table) -> Result<Shape, SourceError> {
    let parts = fields.tables("parts")?;
    match (fields.text("metric")?, parts.is_empty()) {
        (Some(metric), true) => Ok(Shape::Bars { metric }),
        (None, false) => {
            let mut stack = Vec::new();
            for node in parts {
                let part = Table::new(fields.source, node, "a part", &["title", "metric"])?;
                let metric = part.text("metric")?.ok_or_else(|| {
                    part.missing("metric", "for example `metric = \"warp_states.barrier\"`")
                })?;
                stack.push(Part {
                    title: part.text_or("title", &metric.value)?,
                    metric,
                });
            }
            Ok(Shape::Stack { parts: stack })
        }
        (Some(metric), false) => Err(fields
            .source
            .error(metric.place, "a figure has a `metric` or `parts`, not both")),
        (None, true) => Err(fields.missing("metric", "for example `metric = \"ipc\"`")),
    }
}

fn paper(fields: &Table) -> Result<PaperValues, SourceError> {
    let Some(node) = fields.node("paper") else {
        return Ok(PaperValues::default());
    };
    let source = fields.source;
    let table = Table::new(source, node, "`paper`", &["mean", "values", "source"])?;
    let mut paper = PaperValues {
        source: table.text("source")?.map(|t| t.value),
        ..PaperValues::default()
    };
    for outer in table.named("mean")? {
        match outer.node.entries() {
            // `mean.gto = 1.084`: over everything the figure shows.
            None => paper.means.push(PaperMean {
                group: At {
                    value: ALL.into(),
                    place: outer.key_span.clone(),
                },
                configuration: key(outer),
                value: number(source, &outer.node, &outer.key)?,
            }),
            Some(inner) => {
                for entry in inner {
                    paper.means.push(PaperMean {
                        group: key(outer),
                        configuration: key(entry),
                        value: number(source, &entry.node, &entry.key)?,
                    });
                }
            }
        }
    }
    for outer in table.named("values")? {
        let Some(inner) = outer.node.entries() else {
            return Err(source
                .error(
                    outer.node.span.clone(),
                    "values are given for each workload",
                )
                .with_help(format!("write `values.{} = {{ matmul = 1.1 }}`", outer.key)));
        };
        for entry in inner {
            paper.values.push(PaperValue {
                configuration: key(outer),
                workload: key(entry),
                value: number(source, &entry.node, &entry.key)?,
            });
        }
    }
    Ok(paper)
}
