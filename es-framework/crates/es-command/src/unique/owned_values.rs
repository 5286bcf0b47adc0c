//! The values that an event gives to its subject.

use std::collections::BTreeSet;

use es_event::{Event, EventDescriptor, Subject, UniqueRules, UniqueValue, UnreadablePayload};
use uuid::Uuid;

use super::normalization::normalize;

/// All values under one rule that the subject of an event has after the event.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedValues {
    /// The subject of the event.
    pub owner: Subject,
    /// The name of the rule.
    pub rule: &'static str,
    pub(super) values: Vec<OwnedValue>,
    /// The persons whose personal data the values are, or were before an erasure.
    pub(super) persons: BTreeSet<Uuid>,
}

/// A value in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnedValue {
    /// The JSON name of the field.
    pub(super) member: &'static str,
    pub(super) text: String,
    /// The person with whose personal data the value is given up.
    pub(super) person: Option<Uuid>,
}

impl OwnedValues {
    /// Returns the values of an event, one element for each rule that it declares.
    #[must_use]
    pub fn of_event<E: Event>(owner: &Subject, event: &E) -> Vec<Self> {
        if E::UNIQUE == UniqueRules::NONE {
            return Vec::new();
        }
        Self::by_rule(owner, &E::UNIQUE, event.unique_values())
    }

    /// Returns the values of a recorded event.
    ///
    /// # Errors
    /// The payload does not fit the declaration.
    pub fn of_payload(
        owner: &Subject,
        event: &EventDescriptor,
        payload: &str,
    ) -> Result<Vec<Self>, UnreadablePayload> {
        if event.unique == UniqueRules::NONE {
            return Ok(Vec::new());
        }
        let values = (event.unique_values)(payload)?;
        Ok(Self::by_rule(owner, &event.unique, values))
    }

    /// Groups the values of the declared fields by their rules. A rule that is released has no values.
    fn by_rule(owner: &Subject, rules: &UniqueRules, values: Vec<UniqueValue>) -> Vec<Self> {
        let by_rule = rules.names().into_iter().map(|rule| Self {
            owner: owner.clone(),
            rule,
            values: Vec::new(),
            persons: BTreeSet::new(),
        });
        let mut by_rule: Vec<_> = by_rule.collect();
        for (field, value) in rules.fields.iter().zip(values) {
            let mut rules = by_rule.iter_mut();
            let Some(owned) = rules.find(|owned| owned.rule == field.rule) else {
                continue;
            };
            owned.persons.extend(value.person);
            owned.values.extend(value.text.map(|text| OwnedValue {
                member: field.member,
                text: normalize(&text, field.normalization),
                person: value.person.filter(|_| !field.keep_after_erasure),
            }));
        }
        by_rule
    }
}
