//! What is behind a mean over workloads: their median, and the worst of them.

use crate::format::Display;
use crate::words;

/// What a mean over several workloads does not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Behind {
    /// As many workloads are above it as below.
    pub median: f64,
    /// The number of the worst workload, and what it has; none where neither more nor less is better.
    pub worst: Option<(usize, f64)>,
}

/// That, as a figure writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehindText {
    /// The median.
    pub median: String,
    /// The worst workload's value, with its name; nothing where there is none.
    pub worst: String,
}

impl Behind {
    /// Of workloads, by number, with what they have. `more` says whether more is better; of equal ones the first
    /// is the worst. None of fewer than two.
    pub fn of(values: &[(usize, f64)], more: Option<bool>) -> Option<Behind> {
        if values.len() < 2 {
            return None;
        }
        let mut sorted: Vec<f64> = values.iter().map(|(_, v)| *v).collect();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            1 => sorted[middle],
            _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
        };
        let worst = more.and_then(|more| {
            let worse = |a: f64, b: f64| if more { a < b } else { a > b };
            let all = values.iter().copied();
            all.reduce(|a, b| if worse(b.1, a.1) { b } else { a })
        });
        Some(Behind { median, worst })
    }

    /// As a figure writes it; `name` is that of a workload's number.
    pub fn text<'n>(&self, display: Display, name: impl Fn(usize) -> &'n str) -> BehindText {
        let worst =
            |(number, value)| format!("{} ({})", words::value(display, value), name(number));
        BehindText {
            median: words::value(display, self.median),
            worst: self.worst.map(worst).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_worst() {
        let three = [(7, 1.5), (8, 0.9), (9, 1.1)];
        let found = Behind::of(&three, Some(true)).expect("three workloads");
        assert_eq!((found.median, found.worst), (1.1, Some((8, 0.9))));
        let text = found.text(
            Display::Change,
            |number| if number == 8 { "bfs" } else { "" },
        );
        assert_eq!(text.worst, "-10.0% (bfs)");
        let less = Behind::of(&three, Some(false)).expect("three workloads");
        assert_eq!(less.worst, Some((7, 1.5)));
        let neither = Behind::of(&three, None).expect("three workloads");
        assert_eq!(neither.worst, None);
        assert_eq!(neither.text(Display::Change, |_| "").worst, "");
        let two = Behind::of(&[(0, 1.0), (1, 2.0)], Some(true));
        assert_eq!(two.map(|b| b.median), Some(1.5));
        assert_eq!(
            Behind::of(&three[..1], Some(true)),
            None,
            "it is all there is"
        );
    }
}
