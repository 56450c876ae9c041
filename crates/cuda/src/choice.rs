//! Which launches are timed.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Numbers of launches, as in `3-5,9`, from 1 on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers(Vec<RangeInclusive<u64>>);

impl Numbers {
    /// Whether this is one of them.
    pub fn contains(&self, number: u64) -> bool {
        self.0.iter().any(|range| range.contains(&number))
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Numbers, String> {
        let wrong =
            || format!("`{text}` is no list of launches: write 3, 3-5 or 1,4-6; the first is 1");
        let number = |text: &str| {
            text.trim()
                .parse()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(wrong)
        };
        let range = |part: &str| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (from, to): (u64, u64) = (number(from)?, number(to)?);
            if from <= to {
                Ok(from..=to)
            } else {
                Err(wrong())
            }
        };
        text.split(',')
            .map(range)
            .collect::<Result<_, _>>()
            .map(Numbers)
    }
}

/// What a user wants to be timed; the rest is executed without timing.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// These launches of the program.
    pub launches: Option<Numbers>,
    /// Launches of kernels that have this in their names.
    pub kernel: Option<String>,
    /// The first so many of each kernel.
    pub first: Option<u64>,
    /// Two of those that are alike.
    pub sample: bool,
}

/// What has been chosen so far.
#[derive(Debug, Default)]
pub struct Chooser {
    /// How many launches of each kernel that could be timed there were.
    seen: HashMap<String, u64>,
}

impl Chooser {
    /// Whether to time the `number`th launch of the program, of this kernel, by any of its names.
    pub fn times(&mut self, choice: &Choice, number: u64, names: [&str; 2]) -> bool {
        if choice
            .launches
            .as_ref()
            .is_some_and(|l| !l.contains(number))
        {
            return false;
        }
        if choice
            .kernel
            .as_ref()
            .is_some_and(|k| !names.iter().any(|n| n.contains(k.as_str())))
        {
            return false;
        }
        let Some(first) = choice.first else {
            return true;
        };
        let seen = self.seen.entry(names[0].to_string()).or_default();
        *seen += 1;
        *seen <= first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        let all: Numbers = "1,4-6".parse().expect("numbers");
        let found: Vec<u64> = (0..9).filter(|n| all.contains(*n)).collect();
        assert_eq!(found, [1, 4, 5, 6]);
        for wrong in ["", "0", "5-3", "a", "1,,2", "3-", "-3"] {
            assert!(wrong.parse::<Numbers>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn all_that_is_asked_for_has_to_hold() {
        let choice = Choice {
            launches: Some("2-9".parse().expect("numbers")),
            kernel: Some("add".into()),
            first: Some(2),
            sample: false,
        };
        let mut chooser = Chooser::default();
        let mut timed = Vec::new();
        for (number, kernel) in [(1, "add"), (2, "add"), (3, "mul"), (4, "add"), (5, "add")] {
            if chooser.times(&choice, number, [kernel, kernel]) {
                timed.push(number);
            }
        }
        assert_eq!(timed, [2, 4]);
        assert!(Chooser::default().times(&Choice::default(), 7, ["any", "any"]));
    }
}
