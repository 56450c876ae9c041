//! What can be wrong with an image.

use crate::capability::{Capability, Variant};
use std::fmt;

/// Why an image cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is none of what is read here.
    Unknown {
        /// How it begins, or what it is instead.
        what: String,
    },
    /// It contradicts its own format.
    Broken {
        /// The first byte that does.
        offset: usize,
        /// What is wrong there.
        what: String,
    },
    /// Nothing in it can be executed: it has no PTX.
    NoPtx {
        /// What it has machine code for.
        architectures: Vec<Capability>,
        /// What PTX was wanted for.
        device: Capability,
    },
}

impl Error {
    pub(crate) fn broken(offset: usize, what: impl Into<String>) -> Self {
        let what = what.into();
        Self::Broken { offset, what }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { what } => write!(f, "neither a fat binary nor a cubin nor PTX: {what}"),
            Self::Broken { offset, what } => write!(f, "at byte {offset:#x}: {what}"),
            Self::NoPtx {
                architectures,
                device,
            } => {
                let list: Vec<_> = architectures.iter().map(ToString::to_string).collect();
                match list.is_empty() {
                    true => write!(f, "no code at all")?,
                    false => write!(f, "machine code only, for {}, and no PTX", list.join(", "))?,
                }
                let oldest = architectures.iter().map(|a| a.number).min();
                let number = oldest.map_or(device.number, |n| n.min(device.number));
                let compute = Capability {
                    number,
                    variant: Variant::All,
                }
                .to_string()
                .replace("sm_", "compute_");
                write!(
                    f,
                    ": `-gencode arch={compute},code={compute}` when it is compiled adds it"
                )
            }
        }
    }
}
