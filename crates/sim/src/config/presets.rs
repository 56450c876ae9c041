//! The machines that come with warpsim, embedded so that the program works anywhere.

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
    ("fx5800", include_str!("../../../../configs/fx5800.toml")),
    ("vws", include_str!("../../../../configs/vws.toml")),
];

/// The text of a preset.
pub fn text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
}

/// Names in the order they are listed.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(n, _)| *n)
}
