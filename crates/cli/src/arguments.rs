//! What is said of arguments that are not a command to run: help, the version, and mistakes.

use crate::console::failure::{BAD_INPUT, Failure, say, written};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use std::io::{Write, stdout};
use std::process::ExitCode;
use warpsim_present::misspelt;

/// Shows what there is to say instead of running anything.
pub fn answer(said: &Error, command: &Command) -> Result<ExitCode, Failure> {
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let within = group(&typed, command);
    if said.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(name)) = said.get(ContextKind::InvalidSubcommand)
    {
        return Err(Failure::bad_input(match within {
            Some(group) if group.has_subcommands() => none_of(name, group),
            _ => no_command(name, command),
        }));
    }
    let shown = said.print();
    if said.use_stderr() {
        let lacks = said.kind() == ErrorKind::MissingRequiredArgument;
        if let Some(example) = within.filter(|_| lacks).and_then(example) {
            say(&format!("\nfor example: {example}\n"));
        }
        return Ok(ExitCode::from(BAD_INPUT));
    }
    // Help is what was asked for: that it could not be shown is an error.
    written(shown.and_then(|()| stdout().flush()))?;
    Ok(ExitCode::SUCCESS)
}

/// The command that was typed first.
fn group<'a>(typed: &[String], command: &'a Command) -> Option<&'a Command> {
    let mut words = typed.iter();
    words.find_map(|word| command.get_subcommands().find(|c| c.get_name() == word))
}

/// The first of a command's examples.
fn example(command: &Command) -> Option<String> {
    let help = command.get_after_help()?.to_string();
    let found = help.lines().find(|line| line.starts_with("  warpsim "));
    found.map(|line| line.trim().to_string())
}

/// That a command has nothing of this name, and what it has.
fn none_of(name: &str, group: &Command) -> String {
    let has = |c: &&Command| c.get_name() != "help";
    let names: Vec<&str> = group
        .get_subcommands()
        .filter(has)
        .map(Command::get_name)
        .collect();
    let first = names.first().copied().unwrap_or_default();
    format!(
        "`warpsim {}` has no `{name}`; there is: {}\ntype: warpsim {} {first} {name}",
        group.get_name(),
        names.join(", "),
        group.get_name()
    )
}

/// That no command has this name, and which was probably meant.
fn no_command(name: &str, command: &Command) -> String {
    let nested = command.get_subcommands().flat_map(Command::get_subcommands);
    let all = command.get_subcommands().chain(nested);
    let names: Vec<&str> = all.map(Command::get_name).collect();
    let hint = misspelt(name, names).map(|near| format!("; did you mean `{near}`?"));
    format!(
        "no command is called `{name}`{}\n`warpsim help` lists the commands",
        hint.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::no_command;
    use clap::CommandFactory;

    #[test]
    fn a_slip_is_recognised() {
        let command = crate::Cli::command();
        for (typed, meant) in [
            ("rn", "run"),
            ("lst", "list"),
            ("studdy", "study"),
            ("inspct", "inspect"),
        ] {
            let said = no_command(typed, &command);
            assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
        }
        assert!(!no_command("xyzzy", &command).contains("did you mean"));
    }
}
