//! From a study to the runs it needs: names resolved, duplicates shared.

mod beside;
mod machines;
mod measure;
mod resolve;
mod sensitivity;
mod usual;
mod workloads;

pub use beside::Variant;
pub use machines::{Setup, Varied};
pub use measure::{Definition, Layer, Measure};
pub use sensitivity::{SensitivityLine, SensitivityTable};
pub use workloads::Subjects;

use crate::error::StudyError;
use crate::format::{At, Configuration, Figure, Input, SIZES, Study, Vary, rebase};
use crate::results::key::{Inputs, Key};
use crate::running::subject::Subject;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use warpsim_sim::config::Machine;
use warpsim_workloads::suite::{Parameters, Size};

/// What the command line says beside the study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Another size than the study's.
    pub size: Option<Size>,
    /// Only these workloads, and those of these groups.
    pub workloads: Option<Vec<String>>,
    /// Other repeats than the study's.
    pub repeats: Option<usize>,
    /// Another baseline than the sweep's.
    pub baseline: Option<String>,
}

/// A study with every name resolved.
pub struct Plan {
    /// The study.
    pub study: Study,
    /// Size of the workloads.
    pub size: Size,
    /// The workloads, and which group has which.
    pub subjects: Subjects,
    /// The configurations, in the study's order.
    pub setups: Vec<Setup>,
    /// What each figure measures, in the study's order.
    pub measures: Vec<Measure>,
    /// How often everything runs.
    pub repeats: usize,
    /// Every run, once.
    pub runs: Vec<Arc<Run>>,
    /// The runs of a workload under a configuration, one per repeat.
    cells: HashMap<(usize, usize), Vec<usize>>,
    /// The run of a key.
    keys: HashMap<Key, usize>,
    /// So many of the runs are needed whatever comes of them; those of experiments follow.
    first: usize,
    /// The experiments of a claim, by numbers of figure and claim.
    experiments: HashMap<(usize, usize), Vec<Variant>>,
    /// Tables of sensitivities.
    pub sensitivities: Vec<SensitivityTable>,
    /// What this build does not have.
    pub missing: Vec<String>,
}

/// A run.
pub struct Run {
    /// Number of the workload.
    pub subject: usize,
    /// Name of the workload.
    pub workload: String,
    /// Name of the first configuration that needs it.
    pub configuration: String,
    /// Which repeat it is there, from 0.
    pub repeat: usize,
    /// What differs from the first repeat: `seed=2 l2.latency=121`.
    pub varied: String,
    /// What runs.
    pub program: Arc<Subject>,
    /// With these parameters.
    pub parameters: Parameters,
    /// From this seed.
    pub seed: u64,
    /// On this machine.
    pub machine: Arc<Machine>,
    /// At most so many cycles per launch.
    pub max_cycles: Option<u64>,
    /// Everything that determines the result.
    pub inputs: Value,
    /// What it is stored under.
    pub key: Key,
}

impl Run {
    /// As a person would name it: `matmul gto (seed=2)`.
    pub fn shown(&self) -> String {
        let name = format!("{} {}", self.workload, self.configuration);
        match self.varied.as_str() {
            "" => name,
            varied => format!("{name} ({varied})"),
        }
    }
}

impl Plan {
    /// Resolves a study.
    pub fn new(mut study: Study, choices: &Choices) -> Result<Plan, StudyError> {
        if let Some(baseline) = &choices.baseline {
            rebase(&mut study, baseline)
                .map_err(|e| StudyError::bad_input(format!("--baseline {baseline}: {e}")))?;
        }
        let mut missing = Vec::new();
        let subjects = resolve::groups(&study, choices, &mut missing)?;
        let repeats = choices.repeats.unwrap_or(study.repeats.count as usize);
        let setups = machines::resolve(&study, repeats, &mut missing)?;
        let measures = measure::resolve(&study, &mut missing)?;
        let mut plan = Plan {
            size: choices.size.unwrap_or(study.size),
            study,
            subjects,
            setups,
            measures,
            repeats,
            runs: Vec::new(),
            cells: HashMap::new(),
            keys: HashMap::new(),
            first: 0,
            experiments: HashMap::new(),
            sensitivities: Vec::new(),
            missing,
        };
        plan.check_workload_names()?;
        plan.check_repeats()?;
        plan.add_runs()?;
        plan.add_sensitivities()?;
        plan.first = plan.runs.len();
        plan.add_experiments()?;
        Ok(plan)
    }

