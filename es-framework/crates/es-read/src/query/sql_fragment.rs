//! A part of a statement, with the values of its parameters.

use crate::projection::Cell;

/// SQL with a `?` for each parameter, and the values of the parameters.
#[derive(Debug, Clone, Default)]
pub(super) struct SqlFragment {
    pub(super) text: String,
    pub(super) parameters: Vec<Cell>,
}

impl SqlFragment {
    pub(super) fn new(text: impl Into<String>, parameters: Vec<Cell>) -> Self {
        let text = text.into();
        Self { text, parameters }
    }

    pub(super) fn is_present(&self) -> bool {
        !self.text.is_empty()
    }

    pub(super) fn in_parentheses(self) -> Self {
        let text = format!("({})", self.text);
        Self { text, ..self }
    }

    /// Joins several fragments with a separator such as ` AND `.
    pub(super) fn join(parts: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        let (mut texts, mut parameters) = (Vec::new(), Vec::new());
        for part in parts {
            texts.push(part.text);
            parameters.extend(part.parameters);
        }
        Self::new(texts.join(separator), parameters)
    }
}
