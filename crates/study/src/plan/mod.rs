//! From a study to the runs it needs: names resolved, duplicates shared.

mod machines;
mod measure;
mod workloads;

pub use machines::Setup;
pub use measure::{Layer, Measure};
pub use workloads::Subjects;

use crate::error::StudyError;
use crate::format::{Figure, SIZES, Study};
use crate::key::{Inputs, Key};
use crate::subject::Subject;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use warpsim_sim::config::Machine;
use warpsim_workloads::suite::{Parameters, Size};

/// What the command line says beside the study.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Another size than the study's.
    pub size: Option<Size>,
    /// Only these workloads, and those of these groups.
    pub workloads: Option<Vec<String>>,
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
    /// Every run, once.
    pub runs: Vec<Arc<Run>>,
    /// The run of a workload under a configuration.
    cells: HashMap<(usize, usize), usize>,
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

impl Plan {
    /// Resolves a study.
    pub fn new(study: Study, choices: &Choices) -> Result<Plan, StudyError> {
        let mut missing = Vec::new();
        let subjects = workloads::resolve(&study, choices, &mut missing)?;
        let setups = machines::resolve(&study, &mut missing)?;
        let measures = measure::resolve(&study, &mut missing)?;
        let mut plan = Plan {
            size: choices.size.unwrap_or(study.size),
            study,
            subjects,
            setups,
            measures,
            runs: Vec::new(),
            cells: HashMap::new(),
            missing,
        };
        plan.check_workload_names()?;
        plan.add_runs()?;
        Ok(plan)
    }

    /// The name of the size that the study asks for, when it is run at another: what it says
    /// about its results was found at its own.
    pub fn foreign_size(&self) -> Option<&'static str> {
        let own = self.study.size;
        let named = SIZES.iter().find(|(_, s)| *s == own)?;
        (own != self.size).then_some(named.0)
    }

    /// The number of a configuration.
    pub fn setup(&self, name: &str) -> usize {
        let found = self.setups.iter().position(|s| s.name == name);
        found.expect("the study was checked for undefined configurations")
    }

    /// The run of a workload under a configuration, if both exist and something needs it.
    pub fn run(&self, subject: usize, setup: usize) -> Option<&Arc<Run>> {
        self.cells.get(&(subject, setup)).map(|&i| &self.runs[i])
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
            self.add_run(subject, setup)?;
        }
        Ok(())
    }

    fn add_run(&mut self, subject: usize, setup: usize) -> Result<(), StudyError> {
        let (Some(program), Some(machine)) =
            (self.subjects.program(subject), &self.setups[setup].machine)
        else {
            return Ok(());
        };
        if self.cells.contains_key(&(subject, setup)) {
            return Ok(());
        }
        let configuration = &self.study.configurations[setup];
        let run = new_run(self, subject, setup, program, machine).map_err(|text| {
            let text = format!("configuration `{}`: {text}", configuration.name.value);
            let place = configuration
                .parameters
                .first()
                .map_or(configuration.name.place.clone(), |p| p.place.clone());
            StudyError::from(self.study.source.error(place, text))
        })?;
        let index = self.runs.iter().position(|r| r.key == run.key);
        let index = index.unwrap_or_else(|| {
            self.runs.push(Arc::new(run));
            self.runs.len() - 1
        });
        self.cells.insert((subject, setup), index);
        Ok(())
    }
}

fn new_run(
    plan: &Plan,
    subject: usize,
    setup: usize,
    program: &Arc<Subject>,
    machine: &Arc<Machine>,
) -> Result<Run, String> {
    let configuration = &plan.study.configurations[setup];
    let workload = plan.subjects.name(subject).to_string();
    let changes: Vec<String> = configuration
        .parameters
        .iter()
        .map(|p| p.value.clone())
        .collect();
    let parameters = program
        .parameters(plan.size, &changes)
        .map_err(|e| format!("workload `{workload}`: {e}"))?;
    let listed: Vec<(String, u64)> = parameters.iter().map(|(n, v)| (n.to_string(), v)).collect();
    let seed = program.seed(configuration.seed.or(plan.study.seed));
    let inputs = Inputs {
        workload: &workload,
        contents: plan.subjects.contents(subject),
        parameters: &listed,
        seed,
        machine,
        max_cycles: plan.study.max_cycles,
    }
    .to_json();
    Ok(Run {
        subject,
        configuration: configuration.name.value.clone(),
        program: program.clone(),
        parameters,
        seed,
        machine: machine.clone(),
        max_cycles: plan.study.max_cycles,
        key: Key::of(&inputs),
        inputs,
        workload,
    })
}
