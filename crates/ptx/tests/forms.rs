//! Every form of every instruction that a survey of compiled benchmarks found, and those
//! beyond it that kernels written by hand have (`forms.txt`, one per line), is accepted,
//! keeps its text and prints back to itself.

use warpsim_ptx::ast::{Instruction, Item, Statement};
use warpsim_ptx::{parse, print};

const FORMS: &str = include_str!("forms.txt");

fn wrapped(instruction: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90a\n.address_size 64\n.entry k()\n{{\nL:\n{instruction}\n}}\n"
    )
}

/// The instruction in the body of a one-kernel file.
fn only(text: &str) -> Instruction {
    let module = parse(text).unwrap_or_else(|errors| panic!("{}", errors[0].render("form", text)));
    let Some(Item::Function(function)) = module.items.first() else {
        panic!("no function in {text}")
    };
    match function.body.as_deref() {
        Some([Statement::Label(_), Statement::Instruction(instruction)]) => instruction.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_form_is_accepted_and_printed_back() {
    let mut failures = Vec::new();
    for form in FORMS.lines() {
        let text = wrapped(form);
        match parse(&text) {
            Err(errors) => failures.push(errors[0].render(form, &text)),
            Ok(module) => {
                let instruction = only(&text);
                let mnemonic = form.split([' ', ';']).next();
                assert_eq!(Some(instruction.text.as_str()), mnemonic);
                assert_eq!(parse(&print(&module)).as_ref(), Ok(&module), "{form}");
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} forms:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn every_supported_opcode_has_a_form_in_the_list() {
    for op in warpsim_ptx::isa::Op::ALL
        .iter()
        .filter(|op| op.is_supported())
    {
        let found = FORMS.lines().any(|form| {
            let rest = form.strip_prefix(op.text());
            rest.is_some_and(|rest| rest.starts_with(['.', ' ', ';']))
        });
        assert!(found, "no form of `{}`", op.text());
    }
}

/// What is wrong with a matrix instruction, a copy or a barrier in shared memory is said when a kernel
/// that has it is lowered: there are forms of them that are valid and not supported.
fn is_read_loosely(instruction: &Instruction) -> bool {
    let mods = &instruction.mods;
    mods.tensor.is_some() || mods.asynchronous.is_some() || instruction.text.starts_with("cp.")
}

/// `.foo` and the like are refused by every opcode that is executed.
#[test]
fn every_form_refuses_a_modifier_that_does_not_exist() {
    for form in FORMS.lines() {
        let end = form.find([' ', ';']).unwrap_or(form.len());
        let (mnemonic, rest) = form.split_at(end);
        let instruction = only(&wrapped(form));
        if instruction.op.is_supported() && !is_read_loosely(&instruction) {
            assert!(
                parse(&wrapped(&format!("{mnemonic}.foo{rest}"))).is_err(),
                "{form}"
            );
        }
    }
}

/// One operand more than any form takes is refused.
#[test]
fn every_form_refuses_further_operands() {
    for form in FORMS.lines() {
        let instruction = only(&wrapped(form));
        let call = form.starts_with("call");
        if instruction.op.is_supported() && !call && !is_read_loosely(&instruction) {
            let separator = if instruction.operands.is_empty() {
                " "
            } else {
                ", "
            };
            let more = format!("{}{separator}%x9, %y9, %z9;", form.trim_end_matches(';'));
            assert!(parse(&wrapped(&more)).is_err(), "{more}");
        }
    }
}
