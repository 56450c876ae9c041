//! One figure's averages against another's: which configurations are best at something.

use crate::evaluate::{Results, Shown};
use crate::format::{ALL, Display, Figure, TradeOff};
use crate::values::sample::Sample;

/// A trade-off as it came out.
pub struct Traded {
    /// What goes across and what goes up: what it is and how values are written.
    pub axes: [(String, Display); 2],
    /// Where the axes cross, where values are ratios.
    pub baselines: [Option<f64>; 2],
    /// Numbers of the configurations.
    pub setups: Vec<usize>,
    /// Their titles.
    pub titles: Vec<String>,
    /// A panel for each group, and one for all where there are several.
    pub panels: Vec<Panel>,
}

/// Averages over a group.
pub struct Panel {
    /// The group's title.
    pub title: String,
    /// Those configurations that have both averages.
    pub points: Vec<Point>,
}

/// A configuration.
pub struct Point {
    /// Its place among the titles.
    pub configuration: usize,
    /// Its average, across and up.
    pub at: [f64; 2],
    /// The lowest and the highest repeat of each.
    pub ranges: [(f64, f64); 2],
    /// No other is at least as good both ways, and better one way.
    pub best: bool,
}

/// Brings two figures together.
pub fn traded(results: &Results, trade_off: &TradeOff, figures: &[&Shown]) -> Option<Traded> {
    let plan = results.plan();
    let find = |id: &str| plan.study.figures.iter().position(|f| f.id.value == id);
    let indices = [
        find(&trade_off.axes[0].value)?,
        find(&trade_off.axes[1].value)?,
    ];
    let figure = indices.map(|i| &plan.study.figures[i]);
    let shown = indices.map(|i| figures[i]);
    if shown.iter().any(|s| s.lacking.is_some()) {
        return None;
    }
    let setups: Vec<usize> = shown[0].setups.clone();
    let value = |axis: usize, group: &str, setup: usize| -> Option<Sample> {
        // The configuration that is 1 is, whether it is shown or not.
        let normalised = figure[axis].normalise.as_ref();
        let Some(column) = shown[axis].setups.iter().position(|s| *s == setup) else {
            let base = normalised.is_some_and(|base| plan.setup(&base.value) == setup);
            return base.then(|| Sample::of(vec![1.0])).flatten();
        };
        let row = shown[axis].means.iter().find(|m| m.group == group)?;
        row.cells[column].as_ref().map(|(sample, _)| sample.clone())
    };
    let panels = shown[0].means.iter().map(|mean| {
        let points = setups
            .iter()
            .enumerate()
            .filter_map(|(configuration, &setup)| {
                let samples = [value(0, &mean.group, setup)?, value(1, &mean.group, setup)?];
                Some(Point {
                    configuration,
                    at: [samples[0].total(), samples[1].total()],
                    ranges: [samples[0].range(), samples[1].range()],
                    best: false,
                })
            });
        let mut points: Vec<Point> = points.collect();
        mark_best(&mut points, trade_off.more);
        let title = match mean.group.as_str() {
            ALL => "all workloads".to_string(),
            group => plan.subjects.title(group).to_string(),
        };
        Panel { title, points }
    });
    let what = |f: &Figure| (f.title.clone(), f.display);
    Some(Traded {
        axes: figure.map(what),
        baselines: figure.map(|f| f.normalise.as_ref().map(|_| 1.0)),
        titles: setups
            .iter()
            .map(|&s| plan.setups[s].title.clone())
            .collect(),
        panels: panels.filter(|p| !p.points.is_empty()).collect(),
        setups: setups.clone(),
    })
}

/// Marks the points that no other beats.
fn mark_best(points: &mut [Point], more: [bool; 2]) {
    let gain = |at: [f64; 2], axis: usize| if more[axis] { at[axis] } else { -at[axis] };
    let at: Vec<[f64; 2]> = points.iter().map(|p| p.at).collect();
    for point in points {
        let beaten = at.iter().any(|other| {
            let by = [0, 1].map(|axis| gain(*other, axis) - gain(point.at, axis));
            by[0] >= 0.0 && by[1] >= 0.0 && by[0] + by[1] > 0.0
        });
        point.best = !beaten;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(at: &[[f64; 2]], more: [bool; 2]) -> Vec<bool> {
        let point = |(configuration, at): (usize, &[f64; 2])| Point {
            configuration,
            at: *at,
            ranges: [(at[0], at[0]), (at[1], at[1])],
            best: false,
        };
        let mut points: Vec<Point> = at.iter().enumerate().map(point).collect();
        mark_best(&mut points, more);
        points.iter().map(|p| p.best).collect()
    }

    #[test]
    fn what_no_other_beats_is_best() {
        let points = [[1.0, 1.0], [1.2, 1.1], [1.2, 1.3], [0.9, 0.8], [1.0, 1.0]];
        assert_eq!(
            best(&points, [true, false]),
            [true, true, false, true, true]
        );
        assert_eq!(
            best(&points, [true, true]),
            [false, false, true, false, false]
        );
    }
}
