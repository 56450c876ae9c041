//! The terminal that standard output or standard error is, if it is one.

use console::Term;
use std::io::{self, IsTerminal, Write};
use std::str::from_utf8;
use warpsim_present::visible;

/// Letters that fit in a line: what COLUMNS says, else what the terminal does. None where neither does: files
/// and pipes take lines of any length.
pub fn width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|text| text.trim().parse().ok());
    said.filter(|width| *width > 0).or_else(|| {
        let (_, columns) = Term::stdout().size_checked()?;
        Some(usize::from(columns))
    })
}

/// Where kernels print to: as it is, but on a terminal with what that would obey shown instead.
pub fn of_kernels<W: Write + IsTerminal + 'static>(inner: W) -> Box<dyn Write> {
    match inner.is_terminal() {
        true => Box::new(Visible::new(inner)),
        false => Box::new(inner),
    }
}

/// A terminal for the bytes of others.
struct Visible<W> {
    inner: W,
    /// The beginning of a letter whose other bytes have not come.
    begun: Vec<u8>,
}

impl<W: Write> Visible<W> {
    fn new(inner: W) -> Visible<W> {
        Visible {
            inner,
            begun: Vec::new(),
        }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = match from_utf8(&self.begun) {
            // A letter that is not whole yet; wrong bytes are not waited for.
            Err(e) if e.error_len().is_none() => e.valid_up_to(),
            _ => self.begun.len(),
        };
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        let text = String::from_utf8_lossy(&text);
        self.inner.write_all(visible(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kernels_print_does_not_command_a_terminal() {
        let mut out = Visible::new(Vec::new());
        // The letter comes in two parts.
        for part in [&b"a\x1b[2J\xc3"[..], b"\xa9\n", b"\x9b\n"] {
            out.write_all(part).expect("written");
        }
        let shown = String::from_utf8(out.inner).expect("text");
        assert_eq!(shown, "a\\u{1b}[2Jé\n\u{fffd}\n");
    }
}
