//! The `warpsim` command.

fn main() {}
