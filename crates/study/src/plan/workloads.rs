//! The workloads of a study, and the kernels of theirs that have rows of their own.

use super::{Plan, resolve};
use crate::error::StudyError;
use crate::format::{At, On, Study};
use crate::running::subject::Subject;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The workloads of a study.
pub struct Subjects {
    pub(super) all: Vec<Entry>,
    pub(super) groups: Vec<Members>,
}

pub(super) struct Entry {
    /// Workload, or `workload:kernel`.
    pub name: String,
    pub workload: String,
    /// The kernel whose launches it is about; all if not given.
    pub kernel: Option<String>,
    pub label: String,
    /// What runs, and the hash of its contents; nothing when this build does not have it.
    pub program: Option<(Arc<Subject>, String)>,
    /// Left out by `--workloads`.
    pub left_out: bool,
}

pub(super) struct Members {
    pub name: String,
    pub title: String,
    pub members: Vec<usize>,
    pub of: usize,
}

impl Subjects {
    /// How many there are, with those this build does not have.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Name in the study: a workload, or a workload and one of its kernels.
    pub fn name(&self, subject: usize) -> &str {
        &self.all[subject].name
    }

    /// The workload that runs.
    pub fn workload(&self, subject: usize) -> &str {
        &self.all[subject].workload
    }

    /// The kernel whose launches count; all if not given.
    pub fn kernel(&self, subject: usize) -> Option<&str> {
        self.all[subject].kernel.as_deref()
    }

    /// What the paper calls the workload, or its name.
    pub fn workload_label(&self, subject: usize) -> &str {
        match self.kernel(subject) {
            Some(_) => self.workload(subject),
            None => self.label(subject),
        }
    }

    /// What the paper calls it, or its name.
    pub fn label(&self, subject: usize) -> &str {
        &self.all[subject].label
    }

    /// What runs, when this build has it and it was not left out.
    pub fn program(&self, subject: usize) -> Option<&Arc<Subject>> {
        let entry = &self.all[subject];
        entry
            .program
            .as_ref()
            .filter(|_| !entry.left_out)
            .map(|p| &p.0)
    }

    /// Whether the user left it out.
    pub fn left_out(&self, subject: usize) -> bool {
        self.all[subject].left_out
    }

    /// How many run, and how many there are with those that the user left out.
    pub fn taken(&self) -> (usize, usize) {
        let listed = self.groups.iter().flat_map(|g| &g.members);
        let listed: BTreeSet<usize> = listed.copied().collect();
        let kept = listed.iter().filter(|s| !self.left_out(**s)).count();
        (kept, listed.len())
    }

    /// Hash of its contents.
    pub fn contents(&self, subject: usize) -> &str {
        self.all[subject].program.as_ref().map_or("", |p| &p.1)
    }

    /// The number of what a study calls so.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|e| e.name == name)
    }

    /// The numbers of what a study calls so, and of a workload's kernels.
    pub fn find_all(&self, name: &str) -> Vec<usize> {
        let named = |s: &usize| self.all[*s].name == name || self.all[*s].workload == name;
        (0..self.all.len()).filter(named).collect()
    }

    fn members(&self, group: &str) -> &Members {
        let found = self.groups.iter().find(|g| g.name == group);
        found.expect("the study was checked for undefined groups")
    }

    /// The number of a workload that runs beside those of the groups.
    pub(super) fn add(
        &mut self,
        study: &Study,
        name: &At<String>,
        missing: &mut Vec<String>,
    ) -> Result<usize, StudyError> {
        resolve::add(study, self, name, missing)
    }

    /// The workloads of a group.
    pub fn group(&self, group: &str) -> &[usize] {
        &self.members(group).members
    }

    /// What a group is called in a report.
    pub fn title(&self, group: &str) -> &str {
        &self.members(group).title
    }

    /// How many workloads the paper has in a group.
    pub fn of(&self, group: &str) -> usize {
        self.members(group).of
    }
}

impl Plan {
    /// Workloads that labels, papers and claims name are in the study, or awaited.
    pub(super) fn check_workload_names(&self) -> Result<(), StudyError> {
        for (name, _) in &self.study.labels {
            self.known_workload(name)?;
        }
        for figure in &self.study.figures {
            for value in &figure.paper.values {
                self.known_workload(&value.workload)?;
            }
            for claim in &figure.claims {
                if let On::Workloads(names) = &claim.on {
                    names.iter().try_for_each(|n| self.known_workload(n))?;
                }
                let except = &claim.except;
                except.iter().try_for_each(|n| self.known_workload(n))?;
            }
        }
        let repeats = self.study.repeats.workloads.iter().map(|(name, _)| name);
        let waivers = self.study.waivers.iter().map(|w| &w.workload);
        let inputs = self.study.inputs.iter().map(|i| &i.workload);
        let timelines = self.study.timelines.iter().map(|t| &t.workload);
        let mut names = repeats.chain(waivers).chain(inputs).chain(timelines);
        names.try_for_each(|name| self.known_program(name))
    }

    /// A row of the study, or the workload of some.
    pub(super) fn known_program(&self, name: &At<String>) -> Result<(), StudyError> {
        if self.subjects.find_all(&name.value).is_empty() {
            return self.known_workload(name);
        }
        Ok(())
    }

    pub(super) fn known_workload(&self, name: &At<String>) -> Result<(), StudyError> {
        let names = || self.subjects.all.iter().map(|e| e.name.as_str());
        let awaited = self.study.awaited.iter().map(String::as_str);
        let known = names().chain(awaited);
        crate::format::known(&self.study, name, "workload of this study", known)?;
        Ok(())
    }
}
