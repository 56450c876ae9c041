//! Groups as workloads.

use super::{Choices, Plan};
use crate::error::StudyError;
use crate::format::{At, Group, On, Study};
use crate::subject::Subject;
use std::path::Path;
use std::sync::Arc;
use warpsim_present::nearest;
use warpsim_workloads::suite::{Set, WORKLOADS};

/// The workloads of a study.
pub struct Subjects {
    all: Vec<Entry>,
    groups: Vec<Members>,
}

struct Entry {
    /// Workload, or `workload:kernel`.
    name: String,
    workload: String,
    /// The kernel whose launches it is about; all if not given.
    kernel: Option<String>,
    label: String,
    /// What runs, and the hash of its contents; nothing when this build does not have it.
    program: Option<(Arc<Subject>, String)>,
    /// Left out by `--workloads`.
    left_out: bool,
}

struct Members {
    name: String,
    title: String,
    members: Vec<usize>,
    of: usize,
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
        add(study, self, name, missing)
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

/// Resolves every group.
pub fn resolve(
    study: &Study,
    choices: &Choices,
    missing: &mut Vec<String>,
) -> Result<Subjects, StudyError> {
    let mut subjects = Subjects {
        all: Vec::new(),
        groups: Vec::new(),
    };
    for group in &study.groups {
        let mut members = Vec::new();
        for name in names(study, group)? {
            let index = add(study, &mut subjects, &name, missing)?;
            if !members.contains(&index) {
                members.push(index);
            }
        }
        subjects.groups.push(Members {
            name: group.name.value.clone(),
            title: group.title.clone(),
            of: group
                .of
                .map_or(members.len(), |n| members.len().max(n as usize)),
            members,
        });
    }
    if let Some(chosen) = &choices.workloads {
        leave_out(study, &mut subjects, chosen)?;
    }
    Ok(subjects)
}

/// The set of all workloads of the suite.
const EVERY: &str = "all";

/// The names of a group: those listed, then those of its sets that are not.
fn names(study: &Study, group: &Group) -> Result<Vec<At<String>>, StudyError> {
    let mut names = group.workloads.clone();
    for wanted in &group.sets {
        let all = || Set::ALL.iter().map(|s| s.name()).chain([EVERY]);
        let set = Set::ALL.iter().find(|s| s.name() == wanted.value);
        if set.is_none() && wanted.value != EVERY {
            let hint = nearest(&wanted.value, all())
                .map(|n| format!("did you mean `{n}`? "))
                .unwrap_or_default();
            let help = format!("{hint}sets: {}", all().collect::<Vec<_>>().join(", "));
            let message = format!("no set is called `{}`", wanted.value);
            let error = study.source.error(wanted.place.clone(), message);
            return Err(error.with_help(help).into());
        }
        for workload in WORKLOADS.iter().map(|w| w.info()) {
            let skipped = group.without.iter().any(|w| w.value == workload.name);
            let belongs = set.is_none_or(|set| workload.sets.contains(set));
            if belongs && !skipped {
                names.push(At {
                    value: workload.name.to_string(),
                    place: wanted.place.clone(),
                });
            }
        }
    }
    Ok(names)
}

/// The number of a workload, which is looked up when it is first named.
fn add(
    study: &Study,
    subjects: &mut Subjects,
    name: &At<String>,
    missing: &mut Vec<String>,
) -> Result<usize, StudyError> {
    if let Some(index) = subjects.find(&name.value) {
        return Ok(index);
    }
    let (workload, kernel) = parts(&name.value);
    let program = match Subject::find(workload, study.directory.as_deref()) {
        Ok(subject) => {
            if let Some(kernel) = kernel {
                check_kernel(study, name, &subject, kernel)?;
            }
            let contents = subject
                .contents()
                .map_err(|e| placed(study, name, &e.text))?;
            Some((Arc::new(subject), contents))
        }
        Err(_) if study.awaited.contains(&name.value) => {
            missing.push(format!("workload `{}`: not in this build", name.value));
            None
        }
        Err(e) => return Err(placed(study, name, &e.text)),
    };
    let label = study.labels.iter().find(|(n, _)| n.value == name.value);
    let plain = Path::new(workload).file_stem().and_then(|s| s.to_str());
    let plain = plain.filter(|_| workload.ends_with(".toml"));
    subjects.all.push(Entry {
        label: label
            .map_or(kernel.or(plain).unwrap_or(workload), |(_, l)| l)
            .to_string(),
        name: name.value.clone(),
        workload: workload.to_string(),
        kernel: kernel.map(str::to_string),
        program,
        left_out: false,
    });
    Ok(subjects.all.len() - 1)
}

/// A workload and one of its kernels, where a name has both.
fn parts(name: &str) -> (&str, Option<&str>) {
    let identifier = |k: &str| {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        !k.is_empty() && k.chars().all(part)
    };
    match name.rsplit_once(':') {
        Some((workload, kernel)) if identifier(kernel) => (workload, Some(kernel)),
        _ => (name, None),
    }
}

fn check_kernel(
    study: &Study,
    name: &At<String>,
    subject: &Subject,
    kernel: &str,
) -> Result<(), StudyError> {
    let Some(kernels) = subject.kernels() else {
        return Ok(());
    };
    if kernels.contains(&kernel) {
        return Ok(());
    }
    let hint = nearest(kernel, kernels.iter().copied())
        .map(|n| format!("did you mean `{n}`? "))
        .unwrap_or_default();
    let message = format!("`{}` has no kernel of that name", parts(&name.value).0);
    let error = study.source.error(name.place.clone(), message);
    Err(error
        .with_help(format!("{hint}kernels: {}", kernels.join(", ")))
        .into())
}

fn placed(study: &Study, name: &At<String>, text: &str) -> StudyError {
    let mut lines = text.lines();
    let message = lines.next().unwrap_or_default();
    let help: Vec<&str> = lines.collect();
    let error = study.source.error(name.place.clone(), message);
    if help.is_empty() {
        error.into()
    } else {
        error.with_help(help.join("\n")).into()
    }
}

/// Keeps what the command line names: workloads, and groups as a whole.
fn leave_out(study: &Study, subjects: &mut Subjects, chosen: &[String]) -> Result<(), StudyError> {
    let mut kept = vec![false; subjects.all.len()];
    for name in chosen {
        let workloads = || subjects.all.iter().map(|e| e.name.as_str());
        let groups = || subjects.groups.iter().map(|g| g.name.as_str());
        let named = subjects.find_all(name);
        if !named.is_empty() {
            for index in named {
                kept[index] = true;
            }
        } else if groups().any(|g| g == name) {
            for &index in subjects.group(name) {
                kept[index] = true;
            }
        } else {
            let hint = nearest(name, workloads().chain(groups()))
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            return Err(StudyError::bad_input(format!(
                "--workloads: study `{}` has no workload `{name}`{hint}\nit has: {}\ngroups: {}",
                study.name,
                workloads().collect::<Vec<_>>().join(", "),
                groups().collect::<Vec<_>>().join(", ")
            )));
        }
    }
    for (entry, kept) in subjects.all.iter_mut().zip(kept) {
        entry.left_out = !kept;
    }
    Ok(())
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
        let timelines = self.study.timelines.iter().map(|t| &t.workload);
        let mut names = repeats.chain(waivers).chain(timelines);
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
