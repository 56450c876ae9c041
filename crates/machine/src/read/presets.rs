//! The machines that come with warpsim, embedded so that the program works anywhere.

use super::preset_tree::tree;
use std::sync::{Arc, OnceLock};
use warpsim_present::{Node, Source, SourceError};

/// The preset whose keys define the schema: every other machine says what differs.
pub const BASE: &str = "gtx480";

/// Name and text of every preset.
pub const PRESETS: &[(&str, &str)] = &[
    ("gtx480", include_str!("../../../../configs/gtx480.toml")),
    (
        "gtx480-ref",
        include_str!("../../../../configs/gtx480-ref.toml"),
    ),
    (
        "gtx480-v3",
        include_str!("../../../../configs/gtx480-v3.toml"),
    ),
    (
        "gtx480-v302",
        include_str!("../../../../configs/gtx480-v302.toml"),
    ),
    ("fx5800", include_str!("../../../../configs/fx5800.toml")),
    (
        "fx5800-211b",
        include_str!("../../../../configs/fx5800-211b.toml"),
    ),
    ("vws", include_str!("../../../../configs/vws.toml")),
    ("big", include_str!("../../../../configs/big.toml")),
];

/// The text of a preset.
pub fn text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
}

/// A preset's text, and what it says as a tree.
pub(super) type Read = (Source, Arc<Node>);

/// A preset, read. Each is made once: what every machine is compared with, the base preset, is asked
/// for each time.
pub(super) fn read(name: &str) -> Option<Result<Read, SourceError>> {
    static KNOWN: [OnceLock<Read>; PRESETS.len()] = [const { OnceLock::new() }; PRESETS.len()];
    let at = PRESETS.iter().position(|(n, _)| *n == name)?;
    if let Some(read) = KNOWN[at].get() {
        return Some(Ok(read.clone()));
    }
    let source = Source::new(&format!("preset {name}"), PRESETS[at].1);
    let root = tree(name).map_or_else(|| Node::parse(&source), Ok);
    let read = root.map(|root| (source, Arc::new(root)));
    Some(read.map(|read| KNOWN[at].get_or_init(|| read).clone()))
}

/// Names in the order they are listed.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(n, _)| *n)
}
