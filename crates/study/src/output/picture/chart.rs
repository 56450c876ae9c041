//! A figure as clusters of bars.

use super::colour::{Colours, Hue, Paint, layer_hues};
use super::quantity;
use crate::evaluate::{Cell, Results, Shown};
use crate::format::{ALL, Display, Figure, Shape};
use crate::output::terminal::{mean_cell, mean_title, row_title};
use crate::values::sample::Sample;
use crate::words;

/// What is drawn.
pub struct Chart {
    /// The figure's number in the study: no other picture has it.
    pub number: usize,
    /// What the picture is called.
    pub title: String,
    /// How values are written.
    pub display: Display,
    /// What goes up, with its unit.
    pub axis: String,
    /// Where bars begin.
    pub baseline: f64,
    /// Colours and what they stand for.
    pub legend: Vec<Entry>,
    /// Words below the legend.
    pub remark: String,
    /// Bars that stand together.
    pub clusters: Vec<Cluster>,
}

/// A line of the legend.
pub struct Entry {
    pub title: String,
    pub paint: Paint,
    /// Drawn as the paper's values are.
    pub outlined: bool,
}

/// Bars that stand together.
pub struct Cluster {
    pub label: String,
    /// A new group of workloads begins here.
    pub heading: Option<String>,
    /// An average.
    pub strong: bool,
    pub bars: Vec<Bar>,
}

/// A bar.
pub struct Bar {
    /// From the bottom up: value and colour.
    pub layers: Vec<(f64, Paint)>,
    /// The paper's.
    pub outlined: bool,
    /// What is shown when the pointer rests on it.
    pub tooltip: String,
    /// A number below it.
    pub number: Option<usize>,
    /// It has no value: the run failed.
    pub failed: bool,
    /// The lowest and the highest repeat.
    pub range: Option<(f64, f64)>,
}

/// The chart of figure number `index`.
pub fn chart(results: &Results, index: usize, shown: &Shown, colours: &Colours) -> Chart {
    let plan = results.plan();
    let figure = &plan.study.figures[index];
    let layers = plan.measures[index].layers.as_deref();
    let maker = Maker {
        figure,
        titles: shown
            .setups
            .iter()
            .map(|&s| plan.setups[s].title.as_str())
            .collect(),
        columns: shown.setups.iter().map(|&s| colours.get(s)).collect(),
        layers: match &figure.shape {
            Shape::Bars { .. } => Vec::new(),
            Shape::Stack { .. } => layer_hues(&shown.layers),
        },
        layer_titles: &shown.layers,
    };
    let mut clusters = Vec::new();
    let several = figure.groups.len() > 1;
    let mut group = None;
    for row in shown.rows.iter().filter(|r| !r.empty()) {
        let new = group.replace(&row.group) != Some(&row.group);
        clusters.push(Cluster {
            label: plan.subjects.label(row.subject).to_string(),
            heading: (several && new).then(|| plan.subjects.title(&row.group).to_string()),
            strong: false,
            bars: maker.bars(&row_title(results, row.subject), &row.cells, &row.paper),
        });
    }
    for (i, mean) in shown.means.iter().enumerate() {
        let cells: Vec<Cell> = mean.cells.iter().map(mean_cell).collect();
        let label = match mean.group.as_str() {
            _ if !several => "mean".into(),
            ALL => "all".into(),
            group => plan.subjects.title(group).to_string(),
        };
        clusters.push(Cluster {
            label,
            heading: (i == 0).then(|| words::mean(figure.mean).to_string()),
            strong: true,
            bars: maker.bars(&mean_title(results, figure, mean), &cells, &mean.paper),
        });
    }
    let printed = clusters.iter().flat_map(|c| &c.bars).any(|b| b.outlined);
    Chart {
        number: index,
        title: [figure.number.as_str(), figure.title.as_str()]
            .into_iter()
            .filter(|t| !t.is_empty())
            .collect::<Vec<_>>()
            .join(": "),
        display: figure.display,
        axis: quantity::title(plan, figure, layers.unwrap_or_default()),
        baseline: if figure.display == Display::Change {
            1.0
        } else {
            0.0
        },
        legend: maker.legend(printed),
        remark: maker.remark(),
        clusters,
    }
}

