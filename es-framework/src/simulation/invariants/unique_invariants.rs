//! A unique value never has two owners. Before and after each append, the claims are those of the recorded events: no
//! claim without its event, and no event without its claim.

use std::collections::BTreeMap;

use super::{LogFold, RunRecord, log_fold::LoggedEvent};
use crate::simulation::badge_domain::BADGE_RULE;

/// The events of an append that changes a badge.
const BADGE_EVENTS: [&str; 4] = [
    "BadgeWornEvent",
    "ValueClaimedEvent",
    "ValueReleasedEvent",
    "OwnedValuesChangedEvent",
];

/// The badge of each holder.
type Wearers = BTreeMap<String, String>;

/// The badges and their claims after a number of events.
#[derive(Debug, Default)]
struct Badges {
    wearers: Wearers,
    /// The owner of each claimed subject.
    claims: BTreeMap<String, String>,
    /// The subject of the claims of each badge.
    subjects: BTreeMap<String, String>,
}

pub(super) fn collect_violations(run: &RunRecord, violations: &mut Vec<String>) {
    let mut badges = Badges::default();
    for event in run.events.iter().map(LoggedEvent::from_recorded) {
        if !BADGE_EVENTS.contains(&event.name.as_str()) {
            // The appends before it are complete.
            badges.check_claims(event.id, violations);
        }
        if event.name == "BadgeWornEvent"
            && let Some(badge) = event.payload_text("badge")
        {
            let others = badges.wearers.iter();
            let mut others = others.filter(|(holder, _)| **holder != event.subject);
            if let Some((other, _)) = others.find(|(_, worn)| **worn == badge) {
                violations.push(format!(
                    "{badge} has two owners after event {}: {other} and {}",
                    event.id, event.subject
                ));
            }
        }
        badges.apply(&event);
    }
    badges.check_claims(u64::MAX, violations);
}

/// Returns whether another holder had a badge after one of these numbers of events.
pub(super) fn is_taken(
    run: &LogFold,
    holder: &str,
    badge: &str,
    lengths: std::ops::RangeInclusive<u64>,
) -> bool {
    let mut badges = Badges::default();
    let is_taken = |badges: &Badges| {
        let mut wearers = badges.wearers.iter();
        wearers.any(|(other, worn)| other != holder && worn == badge)
    };
    let mut was_taken = false;
    for event in &run.events {
        badges.apply(event);
        if event.id < *lengths.start() {
            was_taken = is_taken(&badges);
        } else if event.id < *lengths.end() {
            was_taken |= is_taken(&badges);
        }
    }
    was_taken
}

impl Badges {
    fn apply(&mut self, event: &LoggedEvent) {
        let claims = format!("/es-framework/unique/{BADGE_RULE}/");
        match event.name.as_str() {
            "BadgeWornEvent" => {
                self.wearers.remove(&event.subject);
                if let Some(badge) = event.payload_text("badge") {
                    self.wearers.insert(event.subject.clone(), badge);
                }
            }
            "ValueClaimedEvent" if event.subject.starts_with(&claims) => {
                let owner = event.payload_text("owner").unwrap_or_default();
                self.claims.insert(event.subject.clone(), owner);
            }
            "ValueReleasedEvent" if event.subject.starts_with(&claims) => {
                self.claims.remove(&event.subject);
            }
            _ => {}
        }
    }

    fn check_claims(&mut self, before: u64, violations: &mut Vec<String>) {
        for (holder, badge) in &self.wearers {
            let claims = self.claims.iter();
            let own: Vec<_> = claims.filter(|(_, owner)| *owner == holder).collect();
            let [(subject, _)] = own[..] else {
                violations.push(format!(
                    "before event {before}, {holder} has {badge} with {} claims",
                    own.len()
                ));
                continue;
            };
            let known = self
                .subjects
                .entry(badge.clone())
                .or_insert_with(|| subject.clone());
            if known != subject {
                violations.push(format!("{badge} is claimed on {known} and on {subject}"));
            }
        }
        for (subject, owner) in &self.claims {
            if !self.wearers.contains_key(owner) {
                violations.push(format!(
                    "before event {before}, {owner} has a claim on {subject} without an event"
                ));
            }
        }
    }
}
