//! `warpsim completions` and `warpsim man`.

use crate::console::failure::{Failure, print, print_data};
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;
use warpsim_sim::config::read::presets;
use warpsim_sim::config::{SECTIONS, power, warps};
use warpsim_sim::mechanism::Kind;
use warpsim_study::embedded;
use warpsim_workloads::files::write_whole;
use warpsim_workloads::suite::WORKLOADS;

/// Arguments of `warpsim completions`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  warpsim completions bash > ~/.local/share/bash-completion/completions/warpsim
  warpsim completions zsh > ~/.zfunc/_warpsim
  warpsim completions fish > ~/.config/fish/completions/warpsim.fish")]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

/// Arguments of `warpsim man`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  warpsim man -o ~/.local/share/man/man1 && man warpsim-run")]
pub struct Man {
    /// The folder to write a page per command to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Writes completions to standard output.
pub fn completions(arguments: &Completions, command: &mut Command) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    let mut command = with_names(command.clone());
    clap_complete::generate(arguments.shell, &mut command, "warpsim", &mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if arguments.shell == Shell::Fish {
        text += &positional_names(&command);
    }
    print_data(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The command with the names that each argument may be, for shells to offer. What is typed need not be
/// one of them: files have names of their own.
fn with_names(command: Command) -> Command {
    let name = command.get_name().to_string();
    let command = command.mut_args(|argument| {
        let names = names(&name, argument.get_id().as_str());
        if names.is_empty() {
            return argument;
        }
        // The program ends with this command, and until then needs them.
        let names = names.into_iter().map(|name| &*name.leak());
        argument.value_parser(PossibleValuesParser::new(names))
    });
    command.mut_subcommands(with_names)
}

/// Lines for fish, whose completions are generated without those of arguments that are no options.
fn positional_names(command: &Command) -> String {
    let mut out = String::new();
    for sub in command.get_subcommands() {
        let positionals = sub.get_positionals();
        let all = positionals.flat_map(|p| names(sub.get_name(), p.get_id().as_str()));
        let all: Vec<String> = all.collect();
        if !all.is_empty() {
            out += &format!(
                "complete -c warpsim -n \"__fish_warpsim_using_subcommand {}\" -a \"{}\"\n",
                sub.get_name(),
                all.join(" ")
            );
        }
    }
    out
}

/// The names that an argument of a command may be.
fn names(command: &str, argument: &str) -> Vec<String> {
    let of = |kind: Kind| owned(kind.registered().iter().map(|i| i.name));
    match (command, argument) {
        ("study", "what") => owned(embedded::names().chain(["all"])),
        ("run" | "flow", "what")
        | ("inspect", "file")
        | (_, "workload")
        | ("characterise", "workloads") => owned(WORKLOADS.iter().map(|w| w.info().name)),
        (_, "machine") => owned(presets::names()),
        (_, "scheduler") => of(Kind::Scheduler),
        (_, "fetch") => of(Kind::Fetch),
        (_, "divergence") => of(Kind::Divergence),
        (_, "warps") => warps::NAMES.iter().map(|n| n.example()).collect(),
        (_, "power") => owned(power::NAMES.iter().map(|n| n.name)),
        ("run" | "flow", "virtualize") => owned(["off", "software", "hardware"]),
        (_, "set") => settings(),
        _ => Vec::new(),
    }
}

fn owned<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(String::from).collect()
}

/// The keys of settings.
fn settings() -> Vec<String> {
    let sections = SECTIONS.iter();
    let keys = sections.flat_map(|(section, settings)| {
        settings
            .iter()
            .map(move |s| format!("{section}.{}", s.name))
    });
    keys.chain(Kind::ALL.map(|kind| kind.name_key().to_string()))
        .collect()
}

/// Writes a manual page for the program and each command.
pub fn man(arguments: &Man, mut command: Command) -> Result<ExitCode, Failure> {
    let folder = &arguments.output;
    let cannot = |e: std::io::Error| {
        Failure::bad_input(format!("cannot write to {}: {e}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(cannot)?;
    command.build();
    let mut pages = vec![command.clone()];
    for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
        let name = format!("warpsim-{}", sub.get_name());
        // A manual page is called by one word.
        pages.push(sub.clone().name(name.clone()).display_name(name));
    }
    let count = pages.len();
    for page in pages {
        let file = folder.join(format!("{}.1", page.get_name()));
        let mut text = Vec::new();
        clap_mangen::Man::new(page)
            .render(&mut text)
            .map_err(cannot)?;
        write_whole(&file, &text).map_err(cannot)?;
    }
    print(&format!("wrote {count} pages to {}\n", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
