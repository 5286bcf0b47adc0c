//! Claims the values of events that were recorded before they had a rule.
//!
//! A step claims the values of some events in their order. It can be repeated and interrupted at any time, because a value
//! that its owner has is not claimed again.

use std::{borrow::Cow, collections::BTreeMap, error::Error, num::NonZeroU64, slice, sync::Arc};

use es_event::{EventDescriptor, EventId, EventType, RecordedEvent, Subject, Upcasters, personal};
use es_store::{AppendError, Bound, EventLog, Precondition, ReadOptions, latest_event, newest_id};
use es_subscribe::catch_panic;
use futures_util::TryStreamExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{ClaimError, OwnedValues, UniqueKeySource, claim_events::parse_subject, plan_claims};

/// The most events of one step.
const MAX_EVENTS: NonZeroU64 = NonZeroU64::new(100).unwrap();
/// The most attempts to claim the values of one event while others change its subject.
const MAX_ATTEMPTS: usize = 8;

/// The parts of an application that the job needs.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct ClaimJob<'a> {
    /// The events as the application sees them.
    pub store: &'a dyn EventLog,
    /// The key of the digests.
    pub keys: &'a dyn UniqueKeySource,
    /// The source of the claims.
    pub source: &'a Arc<str>,
    /// The declared events.
    pub events: &'a [EventDescriptor],
    /// The upcasters of earlier events.
    pub upcasters: &'a Upcasters,
}

/// The events of a step.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimRange {
    /// The last event of the step before.
    pub after: Option<EventId>,
    /// The last event of the run: the newest one at its begin. Without it, this is the first step.
    pub until: Option<EventId>,
}

/// The result of a step.
#[doc(hidden)]
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimReport {
    /// The last event of the step. The next step begins after it.
    #[schemars(with = "Option<String>")]
    pub last: Option<EventId>,
    /// The last event of the run. Later ones have claimed their values by themselves.
    #[schemars(with = "Option<String>")]
    pub until: Option<EventId>,
    /// True if no more events have to be examined.
    pub is_complete: bool,
    /// The number of subjects that got values.
    pub claimed: usize,
    /// The values that others have already.
    pub duplicates: Vec<DuplicateValue>,
}

/// A value that another subject has already. It stays without a claim.
#[doc(hidden)]
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DuplicateValue {
    /// The name of the rule.
    pub rule: Cow<'static, str>,
    /// The JSON name of the field.
    pub member: Cow<'static, str>,
    /// The event with the value.
    #[schemars(with = "String")]
    pub event: EventId,
    /// The subject of the event.
    #[schemars(with = "String")]
    pub subject: Subject,
}

