//! Claims about the number of workloads that something holds on.

use super::outcome::{Outcome, Verdict};
use super::view::View;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

/// Most workloads that are named.
const NAMED: usize = 8;

/// Judges a claim by the number of workloads it holds on, in each repeat.
pub fn judge(view: &View, wanted: &RangeInclusive<u64>) -> (Verdict, String) {
    let rows = view.rows();
    let measured = view.common(&rows);
    if measured.is_empty() || measured.len() < rows.len() {
        let (some, all) = (measured.len(), rows.len());
        let text = format!(
            "{some} of {all} workloads were measured, of which a number says nothing about all"
        );
        return (Verdict::Untested, text);
    }
    let repeats = measured.iter().map(|r| view.repeats(r)).min().unwrap_or(0);
    let mut counts = vec![0; repeats];
    let mut always = Vec::new();
    for row in &measured {
        let values = view.chain.terms().map(|t| view.on_row(row, t));
        let Some(values) = values.collect::<Option<Vec<Vec<f64>>>>() else {
            continue;
        };
        let holds = |repeat: usize| {
            let alone: Vec<Vec<f64>> = values.iter().map(|v| vec![v[repeat]]).collect();
            Outcome::of(view.chain, &alone, view.claim.within).holds == 1
        };
        let held: Vec<bool> = (0..repeats).map(holds).collect();
        for (count, held) in counts.iter_mut().zip(&held) {
            *count += u64::from(*held);
        }
        if held.iter().all(|h| *h) {
            always.push(view.plan.subjects.label(row.subject));
        }
    }
    (verdict(&counts, wanted), told(&counts, &always, rows.len()))
}

fn verdict(counts: &[u64], wanted: &RangeInclusive<u64>) -> Verdict {
    let side = |count: &u64| match count {
        c if c < wanted.start() => Ordering::Less,
        c if c > wanted.end() => Ordering::Greater,
        _ => Ordering::Equal,
    };
    match counts.first().map(side) {
        Some(first) if counts.iter().all(|c| side(c) == first) => match first {
            Ordering::Equal => Verdict::Holds,
            _ => Verdict::Fails,
        },
        _ => Verdict::Scatter,
    }
}

fn told(counts: &[u64], always: &[&str], all: usize) -> String {
    let mut numbers: Vec<String> = counts.iter().map(u64::to_string).collect();
    numbers.dedup();
    let mut text = format!("on {} of {all} workloads", numbers.join(", "));
    if !always.is_empty() {
        let named = &always[..always.len().min(NAMED)];
        text += &format!(": {}", named.join(", "));
        if always.len() > NAMED {
            text += &format!(" and {} more", always.len() - NAMED);
        }
    }
    if numbers.len() > 1 {
        text += if always.is_empty() {
            " (one number per repeat)"
        } else {
            " in every repeat (one number per repeat)"
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_on_one_side_of_the_numbers_agree() {
        let of = |counts: &[u64]| verdict(counts, &(7..=8));
        assert_eq!(of(&[7, 8, 7]), Verdict::Holds);
        assert_eq!(of(&[6, 3]), Verdict::Fails);
        assert_eq!(of(&[9]), Verdict::Fails);
        assert_eq!(of(&[6, 9]), Verdict::Scatter);
        assert_eq!(of(&[6, 7]), Verdict::Scatter);
    }

    #[test]
    fn the_text_names_those_it_holds_on() {
        assert_eq!(told(&[2], &["a", "b"], 51), "on 2 of 51 workloads: a, b");
        assert_eq!(
            told(&[3, 2], &["a", "b"], 51),
            "on 3, 2 of 51 workloads: a, b in every repeat (one number per repeat)"
        );
        assert_eq!(told(&[0, 0], &[], 3), "on 0 of 3 workloads");
        let many = ["a"; 10];
        assert!(told(&[10], &many, 20).ends_with("a, a and 2 more"));
    }
}
