//! Badges: a badge is a unique value, which one holder has at a time, changes, and gives back.

use crate::prelude::*;

/// The number of badges. Few badges make it likely that two holders want the same one.
pub(super) const BADGES: u64 = 2;
/// The name of the rule.
pub(super) const BADGE_RULE: &str = "badge";

#[derive(Command)]
#[command(subject = "/holders/{id}")]
pub(super) struct WearBadgeCommand {
    pub(super) id: u32,
    pub(super) badge: Option<String>,
    pub(super) operation: u32,
}

/// From now on, the holder has this badge or none.
#[derive(Event)]
pub(super) struct BadgeWornEvent {
    operation: u32,
    #[unique("badge")]
    badge: Option<String>,
}

/// Its handler looks at nothing, so only the claims keep two holders apart.
#[handler]
fn wear_badge(command: WearBadgeCommand) -> BadgeWornEvent {
    BadgeWornEvent {
        operation: command.operation,
        badge: command.badge,
    }
}

/// Returns the name of a badge; the last number is none.
pub(super) fn badge_name(number: u32) -> Option<String> {
    (u64::from(number) < BADGES).then(|| format!("badge-{number}"))
}
