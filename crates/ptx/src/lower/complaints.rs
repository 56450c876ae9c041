//! What is wrong with a kernel that is being lowered, or cannot be done with it.

use super::builder::Builder;
use crate::ast::Span;
use crate::diagnostic::Diagnostic;
use std::collections::HashSet;

/// What has been found so far.
#[derive(Default)]
pub(super) struct Complaints {
    /// Mistakes in the file.
    pub errors: Vec<Diagnostic>,
    /// Valid PTX that is not supported.
    pub unsupported: Vec<Diagnostic>,
    /// Functions that are called and not defined, with the line of the call.
    pub undefined: Vec<(String, u32)>,
    /// Names that are not declared: each is reported once.
    unknown: HashSet<String>,
    /// It is too much: whatever is left is passed over. The mistakes known by then; those that
    /// come after are consequences.
    given_up: Option<usize>,
}

impl Complaints {
    /// Whether there are none that keep the kernel from being run.
    pub fn none(&self) -> bool {
        self.errors.is_empty() && self.unsupported.is_empty()
    }

    /// Notes a name that is not declared; says whether it is the first time.
    pub fn is_first_unknown(&mut self, name: &str) -> bool {
        self.unknown.insert(name.to_string())
    }

    /// Notes a function that is called and not defined.
    pub fn undefined(&mut self, name: &str, line: u32) {
        if !self.undefined.iter().any(|(known, _)| known == name) {
            self.undefined.push((name.to_string(), line));
        }
    }
}

impl Builder<'_> {
    /// Records a mistake.
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        let error = Diagnostic::error(span, message);
        self.complaints.errors.push(error);
    }

    /// Records a mistake with a hint.
    pub fn error_hint(&mut self, span: Span, message: String, hint: impl Into<String>) {
        let error = Diagnostic::error(span, message).with_hint(hint);
        self.complaints.errors.push(error);
    }

    /// Records something valid that is not supported.
    pub fn unsupported(&mut self, span: Span, message: impl Into<String>) {
        let error = Diagnostic::error(span, message);
        self.complaints.unsupported.push(error);
    }

    /// Passes over whatever is left, for this reason.
    pub fn give_up(&mut self, span: Span, message: impl Into<String>) {
        if !self.has_given_up() {
            self.unsupported(span, message);
            self.complaints.given_up = Some(self.complaints.errors.len());
        }
    }

    /// Whether the rest is passed over.
    pub fn has_given_up(&self) -> bool {
        self.complaints.given_up.is_some()
    }

    /// Every mistake, without the consequences of having given up.
    pub fn mistakes(self) -> Vec<Diagnostic> {
        let Complaints {
            mut errors,
            given_up,
            ..
        } = self.complaints;
        errors.truncate(given_up.unwrap_or(usize::MAX));
        errors
    }
}
