//! From the names in a study's groups to what runs.

use super::Choices;
use super::workloads::{Entry, Members, Subjects};
use crate::error::StudyError;
use crate::format::{At, Group, Study};
use crate::running::subject::Subject;
use std::path::Path;
use std::sync::Arc;
use warpsim_present::nearest;
use warpsim_workloads::suite::{Set, WORKLOADS};

/// Resolves every group.
pub fn groups(
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
pub(super) fn add(
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
