//! The subcommands `client` and `receiver` print the helper for clients, and that for receivers of public events.

use crate::command_line::ClientLanguage;

/// Returns the source text of the helper for clients.
pub(crate) const fn client_text(language: ClientLanguage) -> &'static str {
    match language {
        ClientLanguage::TypeScript => include_str!("helper.ts"),
        ClientLanguage::Python => include_str!("helper.py"),
    }
}

/// Returns the source text of the helper for receivers.
pub(crate) const fn receiver_text(language: ClientLanguage) -> &'static str {
    match language {
        ClientLanguage::TypeScript => include_str!("webhook.ts"),
        ClientLanguage::Python => include_str!("webhook.py"),
    }
}
