//! Checks of declarations against each other: mistakes that compile. A contradiction prevents the
//! start; a probable mistake is a warning. `docs/src/reference/checks-at-start.md` lists both.

mod contradictions;
mod declaration_warning;
mod event_subjects;
mod probable_mistakes;
mod reaction_loops;
#[cfg(test)]
mod tests;
mod unused_settings;

pub(super) use contradictions::find_contradiction;
pub(super) use declaration_warning::DeclarationWarning;
pub(super) use probable_mistakes::{find_probable_mistakes, find_unknown_roles};
pub(super) use unused_settings::find_unused_settings;
