//! Tables of how a figure's averages move: with settings of the machine, and in experiments.

use super::Plan;
use super::beside::{Derived, Variant};
use crate::error::StudyError;
use crate::format::{ALL, At, Change, Sensitivity};

/// A table of sensitivities.
pub struct SensitivityTable {
    /// Number of the figure.
    pub figure: usize,
    /// The group whose average is shown.
    pub group: String,
    /// Configurations whose average is shown.
    pub setups: Vec<usize>,
    /// What the paper leaves open, when these lines are what it may be.
    pub open: Option<String>,
    /// A line for each setting and value, and for each experiment.
    pub lines: Vec<SensitivityLine>,
}

/// A setting with another value.
pub struct SensitivityLine {
    /// The setting; `experiment` for one.
    pub setting: String,
    /// Its value on the study's machine.
    pub usual: String,
    /// Its value here, or the experiment's name.
    pub value: String,
    /// What runs with it.
    pub variant: Variant,
}

impl Plan {
    /// Plans the tables of sensitivities.
    pub(super) fn add_sensitivities(&mut self) -> Result<(), StudyError> {
        for wanted in self.study.sensitivities.clone() {
            let mut figures = self.study.figures.iter();
            let index = figures.position(|f| f.id.value == wanted.figure.value);
            let index = index.expect("the study was checked for undefined figures");
            let figure = self.study.figures[index].clone();
            let shown = match wanted.configurations.as_slice() {
                [] => &figure.configurations,
                some => some,
            };
            let shown: Vec<usize> = shown.iter().map(|c| self.setup(&c.value)).collect();
            let bases = figure.bases.iter().flat_map(|b| &b.names);
            let base = figure.normalise.iter().chain(bases);
            let base = base.map(|n| self.setup(&n.value));
            let mut needed: Vec<usize> = shown.iter().copied().chain(base).collect();
            needed.sort_unstable();
            needed.dedup();
            let group = match (&wanted.group, figure.groups.as_slice()) {
                (Some(group), _) => group.value.clone(),
                (None, [only]) => only.value.clone(),
                (None, _) => ALL.to_string(),
            };
            let group = match figure.groups.as_slice() {
                [only] => only.value.clone(),
                _ => group,
            };
            let members = figure.groups.iter();
            let members = members.filter(|g| group == ALL || g.value == group);
            let members = members.flat_map(|g| self.subjects.group(&g.value));
            let subjects: Vec<usize> = members.copied().collect();
            let lines = self.lines(&wanted, &shown, &needed, &subjects)?;
            self.sensitivities.push(SensitivityTable {
                figure: index,
                group,
                setups: shown,
                open: wanted.open,
                lines,
            });
        }
        Ok(())
    }

    /// The lines of a table of sensitivities, and what runs for them.
    fn lines(
        &mut self,
        wanted: &Sensitivity,
        shown: &[usize],
        needed: &[usize],
        subjects: &[usize],
    ) -> Result<Vec<SensitivityLine>, StudyError> {
        let repeats = self.fewer_repeats(wanted.repeats);
        let mut lines = Vec::new();
        for (setting, values) in &wanted.settings {
            for value in values {
                let label = format!("{setting}={}", value.value);
                let change = Change {
                    settings: vec![At {
                        value: label.clone(),
                        place: value.place.clone(),
                    }],
                    ..Change::default()
                };
                let mut variant = Variant {
                    title: label.clone(),
                    ..Variant::default()
                };
                for &setup in needed {
                    let changed = self.derive(setup, &label, &change)?;
                    variant.setups.insert(setup, changed);
                    for &subject in subjects {
                        self.add_run(subject, changed, repeats)?;
                    }
                }
                lines.push(SensitivityLine {
                    setting: setting.clone(),
                    usual: self.usual(shown, setting),
                    value: value.value.clone(),
                    variant,
                });
            }
        }
        let foreign = self.foreign_size().is_some();
        for name in &wanted.experiments {
            if foreign && self.resizes(&name.value) {
                continue;
            }
            let experiment = self.named(name);
            let repeats = repeats.min(self.fewer_repeats(experiment.repeats));
            let mut derived = Derived::new();
            let variant = self.try_out(&experiment, needed, subjects, repeats, &mut derived)?;
            lines.push(SensitivityLine {
                setting: "experiment".to_string(),
                usual: String::new(),
                value: name.value.clone(),
                variant,
            });
        }
        Ok(lines)
    }
}
