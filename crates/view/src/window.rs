//! Which part of a run is recorded.

use std::fmt;
use std::str::FromStr;

/// Cycles from one (included) to another (not included).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first.
    pub from: u64,
    /// The one behind the last.
    pub to: u64,
}

impl Default for Window {
    fn default() -> Self {
        Window {
            from: 0,
            to: u64::MAX,
        }
    }
}

/// What was written is no window.
#[derive(Debug, PartialEq, Eq)]
pub struct WindowError(String);

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WindowError {}

impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Window, WindowError> {
        let wrong = || {
            WindowError(format!(
                "`{text}` is not FROM-TO, as in 2000-6000, -500 or 1000-"
            ))
        };
        let (from, to) = text
            .split_once("..")
            .or_else(|| text.split_once('-'))
            .ok_or_else(wrong)?;
        let number = |part: &str, absent: u64| match part.trim() {
            "" => Ok(absent),
            digits => digits.parse().map_err(|_| wrong()),
        };
        let window = Window {
            from: number(from, 0)?,
            to: number(to, u64::MAX)?,
        };
        if window.from >= window.to {
            return Err(WindowError(format!("`{text}` has no cycles in it")));
        }
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Window>().map(|w| (w.from, w.to));
        assert_eq!(read("2000-6000"), Ok((2000, 6000)));
        assert_eq!(read("2000..6000"), Ok((2000, 6000)));
        assert_eq!(read("-500"), Ok((0, 500)));
        assert_eq!(read("1000.."), Ok((1000, u64::MAX)));
        assert_eq!(read("7-7").unwrap_err().0, "`7-7` has no cycles in it");
        for wrong in ["", "7", "a-b", "1-2-3"] {
            let error = read(wrong).unwrap_err().0;
            assert!(error.contains("is not FROM-TO"), "{error}");
        }
    }
}
