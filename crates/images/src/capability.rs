//! Architectures by their number: `sm_80`, `sm_90a`.

use std::fmt;

/// What may run code for an architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// Every later device (PTX), or those of the same major number (machine code).
    #[default]
    All,
    /// Devices of the same family: `sm_100f`.
    Family,
    /// This architecture only: `sm_90a`.
    Only,
}

/// A compute capability: 8.0 is 80, 12.0 is 120.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability {
    /// Ten times the major number and the minor one.
    pub number: u32,
    /// Its variant.
    pub variant: Variant,
}

impl Capability {
    /// A capability that later devices have, too.
    pub const fn new(number: u32) -> Self {
        Self {
            number,
            variant: Variant::All,
        }
    }

    /// `sm_90a`, `compute_90a`, `90a`, as compilers write it.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text
            .strip_prefix("sm_")
            .or_else(|| text.strip_prefix("compute_"))
            .unwrap_or(text);
        let (digits, variant) = match digits.as_bytes().last()? {
            b'a' => (&digits[..digits.len() - 1], Variant::Only),
            b'f' => (&digits[..digits.len() - 1], Variant::Family),
            _ => (digits, Variant::All),
        };
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| plain)?;
        Some(Self { number, variant })
    }

    /// Whether a device of that capability can be given PTX for this one.
    pub fn runs_on(self, device: Self) -> bool {
        match self.variant {
            Variant::All => self.number <= device.number,
            Variant::Family => {
                self.number <= device.number && self.number / 10 == device.number / 10
            }
            Variant::Only => self.number == device.number,
        }
    }

    /// How far from a device: code that others can run comes first.
    pub(crate) fn distance(self, device: Self) -> (u32, Variant) {
        (self.number.abs_diff(device.number), self.variant)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.variant {
            Variant::All => "",
            Variant::Family => "f",
            Variant::Only => "a",
        };
        write!(f, "sm_{}{suffix}", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::{Capability, Variant};

    #[test]
    fn names_are_read_as_compilers_write_them() {
        let read = |text| Capability::parse(text).map(|c| (c.number, c.variant));
        assert_eq!(read("sm_80"), Some((80, Variant::All)));
        assert_eq!(read("compute_90a"), Some((90, Variant::Only)));
        assert_eq!(read("sm_100f"), Some((100, Variant::Family)));
        for not in ["", "sm_", "sm_a", "sm_8x", "sm_+8", "sm_99999999999"] {
            assert_eq!(read(not), None, "{not}");
        }
        let written = ["sm_80", "sm_90a", "sm_100f"];
        let again = written.map(|text| Capability::parse(text).map(|c| c.to_string()));
        assert_eq!(again, written.map(|text| Some(text.to_string())));
    }

    #[test]
    fn code_for_one_architecture_runs_on_that_one() {
        let runs = |code, device: u32| {
            Capability::parse(code).is_some_and(|c| c.runs_on(Capability::new(device)))
        };
        assert!(runs("sm_52", 80) && runs("sm_80", 80) && !runs("sm_86", 80));
        assert!(runs("sm_90a", 90) && !runs("sm_90a", 100));
        assert!(runs("sm_100f", 103) && !runs("sm_100f", 120));
    }
}
