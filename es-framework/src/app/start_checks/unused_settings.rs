//! Settings that nothing takes.

use super::declaration_warning::DeclarationWarning;
use crate::settings::SettingsDescriptor;

/// Returns the declared settings that are not among those that something takes.
pub(in super::super) fn find_unused_settings(
    declared: &[&SettingsDescriptor],
    is_used: impl Fn(&SettingsDescriptor) -> bool,
) -> Vec<DeclarationWarning> {
    declared
        .iter()
        .filter(|settings| !settings.may_be_unused && !is_used(settings))
        .map(|settings| DeclarationWarning::UnusedSettings {
            settings: settings.service.name,
            declaration: settings.declaration,
        })
        .collect()
}
