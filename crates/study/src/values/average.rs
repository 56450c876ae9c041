//! Averages over workloads, repeat by repeat.

use crate::evaluate::Cell;
use crate::format::Mean;
use crate::values::sample::Sample;

/// The average of every layer over the cells that have a value, repeat by repeat, and how many
/// cells those are.
pub fn averages(mean: Mean, cells: Vec<&Cell>) -> Option<(Sample, usize)> {
    let values: Vec<&Sample> = cells
        .into_iter()
        .filter_map(|c| match c {
            Cell::Value(v) => Some(v),
            _ => None,
        })
        .collect();
    let repeats = values.iter().map(|v| v.count()).min()?;
    let layers = values.first()?.repeats()[0].len();
    // Layers of a stack add up only under the arithmetic mean.
    let mean = if layers == 1 { mean } else { Mean::Arithmetic };
    let one = |repeat: usize, layer: usize| {
        let across = values.iter().map(|v| v.repeats()[repeat][layer]);
        average(mean, &across.collect::<Vec<_>>())
    };
    let averaged: Option<Vec<Vec<f64>>> = (0..repeats)
        .map(|r| (0..layers).map(|l| one(r, l)).collect())
        .collect();
    Some((Sample::new(averaged?)?, values.len()))
}

/// The average of some values; none of no values, and none where it is undefined (a geometric or
/// harmonic mean of something that is not above zero).
pub fn average(mean: Mean, values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let positive = values.iter().all(|v| *v > 0.0);
    let value = match mean {
        _ if values.is_empty() => return None,
        Mean::Arithmetic => values.iter().sum::<f64>() / n,
        Mean::Geometric if positive => (values.iter().map(|v| v.ln()).sum::<f64>() / n).exp(),
        Mean::Harmonic if positive => n / values.iter().map(|v| 1.0 / v).sum::<f64>(),
        _ => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::Status;

    #[test]
    fn means_by_hand() {
        let values = [1.0, 2.0, 4.0];
        let about = |mean, expected: f64| {
            let got = average(mean, &values).unwrap();
            assert!((got - expected).abs() < 1e-12, "{mean:?}: {got}");
        };
        about(Mean::Arithmetic, 7.0 / 3.0);
        about(Mean::Geometric, 2.0);
        about(Mean::Harmonic, 12.0 / 7.0);
        for mean in [Mean::Arithmetic, Mean::Geometric, Mean::Harmonic] {
            assert_eq!(average(mean, &[]), None);
        }
        assert_eq!(average(Mean::Geometric, &[1.0, 0.0]), None);
        assert_eq!(average(Mean::Harmonic, &[1.0, 0.0]), None);
        assert_eq!(average(Mean::Arithmetic, &[1.0, 0.0]), Some(0.5));
    }

    fn value(repeats: &[&[f64]]) -> Cell {
        let repeats = repeats.iter().map(|r| r.to_vec()).collect();
        Cell::Value(Sample::new(repeats).unwrap())
    }

    #[test]
    fn averages_are_taken_repeat_by_repeat() {
        let cells = [value(&[&[1.0], &[2.0]]), value(&[&[4.0], &[8.0]])];
        let (got, _) = averages(Mean::Geometric, cells.iter().collect()).unwrap();
        assert_eq!(got.repeats().len(), 2);
        assert!((got.range().0 - 2.0).abs() < 1e-12);
        assert!((got.range().1 - 4.0).abs() < 1e-12);
        assert!((got.total() - 3.0).abs() < 1e-12);
    }

    #[test]
    fn cells_without_a_value_do_not_count() {
        let cells = [
            value(&[&[1.0]]),
            Cell::Failed(Status::Wrong),
            value(&[&[3.0]]),
            Cell::Absent,
            Cell::Undefined,
        ];
        let (got, over) = averages(Mean::Arithmetic, cells.iter().collect()).unwrap();
        assert_eq!((got.layers(), over), (vec![2.0], 2));
        assert_eq!(averages(Mean::Arithmetic, vec![&Cell::Absent]), None);
    }

    #[test]
    fn layers_of_a_stack_still_add_up_when_averaged() {
        let cells = [value(&[&[1.0, 0.0]]), value(&[&[2.0, 5.0]])];
        let (got, over) = averages(Mean::Geometric, cells.iter().collect()).unwrap();
        assert_eq!((got.layers(), over), (vec![1.5, 2.5], 2));
        assert_eq!(cells[1].values(None), Some(vec![7.0]));
    }
}
