//! Launch files, machine files, study files, stored results.

use warpsim_present::{Source, SourceError};
use warpsim_sim::config::read::load::from_source;
use warpsim_sim::config::read::presets::PRESETS;
use warpsim_study::record::{Record, read_stored, stored_text};
use warpsim_study::{embedded, format};
use warpsim_workloads::launchfile;

fn text(data: &[u8]) -> Option<Source> {
    let text = std::str::from_utf8(data).ok()?;
    Some(Source::new("fuzz.toml", text))
}

/// An error says where in its file.
fn has_place(error: &SourceError) {
    let text = error.to_string();
    assert!(text.contains("--> fuzz.toml"), "{text}");
}

/// Any text is a launch file or an error with a message and a place.
pub fn launch_file(data: &[u8]) {
    if let Some(source) = text(data)
        && let Err(error) = launchfile::parse(&source)
    {
        has_place(&error);
    }
}

pub fn launch_file_seeds() -> Vec<Vec<u8>> {
    let seeds = [
        include_str!("../../../examples/vector-add/vector-add.toml"),
        include_str!("../../../examples/bfs/bfs.toml"),
    ];
    seeds.iter().map(|s| s.as_bytes().to_vec()).collect()
}

/// Any text is a machine or an error with a message and a place. What it extends may be a preset; no file is
/// opened.
pub fn machine_file(data: &[u8]) {
    let Some(source) = text(data) else {
        return;
    };
    if let Err(error) = from_source(&source, &[]) {
        // What contradicts this file may stand in what it extends.
        let text = error.to_string();
        assert!(
            text.contains("--> fuzz.toml") || text.contains("--> preset "),
            "{text}"
        );
    }
}

pub fn machine_file_seeds() -> Vec<Vec<u8>> {
    PRESETS.iter().map(|(_, t)| t.as_bytes().to_vec()).collect()
}

/// Any text is a study or an error with a message and a place.
pub fn study_file(data: &[u8]) {
    if let Some(source) = text(data)
        && let Err(error) = format::parse(&source)
    {
        has_place(&error);
    }
}

pub fn study_file_seeds() -> Vec<Vec<u8>> {
    let texts = embedded::names().filter_map(embedded::text);
    texts.map(|t| t.as_bytes().to_vec()).collect()
}

fn record() -> Record {
    let totals = r#"{"cycles": 123456, "ipc": 0.75, "warp_states": {"barrier": 17}}"#;
    let text = format!(
        r#"{{"schema": 1, "key": "k", "status": "correct", "reason": "", "totals": {totals},
            "launches": [], "seconds": 0.5, "inputs": {{"seed": 1}}}}"#
    );
    Record::parse(&text).expect("a record")
}

/// What is read back from a stored result is what was stored, or nothing.
pub fn stored_result(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(found) = read_stored(text) {
        let again = stored_text(&found).expect("it can be stored");
        assert_eq!(read_stored(&again).as_ref(), Some(&found));
    }
    // Whatever differs from what was written is noticed.
    let written = stored_text(&record()).expect("it can be stored");
    let mut changed = written.clone().into_bytes();
    for pair in data.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([pair[0], pair[1]])) % changed.len();
        changed[at] = pair[2];
    }
    let is_other = changed != written.as_bytes();
    let read = String::from_utf8(changed)
        .ok()
        .and_then(|t| read_stored(&t));
    assert!(!(is_other && read.is_some()), "a change was not noticed");
}

pub fn stored_result_seeds() -> Vec<Vec<u8>> {
    let stored = stored_text(&record()).expect("it can be stored");
    vec![stored.into_bytes(), vec![1, 2, 3], vec![40, 0, b'9']]
}
