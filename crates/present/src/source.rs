//! A text with its name, and errors that point into it.

use crate::Excerpt;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text that was read, with the name it goes by in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    /// A byte range of this text, to be shown.
    pub fn excerpt(&self, span: Range<usize>) -> Excerpt {
        Excerpt::new(&self.name, &self.text, span)
    }

    /// An error at a byte range of this text.
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> SourceError {
        SourceError {
            source: self.clone(),
            span: Some(span),
            message: message.into(),
            help: None,
        }
    }

    /// An error about the text as a whole.
    pub fn error_without_place(&self, message: impl Into<String>) -> SourceError {
        SourceError {
            source: self.clone(),
            span: None,
            message: message.into(),
            help: None,
        }
    }
}

/// An error with the place it is about. Its `Display` shows the line with carets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// The text it is about.
    pub source: Source,
    /// The bytes it is about; `None` when it is about the text as a whole.
    pub span: Option<Range<usize>>,
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

    /// The place, if it has one.
    pub fn excerpt(&self) -> Option<Excerpt> {
        Some(self.source.excerpt(self.span.clone()?))
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        let margin = match self.excerpt() {
            Some(excerpt) => {
                write!(f, "{excerpt}")?;
                excerpt.margin()
            }
            None => {
                write!(f, " --> {}", self.source.name)?;
                " ".to_string()
            }
        };
        for (i, line) in self.help.iter().flat_map(|h| h.lines()).enumerate() {
            let lead = if i == 0 { "= help:" } else { "       " };
            write!(f, "\n{margin} {lead} {line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SourceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_its_line_and_carets() {
        let source = Source::new("m.toml", "a = 1\nbé = 22\n");
        let at = source.text.find("22").unwrap();
        let error = source.error(at..at + 2, "too big").with_help("use 2\nor 3");
        assert_eq!(
            error.to_string(),
            "too big\n --> m.toml:2:6\n  |\n2 | bé = 22\n  |      ^^\n  = help: use 2\n          or 3"
        );
    }

    #[test]
    fn an_error_about_a_whole_text_names_it() {
        let error = Source::new("m.toml", "a = 1").error_without_place("too short");
        assert_eq!(
            error.with_help("say more").to_string(),
            "too short\n --> m.toml\n  = help: say more"
        );
    }
}
