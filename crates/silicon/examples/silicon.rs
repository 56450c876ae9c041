//! What a run on a real GPU needs and gives: `silicon plan PLAN` writes what
//! `host/verify.cpp` runs, `silicon record RAW` turns what it wrote into what is committed,
//! `silicon merge RESULTS NEWER` adds what `verify-on-gpu --record` wrote to what is committed,
//! `silicon diff RAW` shows where the simulator differs, `silicon check` whether every form
//! runs and computes what is recorded (in RESULTS, if given, those forms alone whose name has
//! TEXT in it).

use std::process::ExitCode;

use warpsim_silicon::form::Form;
use warpsim_silicon::{RECORDED, catalogue, compare, operands, plan, record, simulate};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["plan", file] => {
            std::fs::write(file, plan::write(&planned())).map_err(|e| format!("{file}: {e}"))
        }
        ["merge", known, newer] => merge(known, newer),
        ["diff", file] => diff(file),
        ["check"] => check(RECORDED, ""),
        ["check", results] => with_text(results, |text| check(text, "")),
        ["check", results, part] => with_text(results, |text| check(text, part)),
        ["record", file, results] => record(file, results),
        _ => Err(
            "usage: silicon plan PLAN | record RAW RESULTS | merge RESULTS NEWER | diff RAW | \
             check [RESULTS [TEXT]]"
                .into(),
        ),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("silicon: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The forms that the host program can run.
fn planned() -> Vec<Form> {
    let mut forms = catalogue::forms();
    forms.retain(|f| f.texture.is_none() && f.surface.is_none());
    forms
}

fn raw(file: &str) -> Result<plan::Raw, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("{file}: {e}"))?;
    plan::read(&planned(), &bytes)
}

fn record(file: &str, results: &str) -> Result<(), String> {
    let text = record::write(&planned(), &raw(file)?)?;
    std::fs::write(results, text).map_err(|e| format!("{results}: {e}"))
}

fn with_text(file: &str, f: impl Fn(&str) -> Result<(), String>) -> Result<(), String> {
    f(&std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?)
}

/// Adds what a newer record has to another, both on disk, as it is committed.
fn merge(known: &str, newer: &str) -> Result<(), String> {
    let of = |file: &str| {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        record::read(&text).map_err(|e| format!("{file}: {e}"))
    };
    let mut all = of(known)?;
    all.update(of(newer)?);
    let forms = catalogue::forms();
    all.shorten(&forms);
    std::fs::write(known, all.text(&forms)).map_err(|e| format!("{known}: {e}"))
}

/// Differences shown of a form.
const SHOWN: usize = 4;

/// Every form runs here, recorded or not, and computes what is recorded.
fn check(results: &str, part: &str) -> Result<(), String> {
    let record = record::read(results)?;
    let (mut fails, mut unknown, mut forms) = (0, 0, catalogue::forms());
    forms.retain(|f| f.name.contains(part) && !record.refused.contains_key(&f.name));
    for form in &forms {
        let result = match record.entries.get(&form.name) {
            Some(entry) => compare::compare(form, entry).map(|o| {
                let all = o.differences.len();
                let shown = &o.differences[..all.min(SHOWN)];
                match all {
                    0 => String::new(),
                    _ => format!("{all} differences\n    {}", shown.join("\n    ")),
                }
            }),
            None => {
                unknown += 1;
                let operands = operands::operands(&form.sources);
                simulate::simulate(form, &operands).map(|_| String::new())
            }
        };
        let what = result.unwrap_or_else(|e| e);
        if !what.is_empty() {
            fails += 1;
            println!("{}: {what}", form.name);
        }
    }
    println!(
        "{} forms, {fails} fail, {unknown} are not recorded",
        forms.len()
    );
    Ok(())
}

fn diff(file: &str) -> Result<(), String> {
    let raw = raw(file)?;
    let forms = planned();
    let (mut bad, mut refused) = (0, 0);
    for (form, answer) in forms.iter().zip(&raw.answers) {
        let operands = operands::operands(&form.sources);
        let gpu = match answer {
            Err(reason) => {
                refused += 1;
                println!("{} refused: {reason}", form.name);
                continue;
            }
            Ok(gpu) => gpu,
        };
        let ours = simulate::simulate(form, &operands)?;
        let differing: Vec<usize> = (0..operands.vectors.len())
            .filter(|&i| ours.iter().zip(gpu).any(|(a, b)| a[i] != b[i]))
            .collect();
        if differing.is_empty() {
            continue;
        }
        bad += 1;
        println!(
            "{} differs in {} of {}",
            form.name,
            differing.len(),
            operands.vectors.len()
        );
        for i in differing.into_iter().take(4) {
            let of = |columns: &[Vec<u64>]| columns.iter().map(|c| c[i]).collect::<Vec<_>>();
            println!(
                "    {:x?}: here {:x?}, GPU {:x?}",
                operands.vectors[i],
                of(&ours),
                of(gpu)
            );
        }
    }
    println!("{} forms, {bad} differ, {refused} refused", forms.len());
    Ok(())
}
