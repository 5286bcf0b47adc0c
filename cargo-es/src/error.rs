//! The error of every subcommand.

use std::{fmt, path::Path};

/// One sentence about the reason why nothing was written.
#[derive(Debug, PartialEq)]
pub(crate) struct ToolError(String);

impl ToolError {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// A file or folder cannot be read or written.
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
