//! The simulator against what a real GPU computed.

use warpsim_silicon::catalogue::forms;
use warpsim_silicon::compare::compare;
use warpsim_silicon::operands::operands;
use warpsim_silicon::record::{Edges, read};
use warpsim_silicon::simulate::simulate;

const RECORDED: &str = include_str!("../results/h200.txt");

/// Compares each form whose place in the list is a multiple of `every`.
fn compare_forms(every: usize) {
    let record = read(RECORDED).expect("the committed results can be read");
    let forms = forms();
    let (mut vectors, mut approximate, mut failures) = (0, 0, Vec::new());
    let mut refused = 0;
    let mut awaited = 0;
    for form in forms.iter().step_by(every) {
        if let Some(reason) = record.refused.get(&form.name) {
            println!("not compared: {}: {reason}", form.name);
            refused += 1;
            continue;
        }
        let Some(entry) = record.entries.get(&form.name) else {
            // A form that awaits its first GPU must at least run here.
            match form.awaited {
                true => match simulate(form, &operands(&form.sources)) {
                    Ok(_) => awaited += 1,
                    Err(e) => failures.push(format!("{}: does not run: {e}", form.name)),
                },
                false => failures.push(format!("{}: not recorded", form.name)),
            }
            continue;
        };
        match compare(form, entry) {
            Ok(outcome) => {
                vectors += outcome.vectors;
                approximate += usize::from(outcome.ulp.is_some());
                let shown = outcome.differences.iter().take(3);
                failures.extend(shown.map(|d| format!("{}: {d}", form.name)));
            }
            Err(e) => failures.push(format!("{}: {e}", form.name)),
        }
    }
    println!(
        "{} (driver {}): {} forms ({approximate} of them approximations), {vectors} vectors, {} mismatches; \
         {awaited} forms run here and are not recorded",
        record.gpu,
        record.driver,
        forms.len().div_ceil(every) - refused - awaited,
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn one_form_of_eight_computes_what_the_gpu_computes() {
    compare_forms(8);
}

#[test]
#[ignore = "long: .ci/run"]
fn every_form_computes_what_the_gpu_computes() {
    compare_forms(1);
}

#[test]
fn a_changed_result_is_noticed() {
    let record = read(RECORDED).expect("the committed results can be read");
    let forms = forms();
    let form = forms.iter().find(|f| f.name == "add.rn.f32").expect("add");
    let mut entry = record.entries[&form.name].clone();
    assert!(compare(form, &entry).expect("runs").differences.is_empty());
    let Edges::Full(columns) = &mut entry.edges else {
        panic!("edges of plain forms are kept in full");
    };
    columns[0][5] ^= 1;
    assert_eq!(compare(form, &entry).expect("runs").differences.len(), 1);
}

#[test]
fn a_changed_result_of_a_brief_form_is_noticed() {
    let mut record = read(RECORDED).expect("the committed results can be read");
    let forms = forms();
    let form = forms
        .iter()
        .find(|f| f.name == "vadd2.s32.s32.s32(%d0, %s0, %s1, %s2)");
    let form = form.expect("vadd2");
    let entry = record.entries.get_mut(&form.name).expect("recorded");
    let Edges::Hashes(hashes) = &mut entry.edges else {
        panic!("edges of brief forms are kept as hashes");
    };
    hashes[2] ^= 1;
    let outcome = compare(form, entry).expect("runs");
    assert_eq!(outcome.differences, ["edge vectors from 64: another hash"]);
    let again = read(&record.text(&forms)).expect("what was written can be read");
    assert_eq!(
        again.entries[&form.name].edges,
        record.entries[&form.name].edges
    );
}

#[test]
fn names_are_unique_and_every_form_has_a_thousand_random_vectors() {
    let mut names = std::collections::HashSet::new();
    for form in forms() {
        assert!(names.insert(form.name.clone()), "{}", form.name);
    }
    const { assert!(warpsim_silicon::operands::RANDOM >= 1000) };
}

#[test]
fn damaged_records_are_refused() {
    for text in [
        "e 1",
        "form a\ne *2",
        "form a\nr 1",
        "form a\ne xyz",
        "form a\nu x",
        "what",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}
