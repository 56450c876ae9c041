//! Errors for people: what is wrong, where, what was expected, and what to try.

use crate::ast::Span;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt::{self, Write as _};

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

/// Lines longer than this are shown only around the caret: one-line files exist.
const LONGEST_SHOWN: usize = 160;
/// How much of a long line is shown before the caret.
const SHOWN_BEFORE: usize = 60;
/// Names longer than this are cut in messages (mangled C++ names are long).
const LONGEST_NAME: usize = 100;
/// What a tab becomes when a line is shown.
const TAB: &str = "    ";

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
        let Span { line, column, .. } = self.span;
        let gutter = " ".repeat(line.max(1).ilog10() as usize + 1);
        let shown = ShownLine::at(text, self.span);
        let mut out = String::new();
        let _ = writeln!(out, "{}: {}", self.severity, self.message);
        let _ = writeln!(out, "{gutter}--> {file}:{line}:{column}");
        let _ = writeln!(out, "{gutter} |");
        let _ = writeln!(out, "{}", format!("{line} | {}", shown.text).trim_end());
        let _ = write!(
            out,
            "{gutter} | {}{}",
            " ".repeat(shown.indent),
            "^".repeat(shown.width)
        );
        if let Some(label) = &self.label {
            let _ = write!(out, " {label}");
        }
        out.push('\n');
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "{gutter} |\n{gutter} = hint: {hint}");
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

/// Longer names than this are nobody's spelling mistake, and comparing them is slow.
const LONGEST_MISTAKE: usize = 40;

/// The spelling among `candidates` closest to `name`, if any is close enough to be what was
/// meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_MISTAKE {
        return None;
    }
    // Three letters may differ by one, ten by three: more is another word.
    let limit = name.chars().count().div_ceil(3).min(3);
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    let letters = sorted(name);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        // Swapped letters are likelier than a wrong one, and the first letters are mostly right.
        .min_by_key(|(distance, candidate)| {
            let same = name
                .bytes()
                .zip(candidate.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            (
                *distance,
                sorted(candidate) != letters,
                Reverse(same),
                candidate.len(),
            )
        })
        .map(|(_, candidate)| candidate)
}

/// `text`, cut if it is too long to show.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The part of a source line that is shown, tabs expanded, and where the caret goes.
struct ShownLine {
    text: String,
    indent: usize,
    width: usize,
}

impl ShownLine {
    fn at(text: &str, span: Span) -> Self {
        let start = floor_char(text, span.start as usize);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..]
            .find('\n')
            .map_or(text.len(), |newline| start + newline);
        let end = floor_char(
            text,
            (span.start as usize).saturating_add(span.len as usize),
        );
        let end = end.clamp(start, line_end);

        let long = line_end - line_start > LONGEST_SHOWN;
        let from = if long {
            floor_char(text, line_start.max(start.saturating_sub(SHOWN_BEFORE)))
        } else {
            line_start
        };
        let to = if long {
            floor_char(text, line_end.min(from + LONGEST_SHOWN))
        } else {
            line_end
        };

        let mut shown = String::new();
        if from > line_start {
            shown.push('…');
        }
        push_expanded(&mut shown, &text[from..start.max(from)]);
        let indent = shown.chars().count();
        push_expanded(&mut shown, &text[start.max(from)..end.min(to).max(start)]);
        let width = (shown.chars().count() - indent).max(1);
        push_expanded(
            &mut shown,
            &text[end.min(to).max(start)..to.max(end.min(to).max(start))],
        );
        if to < line_end {
            shown.push('…');
        }
        ShownLine {
            text: shown,
            indent,
            width,
        }
    }
}

/// The largest character boundary that is not above `at`.
fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Appends `part` with tabs as spaces and other control characters made visible.
fn push_expanded(out: &mut String, part: &str) {
    for c in part.chars() {
        match c {
            '\t' => out.push_str(TAB),
            '\r' => {}
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
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
    fn caret_stands_under_the_span_after_tabs() {
        let text = "first\n\tadd.foo.s32 %r1;\nlast";
        let shown = Diagnostic::error(span(10, 4, 2, 5), "bad modifier")
            .with_label("not known")
            .with_hint("try `.ftz`")
            .render("k.ptx", text);
        let expected = "error: bad modifier\n --> k.ptx:2:5\n  |\n2 |     add.foo.s32 %r1;\n  |        ^^^^ not known\n  |\n  = hint: try `.ftz`\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn any_span_renders() {
        let text = "é\u{1F600}x\n\tü";
        for start in 0..text.len() as u32 + 3 {
            for len in 0..8 {
                let out = Diagnostic::warning(span(start, len, 1, 1), "m").render("f", text);
                assert!(out.contains('^'));
            }
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = format!("{}BAD{}", "a ".repeat(5000), "b ".repeat(5000));
        let out = Diagnostic::error(span(10_000, 3, 1, 10_001), "m").render("f", &text);
        assert!(
            out.contains("BAD") && out.contains("^^^") && out.len() < 1000,
            "{out}"
        );
    }

    #[test]
    fn nearest_is_near() {
        assert_eq!(nearest("ad", ["ld", "add", "abs", "mad"]), Some("add"));
        assert_eq!(nearest("u46", ["u16", "u32", "u64"]), Some("u64"));
        assert_eq!(nearest(&"a".repeat(1 << 20), ["add"]), None);
        assert_eq!(nearest("zzzzzz", ["add", "abs"]), None);
    }
}
