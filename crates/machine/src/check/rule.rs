//! What does not go together: a rule between mechanisms, with the sentence that a user is told.

use super::validate::Problem;
use crate::Machine;
use crate::mechanism::Mechanisms;

/// Why two things do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// They contradict each other.
    NoSense,
    /// They could go together, but that is not built.
    NotBuilt,
}

/// A rule between mechanisms.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// What it is about, in a few words.
    pub about: &'static str,
    /// Why it is there.
    pub why: Why,
    /// A forgotten setting breaks it, rather than a choice of mechanisms: such a
    /// configuration of a study is a mistake, and no row of its table.
    pub forgotten: bool,
    /// The key and the sentence for a machine that breaks it, whose
    /// [single settings](super::validate::single) are right.
    pub broken: fn(&Machine) -> Option<(String, String)>,
}

impl Rule {
    /// What is wrong with a machine that breaks it, whose [single settings](super::validate::single)
    /// are right.
    fn problem(&self, machine: &Machine) -> Option<Problem> {
        let (key, message) = (self.broken)(machine)?;
        Some(Problem { key, message })
    }
}

/// The first rule that a machine breaks, whose [single settings](super::validate::single) are right.
pub fn first_broken(
    machine: &Machine,
    mechanisms: &Mechanisms,
) -> Option<(&'static Rule, Problem)> {
    let rules = mechanisms.rules.iter();
    rules.filter_map(|r| Some((r, r.problem(machine)?))).next()
}

/// The first broken rule among those that a forgotten setting breaks.
pub(super) fn first_forgotten(machine: &Machine, mechanisms: &Mechanisms) -> Option<Problem> {
    let mut rules = mechanisms.rules.iter().filter(|r| r.forgotten);
    rules.find_map(|r| r.problem(machine))
}
