//! A difference between two versions of an operation.

use super::client_break::ClientBreak;

/// A difference of an operation.
#[derive(Debug)]
pub(super) struct OperationChange {
    pub(super) text: String,
    /// `None` if clients do not break.
    pub(super) breaks: Option<ClientBreak>,
}

impl OperationChange {
    pub(super) fn breaking(text: String, breaks: ClientBreak) -> Self {
        let breaks = Some(breaks);
        Self { text, breaks }
    }

    pub(super) fn compatible(text: String) -> Self {
        let breaks = None;
        Self { text, breaks }
    }
}
