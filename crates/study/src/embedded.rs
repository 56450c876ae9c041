//! The studies that come with warpsim.

/// Name and text of every study.
pub const STUDIES: &[(&str, &str)] = &[
    ("baws", include_str!("../../../studies/baws.toml")),
    ("tbc", include_str!("../../../studies/tbc.toml")),
    ("vws", include_str!("../../../studies/vws.toml")),
    ("vtw", include_str!("../../../studies/vtw.toml")),
    ("origami", include_str!("../../../studies/origami.toml")),
    ("combined", include_str!("../../../studies/combined.toml")),
];

/// The text of a study.
pub fn text(name: &str) -> Option<&'static str> {
    STUDIES.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
}

/// Names in the order they are listed.
pub fn names() -> impl Iterator<Item = &'static str> {
    STUDIES.iter().map(|(n, _)| *n)
}
