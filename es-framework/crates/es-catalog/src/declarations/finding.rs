//! A probable mistake in the declarations.

use std::fmt;

use crate::model::FindingKind;
use es_event::Declaration;

use super::connections::CatalogEntry;

/// A probable mistake in the declarations. It is a warning at start and a finding of the model.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Finding {
    /// The kind of mistake.
    pub kind: FindingKind,
    /// The name of the declaration at fault.
    pub name: String,
    /// The place of the declaration.
    pub declaration: Declaration,
    /// The declaration in the graph, which has no settings.
    pub(crate) entry: Option<CatalogEntry>,
    /// The sentence without places, which depend on the folder of the build.
    pub(crate) message: String,
    /// The sentence with the place of each declaration.
    warning: String,
}

impl Finding {
    /// Creates a finding about a declaration. `sentence` writes the places that it is given, if there are any.
    pub(crate) fn new(
        kind: FindingKind,
        entry: Option<CatalogEntry>,
        (name, declaration): (&str, Declaration),
        sentence: impl Fn(&dyn Fn(&str, Declaration) -> String) -> String,
    ) -> Self {
        Self {
            kind,
            entry,
            name: name.to_owned(),
            declaration,
            message: sentence(&|_, _| String::new()),
            warning: sentence(&|before, place| format!("{before}{place}")),
        }
    }
}

/// The sentence with the place of each declaration.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.warning)
    }
}
