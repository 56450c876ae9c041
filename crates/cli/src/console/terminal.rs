//! The terminal that standard output is, if it is one.

use console::Term;

/// Letters that fit in a line: what COLUMNS says, else what the terminal does. None where nobody does: files
/// and pipes take lines of any length.
pub fn width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|text| text.trim().parse().ok());
    said.filter(|width| *width > 0).or_else(|| {
        let (_, columns) = Term::stdout().size_checked()?;
        Some(usize::from(columns))
    })
}
