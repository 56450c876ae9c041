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
        // A reader that has closed the pipe does not stop the simulated program.
        let _ = options.output.write_all(&text[..shown as usize]);
        let _ = options.output.flush();
        self.bytes += shown;
        self.left_out += text.len() as u64 - shown;
        text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shown(Arc<Mutex<Vec<u8>>>);

    impl Write for Shown {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_beyond_the_limit_is_counted() {
        let shown = Shown::default();
        let mut options = Options {
            output: Box::new(shown.clone()),
            print_limit: 7,
            ..Options::default()
        };
        let mut printed = Printed::default();
        for text in ["four", "more than seven", "", "no"] {
            let mut bytes = text.as_bytes().to_vec();
            printed.hand_on(&mut bytes, &mut options);
            assert!(bytes.is_empty());
        }
        assert_eq!(*shown.0.lock().expect("not poisoned"), b"fourmor");
        assert_eq!((printed.bytes, printed.left_out), (7, 14));
    }
}
