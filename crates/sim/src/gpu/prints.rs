//! What kernels print: handed on as it comes, up to a limit.

use super::Options;

/// How much was printed, and how much was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Bytes written.
    pub bytes: u64,
    /// Bytes beyond the limit, which were left out.
    pub left_out: u64,
}

impl Printed {
    /// Hands on what threads have printed, as far as the limit allows, and empties it.
    pub(super) fn hand_on(&mut self, text: &mut Vec<u8>, options: &mut Options) {
        if text.is_empty() {
            return;
        }
        let room = options.print_limit.saturating_sub(self.bytes);
        let shown = room.min(text.len() as u64);
        // Whoever does not want to read it does not keep the program from going on.
        let _ = options.output.write_all(&text[..shown as usize]);
        let _ = options.output.flush();
        self.bytes += shown;
        self.left_out += text.len() as u64 - shown;
        text.clear();
    }
}
