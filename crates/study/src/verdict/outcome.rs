//! From comparisons in every repeat to a verdict.

use crate::format::{Chain, Order};

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds in every repeat.
    Holds,
    /// One of its comparisons fails in every repeat.
    Fails,
    /// Repeats disagree.
    Scatter,
    /// It was not looked at: something is missing, or the study says why not.
    Untested,
    /// What it compares ran the same to the byte: that can support no difference.
    Vacuous,
}

impl Verdict {
    /// Every verdict, in the order they are counted.
    pub const ALL: [Verdict; 5] = [
        Verdict::Holds,
        Verdict::Fails,
        Verdict::Scatter,
        Verdict::Untested,
        Verdict::Vacuous,
    ];

    /// Those that this many repeats can come to: one has no scatter.
    pub fn possible(repeats: usize) -> Vec<Verdict> {
        let all = Self::ALL.into_iter();
        all.filter(|v| repeats > 1 || *v != Verdict::Scatter)
            .collect()
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Scatter => "within scatter",
            Verdict::Untested => "untested",
            Verdict::Vacuous => "vacuous",
        }
    }

    /// In words, of several claims.
    pub fn plural(self) -> &'static str {
        match self {
            Verdict::Holds => "hold",
            Verdict::Fails => "fail",
            other => other.name(),
        }
    }
}

/// What the repeats say about one workload, or about an average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Repeats.
    pub repeats: usize,
    /// In so many of them everything holds.
    pub holds: usize,
    /// A comparison fails in all of them.
    pub fails: bool,
    /// What is compared ran the same to the byte.
    pub identical: bool,
    /// How far it is from holding, relative to what it is compared with: in the best and in the worst repeat.
    pub gap: (f64, f64),
    /// How far the repeats of what is compared lie apart, relative to their average.
    pub scatter: f64,
}

impl Outcome {
    /// Looks at every comparison in every repeat; `values` has the terms' values by repeat.
    pub fn of(chain: &Chain, values: &[Vec<f64>], within: f64) -> Outcome {
        let repeats = values.iter().map(Vec::len).min().unwrap_or(0);
        let comparison = |index: usize, repeat: usize| {
            let (order, _) = &chain.rest[index];
            compare(
                *order,
                values[index][repeat],
                values[index + 1][repeat],
                within,
            )
        };
        let comparisons = 0..chain.rest.len();
        let everything = |repeat: &usize| comparisons.clone().all(|c| comparison(c, *repeat));
        let never = |c: usize| (0..repeats).all(|repeat| !comparison(c, repeat));
        let off = |repeat: usize| {
            let one = |c: usize| match comparison(c, repeat) {
                true => 0.0,
                false => apart(values[c][repeat], values[c + 1][repeat]),
            };
            comparisons.clone().map(one).fold(0.0, f64::max)
        };
        let gaps = (0..repeats).map(off);
        Outcome {
            repeats,
            holds: (0..repeats).filter(everything).count(),
            fails: comparisons.clone().any(never),
            identical: false,
            gap: (
                gaps.clone().fold(f64::INFINITY, f64::min),
                gaps.fold(0.0, f64::max),
            ),
            scatter: values.iter().map(|v| width(v)).fold(0.0, f64::max),
        }
    }

    /// What this alone comes to.
    pub fn verdict(&self) -> Verdict {
        if self.identical {
            Verdict::Vacuous
        } else if self.holds == self.repeats {
            Verdict::Holds
        } else if self.fails {
            Verdict::Fails
        } else {
            Verdict::Scatter
        }
    }

    /// The outcome where a miss that is no wider than the scatter is no failure.
    pub fn tolerant(self) -> Outcome {
        let within = self.scatter > 0.0 && self.gap.0 <= self.scatter;
        Outcome {
            fails: self.fails && !within,
            ..self
        }
    }

    /// Whether identical runs fulfil the claim: they are equal, and that is what it says.
    pub fn trivially(&self) -> bool {
        self.identical && self.holds == self.repeats
    }

    /// The outcome of the opposite claim.
    pub fn opposite(self) -> Outcome {
        Outcome {
            holds: if self.fails {
                self.repeats
            } else {
                self.repeats - self.holds
            },
            fails: self.holds == self.repeats,
            // How far it is from not being so, nothing says.
            gap: match self.fails {
                true => (0.0, 0.0),
                false => (f64::INFINITY, f64::INFINITY),
            },
            ..self
        }
    }
}

/// How far the repeats of a value lie apart, relative to their average.
fn width(repeats: &[f64]) -> f64 {
    let (low, high) = repeats
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(*v), h.max(*v))
        });
    let average = repeats.iter().sum::<f64>() / repeats.len() as f64;
    match average {
        0.0 => 0.0,
        average => ((high - low) / average).abs(),
    }
}

/// How far two values are apart, relative to the second.
fn apart(a: f64, b: f64) -> f64 {
    match b {
        0.0 => f64::INFINITY,
        b => ((a - b) / b).abs(),
    }
}

/// By how much a claim about every workload fails: by as much as its worst.
pub fn widest<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> (f64, f64) {
    outcomes.fold((0.0, 0.0), |(best, worst), o| {
        (best.max(o.gap.0), worst.max(o.gap.1))
    })
}

/// By how much a claim about at least one workload fails: by as little as its best.
pub fn narrowest<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> (f64, f64) {
    outcomes.fold((f64::INFINITY, f64::INFINITY), |(best, worst), o| {
        (best.min(o.gap.0), worst.min(o.gap.1))
    })
}

