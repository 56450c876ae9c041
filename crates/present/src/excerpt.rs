//! A line of a text with carets under a part of it.

use crate::visible::push_visible;
use std::fmt;
use std::ops::Range;

/// Lines longer than this are shown only around the carets: one-line files exist.
const LONGEST_SHOWN: usize = 160;
/// How much of a long line is shown before the carets.
const SHOWN_BEFORE: usize = 60;
/// What a tab becomes when a line is shown.
const TAB: &str = "    ";

/// A place in a text, ready to be shown: its line with carets under it.
///
/// `Display` writes four lines without a newline at the end: file and place, an empty one, the line,
/// the carets (with the label behind them).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Name of the file.
    pub file: String,
    /// 1-based line.
    pub line: usize,
    /// 1-based column in characters.
    pub column: usize,
    /// The line as it is shown: tabs expanded, control characters made visible.
    shown: String,
    /// Characters of it before the carets.
    indent: usize,
    /// Carets.
    width: usize,
    /// Text behind the carets.
    label: Option<String>,
}

impl Excerpt {
    /// The bytes `span` of `text`, as far as they are on one line. Any range will do.
    pub fn new(file: &str, text: &str, span: Range<usize>) -> Excerpt {
        let start = floor_char(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..]
            .find('\n')
            .map_or(text.len(), |newline| start + newline);
        let end = floor_char(text, span.end).clamp(start, line_end);

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
        let marked_end = end.min(to).max(start);

        let mut shown = String::new();
        if from > line_start {
            shown.push('…');
        }
        push_visible(&mut shown, &text[from..start.max(from)], TAB);
        let indent = shown.chars().count();
        push_visible(&mut shown, &text[start.max(from)..marked_end], TAB);
        let width = (shown.chars().count() - indent).max(1);
        push_visible(&mut shown, &text[marked_end..to.max(marked_end)], TAB);
        if to < line_end {
            shown.push('…');
        }
        Excerpt {
            file: file.to_string(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            shown,
            indent,
            width,
            label: None,
        }
    }

    /// With text behind the carets.
    pub fn with_label(mut self, label: Option<String>) -> Excerpt {
        self.label = label;
        self
    }

    /// Spaces as wide as the line's number: where everything below the excerpt begins.
    pub fn margin(&self) -> String {
        " ".repeat(self.line.to_string().len())
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let margin = self.margin();
        writeln!(f, "{margin}--> {}:{}:{}", self.file, self.line, self.column)?;
        writeln!(f, "{margin} |")?;
        let line = format!("{} | {}", self.line, self.shown);
        writeln!(f, "{}", line.trim_end())?;
        let (indent, carets) = (" ".repeat(self.indent), "^".repeat(self.width));
        write!(f, "{margin} | {indent}{carets}")?;
        match &self.label {
            Some(label) => write!(f, " {label}"),
            None => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_the_span_after_tabs() {
        let text = "first\n\tadd.foo.s32 %r1;\r\nlast";
        let shown = Excerpt::new("k.ptx", text, 10..14).with_label(Some("not known".into()));
        assert_eq!(
            shown.to_string(),
            " --> k.ptx:2:5\n  |\n2 |     add.foo.s32 %r1;\n  |        ^^^^ not known"
        );
    }

    #[test]
    fn any_span_of_any_text_can_be_shown() {
        let text = "é\u{1F600}x\n\tü";
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                assert!(
                    Excerpt::new("f", text, start..end)
                        .to_string()
                        .contains('^')
                );
            }
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_carets() {
        let text = format!("{}BAD{}", "a ".repeat(5000), "b ".repeat(5000));
        let shown = Excerpt::new("f", &text, 10_000..10_003).to_string();
        assert!(
            shown.contains("BAD") && shown.contains("^^^") && shown.len() < 1000,
            "{shown}"
        );
    }

    #[test]
    fn the_margin_is_as_wide_as_the_line_number() {
        let text = "\n".repeat(99) + "x";
        let shown = Excerpt::new("f", &text, 99..100);
        assert_eq!(shown.to_string(), "   --> f:100:1\n    |\n100 | x\n    | ^");
    }
}
