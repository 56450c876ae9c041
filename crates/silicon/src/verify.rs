//! Instruction forms on a real GPU, compared with the simulator at once.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use warpsim_sim::gpu::api::Texture;

use crate::form::Form;
use crate::gpu::driver::{Driver, Shape};
use crate::gpu::surface::Surface;
use crate::gpu::texture::Bound;
use crate::operands::{Operands, operands};
use crate::plan::Answer;
use crate::record::{Kept, Record};
use crate::simulate::{BLOCK, column, simulate, word};
use crate::ulp::largest;

/// Differences kept for a form.
const KEPT: usize = 256;

/// How a form compares.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The form's place in the list.
    pub form: usize,
    /// What the GPU computed, or why its compiler refused.
    pub answer: Answer,
    /// Vectors compared.
    pub vectors: usize,
    /// Vectors that differ (for an approximation: all or none, by its bound).
    pub mismatches: usize,
    /// The first of them, in words.
    pub shown: Vec<String>,
}

/// All verdicts, and why there are no more if the GPU was lost.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// In the order of the forms.
    pub verdicts: Vec<Verdict>,
    /// The error that ended it.
    pub lost: Option<String>,
}

/// Results of a form on the GPU. The outer error means that the GPU is lost, the inner that
/// its compiler does not take the form.
fn on_gpu(form: &Form, operands: &Operands, driver: &Driver) -> Result<Answer, String> {
    let module = match driver.load(&form.ptx()) {
        Ok(module) => module,
        Err(refused) => return Ok(Err(refused)),
    };
    let kernel = module.kernel("k")?;
    let count = operands.vectors.len();
    let mut buffers = Vec::new();
    for (i, kind) in form.sources.iter().enumerate() {
        buffers.push(driver.upload(&column(operands, i, kind.bytes()))?);
    }
    for kind in &form.results {
        buffers.push(driver.alloc((kind.bytes() * count) as u64)?);
    }
    let mut params: Vec<u8> = buffers
        .iter()
        .flat_map(|b| b.address.to_le_bytes())
        .collect();
    let texels = match &form.texture {
        Some(form) => {
            let texels = driver.upload(&form.contents)?;
            let texture = Texture {
                address: texels.address,
                ..form.texture.clone()
            };
            let bound = Bound::new(driver, texture)?;
            params.extend(bound.handle().to_le_bytes());
            Some((bound, texels))
        }
        None => None,
    };
    let surface = match &form.surface {
        Some(form) => {
            let texels = driver.upload(&form.contents)?;
            let texture = Texture {
                address: texels.address,
                ..form.texture.clone()
            };
            let surface = match Surface::new(driver, &texture, form.layered) {
                Ok(surface) => surface,
                // A driver need not have surfaces of every format.
                Err(refused) => return Ok(Err(refused)),
            };
            params.extend(surface.handle().to_le_bytes());
            Some((surface, texels, form.cells))
        }
        None => None,
    };
    params.extend((count as u32).to_le_bytes());
    let shape = Shape {
        grid: [(count as u32).div_ceil(BLOCK), 1, 1],
        block: [BLOCK, 1, 1],
        shared: 0,
    };
    kernel.launch(&shape, &params)?;
    drop(texels);
    let mut results = Vec::new();
    for (buffer, kind) in buffers[form.sources.len()..].iter().zip(&form.results) {
        let bytes = buffer.read()?;
        results.push(bytes.chunks(kind.bytes()).map(word).collect());
    }
    if let Some((surface, texels, Some(cells))) = &surface {
        surface.fetch()?;
        results.extend(cells.columns(count, &texels.read()?));
    }
    Ok(Ok(results))
}

fn judge(
    form: &Form,
    operands: &Operands,
    gpu: &[Vec<u64>],
    record: &Record,
) -> (usize, Vec<String>) {
    let count = operands.vectors.len();
    let of = |columns: &[Vec<u64>], i: usize| columns.iter().map(|c| c[i]).collect::<Vec<_>>();
    let ours = match simulate(form, operands) {
        Ok(ours) => ours,
        Err(e) => {
            let mut shown = vec![format!("does not run here: {e}")];
            shown.extend((0..count.min(KEPT)).map(|i| {
                let (vector, there) = (&operands.vectors[i], of(gpu, i));
                format!("vector {i} {vector:x?}: GPU {there:x?}")
            }));
            return (count, shown);
        }
    };
    if form.approximate {
        let known = record.entries.get(&form.name).map(|e| &e.random);
        let bound = match known {
            Some(Kept::Approximate { bound, .. }) => *bound,
            _ => u64::MAX,
        };
        return match largest(form, &ours, gpu) {
            Ok(found) if found <= bound => (0, Vec::new()),
            Ok(found) => (count, vec![format!("{found} ulp apart, recorded {bound}")]),
            Err(e) => (count, vec![e]),
        };
    }
    let differing: Vec<usize> = (0..count).filter(|&i| of(&ours, i) != of(gpu, i)).collect();
    let shown = differing.iter().take(KEPT).map(|&i| {
        let (vector, here, there) = (&operands.vectors[i], of(&ours, i), of(gpu, i));
        format!("vector {i} {vector:x?}: here {here:x?}, GPU {there:x?}")
    });
    (differing.len(), shown.collect())
}

/// Runs every form on the GPU and here. `record` has the bounds of approximations.
pub fn check(forms: &[Form], record: &Record, driver: &Driver, threads: usize) -> Verdicts {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let all = Mutex::new(Verdicts::default());
    let lock = || all.lock().unwrap_or_else(|e| e.into_inner());
    let lose = |e: String| {
        stop.store(true, Ordering::Relaxed);
        lock().lost.get_or_insert(e);
    };
    let work = || {
        if let Err(e) = driver.attach() {
            return lose(e);
        }
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(form) = forms.get(index) else { return };
            let operands = operands(&form.sources);
            let answer = match on_gpu(form, &operands, driver) {
                Ok(answer) => answer,
                Err(e) => return lose(format!("{}: {e}", form.name)),
            };
            let (mismatches, shown) = match &answer {
                Ok(gpu) => judge(form, &operands, gpu, record),
                Err(_) => (0, Vec::new()),
            };
            lock().verdicts.push(Verdict {
                form: index,
                answer,
                vectors: operands.vectors.len(),
                mismatches,
                shown,
            });
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    let mut all = all.into_inner().unwrap_or_else(|e| e.into_inner());
    all.verdicts.sort_by_key(|v| v.form);
    all
}

/// A line of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Forms compared.
    pub forms: usize,
    /// Forms that the GPU's compiler refuses.
    pub refused: usize,
    /// Vectors compared.
    pub vectors: usize,
    /// Forms that differ.
    pub wrong: usize,
    /// Vectors that differ.
    pub mismatches: usize,
}

/// The verdicts by opcode.
pub fn table(forms: &[Form], verdicts: &[Verdict]) -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for verdict in verdicts {
        let name = &forms[verdict.form].name;
        let end = name.find(['.', '(', '+']).unwrap_or(name.len());
        let row = rows.entry(name[..end].to_string()).or_default();
        if verdict.answer.is_err() {
            row.refused += 1;
            continue;
        }
        row.forms += 1;
        row.vectors += verdict.vectors;
        row.wrong += usize::from(verdict.mismatches > 0);
        row.mismatches += verdict.mismatches;
    }
    rows
}
