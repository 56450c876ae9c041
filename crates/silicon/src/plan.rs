//! The file that `host/verify.cpp` reads and the one that it writes.
//!
//! Little-endian. Plan: `WSPLAN1\n`; shapes (count, then for each: vectors, columns, for
//! each column its bytes and data); forms (count, then for each: shape, results, the bytes
//! of each, length of the PTX, PTX). Raw results: `WSRAW1\n`; GPU and driver as texts; forms
//! (count, then for each: 0 and the results, or the length of the reason and the reason).

use std::collections::BTreeMap;

use crate::form::Form;
use crate::kind::Kind;
use crate::operands::operands;
use crate::simulate::{column, word};

/// What a GPU answered to one form: results as in [`crate::simulate::simulate`], or why not.
pub type Answer = Result<Vec<Vec<u64>>, String>;

/// What a GPU answered.
#[derive(Clone, Debug)]
pub struct Raw {
    /// The GPU.
    pub gpu: String,
    /// Its driver.
    pub driver: String,
    /// In the order of the plan.
    pub answers: Vec<Answer>,
}

fn put(out: &mut Vec<u8>, value: usize) {
    out.extend((value as u32).to_le_bytes());
}

/// The plan for these forms; the host program makes no textures, so none of them may have one.
pub fn write(forms: &[Form]) -> Vec<u8> {
    let mut shapes: BTreeMap<&[Kind], usize> = BTreeMap::new();
    for form in forms {
        let next = shapes.len();
        shapes.entry(&form.sources).or_insert(next);
    }
    let mut ordered: Vec<_> = shapes.iter().collect();
    ordered.sort_by_key(|(_, index)| **index);
    let mut out = b"WSPLAN1\n".to_vec();
    put(&mut out, ordered.len());
    for (kinds, _) in ordered {
        let operands = operands(kinds);
        put(&mut out, operands.vectors.len());
        put(&mut out, kinds.len());
        for (i, kind) in kinds.iter().enumerate() {
            put(&mut out, kind.bytes());
            out.extend(column(&operands, i, kind.bytes()));
        }
    }
    put(&mut out, forms.len());
    for form in forms {
        put(&mut out, shapes[form.sources.as_slice()]);
        put(&mut out, form.results.len());
        for kind in &form.results {
            put(&mut out, kind.bytes());
        }
        let ptx = form.ptx();
        put(&mut out, ptx.len());
        out.extend(ptx.bytes());
    }
    out
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let (head, tail) = self.0.split_at_checked(n).ok_or("the file ends early")?;
        self.0 = tail;
        Ok(head)
    }
    fn number(&mut self) -> Result<usize, String> {
        Ok(word(self.take(4)?) as usize)
    }
    fn text(&mut self) -> Result<String, String> {
        let n = self.number()?;
        Ok(String::from_utf8_lossy(self.take(n)?).into_owned())
    }
}

/// Reads what the host program wrote for these forms.
pub fn read(forms: &[Form], bytes: &[u8]) -> Result<Raw, String> {
    let mut reader = Reader(bytes);
    if reader.take(7)? != b"WSRAW1\n" {
        return Err("not a file of raw results".into());
    }
    let (gpu, driver) = (reader.text()?, reader.text()?);
    if reader.number()? != forms.len() {
        return Err("the results are for another list of forms".into());
    }
    let mut answers = Vec::new();
    for form in forms {
        let reason = reader.text()?;
        if !reason.is_empty() {
            answers.push(Err(reason));
            continue;
        }
        let count = operands(&form.sources).vectors.len();
        let mut columns = Vec::new();
        for kind in &form.results {
            let data = reader.take(kind.bytes() * count)?;
            columns.push(data.chunks(kind.bytes()).map(word).collect());
        }
        answers.push(Ok(columns));
    }
    Ok(Raw {
        gpu,
        driver,
        answers,
    })
}
