//! What is run beside the figures: their configurations with something changed.

use super::{Plan, machines};
use crate::error::StudyError;
use crate::format::{ALL, At, Change, Claim, Configuration, Figure, On};
use std::collections::HashMap;

/// A figure's configurations and workloads with something changed.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// Its name in the study.
    pub name: String,
    /// Whether it runs as often as what it is compared with.
    pub whole: bool,
    /// What is changed, in a report.
    pub title: String,
    /// The changed configuration of each.
    setups: HashMap<usize, usize>,
    /// The workloads that run under it; all if not given.
    only: Option<Vec<usize>>,
    /// The workload that runs instead of another.
    subjects: HashMap<usize, usize>,
}

impl Variant {
    /// The configuration that a workload runs under in the place of `setup`.
    pub fn setup(&self, subject: usize, setup: usize) -> Option<usize> {
        let changed = self.setups.get(&setup).copied()?;
        let as_usual = self.only.as_ref().is_some_and(|o| !o.contains(&subject));
        Some(if as_usual { setup } else { changed })
    }

    /// The workload that runs.
    pub fn subject(&self, subject: usize) -> usize {
        self.subjects.get(&subject).copied().unwrap_or(subject)
    }
}

/// A table of sensitivities.
pub struct SensitivityTable {
    /// Number of the figure.
    pub figure: usize,
    /// The group whose average is shown.
    pub group: String,
    /// Configurations whose average is shown.
    pub setups: Vec<usize>,
    /// A line for each setting and value.
    pub lines: Vec<SensitivityLine>,
}

/// A setting with another value.
pub struct SensitivityLine {
    /// The setting.
    pub setting: String,
    /// Its value on the study's machine.
    pub usual: String,
    /// Its value here.
    pub value: String,
    /// What runs with it.
    pub variant: Variant,
}

impl Plan {
    /// Plans the experiments that claims name.
    pub(super) fn add_experiments(&mut self) -> Result<(), StudyError> {
        // They isolate why a claim fails, and here none is tested.
        if self.too_small().is_some() {
            return Ok(());
        }
        let foreign = self.foreign_size().is_some();
        let mut derived = HashMap::new();
        let figures = self.study.figures.clone();
        for (f, figure) in figures.iter().enumerate() {
            for (c, claim) in figure.claims.iter().enumerate() {
                for name in &claim.experiments {
                    // What it changes of a workload's size is meant for the study's own.
                    if foreign && self.resizes(&name.value) {
                        continue;
                    }
                    let variant = self.experiment(figure, claim, name, &mut derived)?;
                    self.experiments.entry((f, c)).or_default().push(variant);
                }
            }
        }
        Ok(())
    }

    /// Whether an experiment gives workloads other parameters.
    fn resizes(&self, name: &str) -> bool {
        let mut found = self.study.experiments.iter();
        found.any(|e| e.name.value == name && !e.change.parameters.is_empty())
    }

    fn experiment(
        &mut self,
        figure: &Figure,
        claim: &Claim,
        name: &At<String>,
        derived: &mut HashMap<(String, usize), usize>,
    ) -> Result<Variant, StudyError> {
        let found = self.study.experiments.iter();
        let mut found = found.filter(|e| e.name.value == name.value);
        let experiment = found.next().cloned();
        let experiment = experiment.expect("the study was checked for undefined experiments");
        let mut variant = Variant {
            name: experiment.name.value.clone(),
            whole: self.fewer_repeats(experiment.repeats) == self.repeats,
            title: experiment.title.clone(),
            ..Variant::default()
        };
        for (usual, other) in &experiment.workloads {
            self.known_workload(usual)?;
            let other = self.subjects.add(&self.study, other, &mut self.missing)?;
            if let Some(usual) = self.subjects.find(&usual.value) {
                variant.subjects.insert(usual, other);
            }
        }
        if !experiment.on.is_empty() {
            for name in &experiment.on {
                self.known_program(name)?;
            }
            let names = experiment.on.iter();
            let only = names.flat_map(|n| self.subjects.find_all(&n.value));
            variant.only = Some(only.collect());
        }
        let compared = claim.chain.iter().flat_map(|c| c.value.names());
        let base = figure.normalise.iter().map(|n| n.value.as_str());
        let setups: Vec<usize> = compared.chain(base).map(|n| self.setup(n)).collect();
        let repeats = self.fewer_repeats(experiment.repeats);
        for setup in setups {
            let known = derived.get(&(name.value.clone(), setup)).copied();
            let changed = match known {
                Some(changed) => changed,
                None => {
                    let changed = self.derive(setup, &name.value, &experiment.change)?;
                    derived.insert((name.value.clone(), setup), changed);
                    changed
                }
            };
            variant.setups.insert(setup, changed);
            for subject in self.claimed(figure, claim) {
                // What the command line leaves out is left out here, too.
                if self.subjects.program(subject).is_some() {
                    let under = variant.setup(subject, setup).unwrap_or(changed);
                    self.add_run(variant.subject(subject), under, repeats)?;
                }
            }
        }
        Ok(variant)
    }

