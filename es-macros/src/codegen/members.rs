//! The names that the fields of a struct, or the variants of an enum, have in JSON.

use std::collections::BTreeMap;

use syn::{Ident, ext::IdentExt as _};

use super::errors::Errors;

/// The names that were met.
pub(crate) struct Members<'a> {
    case: fn(&str) -> String,
    seen: BTreeMap<String, &'a Ident>,
}

impl<'a> Members<'a> {
    /// Names that serde writes in this case.
    pub(crate) fn in_case(case: fn(&str) -> String) -> Self {
        let seen = BTreeMap::new();
        Self { case, seen }
    }

    /// The name of one more. It is noted if there is none, or one that is there already.
    pub(crate) fn name(
        &mut self,
        ident: &'a Ident,
        renamed: Option<String>,
        errors: &mut Errors,
    ) -> String {
        let spoken = ident.unraw().to_string();
        // serde's camelCase panics on both.
        let is_none = !spoken.is_ascii() || spoken.chars().all(|one| one == '_');
        if renamed.is_none() && is_none {
            let message = format!(
                "`{spoken}` does not become a name in JSON by itself: write `#[serde(rename = \"…\")]` above it"
            );
            errors.at(ident, message);
            return spoken;
        }
        let name = renamed.unwrap_or_else(|| (self.case)(&spoken));
        match self.seen.get(&name) {
            Some(first) => errors.at(
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
