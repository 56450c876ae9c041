//! Where the lines of a scale lie.

/// A scale that covers some values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Lowest value shown.
    pub low: f64,
    /// Highest value shown.
    pub high: f64,
    /// Values with a line.
    pub ticks: Vec<f64>,
}

/// Steps that the values themselves take up at most: with fewer, a stack of 103% would get an axis
/// to 150%.
const MOST_STEPS: f64 = 7.0;

/// A scale of round numbers that covers `values` and `baseline`.
pub fn axis(values: impl Iterator<Item = f64>, baseline: f64) -> Axis {
    let (low, high) = values
        .filter(|v| v.is_finite())
        .fold((baseline, baseline), |(l, h), v| (l.min(v), h.max(v)));
    let span = if high > low { high - low } else { 1.0 };
    let step = round_step(span / MOST_STEPS);
    let first = ((low - baseline) / step + 1e-9).floor();
    let last = ((high - baseline) / step - 1e-9).ceil().max(first + 1.0);
    let count = (last - first) as usize;
    let ticks: Vec<f64> = (0..=count)
        .map(|i| baseline + (first + i as f64) * step)
        .collect();
    Axis {
        low: ticks[0],
        high: ticks[count],
        ticks,
    }
}

/// The next of 1, 2, 5, 10, ... times a power of ten.
fn round_step(at_least: f64) -> f64 {
    let power = 10f64.powf(at_least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let fits = steps.iter().find(|s| *s * power >= at_least * (1.0 - 1e-9));
    fits.unwrap_or(&10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64], baseline: f64) -> Vec<String> {
        let axis = axis(values.iter().copied(), baseline);
        axis.ticks.iter().map(|t| format!("{t:.2}")).collect()
    }

    #[test]
    fn scales_have_round_lines() {
        assert_eq!(
            ticks(&[0.95, 1.17], 1.0),
            ["0.95", "1.00", "1.05", "1.10", "1.15", "1.20"]
        );
        assert_eq!(
            ticks(&[0.3, 0.61], 0.0),
            [
                "0.00", "0.10", "0.20", "0.30", "0.40", "0.50", "0.60", "0.70"
            ]
        );
        assert_eq!(ticks(&[1.03], 0.0).last().unwrap(), "1.20");
        assert_eq!(
            ticks(&[38.0], 0.0),
            ["0.00", "10.00", "20.00", "30.00", "40.00"]
        );
        assert_eq!(ticks(&[], 1.0).first().unwrap(), "1.00");
        assert_eq!(ticks(&[f64::NAN, 1.0], 1.0).first().unwrap(), "1.00");
    }
}