    /// The name of the size that the study asks for, when it is run at another: what it says
    /// about its results was found at its own.
    pub fn foreign_size(&self) -> Option<&'static str> {
        let own = self.study.size;
        let named = SIZES.iter().find(|(_, s)| *s == own)?;
        (own != self.size).then_some(named.0)
    }

    /// The size at which it is run and that of the study, by their names, when the first is smaller: kernels are
    /// then too short for what the study says about them.
    pub fn too_small(&self) -> Option<(&'static str, &'static str)> {
        let name = |size: Size| {
            SIZES
                .iter()
                .find(|(_, s)| *s == size)
                .map(|(name, _)| *name)
        };
        match self.size < self.study.size {
            true => name(self.size).zip(name(self.study.size)),
            false => None,
        }
    }

    /// Whether all of the study's workloads run, at its own size; however often.
    pub fn whole(&self) -> bool {
        let (ran, all) = self.subjects.taken();
        ran == all && self.foreign_size().is_none()
    }

    /// Which part of the study this is, at which size: what its report is of.
    pub fn selection(&self) -> String {
        let size = SIZES.iter().find(|(_, s)| *s == self.size);
        let size = size.map_or("another", |(name, _)| name);
        let subjects = (0..self.subjects.len()).filter(|s| !self.subjects.left_out(*s));
        let mut names: Vec<&str> = subjects.map(|s| self.subjects.workload(s)).collect();
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        format!(
            "{} workloads at size {size}, {} repeats: {}",
            names.len(),
            self.repeats,
            names.join(", ")
        )
    }

    /// The number of a configuration.
    pub fn setup(&self, name: &str) -> usize {
        let found = self.setups.iter().position(|s| s.name == name);
        found.expect("the study was checked for undefined configurations")
    }

    /// The first run of a workload under a configuration, if both exist and something needs it.
    pub fn run(&self, subject: usize, setup: usize) -> Option<&Arc<Run>> {
        self.repeats(subject, setup).next()
    }

    /// The runs of a workload under a configuration, one per repeat.
    pub fn repeats(&self, subject: usize, setup: usize) -> impl Iterator<Item = &Arc<Run>> {
        let cells = self.cells.get(&(subject, setup));
        cells.into_iter().flatten().map(|&i| &self.runs[i])
    }

    /// Which runs are needed where `fails` says whether a claim fails, by its numbers of figure and claim: an
    /// experiment says why one does, so it runs for one that does.
    pub fn needed(&self, fails: impl Fn(usize, usize) -> bool) -> Vec<bool> {
        let mut needed = vec![false; self.runs.len()];
        needed[..self.first].fill(true);
        for (&(figure, claim), variants) in &self.experiments {
            if fails(figure, claim) {
                let runs = variants.iter().flat_map(|v| &v.runs);
                runs.for_each(|&run| needed[run] = true);
            }
        }
        needed
    }

    /// The experiments of a claim.
    pub fn experiments(&self, figure: usize, claim: usize) -> &[Variant] {
        let found = self.experiments.get(&(figure, claim));
        found.map_or(&[], Vec::as_slice)
    }

    /// What differs between the repeats of a workload.
    pub fn vary(&self, subject: usize) -> Vary {
        let name = self.subjects.workload(subject);
        let said = self.study.repeats.workloads.iter();
        let mut said = said.filter(|(workload, _)| workload.value == name);
        let vary = said.next().map_or(self.study.repeats.vary, |(_, v)| *v);
        let random = self
            .subjects
            .program(subject)
            .is_none_or(|p| p.random_input());
        if random { vary } else { Vary::Machine }
    }

    /// A list of perturbations is long enough.
    fn check_repeats(&self) -> Result<(), StudyError> {
        let Some(perturb) = &self.study.repeats.perturb else {
            return Ok(());
        };
        let there = perturb.value.len() + 1;
        let needed = (0..self.subjects.len()).any(|s| self.vary(s) != Vary::Seed);
        if !needed || there >= self.repeats {
            return Ok(());
        }
        let message = format!(
            "there are perturbations for {there} repeats, not for {}",
            self.repeats
        );
        let error = self.study.source.error(perturb.place.clone(), message);
        Err(error.with_help("add some, or ask for fewer repeats").into())
    }

    /// Every pair of workload and configuration that is run, in order.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = self.cells.keys().copied().collect();
        pairs.sort_unstable();
        pairs
    }

    /// The configurations a figure needs: those it shows, and the one that is 1.
    pub fn setups_of(&self, figure: &Figure) -> Vec<usize> {
        let names = figure.configurations.iter().chain(&figure.normalise);
        let mut setups: Vec<usize> = names.map(|n| self.setup(&n.value)).collect();
        setups.sort_unstable();
        setups.dedup();
        setups
    }

    fn add_runs(&mut self) -> Result<(), StudyError> {
        let mut wanted = Vec::new();
        for figure in &self.study.figures {
            for setup in self.setups_of(figure) {
                for group in &figure.groups {
                    let members = self.subjects.group(&group.value);
                    wanted.extend(members.iter().map(|&w| (w, setup)));
                }
            }
        }
        for failure in &self.study.expected_failures {
            self.known_workload(&failure.workload)?;
        }
        for (subject, setup) in wanted {
            self.add_run(subject, setup, self.repeats)?;
        }
        Ok(())
    }

    fn add_run(&mut self, subject: usize, setup: usize, repeats: usize) -> Result<(), StudyError> {
        let missing = self.setups[setup].machine.is_none();
        if missing
            || self.subjects.program(subject).is_none()
            || self.cells.contains_key(&(subject, setup))
        {
            return Ok(());
        }
        let mut cells = Vec::new();
        for repeat in 0..repeats {
            let run = self.new_run(subject, setup, repeat).map_err(|text| {
                let configuration = &self.study.configurations[setup];
                let text = format!("configuration `{}`: {text}", configuration.name.value);
                let changes = self.changes(self.subjects.workload(subject), configuration);
                let place = changes.into_iter().next_back().map(|p| p.place);
                let place = place.unwrap_or(configuration.name.place.clone());
                StudyError::from(self.study.source.error(place, text))
            })?;
            let next = self.runs.len();
            let index = *self.keys.entry(run.key.clone()).or_insert(next);
            if index == next {
                self.runs.push(Arc::new(run));
            }
            cells.push(index);
        }
        self.cells.insert((subject, setup), cells);
        Ok(())
    }

    /// What the study and a configuration say of a workload's parameters, what goes over the rest last. The
    /// study's own hold at its own size.
    fn changes(&self, workload: &str, configuration: &Configuration) -> Vec<At<String>> {
        let of = |inputs: &[Input]| -> Vec<At<String>> {
            let of = inputs.iter().filter(|i| i.workload.value == workload);
            of.flat_map(|i| i.parameters.iter().cloned()).collect()
        };
        let mut all = match self.foreign_size() {
            None => of(&self.study.inputs),
            Some(_) => Vec::new(),
        };
        all.extend(configuration.parameters.iter().cloned());
        all.extend(of(&configuration.inputs));
        all
    }

    fn new_run(&self, subject: usize, setup: usize, repeat: usize) -> Result<Run, String> {
        let configuration = &self.study.configurations[setup];
        let workload = self.subjects.workload(subject).to_string();
        let program = self.subjects.program(subject);
        let program = program.ok_or_else(|| format!("no workload `{workload}`"))?;
        let changes = self.changes(&workload, configuration).into_iter();
        let changes: Vec<String> = changes.map(|p| p.value).collect();
        let parameters = program
            .parameters(self.size, &changes)
            .map_err(|e| format!("workload `{workload}`: {e}"))?;
        let listed: Vec<(String, u64)> =
            parameters.iter().map(|(n, v)| (n.to_string(), v)).collect();
        let vary = self.vary(subject);
        let mut varied = Vec::new();
        let mut seed = program.seed(configuration.seed.or(self.study.seed));
        if vary != Vary::Machine && repeat > 0 {
            seed = seed.wrapping_add(repeat as u64);
            varied.push(format!("seed={seed}"));
        }
        let used = if vary == Vary::Seed { 0 } else { repeat };
        let Varied { machine, settings } = &self.setups[setup].repeats[used];
        varied.extend(settings.iter().cloned());
        let inputs = Inputs {
            workload: &workload,
            contents: self.subjects.contents(subject),
            parameters: &listed,
            seed,
            machine,
            max_cycles: self.study.max_cycles,
        }
        .to_json();
        Ok(Run {
            subject,
            configuration: configuration.name.value.clone(),
            repeat,
            varied: varied.join(" "),
            program: program.clone(),
            parameters,
            seed,
            machine: machine.clone(),
            max_cycles: self.study.max_cycles,
            key: Key::of(&inputs),
            inputs,
            workload,
        })
    }
}
