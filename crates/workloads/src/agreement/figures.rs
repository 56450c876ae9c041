//! How well pairs of numbers agree.

use super::Pair;

/// Agreement over a number of launches or programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// How many there are.
    pub count: usize,
    /// Mean of the differences without their signs, in per cent.
    pub mean: f64,
    /// The largest of them.
    pub largest: f64,
    /// Correlation (Pearson's) of our cycles with the reference's; `None` where one of them does
    /// not vary.
    pub correlation: Option<f64>,
}

impl Figures {
    /// Of these pairs.
    pub fn of(pairs: impl IntoIterator<Item = Pair>) -> Figures {
        let pairs: Vec<Pair> = pairs.into_iter().collect();
        let differences = || pairs.iter().map(|p| p.difference().abs());
        Figures {
            count: pairs.len(),
            mean: differences().sum::<f64>() / pairs.len().max(1) as f64,
            largest: differences().fold(0.0, f64::max),
            correlation: correlation(&pairs),
        }
    }
}

fn correlation(pairs: &[Pair]) -> Option<f64> {
    let count = pairs.len() as f64;
    let mean = |of: fn(&Pair) -> u64| pairs.iter().map(|p| of(p) as f64).sum::<f64>() / count;
    let (reference, ours) = (mean(|p| p.reference), mean(|p| p.ours));
    let (mut both, mut one, mut other) = (0.0, 0.0, 0.0);
    for pair in pairs {
        let (x, y) = (pair.reference as f64 - reference, pair.ours as f64 - ours);
        both += x * y;
        one += x * x;
        other += y * y;
    }
    let scale = (one * other).sqrt();
    (scale > 0.0).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(pairs: &[(u64, u64)]) -> Figures {
        Figures::of(
            pairs
                .iter()
                .map(|&(reference, ours)| Pair { reference, ours }),
        )
    }

    #[test]
    fn differences_count_in_both_directions() {
        let of = figures(&[(100, 110), (200, 180), (400, 400)]);
        assert_eq!(of.count, 3);
        assert!((of.mean - 20.0 / 3.0).abs() < 1e-9);
        assert!((of.largest - 10.0).abs() < 1e-9);
    }

    #[test]
    fn correlation_is_one_for_what_is_in_proportion() {
        let of = |pairs: &[(u64, u64)]| figures(pairs).correlation;
        assert!((of(&[(1, 3), (2, 6), (5, 15)]).unwrap() - 1.0).abs() < 1e-9);
        assert!((of(&[(1, 9), (2, 6), (3, 3)]).unwrap() + 1.0).abs() < 1e-9);
        assert_eq!(of(&[(5, 9), (5, 6)]), None);
        assert_eq!(of(&[]), None);
    }
}
