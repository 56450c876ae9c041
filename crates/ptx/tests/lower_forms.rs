//! Every instruction form of the survey lowers once its operands are declared as it asks.
//! The widths are found by following lowering's own complaints, so a complaint that cannot
//! be satisfied, or that leads nowhere, fails the test.

use crate::common;
use common::module;
use std::collections::BTreeMap;
use warpsim_ptx::{lower, parse};

const FORMS: &str = include_str!("forms.txt");

/// Names of registers in an instruction, special ones left out.
fn registers(form: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = form;
    while let Some(at) = rest.find('%') {
        rest = &rest[at..];
        let end = rest[1..]
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map_or(rest.len(), |e| e + 1);
        names.push(rest[..end].to_string());
        rest = &rest[end..];
    }
    names
}

fn text(form: &str, types: &BTreeMap<String, &str>) -> String {
    // Kernel parameters cannot be written; a call's can, by name.
    let form = match form.starts_with("st.param") {
        true => form.replace("[%rd1]", "[q]"),
        false => form.to_string(),
    };
    let declared: String = types
        .iter()
        .map(|(name, ty)| format!(".reg .{ty} {name};\n"))
        .collect();
    module(&format!(
        ".global .texref tex;\n.global .surfref surf;\n.global .samplerref sampler;\n.global .u32 symbol;\n\
         .func f() {{ ret; }}\n\
         .entry k(.param .b64 p)\n{{\n{declared}.param .align 16 .b8 q[16];\ntargets: .branchtargets L, M;\nL:\n{form}\nM: ret;\n}}\n"
    ))
}

/// The width that a complaint asks for.
fn wanted(message: &str) -> Option<&'static str> {
    if message.contains("needs a predicate") || message.contains("a predicate is needed") {
        return Some("pred");
    }
    let bits = |n: &str| {
        message.contains(&format!("needs {n} here"))
            || message.contains(&format!("at least {n} here"))
    };
    match () {
        () if bits("128") => Some("b128"),
        () if message.contains("not a texture") => Some("b64"),
        () if bits("64") => Some("b64"),
        () if bits("32") => Some("b32"),
        () if bits("16") => Some("b16"),
        () if bits("8") => Some("b8"),
        () if message.contains("needs a value here") => Some("b32"),
        () => None,
    }
}

/// Lowers a form, adapting the declarations; says what is wrong if that leads nowhere.
fn try_form(form: &str) -> Result<(), String> {
    let mut types: BTreeMap<String, &str> = registers(form)
        .into_iter()
        .map(|name| (name, "b32"))
        .collect();
    for _ in 0..8 {
        let text = text(form, &types);
        let module = parse(&text).map_err(|e| format!("parse: {}", e[0]))?;
        match lower(&module) {
            Ok(program) => {
                return match program.rejected.first() {
                    Some((_, reasons)) => Err(reasons[0].message.clone()),
                    None => Ok(()),
                };
            }
            Err(errors) => {
                let mut progress = false;
                for error in &errors {
                    let name = error.message.split('`').nth(1).unwrap_or("");
                    if let (Some(ty), Some(place)) = (wanted(&error.message), types.get_mut(name)) {
                        progress |= *place != ty;
                        *place = ty;
                    }
                }
                if !progress {
                    return Err(errors[0].message.clone());
                }
            }
        }
    }
    Err("the complaints contradict each other".to_string())
}

#[test]
fn every_supported_form_lowers() {
    let (mut lowered, mut later) = (0, 0);
    let mut failures = Vec::new();
    for form in FORMS.lines() {
        // Calls need a function that fits; they have tests of their own.
        if form.starts_with("call") {
            continue;
        }
        match try_form(form) {
            Ok(()) => lowered += 1,
            Err(reason) if reason.contains("not supported yet") => later += 1,
            Err(reason) => failures.push(format!("{form}    {reason}")),
        }
    }
    let failures = failures.join("\n");
    assert!(failures.is_empty(), "{failures}");
    assert!(
        lowered > 690 && later < 50,
        "{lowered} lowered, {later} not supported"
    );
}
