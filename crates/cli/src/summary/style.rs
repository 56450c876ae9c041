//! Numbers and emphasis.

use std::io::IsTerminal;

/// Every sequence that colours or ends a colour.
pub const COLOURS: [&str; 5] = ["\x1b[0m", "\x1b[1m", "\x1b[32m", "\x1b[1;31m", "\x1b[36m"];

/// Whether to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    Plain,
    /// With escape sequences.
    Coloured,
}

impl Style {
    /// Colour on a terminal, unless NO_COLOR (no-color.org) says otherwise.
    pub fn of_stdout() -> Style {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        if unwanted || dumb || !std::io::stdout().is_terminal() {
            Style::Plain
        } else {
            Style::Coloured
        }
    }

    fn escape(self, code: &str, text: &str) -> String {
        match self {
            Style::Plain => text.to_string(),
            Style::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// A heading.
    pub fn strong(self, text: &str) -> String {
        self.escape("1", text)
    }

    /// Good news.
    pub fn good(self, text: &str) -> String {
        self.escape("32", text)
    }

    /// Bad news.
    pub fn bad(self, text: &str) -> String {
        self.escape("1;31", text)
    }

    /// A bar.
    pub fn bar(self, text: &str) -> String {
        self.escape("36", text)
    }
}

/// A number with its thousands apart.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A fraction in percent.
pub fn percent(fraction: f64) -> String {
    format!("{:.1}%", fraction * 100.0)
}

/// `part` of `whole` in percent, or a dash where there is nothing.
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        "-".to_string()
    } else {
        percent(part as f64 / whole as f64)
    }
}

/// Bytes in the unit that suits them.
pub fn bytes(n: u64) -> String {
    match n as f64 {
        b if b >= 1e9 => format!("{:.2} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.2} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.1} kB", b / 1e3),
        _ => format!("{n} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        let shown = [0, 999, 1_000, 12_345, 1_234_567].map(count);
        assert_eq!(shown, ["0", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(share(1, 8), "12.5%");
        assert_eq!(share(0, 0), "-");
        let shown = [12, 1_500, 2_340_000, 7_000_000_000].map(bytes);
        assert_eq!(shown, ["12 B", "1.5 kB", "2.34 MB", "7.00 GB"]);
    }

    #[test]
    fn plain_text_has_no_escapes() {
        assert_eq!(Style::Plain.bad("wrong"), "wrong");
        assert_eq!(Style::Coloured.strong("x"), "\x1b[1mx\x1b[0m");
    }

    #[test]
    fn every_colour_is_one_that_is_printed() {
        let style = Style::Coloured;
        for text in [
            style.strong("x"),
            style.good("x"),
            style.bad("x"),
            style.bar("x"),
        ] {
            assert_eq!(warpsim_present::visible_but(&text, &COLOURS), text);
        }
    }
}
