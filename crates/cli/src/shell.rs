//! `warpsim completions` and `warpsim man`.

use crate::console::failure::{Failure, print, print_data};
use clap::Command;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;
use warpsim_present::wrapped;
use warpsim_sim::config::read::presets;
use warpsim_sim::config::{Machine, ReadMachine, SECTIONS, power, warps};
use warpsim_sim::mechanism::{Kind, MECHANISMS};
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

/// A name that an argument may be, and what there is to say about it in a line.
type Named = (String, String);

/// The command with the names that each argument may be, for shells to offer. What is typed need not be
/// one of them: files have names of their own.
fn with_names(command: Command) -> Command {
    let name = command.get_name().to_string();
    let command = command.mut_args(|argument| {
        let names = names(&name, argument.get_id().as_str());
        if names.is_empty() {
            return argument;
        }
        let names = names.into_iter().map(|(name, about)| {
            let value = PossibleValue::new(name);
            match about.is_empty() {
                true => value,
                false => value.help(about),
            }
        });
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
        let all = all.map(|(name, about)| format!("{name}\\t'{}'", quoted_for_fish(&about)));
        let all: Vec<String> = all.collect();
        if !all.is_empty() {
            out += &format!(
                "complete -c warpsim -n \"__fish_warpsim_using_subcommand {}\" -a \"{}\"\n",
                sub.get_name(),
                all.join("\n")
            );
        }
    }
    out
}

/// A text between `'` within `"`.
fn quoted_for_fish(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\'' => out += "\\\\'",
            '\\' | '"' | '$' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}

/// The names that an argument of a command may be.
fn names(command: &str, argument: &str) -> Vec<Named> {
    let of = |kind: Kind| named(MECHANISMS.of(kind).iter().map(|i| (i.name, i.description)));
    match (command, argument) {
        ("study", "what") => studies(),
        ("run" | "flow", "what")
        | ("inspect", "file")
        | (_, "workload")
        | ("characterise", "workloads") => named(
            WORKLOADS
                .iter()
                .map(|w| (w.info().name, w.info().algorithm)),
        ),
        (_, "machine") => machines(),
        (_, "scheduler") => of(Kind::Scheduler),
        (_, "fetch") => of(Kind::Fetch),
        (_, "divergence") => of(Kind::Divergence),
        (_, "warps") => warps::NAMES
            .iter()
            .map(|n| (n.example(), one_line(n.description)))
            .collect(),
        (_, "power") => named(power::NAMES.iter().map(|n| (n.name, n.description))),
        ("run" | "flow", "virtualize") => named([
            ("off", "blocks as the program has them"),
            ("software", "the kernel strides over logical blocks"),
            ("hardware", "the hardware hands out logical blocks"),
        ]),
        (_, "set") => settings(),
        _ => Vec::new(),
    }
}

fn named<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Named> {
    let all = all.into_iter();
    all.map(|(name, about)| (name.to_string(), one_line(about)))
        .collect()
}

/// Letters of a description that a shell has room for beside a name.
const LETTERS: usize = 70;

/// The first sentence, or as much of it as there is room for.
fn one_line(about: &str) -> String {
    let sentence = about.split_once(". ").map_or(about, |(first, _)| first);
    let sentence = sentence.trim_end_matches('.');
    match wrapped(sentence, LETTERS).as_slice() {
        [] => String::new(),
        [whole] => whole.to_string(),
        [first, ..] => format!("{} ...", first.trim_end_matches([',', ';', ':'])),
    }
}

fn studies() -> Vec<Named> {
    let title = |name| crate::study::find(name).map_or(String::new(), |study| study.title);
    let all = embedded::names().map(|name| (name.to_string(), one_line(&title(name))));
    let every = ("all".to_string(), "every paper's study".to_string());
    all.chain([every]).collect()
}

fn machines() -> Vec<Named> {
    let about = |name| Machine::preset(name).map_or(String::new(), |m| one_line(&m.description));
    let all = presets::names();
    all.map(|name| (name.to_string(), about(name))).collect()
}

/// The keys of settings.
fn settings() -> Vec<Named> {
    let sections = SECTIONS.iter();
    let keys = sections.flat_map(|(section, settings)| {
        settings.iter().map(move |s| {
            let about = one_line(&s.description());
            (format!("{section}.{}", s.name), about)
        })
    });
    let chosen =
        Kind::ALL.map(|kind| (kind.name_key().to_string(), format!("the {}", kind.word())));
    keys.chain(chosen).collect()
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
