//! Assigns JSON names to the fields of a struct or the variants of an enum.

use std::collections::BTreeMap;

use syn::{Ident, ext::IdentExt as _};

use super::errors::Errors;

/// The assigned names.
pub(crate) struct JsonNames<'a> {
    case: fn(&str) -> String,
    seen: BTreeMap<String, &'a Ident>,
}

impl<'a> JsonNames<'a> {
    /// Creates an empty set for names in this case.
    pub(crate) fn in_case(case: fn(&str) -> String) -> Self {
        let seen = BTreeMap::new();
        Self { case, seen }
    }

    /// Assigns the name of a field or variant. Records an error if it has no name or if the name is
    /// taken.
    pub(crate) fn assign_name(
        &mut self,
        ident: &'a Ident,
        renamed: Option<String>,
        errors: &mut Errors,
    ) -> String {
        let spoken = ident.unraw().to_string();
        // serde's camelCase panics for a name that begins with a letter outside ASCII, and for a field of
        // underscores only. A letter outside ASCII anywhere is refused, so that the rule is simple.
        let is_none = !spoken.is_ascii() || spoken.chars().all(|one| one == '_');
        if renamed.is_none() && is_none {
            let message = format!(
                "`{spoken}` does not become a name in JSON by itself: write `#[serde(rename = \"…\")]` above it"
            );
            errors.record(ident, message);
            return spoken;
        }
        let name = renamed.unwrap_or_else(|| (self.case)(&spoken));
        match self.seen.get(&name) {
            Some(first) => errors.record(
                ident,
                format!("`{first}` and `{ident}` are both `{name}` in JSON: rename one of them"),
            ),
            None => {
                self.seen.insert(name.clone(), ident);
            }
        }
        name
    }
}
