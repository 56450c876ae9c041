//! The operands of a form: edges against edges, then random ones from a seed.
//!
//! They depend on the kinds of the operands alone, so forms of one shape share them.

use crate::kind::Kind;
use crate::random::Random;

/// Random vectors a shape has.
pub const RANDOM: usize = 1024;
/// Random vectors under one hash.
pub const BATCH: usize = 256;

/// Operand vectors.
#[derive(Clone, Debug)]
pub struct Operands {
    /// How many of the vectors are edges; the rest is random.
    pub edges: usize,
    /// One value for each kind.
    pub vectors: Vec<Vec<u64>>,
}

/// Distinct NaNs in two or more places: which one comes through?
fn several_nans(kinds: &[Kind]) -> Vec<Vec<u64>> {
    let nans: Option<Vec<u64>> = (kinds.iter().enumerate())
        .map(|(i, kind)| {
            let (exponent, mantissa) = kind.float()?;
            let quiet = ((1u64 << (exponent + 1)) - 1) << (mantissa - 1);
            Some(quiet | (i as u64 + 1) << 1)
        })
        .collect();
    let Some(nans) = nans else {
        return Vec::new();
    };
    (0u32..1 << kinds.len())
        .filter(|set| set.count_ones() > 1)
        .map(|set| {
            let place = |(i, nan): (usize, &u64)| if set >> i & 1 != 0 { *nan } else { 0 };
            nans.iter().enumerate().map(place).collect()
        })
        .collect()
}

/// The operands of every form with sources of these kinds.
pub fn operands(kinds: &[Kind]) -> Operands {
    let sets: Vec<Vec<u64>> = kinds.iter().map(|k| k.edges()).collect();
    // All of one operand, the best known edges of several.
    let cap = match kinds.len() {
        0 | 1 => usize::MAX,
        2 => 15,
        3 => 7,
        _ => 4,
    };
    let mut vectors = vec![Vec::new()];
    for set in &sets {
        let chosen = &set[..set.len().min(cap)];
        vectors = (vectors.iter())
            .flat_map(|v| chosen.iter().map(|e| [v.as_slice(), &[*e]].concat()))
            .collect();
    }
    // The edges beyond the cap, each once in each place.
    if kinds.len() > 1 {
        for (place, set) in sets.iter().enumerate() {
            for (i, edge) in set.iter().enumerate().skip(cap) {
                let mut v: Vec<u64> = sets.iter().map(|s| s[(i * 5 + 2) % s.len()]).collect();
                v[place] = *edge;
                vectors.push(v);
            }
        }
    }
    vectors.extend(several_nans(kinds));
    let edges = vectors.len();
    let mut random = Random::new(&format!("{kinds:?}"));
    for _ in 0..RANDOM {
        let mut v = Vec::new();
        for kind in kinds {
            v.push(kind.draw(&mut random, &v));
        }
        vectors.push(v);
    }
    Operands { edges, vectors }
}
