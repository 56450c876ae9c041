//! A value that was measured once per repeat.
//!
//! Its spread is given by the lowest and the highest repeat, not by a standard deviation: of three
//! values a deviation says little, and whether a claim is within scatter depends on just these ends.

/// Values of a bar or a stack, repeat by repeat. There is at least one repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// For each repeat the layers' values; bars have one layer.
    repeats: Vec<Vec<f64>>,
}

impl Sample {
    /// From the layers of each repeat; none without repeats.
    pub fn new(repeats: Vec<Vec<f64>>) -> Option<Sample> {
        (!repeats.is_empty()).then_some(Sample { repeats })
    }

    /// Of one value per repeat; none without repeats.
    pub fn of(values: Vec<f64>) -> Option<Sample> {
        Sample::new(values.into_iter().map(|v| vec![v]).collect())
    }

    /// How many repeats there are.
    pub fn count(&self) -> usize {
        self.repeats.len()
    }

    /// The layers of each repeat.
    pub fn repeats(&self) -> &[Vec<f64>] {
        &self.repeats
    }

    /// The average of each layer over the repeats.
    pub fn layers(&self) -> Vec<f64> {
        let layers = self.repeats[0].len();
        let layer = |l: usize| mean(&self.repeats.iter().map(|r| r[l]).collect::<Vec<_>>());
        (0..layers).map(layer).collect()
    }

    /// One layer, or all of them together, in each repeat.
    pub fn values(&self, layer: Option<usize>) -> Option<Vec<f64>> {
        let value = |r: &Vec<f64>| match layer {
            Some(layer) => r.get(layer).copied(),
            None => Some(r.iter().sum()),
        };
        self.repeats.iter().map(value).collect()
    }

    fn totals(&self) -> Vec<f64> {
        self.repeats.iter().map(|r| r.iter().sum()).collect()
    }

    /// The average height of the bar or the stack.
    pub fn total(&self) -> f64 {
        mean(&self.totals())
    }

    /// The lowest and the highest repeat.
    pub fn range(&self) -> (f64, f64) {
        let totals = self.totals();
        let low = totals.iter().copied().fold(f64::INFINITY, f64::min);
        let high = totals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low, high)
    }

    /// How far the farthest repeat is from the average; none for a single run.
    pub fn spread(&self) -> Option<f64> {
        let (low, high) = self.range();
        let mean = self.total();
        (self.count() > 1).then(|| (high - mean).max(mean - low))
    }

    /// The sample standard deviation; none for a single run.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.total();
        let squares: f64 = self.totals().iter().map(|v| (v - mean).powi(2)).sum();
        (self.count() > 1).then(|| (squares / (self.count() - 1) as f64).sqrt())
    }
}

/// The arithmetic mean; of equal values that value, to the last bit.
fn mean(values: &[f64]) -> f64 {
    let first = values[0];
    let off: f64 = values.iter().map(|v| v - first).sum();
    first + off / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_and_ends() {
        let sample = Sample::new(vec![vec![1.0, 2.0], vec![2.0, 4.0], vec![0.0, 3.0]]).unwrap();
        assert_eq!(sample.layers(), [1.0, 3.0]);
        assert_eq!(sample.total(), 4.0);
        assert_eq!(sample.range(), (3.0, 6.0));
        assert_eq!(sample.spread(), Some(2.0));
        // (1 + 4 + 1) / 2
        assert_eq!(sample.deviation(), Some(3f64.sqrt()));
        assert_eq!(sample.values(Some(1)), Some(vec![2.0, 4.0, 3.0]));
        assert_eq!(sample.values(Some(2)), None);
        assert_eq!(Sample::of(Vec::new()), None);
    }

    #[test]
    fn a_single_run_has_no_spread_and_equal_ones_none_to_see() {
        let single = Sample::of(vec![0.1]).unwrap();
        assert_eq!((single.spread(), single.deviation()), (None, None));
        let equal = Sample::of(vec![0.1; 3]).unwrap();
        assert_eq!((equal.total(), equal.spread()), (0.1, Some(0.0)));
    }
}
