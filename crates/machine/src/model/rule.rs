//! Which values a setting may have: declared once, used by the validator, by `warpsim list` and
//! by tests.

use warpsim_present::nearest;

/// The values that a machine setting or a mechanism's parameter may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A whole number between two bounds, both included, and of a certain kind.
    Number {
        /// Smallest value.
        low: u32,
        /// Largest value.
        high: u32,
        /// Which of those between.
        of: Of,
    },
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list of these words, each at most once.
    Several(&'static [&'static str]),
    /// `[latency, initiation interval]`.
    Timing,
}

/// Which of the numbers between two bounds are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// All.
    Any,
    /// Multiples of this one.
    Multiples(u32),
    /// Powers of two.
    PowersOfTwo,
    /// Powers of two, and zero for "off".
    PowersOfTwoOrZero,
}

/// A whole number.
pub const fn range(low: u32, high: u32) -> Rule {
    let of = Of::Any;
    Rule::Number { low, high, of }
}

/// A multiple of `n`.
pub const fn multiple_of(n: u32, low: u32, high: u32) -> Rule {
    let of = Of::Multiples(n);
    Rule::Number { low, high, of }
}

/// A power of two.
pub const fn power_of_two(low: u32, high: u32) -> Rule {
    let of = Of::PowersOfTwo;
    Rule::Number { low, high, of }
}

/// A power of two, or zero.
pub const fn power_of_two_or_zero(high: u32) -> Rule {
    let of = Of::PowersOfTwoOrZero;
    Rule::Number { low: 0, high, of }
}

/// Longest latency of an operation class.
const LONGEST: i64 = 1000;

impl Rule {
    /// Whether a value is allowed; if not, how a sentence about its key goes on.
    pub fn check(&self, value: &toml::Value) -> Result<(), String> {
        use toml::Value::{Array, Boolean, Integer, String};
        match (self, value) {
            (&Rule::Number { low, high, of }, &Integer(n)) => check_number(n, low, high, of),
            (Rule::Flag, Boolean(_)) => Ok(()),
            (Rule::Words(words), String(word)) if words.contains(&word.as_str()) => Ok(()),
            (Rule::Words(words), String(word)) => {
                let quoted: Vec<_> = words.iter().map(|w| format!("\"{w}\"")).collect();
                let all = quoted.join(" or ");
                Err(format!("is \"{word}\": it must be {all}"))
            }
            (Rule::Several(words), Array(given)) => check_words(given, words),
            (Rule::Timing, Array(pair)) => check_timing(pair),
            _ => Err(format!("takes {}", self.kind())),
        }
    }

    /// Whether a value is of the right kind, allowed or not.
    pub fn takes(&self, value: &toml::Value) -> bool {
        match self {
            Rule::Number { .. } => value.is_integer(),
            Rule::Flag => value.is_bool(),
            Rule::Words(_) => value.is_str(),
            Rule::Several(_) | Rule::Timing => value.is_array(),
        }
    }

    /// The values, in a unit, for lists: `4 to 32 threads, powers of two`.
    pub fn in_unit(&self, unit: &str) -> String {
        let space = if unit.is_empty() { "" } else { " " };
        match self {
            Rule::Number { low, high, of } => {
                let numbers = format!("{low} to {high}{space}{unit}");
                match of {
                    Of::Any => numbers,
                    Of::Multiples(n) => format!("{numbers}, multiples of {n}"),
                    Of::PowersOfTwo => format!("{numbers}, powers of two"),
                    Of::PowersOfTwoOrZero => format!("{numbers}, powers of two or 0"),
                }
            }
            Rule::Flag => "true or false".into(),
            Rule::Words(words) => words.join(" | "),
            Rule::Several(words) => format!("any of {}", words.join(", ")),
            Rule::Timing => format!("[latency, initiation interval]{space}{unit}"),
        }
    }

    /// What kind of value it takes, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Rule::Number { .. } => "an integer",
            Rule::Flag => "true or false",
            Rule::Words(_) => "a string",
            Rule::Several(_) => "an array of strings",
            Rule::Timing => "[latency, initiation interval]",
        }
    }
}

fn check_number(n: i64, low: u32, high: u32, of: Of) -> Result<(), String> {
    if !(i64::from(low)..=i64::from(high)).contains(&n) {
        return Err(format!("is {n}: it must lie between {low} and {high}"));
    }
    let power = n.count_ones() == 1;
    match of {
        Of::Multiples(step) if n % i64::from(step) != 0 => {
            Err(format!("is {n}: it must be a multiple of {step}"))
        }
        Of::PowersOfTwo if !power => Err(format!("is {n}: it must be a power of two")),
        Of::PowersOfTwoOrZero if !power && n != 0 => {
            Err(format!("is {n}: it must be a power of two, or 0"))
        }
        _ => Ok(()),
    }
}

fn check_words(given: &[toml::Value], words: &[&str]) -> Result<(), String> {
    let mut seen: Vec<&str> = Vec::new();
    for value in given {
        let Some(word) = value.as_str() else {
            return Err("takes an array of strings".into());
        };
        if !words.contains(&word) {
            let hint = nearest(word, words.iter().copied())
                .map(|near| format!("; did you mean \"{near}\"?"))
                .unwrap_or_default();
            return Err(format!(
                "has \"{word}\", which is none of {}{hint}",
                words.join(", ")
            ));
        }
        if seen.contains(&word) {
            return Err(format!("has \"{word}\" twice"));
        }
        seen.push(word);
    }
    Ok(())
}

fn check_timing(pair: &[toml::Value]) -> Result<(), String> {
    let [
        toml::Value::Integer(latency),
        toml::Value::Integer(initiation),
    ] = pair
    else {
        return Err("takes two integers, [latency, initiation interval]".into());
    };
    if !(1..=LONGEST).contains(latency) {
        return Err(format!(
            "has a latency of {latency}: it must lie between 1 and {LONGEST}"
        ));
    }
    if !(1..=*latency).contains(initiation) {
        return Err(format!(
            "is [{latency}, {initiation}]: the initiation interval must lie between 1 and the latency"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_what_is_checked() {
        let integers = |rule: Rule, given: &[i64]| -> Vec<i64> {
            let good = |n: &&i64| rule.check(&toml::Value::Integer(**n)).is_ok();
            given.iter().filter(good).copied().collect()
        };
        let given = [-1, 0, 1, 2, 3, 4, 6, 8, 9, 1 << 40];
        assert_eq!(integers(range(1, 8), &given), [1, 2, 3, 4, 6, 8]);
        assert_eq!(integers(multiple_of(3, 0, 8), &given), [0, 3, 6]);
        assert_eq!(integers(power_of_two(2, 8), &given), [2, 4, 8]);
        assert_eq!(integers(power_of_two_or_zero(4), &given), [0, 1, 2, 4]);
        let words = Rule::Words(&["age", "slot"]);
        assert!(words.check(&"slot".into()).is_ok());
        assert_eq!(
            words.check(&"size".into()),
            Err("is \"size\": it must be \"age\" or \"slot\"".into())
        );
        assert_eq!(
            Rule::Flag.check(&1.into()),
            Err("takes true or false".into())
        );
        for (pair, good) in [([4, 1], true), ([4, 5], false), ([0, 0], false)] {
            let pair = toml::Value::from(pair.to_vec());
            assert_eq!(Rule::Timing.check(&pair).is_ok(), good, "{pair}");
        }
    }
}
