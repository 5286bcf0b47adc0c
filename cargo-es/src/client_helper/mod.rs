//! The subcommand `client` prints the helper for clients in one language.

use crate::command_line::ClientLanguage;

/// Returns the source text of the helper.
pub(crate) const fn source_text(language: ClientLanguage) -> &'static str {
    match language {
        ClientLanguage::TypeScript => include_str!("helper.ts"),
        ClientLanguage::Python => include_str!("helper.py"),
    }
}
