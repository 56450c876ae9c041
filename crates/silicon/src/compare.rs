//! Compares the simulator with recorded results.

use crate::form::Form;
use crate::operands::{BATCH, operands};
use crate::record::{EDGE_BATCH, Edges, Entry, Kept, edge_hashes, hashes};
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
    let other = || "the record is of other operands: make it anew".to_string();
    let part = |range: std::ops::Range<usize>| -> Vec<Vec<u64>> {
        ours.iter().map(|c| c[range.clone()].to_vec()).collect()
    };
    let full = match &entry.edges {
        Edges::Full(columns) => {
            if columns.len() != ours.len() || columns.iter().any(|c| c.len() != operands.edges) {
                return Err(other());
            }
            columns.as_slice()
        }
        Edges::Hashes(recorded) => {
            let here = edge_hashes(&part(0..operands.edges));
            batches(&here, recorded, EDGE_BATCH, "edge vectors", &mut outcome)?;
            &[]
        }
    };
    match &entry.random {
        Kept::Hashes(recorded) => {
            for i in 0..full.first().map_or(0, Vec::len) {
                let of = |c: &[Vec<u64>]| c.iter().map(|c| c[i]).collect::<Vec<_>>();
                let (here, gpu) = (of(&ours), of(full));
                if here != gpu {
                    let vector = &operands.vectors[i];
                    outcome
                        .differences
                        .push(format!("{vector:x?}: here {here:x?}, GPU {gpu:x?}"));
                }
            }
            let here = hashes(&part(operands.edges..operands.vectors.len()));
            batches(&here, recorded, BATCH, "random vectors", &mut outcome)?;
        }
        Kept::Approximate { results, bound } => {
            let gpu: Vec<Vec<u64>> = (full.iter().zip(results))
                .map(|(e, r)| [e.as_slice(), r].concat())
                .collect();
            if gpu.len() != ours.len() || gpu.iter().any(|c| c.len() != operands.vectors.len()) {
                return Err(other());
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

/// Notes which batches have another hash.
fn batches(
    here: &[u64],
    recorded: &[u64],
    size: usize,
    what: &str,
    outcome: &mut Outcome,
) -> Result<(), String> {
    if here.len() != recorded.len() {
        return Err("the record has another number of batches: make it anew".into());
    }
    let differ = here.iter().zip(recorded).enumerate();
    for (batch, _) in differ.filter(|(_, (a, b))| a != b) {
        let text = format!("{what} from {}: another hash", batch * size);
        outcome.differences.push(text);
    }
    Ok(())
}