/// Whether a comparison holds; `~` allows a relative difference.
fn compare(order: Order, a: f64, b: f64, within: f64) -> bool {
    // A difference of exactly the tolerance is allowed, however it is rounded.
    const HAIR: f64 = 1e-9;
    match order {
        Order::Above => a > b,
        Order::NotBelow => a >= b,
        Order::Below => a < b,
        Order::NotAbove => a <= b,
        Order::About => (a - b).abs() <= within * a.abs().max(b.abs()),
        Order::Within(off) => (a - b).abs() <= off + HAIR,
    }
}

/// Of a claim about every workload.
pub fn every<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> Verdict {
    let fails = |o: &Outcome| o.verdict() == Verdict::Fails || o.identical && !o.trivially();
    if outcomes.clone().all(|o| o.identical) {
        Verdict::Vacuous
    } else if outcomes.clone().any(fails) {
        Verdict::Fails
    } else if outcomes.clone().any(|o| o.verdict() == Verdict::Scatter) {
        Verdict::Scatter
    } else {
        Verdict::Holds
    }
}

/// Of a claim about at least one workload.
pub fn some<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> Verdict {
    if outcomes.clone().all(|o| o.identical) {
        Verdict::Vacuous
    } else if outcomes.clone().any(|o| o.verdict() == Verdict::Holds) {
        Verdict::Holds
    } else if outcomes.clone().any(|o| o.verdict() == Verdict::Scatter) {
        Verdict::Scatter
    } else {
        Verdict::Fails
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Term;

    fn outcome(order: Order, a: &[f64], b: &[f64]) -> Outcome {
        let term = |name: &str| Term::Configuration(name.into());
        let chain = Chain {
            first: term("a"),
            rest: vec![(order, term("b"))],
        };
        Outcome::of(&chain, &[a.to_vec(), b.to_vec()], 0.02)
    }

    #[test]
    fn repeats_agree_or_not() {
        let verdict = |a: &[f64]| outcome(Order::Above, a, &[1.0, 1.0, 1.0]).verdict();
        assert_eq!(verdict(&[1.1, 1.2, 1.01]), Verdict::Holds);
        assert_eq!(verdict(&[0.9, 0.8, 1.0]), Verdict::Fails);
        assert_eq!(verdict(&[1.038, 0.877, 1.222]), Verdict::Scatter);
    }

    #[test]
    fn a_chain_fails_where_one_comparison_always_fails() {
        let term = |name: &str| Term::Configuration(name.into());
        let chain = Chain {
            first: term("a"),
            rest: vec![(Order::Above, term("b")), (Order::Above, term("c"))],
        };
        let of = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
            Outcome::of(&chain, &[a.into(), b.into(), c.into()], 0.0).verdict()
        };
        assert_eq!(of([3.0, 3.0], [2.0, 2.0], [1.0, 1.0]), Verdict::Holds);
        assert_eq!(of([3.0, 1.5], [2.0, 2.0], [1.0, 1.0]), Verdict::Scatter);
        assert_eq!(of([3.0, 1.5], [2.0, 2.0], [4.0, 4.0]), Verdict::Fails);
        // Never both at once, but neither always fails.
        assert_eq!(of([3.0, 1.5], [2.0, 2.0], [4.0, 1.0]), Verdict::Scatter);
    }

    #[test]
    fn a_miss_within_the_scatter_is_no_failure_of_a_claim_about_every_workload() {
        let verdict = |a: &[f64]| outcome(Order::Above, a, &[1.0, 1.0]).tolerant().verdict();
        assert_eq!(verdict(&[0.99, 0.97]), Verdict::Scatter);
        assert_eq!(verdict(&[0.92, 0.90]), Verdict::Fails);
        assert_eq!(
            verdict(&[0.99, 0.99]),
            Verdict::Fails,
            "without any scatter"
        );
    }

    #[test]
    fn how_far_a_claim_is_from_holding() {
        let gap = |a: &[f64]| outcome(Order::Within(0.05), a, &[1.25, 1.25]).gap;
        assert_eq!(gap(&[1.25, 1.0]), (0.0, 0.2));
        assert_eq!(gap(&[1.0, 0.75]), (0.2, 0.4));
        let rows = [(0.1, 0.5), (0.2, 0.3)].map(|gap| Outcome {
            gap,
            ..outcome(Order::Above, &[1.0], &[1.0])
        });
        assert_eq!(widest(rows.iter()), (0.2, 0.5));
        assert_eq!(narrowest(rows.iter()), (0.1, 0.3));
    }

    #[test]
    fn an_equality_has_two_sides_and_includes_its_ends() {
        let verdict = |a: f64| outcome(Order::Within(0.05), &[a], &[1.22]).verdict();
        for equal in [1.17, 1.22, 1.27] {
            assert_eq!(verdict(equal), Verdict::Holds, "{equal}");
        }
        for other in [1.16, 1.28, 2.0] {
            assert_eq!(verdict(other), Verdict::Fails, "{other}");
        }
    }

    #[test]
    fn identical_runs_support_no_difference() {
        let same = |order| Outcome {
            identical: true,
            ..outcome(order, &[1.0], &[1.0])
        };
        let holds = outcome(Order::Above, &[2.0], &[1.0]);
        let strict = same(Order::Above);
        assert_eq!(every([strict, strict].iter()), Verdict::Vacuous);
        assert_eq!(every([strict, holds].iter()), Verdict::Fails);
        assert_eq!(some([strict, holds].iter()), Verdict::Holds);
        assert_eq!(every([same(Order::About), holds].iter()), Verdict::Holds);
    }

    #[test]
    fn the_opposite_of_an_exception() {
        let of = |a: &[f64]| outcome(Order::Above, a, &[1.0, 1.0]).opposite().verdict();
        assert_eq!(of(&[2.0, 2.0]), Verdict::Fails);
        assert_eq!(of(&[0.5, 0.5]), Verdict::Holds);
        assert_eq!(of(&[0.5, 2.0]), Verdict::Scatter);
    }
}
