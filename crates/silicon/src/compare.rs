//! Compares the simulator with recorded results.

use crate::form::Form;
use crate::operands::{BATCH, operands};
use crate::record::{Entry, Kept, hashes};
use crate::simulate::simulate;
use crate::ulp::largest;

/// How a form compares.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Vectors compared.
    pub vectors: usize,
    /// Each edge vector and each batch of random vectors that differs.
    pub differences: Vec<String>,
    /// For an approximation the largest difference found.
    pub ulp: Option<u64>,
}

/// Runs a form and compares. The error says why it does not run at all.
pub fn compare(form: &Form, entry: &Entry) -> Result<Outcome, String> {
    let operands = operands(&form.sources);
    let ours = simulate(form, &operands)?;
    let mut outcome = Outcome {
        vectors: operands.vectors.len(),
        ..Outcome::default()
    };
    if entry.edges.len() != ours.len() || entry.edges.iter().any(|c| c.len() != operands.edges) {
        return Err("the record is of other operands: make it anew".into());
    }
    match &entry.random {
        Kept::Hashes(recorded) => {
            for i in 0..operands.edges {
                let of = |c: &[Vec<u64>]| c.iter().map(|c| c[i]).collect::<Vec<_>>();
                let (here, gpu) = (of(&ours), of(&entry.edges));
                if here != gpu {
                    let vector = &operands.vectors[i];
                    outcome
                        .differences
                        .push(format!("{vector:x?}: here {here:x?}, GPU {gpu:x?}"));
                }
            }
            let random: Vec<Vec<u64>> = ours.iter().map(|c| c[operands.edges..].to_vec()).collect();
            let here = hashes(&random);
            if here.len() != recorded.len() {
                return Err("the record has another number of batches: make it anew".into());
            }
            for (batch, (a, b)) in here.iter().zip(recorded).enumerate() {
                if a != b {
                    let from = batch * BATCH;
                    outcome
                        .differences
                        .push(format!("random vectors from {from}: another hash"));
                }
            }
        }
        Kept::Approximate { results, bound } => {
            let gpu: Vec<Vec<u64>> = (entry.edges.iter().zip(results))
                .map(|(e, r)| [e.as_slice(), r].concat())
                .collect();
            if gpu.len() != ours.len() || gpu.iter().any(|c| c.len() != operands.vectors.len()) {
                return Err("the record is of other operands: make it anew".into());
            }
            match largest(form, &ours, &gpu) {
                Ok(found) => {
                    outcome.ulp = Some(found);
                    if found > *bound {
                        let text = format!("{found} ulp apart, recorded {bound}");
                        outcome.differences.push(text);
                    }
                }
                Err(e) => outcome.differences.push(e),
            }
        }
    }
    Ok(outcome)
}