impl ClaimJob<'_> {
    /// Claims the values of the next events of a run. The run ends at the end that the log had at its begin, so that it
    /// ends while commands add events.
    ///
    /// # Errors
    /// A store does not answer, an event is unreadable, or others change a subject during every attempt.
    pub async fn claim_next(&self, range: ClaimRange) -> Result<ClaimReport, ClaimError> {
        let ClaimRange { after, until } = range;
        let until = match until {
            Some(until) => Some(until),
            None => newest_id(self.store).await?,
        };
        let mut report = ClaimReport {
            last: after,
            until,
            ..ClaimReport::default()
        };
        let event_types = self.types_with(|_| true);
        // No types are all types.
        if event_types.is_empty() || until <= after {
            report.is_complete = true;
            return Ok(report);
        }
        let options = ReadOptions {
            event_types,
            lower_bound: after.map(Bound::Exclusive),
            upper_bound: until.map(Bound::Inclusive),
            limit: Some(MAX_EVENTS),
            ..ReadOptions::recursive()
        };
        let events = self.store.read(Subject::root(), options);
        let events: Vec<_> = events.try_collect().await?;
        let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
        report.is_complete = count < MAX_EVENTS.get();
        for event in events {
            for owned in self.owned_values(&event)?.into_values() {
                self.claim(&event, &owned, &mut report).await?;
            }
            report.last = Some(event.id);
        }
        Ok(report)
    }

    /// Returns the stored types of the events with such a rule.
    fn types_with(&self, is_meant: impl Fn(&str) -> bool) -> Vec<EventType> {
        let declared = self.events.iter();
        let with_rule = declared.filter(|event| event.unique.names().into_iter().any(&is_meant));
        self.upcasters
            .with_stored_types(with_rule.map(|event| event.event_type))
    }

    /// Returns the values that the subject of an event has after it, by their rules.
    fn owned_values(
        &self,
        event: &RecordedEvent,
    ) -> Result<BTreeMap<&'static str, OwnedValues>, ClaimError> {
        let mut by_rule = BTreeMap::new();
        let read = catch_panic(|| {
            self.upcasters.read(event, |view| {
                let mut declared = self.events.iter();
                if let Some(declared) = declared.find(|one| one.event_type == view.event_type()) {
                    let payload: Box<RawValue> = view.payload()?;
                    let owned = OwnedValues::of_payload(&event.subject, declared, payload.get())?;
                    by_rule.extend(owned.into_iter().map(|one| (one.rule, one)));
                }
                Ok::<_, Box<dyn Error>>(())
            })
        });
        let read = read.unwrap_or_else(|panic| Err(panic.into()));
        read.map_err(|error| ClaimError::Unreadable {
            event: event.id,
            reason: error.to_string(),
        })?;
        Ok(by_rule)
    }

    /// Claims the values of an event, unless a later event of its subject says which values the subject has.
    async fn claim(
        &self,
        event: &RecordedEvent,
        owned: &OwnedValues,
        report: &mut ClaimReport,
    ) -> Result<(), ClaimError> {
        let subject = &event.subject;
        for _ in 0..MAX_ATTEMPTS {
            let latest = latest_event(self.store, subject.clone(), false).await?;
            let Some(mut preconditions) = self.check_erasures(owned).await? else {
                return Ok(());
            };
            if self.is_replaced(event, owned.rule).await? {
                return Ok(());
            }
            let plan = match plan_claims(self.store, self.keys, slice::from_ref(owned)).await {
                Ok(plan) if plan.events.is_empty() => return Ok(()),
                Ok(plan) => plan,
                Err(ClaimError::NotUnique { rule, member }) => {
                    report.duplicates.push(DuplicateValue {
                        rule: rule.into(),
                        member: member.into(),
                        event: event.id,
                        subject: subject.clone(),
                    });
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let events = plan.events.into_iter();
            let candidates = events
                .map(|one| one.into_candidate(self.source, None))
                .collect();
            preconditions.extend(plan.preconditions);
            let latest = latest.map(|event| event.id);
            preconditions.push(Precondition::subject_is_unchanged(subject.clone(), latest));
            match self.store.append(candidates, preconditions).await {
                Ok(_) => {
                    report.claimed = report.claimed.saturating_add(1);
                    return Ok(());
                }
                // The next attempt finds out which values are claimed.
                Err(AppendError::Conflict(_) | AppendError::Unknown { .. }) => {}
                Err(AppendError::Store(error)) => return Err(error.into()),
                Err(error) => return Err(ClaimError::Encode(error.to_string())),
            }
        }
        Err(ClaimError::Contended(subject.clone()))
    }

    /// Returns the conditions under which no person of these values is erased, or `None` if one is. The values of an erased
    /// person cannot be read, and the erasure has released or kept their claims.
    async fn check_erasures(
        &self,
        owned: &OwnedValues,
    ) -> Result<Option<Vec<Precondition>>, ClaimError> {
        let mut preconditions = Vec::new();
        for person in &owned.persons {
            let announcement = parse_subject(format!("{}/{person}", personal::ERASURES))?;
            let erasure = latest_event(self.store, announcement.clone(), false).await?;
            if erasure.is_some() {
                return Ok(None);
            }
            preconditions.push(Precondition::subject_is_unchanged(announcement, None));
        }
        Ok(Some(preconditions))
    }

    /// Returns whether a later event of the subject says which values it has.
    async fn is_replaced(&self, event: &RecordedEvent, rule: &str) -> Result<bool, ClaimError> {
        let later = ReadOptions {
            lower_bound: Some(Bound::Exclusive(event.id)),
            event_types: self.types_with(|name| name == rule),
            ..ReadOptions::default()
        };
        let mut later = self.store.read(event.subject.clone(), later);
        while let Some(later) = later.try_next().await? {
            if self.owned_values(&later)?.contains_key(rule) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
