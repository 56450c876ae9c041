//! What ends a study.

use std::fmt;
use std::path::Path;
use warpsim_present::SourceError;

/// Why a study cannot go on. Runs that fail are not errors: they are rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyError {
    /// Everything there is to say.
    pub text: String,
}

impl StudyError {
    /// An input that makes no sense, or a folder that cannot be used.
    pub fn bad_input(text: impl Into<String>) -> StudyError {
        StudyError { text: text.into() }
    }

    /// A file or folder that could not be written. What is finished stays.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> StudyError {
        StudyError::bad_input(format!(
            "cannot write {}: {error}\nfinished runs are kept: the same command goes on where it stopped",
            path.display()
        ))
    }
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StudyError {}

impl From<SourceError> for StudyError {
    fn from(error: SourceError) -> StudyError {
        StudyError::bad_input(error.to_string())
    }
}
