//! A text with its name, and errors that point into it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text that was read, with the name it goes by in messages.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name as the user gave it, or the command-line option the text came from.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
}

impl Source {
    /// A source from its name and text.
    pub fn new(name: &str, text: &str) -> Source {
        Source {
            name: name.into(),
            text: text.into(),
        }
    }

    /// An error at a byte range of this text.
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> SourceError {
        let start = floor_char(&self.text, span.start);
        let end = floor_char(&self.text, span.end.max(start));
        let line_start = self.text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |i| start + i);
        let shown_end = end.min(line_end).max(start);
        SourceError {
            file: self.name.clone(),
            line: self.text[..start].matches('\n').count() + 1,
            column: self.text[line_start..start].chars().count() + 1,
            width: self.text[start..shown_end].chars().count().max(1),
            text: self.text[line_start..line_end]
                .trim_end_matches('\r')
                .to_string(),
            message: message.into(),
            help: None,
        }
    }

    /// An error about the text as a whole.
    pub fn error_without_place(&self, message: impl Into<String>) -> SourceError {
        SourceError {
            file: self.name.clone(),
            line: 0,
            column: 0,
            width: 0,
            text: String::new(),
            message: message.into(),
            help: None,
        }
    }
}

/// The character boundary at or before a byte offset.
fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// An error with the place it is about. Its `Display` shows the line with a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// Where the text came from.
    pub file: Arc<str>,
    /// 1-based line; 0 when the error is about the file as a whole.
    pub line: usize,
    /// 1-based column in characters.
    pub column: usize,
    /// Characters to underline.
    pub width: usize,
    /// The line's text.
    pub text: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl SourceError {
    /// The same error with advice.
    pub fn with_help(mut self, help: impl Into<String>) -> SourceError {
        self.help = Some(help.into());
        self
    }

    /// The same error with advice if there is any.
    pub fn with_optional_help(mut self, help: Option<String>) -> SourceError {
        if help.is_some() {
            self.help = help;
        }
        self
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        let gutter = self.line.to_string().len();
        if self.line == 0 {
            write!(f, " --> {}", self.file)?;
        } else {
            writeln!(
                f,
                "{:gutter$}--> {}:{}:{}",
                "", self.file, self.line, self.column
            )?;
            writeln!(f, "{:gutter$} |", "")?;
            // Tabs become one space so that the caret stands under its character.
            writeln!(f, "{} | {}", self.line, self.text.replace('\t', " "))?;
            write!(
                f,
                "{:gutter$} | {:indent$}{}",
                "",
                "",
                "^".repeat(self.width),
                indent = self.column - 1
            )?;
        }
        if let Some(help) = &self.help {
            for (i, line) in help.lines().enumerate() {
                let lead = if i == 0 { "= help:" } else { "       " };
                write!(f, "\n{:gutter$} {lead} {line}", "")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for SourceError {}

/// The candidate most like `name`, when one is like enough to be what was meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|c| (strsim::jaro_winkler(name, c), c))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_its_line_and_a_caret() {
        let source = Source::new("m.toml", "a = 1\nbé = 22\n");
        let at = source.text.find("22").unwrap();
        let error = source.error(at..at + 2, "too big").with_help("use 2");
        assert_eq!(
            error.to_string(),
            "too big\n --> m.toml:2:6\n  |\n2 | bé = 22\n  |      ^^\n  = help: use 2"
        );
    }

    #[test]
    fn spans_outside_the_text_or_inside_a_character_do_not_panic() {
        let source = Source::new("x", "é");
        for (a, b) in [(0, 9), (1, 1), (5, 7), (2, 0)] {
            assert!(!source.error(a..b, "m").to_string().is_empty());
        }
    }

    #[test]
    fn nearest_finds_a_slip_and_rejects_nonsense() {
        let keys = ["schedulers", "scheduler", "simd_width"];
        assert_eq!(nearest("shcedulers", keys), Some("schedulers"));
        assert_eq!(nearest("qqq", keys), None);
    }
}
