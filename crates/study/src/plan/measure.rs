//! What figures measure, as expressions.

use crate::error::StudyError;
use crate::format::{At, Metric, Shape, Study};
use crate::values::metric::{Expression, Problem, meaning};

/// What a figure measures: one layer for bars, several for stacks.
pub struct Measure {
    /// From the bottom up; none when this build lacks a statistic.
    pub layers: Option<Vec<Layer>>,
    /// The awaited statistic that is not there.
    pub lacking: Option<String>,
}

/// A layer of a figure.
pub struct Layer {
    /// What it is called.
    pub title: String,
    /// How it is computed.
    pub expression: Expression,
    /// What it means.
    pub definition: Definition,
}

/// What a layer means, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The expression, as written.
    pub formula: String,
    /// In the paper's words.
    pub paper: Option<String>,
    /// In ours.
    pub ours: Option<String>,
    /// Every statistic of the formula with what it counts.
    pub statistics: Vec<(String, String)>,
}

fn definition(defined: Option<&Metric>, formula: &str, expression: &Expression) -> Definition {
    let mut statistics: Vec<(String, String)> = Vec::new();
    for name in expression.names() {
        if !statistics.iter().any(|(n, _)| n == name) {
            statistics.push((name.to_string(), meaning(name)));
        }
    }
    Definition {
        formula: formula.to_string(),
        paper: defined.and_then(|m| m.paper.clone()),
        ours: defined.and_then(|m| m.definition.clone()),
        statistics,
    }
}

/// Resolves every figure's metrics; the metrics that no figure uses are checked too.
pub fn resolve(study: &Study, missing: &mut Vec<String>) -> Result<Vec<Measure>, StudyError> {
    for metric in &study.metrics {
        // An awaited statistic matters only to the figures that use it.
        let _ = expression(study, &metric.value)?;
    }
    let mut measures = Vec::new();
    for figure in &study.figures {
        let wanted: Vec<(&str, &At<String>)> = match &figure.shape {
            Shape::Bars { metric } => vec![("", metric)],
            Shape::Stack { parts } => parts
                .iter()
                .map(|p| (p.title.as_str(), &p.metric))
                .collect(),
        };
        let mut measure = Measure {
            layers: Some(Vec::new()),
            lacking: None,
        };
        for (title, metric) in wanted {
            let defined = study.metrics.iter().find(|m| m.name.value == metric.value);
            let title = match (title, defined) {
                ("", Some(defined)) => &defined.title,
                ("", None) => &metric.value,
                (title, _) => title,
            };
            match expression(study, defined.map_or(metric, |m| &m.value))? {
                Ok(expression) => measure.layers.iter_mut().for_each(|layers| {
                    layers.push(Layer {
                        title: title.to_string(),
                        definition: definition(
                            defined,
                            &defined.map_or(metric, |m| &m.value).value,
                            &expression,
                        ),
                        expression: expression.clone(),
                    });
                }),
                Err(name) => {
                    let id = &figure.id.value;
                    missing.push(format!(
                        "figure `{id}`: this build has no statistic `{name}`"
                    ));
                    measure.layers = None;
                    measure.lacking = Some(name);
                    break;
                }
            }
        }
        measures.push(measure);
    }
    Ok(measures)
}

/// An expression, or the awaited statistic it lacks.
fn expression(study: &Study, text: &At<String>) -> Result<Result<Expression, String>, StudyError> {
    let (message, help) = match Expression::parse(&text.value) {
        Ok(expression) => return Ok(Ok(expression)),
        Err(Problem::Unknown { name, .. }) if study.awaited.contains(&name) => {
            return Ok(Err(name));
        }
        Err(Problem::Unknown { name, hint }) => {
            let hint = hint
                .map(|h| format!("did you mean `{h}`? "))
                .unwrap_or_default();
            (
                format!("no metric or statistic is called `{name}`"),
                format!("{hint}`warpsim list stats` shows all; metrics are under `[metrics.NAME]`"),
            )
        }
        Err(Problem::Syntax(text)) => (
            format!("cannot read this expression: {text}"),
            "statistics, numbers, + - * / and parentheses".to_string(),
        ),
    };
    let error = study.source.error(text.place.clone(), message);
    Err(error.with_help(help).into())
}
