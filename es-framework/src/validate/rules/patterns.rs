//! Patterns of texts, compiled once.

use std::{fmt, sync::OnceLock};

use regex::Regex;

/// A regular expression, compiled when it is first needed.
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
    /// The pattern of this text. `#[validate(pattern("…"))]` has compiled it before, so that a wrong
    /// one is a compile error; here, a wrong one is found nowhere.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        let compiled = OnceLock::new();
        Self { text, compiled }
    }

    /// Whether the text matches somewhere.
    pub(super) fn is_found_in(&self, text: &str) -> bool {
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