struct Maker<'a> {
    figure: &'a Figure,
    titles: Vec<&'a str>,
    /// Colours of the configurations.
    columns: Vec<Paint>,
    /// Colours of the layers; none for plain bars.
    layers: Vec<Hue>,
    layer_titles: &'a [String],
}

impl Maker<'_> {
    fn stacked(&self) -> bool {
        !self.layers.is_empty()
    }

    fn bars(&self, row: &str, cells: &[Cell], paper: &[Option<f64>]) -> Vec<Bar> {
        let mut bars = Vec::new();
        for (i, cell) in cells.iter().enumerate() {
            bars.push(self.ours(row, i, cell));
            if let Some(value) = paper[i] {
                let paint = self.columns[i];
                bars.push(Bar {
                    layers: vec![(value, paint)],
                    outlined: true,
                    tooltip: format!(
                        "{row}, {}: {} in the paper",
                        self.titles[i],
                        words::value(self.figure.display, value)
                    ),
                    number: None,
                    failed: false,
                    range: None,
                });
            }
        }
        bars
    }

    fn ours(&self, row: &str, column: usize, cell: &Cell) -> Bar {
        let paint = self.columns[column];
        let value = |v: f64| words::value(self.figure.display, v);
        let title = self.titles[column];
        let (layers, text) = match cell {
            Cell::Value(sample) if self.stacked() => {
                let values = sample.layers();
                let parts = self.layer_titles.iter().zip(&values);
                let parts: Vec<String> = parts.map(|(t, v)| format!("{t} {}", value(*v))).collect();
                let hues = values.iter().zip(&self.layers);
                (
                    hues.map(|(v, h)| (*v, Paint::plain(*h))).collect(),
                    format!("{}\n{}", self.ends(sample), parts.join("\n")),
                )
            }
            Cell::Value(sample) => (vec![(sample.total(), paint)], self.ends(sample)),
            Cell::Failed(status) => (Vec::new(), status.name().to_string()),
            Cell::Absent => (Vec::new(), "not measured".to_string()),
            Cell::Undefined => (Vec::new(), "undefined".to_string()),
        };
        Bar {
            layers,
            outlined: false,
            tooltip: format!("{row}, {title}: {text}"),
            number: self.stacked().then_some(column + 1),
            failed: matches!(cell, Cell::Failed(_)),
            range: match cell {
                Cell::Value(sample) if sample.count() > 1 => Some(sample.range()),
                _ => None,
            },
        }
    }

    /// A value with the lowest and the highest repeat.
    fn ends(&self, sample: &Sample) -> String {
        let value = |v: f64| words::value(self.figure.display, v);
        let (low, high) = sample.range();
        match sample.count() {
            1 => value(sample.total()),
            n => format!(
                "{} ({} to {} in {n} repeats)",
                value(sample.total()),
                value(low),
                value(high)
            ),
        }
    }

    fn legend(&self, printed: bool) -> Vec<Entry> {
        let entry = |title: &str, paint: Paint| Entry {
            title: title.to_string(),
            paint,
            outlined: false,
        };
        let mut legend: Vec<Entry> = if self.stacked() {
            let layers = self.layer_titles.iter().zip(&self.layers);
            layers.map(|(t, h)| entry(t, Paint::plain(*h))).collect()
        } else {
            let columns = self.titles.iter().zip(&self.columns);
            columns.map(|(t, c)| entry(t, *c)).collect()
        };
        if printed {
            legend.push(Entry {
                title: "outlined: the paper's".into(),
                paint: Paint::plain(Hue("soft")),
                outlined: true,
            });
        }
        legend
    }

    fn remark(&self) -> String {
        if !self.stacked() {
            return String::new();
        }
        let numbered: Vec<String> = self
            .titles
            .iter()
            .enumerate()
            .map(|(i, t)| format!("{} {t}", i + 1))
            .collect();
        format!("bars: {}", numbered.join(", "))
    }
}