    /// So many repeats, but no more than everything has.
    fn fewer_repeats(&self, wanted: Option<u64>) -> usize {
        wanted.map_or(self.repeats, |n| self.repeats.min(n as usize))
    }

    /// The workloads that a claim is about.
    fn claimed(&self, figure: &Figure, claim: &Claim) -> Vec<usize> {
        let chosen = |group: &str| {
            let only = claim.group.as_ref().map(|g| g.value.as_str());
            only.is_none_or(|only| only == ALL || only == group)
        };
        let named = |subject: usize| match &claim.on {
            On::Workloads(names) => {
                let name = self.subjects.name(subject);
                names.iter().any(|n| n.value == name)
            }
            _ => true,
        };
        let groups = figure.groups.iter().filter(|g| chosen(&g.value));
        let members = groups.flat_map(|g| self.subjects.group(&g.value));
        members.copied().filter(|s| named(*s)).collect()
    }

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
            let repeats = self.fewer_repeats(wanted.repeats);
            let mut lines = Vec::new();
            for (setting, values) in &wanted.settings {
                for value in values {
                    let change = Change {
                        settings: vec![At {
                            value: format!("{setting}={}", value.value),
                            place: value.place.clone(),
                        }],
                        ..Change::default()
                    };
                    let label = format!("{setting}={}", value.value);
                    let mut variant = Variant {
                        title: label.clone(),
                        ..Variant::default()
                    };
                    for &setup in &needed {
                        let changed = self.derive(setup, &label, &change)?;
                        variant.setups.insert(setup, changed);
                        for member in figure
                            .groups
                            .iter()
                            .filter(|g| group == ALL || g.value == group)
                        {
                            for subject in self.subjects.group(&member.value).to_vec() {
                                self.add_run(subject, changed, repeats)?;
                            }
                        }
                    }
                    lines.push(SensitivityLine {
                        setting: setting.clone(),
                        usual: self.usual(&shown, setting),
                        value: value.value.clone(),
                        variant,
                    });
                }
            }
            self.sensitivities.push(SensitivityTable {
                figure: index,
                group,
                setups: shown,
                lines,
            });
        }
        Ok(())
    }

    /// A configuration with something changed.
    fn derive(&mut self, base: usize, label: &str, change: &Change) -> Result<usize, StudyError> {
        let usual = &self.study.configurations[base];
        let configuration = Configuration {
            name: At {
                value: format!("{}@{label}", usual.name.value),
                place: usual.name.place.clone(),
            },
            title: format!("{}, {label}", usual.title),
            machine: change.machine.clone().or(usual.machine.clone()),
            seed: change.seed.or(usual.seed),
            settings: overridden(&usual.settings, &change.settings),
            parameters: overridden(&usual.parameters, &change.parameters),
            axes: Vec::new(),
        };
        // What the configuration itself lacks is listed already.
        let known = self.setups[base].machine.is_none();
        let mut missing = Vec::new();
        let setup = machines::one(&self.study, &configuration, self.repeats, &mut missing)?;
        self.missing.extend(missing.into_iter().filter(|_| !known));
        self.study.configurations.push(configuration);
        self.setups.push(machines::Setup {
            base: Some(base),
            ..setup
        });
        Ok(self.setups.len() - 1)
    }
}

/// `key=value` of both, the second's where both set a key.
fn overridden(usual: &[At<String>], change: &[At<String>]) -> Vec<At<String>> {
    let key = |s: &At<String>| s.value.split('=').next().map(str::to_string);
    let kept = usual
        .iter()
        .filter(|u| !change.iter().any(|c| key(c) == key(u)));
    kept.chain(change).cloned().collect()
}
