//! The scripts of the page agree with their types.
//!
//! Skipped with a message where there is no TypeScript (`npm install -g typescript`).

use std::process::Command;

#[test]
fn scripts_agree_with_their_types() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
    let Ok(output) = Command::new("tsc").args(["-p", folder]).output() else {
        eprintln!("skipped: no tsc here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}
