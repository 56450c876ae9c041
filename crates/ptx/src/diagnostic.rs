//! Errors for people: what is wrong, where, what was expected, and what to try.

use crate::ast::Span;
use std::borrow::Cow;
use std::fmt;
use warpsim_present::Excerpt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used but probably does not mean what was intended.
    Warning,
}

/// One finding about a PTX file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place it is about.
    pub span: Span,
    /// What is wrong, in one line.
    pub message: String,
    /// Text next to the caret, usually what was expected there.
    pub label: Option<String>,
    /// What to try.
    pub hint: Option<String>,
    /// How bad it is.
    pub severity: Severity,
}

/// Names longer than this are cut in messages (mangled C++ names are long).
const LONGEST_NAME: usize = 100;

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            span,
            message: message.into(),
            label: None,
            hint: None,
            severity: Severity::Error,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Self::error(span, message)
        }
    }

    /// Sets the text next to the caret.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The finding with the line it is about and a caret under the place. `file` is the
    /// name to show, `text` the whole file.
    pub fn render(&self, file: &str, text: &str) -> String {
        let start = self.span.start as usize;
        let span = start..start.saturating_add(self.span.len as usize);
        let excerpt = Excerpt::new(file, text, span).with_label(self.label.clone());
        let mut out = format!("{}: {}\n{excerpt}\n", self.severity, self.message);
        if let Some(hint) = &self.hint {
            let margin = excerpt.margin();
            out += &format!("{margin} |\n{margin} = hint: {hint}\n");
        }
        out
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// Without the file's text: place and message in one line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}: {}",
            self.span.line, self.span.column, self.severity, self.message
        )?;
        if let Some(label) = &self.label {
            write!(f, " ({label})")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// All findings of one file, rendered one after the other.
pub fn render_all(diagnostics: &[Diagnostic], file: &str, text: &str) -> String {
    diagnostics
        .iter()
        .map(|d| d.render(file, text))
        .collect::<Vec<_>>()
        .join("\n")
}

/// `text`, cut if it is too long to show.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, len: u32, line: u32, column: u32) -> Span {
        Span {
            start,
            len,
            line,
            column,
        }
    }

    #[test]
    fn a_finding_is_shown_with_place_label_and_hint() {
        let text = "first\n\tadd.foo.s32 %r1;\nlast";
        let shown = Diagnostic::error(span(10, 4, 2, 5), "bad modifier")
            .with_label("not known")
            .with_hint("try `.ftz`")
            .render("k.ptx", text);
        let expected = "error: bad modifier\n --> k.ptx:2:5\n  |\n2 |     add.foo.s32 %r1;\n  |        ^^^^ not known\n  |\n  = hint: try `.ftz`\n";
        assert_eq!(shown, expected);
    }
}
