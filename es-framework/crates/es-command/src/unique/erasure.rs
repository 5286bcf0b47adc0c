//! The end of claims with the personal data that they are about.

use std::{collections::BTreeSet, sync::Arc};

use es_event::{Subject, personal};
use es_store::{AppendError, EventLog, Precondition, ReadOptions, latest_event};
use futures_util::TryStreamExt as _;
use uuid::Uuid;

use super::{
    ClaimError,
    claim_events::{
        CLAIMED, ClaimPayload, OWNED, OwnedPayload, RELEASED, ReleasePayload, VALUES, new_event,
        owner_subject, parse_subject, read_claim, value_subject,
    },
};

/// The most attempts to release the values of an owner whose list changes.
const MAX_ATTEMPTS: usize = 8;

/// Releases the values that erased persons have, but for those whose rule keeps them. Needs neither the values nor
/// the personal data, and can be repeated.
///
/// # Errors
/// The event store does not answer, or others change the values during every attempt.
#[doc(hidden)]
pub async fn release_claims_of_erased_persons(
    store: &dyn EventLog,
    source: &Arc<str>,
) -> Result<(), ClaimError> {
    let erased = read_erased_persons(store).await?;
    let mut owners: BTreeSet<(String, Subject)> = BTreeSet::new();
    let options = ReadOptions {
        event_types: vec![CLAIMED],
        ..ReadOptions::recursive()
    };
    let mut claims = store.read(parse_subject(VALUES.to_owned())?, options);
    while let Some(claim) = claims.try_next().await? {
        let payload: ClaimPayload = claim.payload()?;
        if payload
            .person
            .is_some_and(|person| erased.contains(&person))
            && let Some(rule) = claim.subject.as_str().rsplit('/').nth(1)
        {
            owners.insert((rule.to_owned(), payload.owner));
        }
    }
    for (rule, owner) in &owners {
        release_values(store, source, (rule, owner), &erased).await?;
    }
    Ok(())
}

/// Returns the persons whose erasure is announced.
async fn read_erased_persons(store: &dyn EventLog) -> Result<BTreeSet<Uuid>, ClaimError> {
    let announcements = parse_subject(personal::ERASURES.to_owned())?;
    let mut announcements = store.read(announcements, ReadOptions::recursive());
    let mut erased = BTreeSet::new();
    while let Some(announcement) = announcements.try_next().await? {
        let last = announcement.subject.as_str().rsplit('/').next();
        erased.extend(last.and_then(|id| id.parse::<Uuid>().ok()));
    }
    Ok(erased)
}

/// Releases those of the values of an owner that it has for an erased person.
async fn release_values(
    store: &dyn EventLog,
    source: &Arc<str>,
    (rule, owner): (&str, &Subject),
    erased: &BTreeSet<Uuid>,
) -> Result<(), ClaimError> {
    let list = owner_subject(rule, owner)?;
    for _ in 0..MAX_ATTEMPTS {
        let Some(latest) = latest_event(store, list.clone(), false).await? else {
            return Ok(());
        };
        let OwnedPayload { values } = latest.payload()?;
        let (mut released, mut kept) = (Vec::new(), BTreeSet::new());
        for digest in values {
            let subject = value_subject(rule, &digest)?;
            // The person of the last claim counts: an owner can have a value for one person after another.
            let (_, claim) = read_claim(store, subject.clone()).await?;
            let person = claim.and_then(|claim| claim.person);
            if person.is_some_and(|person| erased.contains(&person)) {
                released.push(subject);
            } else {
                kept.insert(digest);
            }
        }
        if released.is_empty() {
            return Ok(());
        }
        let owner = owner.clone();
        let release = ReleasePayload { owner };
        let mut events = Vec::new();
        for subject in released {
            events.push(new_event(subject, RELEASED, &release)?);
        }
        let payload = OwnedPayload { values: kept };
        events.push(new_event(list.clone(), OWNED, &payload)?);
        let released = events.into_iter();
        let candidates: Vec<_> = released
            .map(|one| one.into_candidate(source, None))
            .collect();
        let unchanged = Precondition::subject_is_unchanged(list.clone(), Some(latest.id));
        match store.append(candidates, vec![unchanged]).await {
            Ok(_) => return Ok(()),
            // The next attempt finds out which of the values are released.
            Err(AppendError::Conflict(_) | AppendError::Unknown { .. }) => {}
            Err(AppendError::Store(error)) => return Err(error.into()),
            Err(error) => return Err(ClaimError::Encode(error.to_string())),
        }
    }
    Err(ClaimError::Contended(list))
}
