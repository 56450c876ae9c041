//! What is run beside the figures: their configurations with something changed.

use super::{Plan, machines};
use crate::error::StudyError;
use crate::format::{ALL, At, Change, Claim, Configuration, Experiment, Figure, On};
use std::collections::HashMap;

/// The changed configuration of each that an experiment has changed, by their names.
pub(super) type Derived = HashMap<(String, usize), usize>;

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
    pub(super) setups: HashMap<usize, usize>,
    /// The workloads that run under it; all if not given.
    pub(super) only: Option<Vec<usize>>,
    /// The workload that runs instead of another.
    pub(super) subjects: HashMap<usize, usize>,
    /// The plan's runs that it needs.
    pub(super) runs: Vec<usize>,
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

impl Plan {
    /// Plans the experiments that claims name.
    pub(super) fn add_experiments(&mut self) -> Result<(), StudyError> {
        // They isolate why a claim fails, and here none is tested.
        if self.too_small().is_some() {
            return Ok(());
        }
        let foreign = self.foreign_size().is_some();
        let mut derived = Derived::new();
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
    pub(super) fn resizes(&self, name: &str) -> bool {
        let mut found = self.study.experiments.iter();
        found.any(|e| e.name.value == name && e.change.resizes())
    }

    fn experiment(
        &mut self,
        figure: &Figure,
        claim: &Claim,
        name: &At<String>,
        derived: &mut Derived,
    ) -> Result<Variant, StudyError> {
        let experiment = self.named(name);
        let compared = claim.chain.iter().flat_map(|c| c.value.names());
        let base = figure.normalise.iter().map(|n| n.value.as_str());
        let setups: Vec<usize> = compared.chain(base).map(|n| self.setup(n)).collect();
        let repeats = self.fewer_repeats(experiment.repeats);
        let subjects = self.claimed(figure, claim);
        self.try_out(&experiment, &setups, &subjects, repeats, derived)
    }

    pub(super) fn named(&self, name: &At<String>) -> Experiment {
        let found = self.study.experiments.iter();
        let mut found = found.filter(|e| e.name.value == name.value);
        let experiment = found.next().cloned();
        experiment.expect("the study was checked for undefined experiments")
    }

    /// Plans an experiment's runs of these workloads under these configurations.
    pub(super) fn try_out(
        &mut self,
        experiment: &Experiment,
        setups: &[usize],
        subjects: &[usize],
        repeats: usize,
        derived: &mut Derived,
    ) -> Result<Variant, StudyError> {
        let name = &experiment.name.value;
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
        for input in &experiment.change.inputs {
            self.known_program(&input.workload)?;
        }
        if !experiment.on.is_empty() {
            for name in &experiment.on {
                self.known_program(name)?;
            }
            let names = experiment.on.iter();
            let only = names.flat_map(|n| self.subjects.find_all(&n.value));
            variant.only = Some(only.collect());
        }
        for &setup in setups {
            let known = derived.get(&(name.clone(), setup)).copied();
            let changed = match known {
                Some(changed) => changed,
                None => {
                    let changed = self.derive(setup, name, &experiment.change)?;
                    derived.insert((name.clone(), setup), changed);
                    changed
                }
            };
            variant.setups.insert(setup, changed);
            for &subject in subjects {
                // What the command line leaves out is left out here, too.
                if self.subjects.program(subject).is_some() {
                    let under = variant.setup(subject, setup).unwrap_or(changed);
                    let ran = variant.subject(subject);
                    self.add_run(ran, under, repeats)?;
                    let cells = self.cells.get(&(ran, under));
                    variant.runs.extend(cells.into_iter().flatten());
                }
            }
        }
        Ok(variant)
    }

    /// So many repeats, but no more than everything has.
    pub(super) fn fewer_repeats(&self, wanted: Option<u64>) -> usize {
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

    /// A configuration with something changed.
    pub(super) fn derive(
        &mut self,
        base: usize,
        label: &str,
        change: &Change,
    ) -> Result<usize, StudyError> {
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
            inputs: change.inputs.clone(),
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
