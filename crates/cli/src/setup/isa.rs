//! Whether PTX or machine code is meant.

/// What is executed or shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Isa {
    /// PTX.
    #[default]
    Ptx,
    /// Machine code.
    Sass,
}
