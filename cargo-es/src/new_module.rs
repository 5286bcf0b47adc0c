//! A file that a declaration gets, from its template.

use crate::{names::TypeName, source_template};

/// A new module: its name, and the text of its file.
pub(crate) struct NewModule {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl NewModule {
    /// Fills the template of a declaration with its name, its summary and these values.
    pub(crate) fn from_template(template: &str, name: &TypeName, values: &[(&str, &str)]) -> Self {
        let module = name.snake_case();
        let (name, summary) = (name.to_string(), name.to_doc_sentence());
        let common = [("name", name.as_str()), ("summary", &summary)];
        let values: Vec<_> = values.iter().copied().chain(common).collect();
        Self {
            text: source_template::fill_template(template, &values),
            name: module,
        }
    }
}
