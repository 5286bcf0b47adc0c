//! Regular expressions that are compiled once.

use std::{fmt, sync::OnceLock};

use regex::Regex;

/// A regular expression that is compiled when it is first used.
///
/// ```
/// use es_framework::validate::rules::{Pattern, pattern};
///
/// static SHELF: Pattern = Pattern::new("^[A-Z][0-9]+$");
/// assert_eq!(pattern(&"7A".to_owned(), &SHELF), Err("must match ^[A-Z][0-9]+$".into()));
/// ```
#[derive(Debug)]
pub struct Pattern {
    text: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Creates the pattern without compiling it. `#[validate(pattern("…"))]` checks it at compile
    /// time. A malformed pattern that is created by hand matches nothing.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        let compiled = OnceLock::new();
        Self { text, compiled }
    }

    /// Returns true if the pattern matches a part of the text.
    pub(super) fn matches(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| Regex::new(self.text).ok());
        let Some(compiled) = compiled else {
            return false;
        };
        garde::rules::pattern::Pattern::validate_pattern(&text, compiled)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}
