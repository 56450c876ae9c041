//! Names in sentences: what a misspelt one probably meant, and several in a row.

use std::cmp::Reverse;

/// Longer words than this are no spelling mistakes, and comparing them is slow.
const LONGEST_MISTAKE: usize = 40;

/// How alike two names are, from 0 to 1, whatever letters are large.
pub fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}

/// The candidate most like `name`, when one is like enough to be what was meant: for long names,
/// which people remember by their beginnings.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // `MATMUL` means `matmul`.
    candidates
        .into_iter()
        .map(|c| (likeness(name, c), c))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, c)| c)
}

/// The candidate that `name` is a misspelling of, if there is one: for short words of a closed
/// list, many of which are alike (`ld`, `add`, `mad`).
pub fn misspelt<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_MISTAKE {
        return None;
    }
    // Three letters may differ by one, ten by three: more is another word.
    let limit = name.chars().count().div_ceil(3).min(3);
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    let letters = sorted(name);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        // Swapped letters are likelier than a wrong one, and the first letters are mostly right.
        .min_by_key(|(distance, candidate)| {
            let same = name
                .bytes()
                .zip(candidate.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            (
                *distance,
                sorted(candidate) != letters,
                Reverse(same),
                candidate.len(),
            )
        })
        .map(|(_, candidate)| candidate)
}

/// Several names as a sentence has them: `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => only.to_string(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_row() {
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a and b");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn capitals_are_no_other_letters() {
        assert_eq!(nearest("MATMUL", ["matmul", "MUMmer"]), Some("matmul"));
        assert_eq!(nearest("mummer", ["matmul", "MUMmer"]), Some("MUMmer"));
    }

    #[test]
    fn a_misspelt_word_is_near() {
        assert_eq!(misspelt("ad", ["ld", "add", "abs", "mad"]), Some("add"));
        assert_eq!(misspelt("u46", ["u16", "u32", "u64"]), Some("u64"));
        assert_eq!(misspelt(&"a".repeat(1 << 20), ["add"]), None);
        assert_eq!(misspelt("zzzzzz", ["add", "abs"]), None);
    }

    #[test]
    fn nearest_finds_a_slip_and_rejects_nonsense() {
        let keys = ["schedulers", "scheduler", "simd_width"];
        assert_eq!(nearest("shcedulers", keys), Some("schedulers"));
        assert_eq!(nearest("qqq", keys), None);
    }
}
