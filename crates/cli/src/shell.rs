//! `warpsim completions` and `warpsim man`.

use crate::console::failure::{Failure, print};
use clap::Command;
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;
use warpsim_workloads::files::write_whole;

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
    clap_complete::generate(arguments.shell, command, "warpsim", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
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
