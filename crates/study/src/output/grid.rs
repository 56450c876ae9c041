//! The configurations of a grid as a table: a column for each axis, and seeds as repeats.

use crate::evaluate::{Cell, Shown};
use crate::format::SEED;
use crate::plan::Plan;
use crate::values::sample::Sample;

/// A table of a figure's configurations.
pub struct Grid {
    /// What was varied.
    pub axes: Vec<String>,
    /// A row for each choice.
    pub rows: Vec<Choice>,
}

/// What was chosen, and where its configurations stand among those that a figure shows: one, or several
/// that differ in their seeds alone.
pub struct Choice {
    /// On each of the axes.
    pub values: Vec<String>,
    /// Places among the figure's configurations.
    pub places: Vec<usize>,
}

impl Grid {
    /// The grid that a figure shows; none where its configurations have names of their own, or come from
    /// grids with different axes.
    pub fn of(plan: &Plan, shown: &Shown) -> Option<Grid> {
        let configurations = shown.setups.iter().map(|&s| &plan.study.configurations[s]);
        let configurations: Vec<_> = configurations.collect();
        let first = configurations.first()?;
        let names = |axes: &[(String, String)]| -> Vec<String> {
            let names = axes.iter().map(|(name, _)| name.clone());
            names.filter(|name| name != SEED).collect()
        };
        let axes = names(&first.axes);
        let alike = configurations.iter().all(|c| names(&c.axes) == axes);
        if axes.is_empty() || !alike {
            return None;
        }
        let mut rows: Vec<Choice> = Vec::new();
        for (place, configuration) in configurations.iter().enumerate() {
            let chosen = configuration.axes.iter().filter(|(name, _)| name != SEED);
            let values: Vec<String> = chosen.map(|(_, value)| value.clone()).collect();
            match rows.iter_mut().find(|row| row.values == values) {
                Some(row) => row.places.push(place),
                None => rows.push(Choice {
                    values,
                    places: vec![place],
                }),
            }
        }
        Some(Grid { axes, rows })
    }
}

impl Choice {
    /// What this choice has of a row's cells: the repeats of all its seeds together.
    pub fn cell(&self, cells: &[Cell]) -> Cell {
        let mut all = Vec::new();
        for &place in &self.places {
            match &cells[place] {
                Cell::Value(sample) => all.extend_from_slice(sample.repeats()),
                other => return other.clone(),
            }
        }
        Sample::new(all).map_or(Cell::Absent, Cell::Value)
    }

    /// What this choice has of averages: the repeats of all its seeds together.
    pub fn mean(&self, means: &[Option<(Sample, usize)>]) -> Option<(Sample, usize)> {
        let mut all = Vec::new();
        let mut over = None;
        for &place in &self.places {
            let (sample, count) = means[place].as_ref()?;
            all.extend_from_slice(sample.repeats());
            over = Some(*count);
        }
        Sample::new(all).zip(over)
    }
}
