//! How things are written, everywhere alike.

use crate::format::{Display, Mean};
use crate::values::sample::Sample;
use std::time::Duration;

/// A value of a figure.
pub fn value(display: Display, value: f64) -> String {
    match display {
        Display::Ratio => format!("{value:.3}"),
        Display::Change => signed((value - 1.0) * 100.0),
        Display::Percent => format!("{:.1}%", value * 100.0),
        Display::Number => number(value),
    }
}

/// A value with how far the farthest repeat is from it: "+8.4% ±0.7".
pub fn sample(display: Display, sample: &Sample) -> String {
    with_spread(display, sample.total(), sample.spread())
}

/// A value with its spread; without one there was a single run.
pub fn with_spread(display: Display, value: f64, spread: Option<f64>) -> String {
    let text = self::value(display, value);
    let Some(spread) = spread else {
        return text;
    };
    let spread = match display {
        Display::Ratio => format!("{spread:.3}"),
        Display::Change | Display::Percent => format!("{:.1}", spread * 100.0),
        // As fine as the value is written.
        Display::Number if value.abs() >= 1000.0 => number(spread.round()),
        Display::Number if text.contains('.') && value.abs() >= 10.0 => format!("{spread:.1}"),
        Display::Number => number(spread),
    };
    format!("{text} \u{b1}{spread}")
}

fn signed(percent: f64) -> String {
    // No "-0.0%": what rounds to nothing has no sign.
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    if percent == 0.0 {
        "0.0%".into()
    } else {
        format!("{percent:+.1}%")
    }
}

/// A value at a line of a scale: as short as round numbers allow.
pub fn tick(display: Display, value: f64) -> String {
    // Sums of steps are off by a hair: 0.15000000000000002.
    let short = |value: f64, digits: usize| {
        let text = format!("{value:.digits$}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" {
            "0".into()
        } else {
            text.to_string()
        }
    };
    match display {
        Display::Ratio => short(value, 4),
        Display::Change => {
            let text = short((value - 1.0) * 100.0, 2);
            let sign = if text == "0" || text.starts_with('-') {
                ""
            } else {
                "+"
            };
            format!("{sign}{text}%")
        }
        Display::Percent if value == 0.0 => "0%".into(),
        Display::Percent => format!("{}%", percent_digits(value * 100.0)),
        Display::Number if value.abs() >= 1e6 => format!("{:.1e}", value),
        Display::Number if value == value.trunc() => number(value),
        Display::Number => short(value, 6),
    }
}

fn percent_digits(percent: f64) -> String {
    let rounded = percent.round();
    if (percent - rounded).abs() < 1e-6 {
        format!("{rounded}")
    } else {
        format!("{percent:.1}")
    }
}

/// A plain number: whole when it is, else with enough digits.
pub fn number(value: f64) -> String {
    let size = value.abs();
    // Beyond a thousand the part behind the point says nothing.
    let value = if size >= 1000.0 { value.round() } else { value };
    if value == value.trunc() && size < 1e15 {
        let digits = format!("{:.0}", value.abs());
        let mut grouped = String::new();
        for (i, c) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(c);
        }
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}{grouped}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.3}")
    }
}

/// The name of an average.
pub fn mean(mean: Mean) -> &'static str {
    match mean {
        Mean::Arithmetic => "arithmetic mean",
        Mean::Geometric => "geometric mean",
        Mean::Harmonic => "harmonic mean",
    }
}

/// How often everything ran: "one repeat", "three repeats".
pub fn repeats(n: usize) -> String {
    const NAMES: [&str; 6] = ["no", "one", "two", "three", "four", "five"];
    let count = NAMES.get(n).map_or(n.to_string(), |name| name.to_string());
    format!("{count} {}", if n == 1 { "repeat" } else { "repeats" })
}

/// Over how many workloads something is: "over 8 of the 13".
pub fn over(n: usize, of: usize) -> String {
    if n == of {
        format!("over {n}")
    } else {
        format!("over {n} of the {of}")
    }
}

/// Seconds for people.
pub fn time(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

/// How much time is left: an estimate, in no smaller steps than it is good for, and never nothing.
pub fn left(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil().max(1.0) as u64;
    match seconds {
        0..60 => format!("about {seconds} s left"),
        60..3600 => format!("about {} min left", seconds.div_ceil(60)),
        _ => format!(
            "about {} h {:02} min left",
            seconds / 3600,
            seconds / 60 % 60
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_one_way() {
        assert_eq!(value(Display::Ratio, 1.0844), "1.084");
        assert_eq!(value(Display::Change, 1.084), "+8.4%");
        assert_eq!(value(Display::Change, 0.9), "-10.0%");
        assert_eq!(value(Display::Change, 0.9999), "0.0%");
        assert_eq!(value(Display::Percent, 0.3), "30.0%");
        assert_eq!(value(Display::Number, 1234567.0), "1,234,567");
        assert_eq!(value(Display::Number, 1234.56), "1,235");
        assert_eq!(value(Display::Number, -12.0), "-12");
        assert_eq!(value(Display::Number, 0.25), "0.250");
        assert_eq!(value(Display::Number, 12.34), "12.3");
        let repeats = Sample::of(vec![1.084, 1.091, 1.08]).expect("repeats");
        assert_eq!(sample(Display::Change, &repeats), "+8.5% \u{b1}0.6");
        assert_eq!(sample(Display::Ratio, &repeats), "1.085 \u{b1}0.006");
        assert_eq!(
            with_spread(Display::Percent, 0.3, Some(0.0)),
            "30.0% \u{b1}0.0"
        );
        assert_eq!(with_spread(Display::Number, 12.0, None), "12");
        assert_eq!(
            with_spread(Display::Number, 27.81, Some(0.142)),
            "27.8 \u{b1}0.1"
        );
        assert_eq!(
            with_spread(Display::Number, 5357.3, Some(27.3)),
            "5,357 \u{b1}27"
        );
        let often = [1, 3, 11].map(super::repeats);
        assert_eq!(often, ["one repeat", "three repeats", "11 repeats"]);
        assert_eq!(over(8, 13), "over 8 of the 13");
        assert_eq!(time(3.21), "3.2 s");
        assert_eq!(time(125.0), "2 min 05 s");
        assert_eq!(time(3725.0), "1 h 02 min");
        let left = [0.0, 12.2, 61.0, 3599.0, 3725.0].map(|s| left(Duration::from_secs_f64(s)));
        let expected = ["1 s", "13 s", "2 min", "60 min", "1 h 02 min"];
        assert_eq!(left, expected.map(|t| format!("about {t} left")));
    }
}
