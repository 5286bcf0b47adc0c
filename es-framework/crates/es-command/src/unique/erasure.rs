//! The end of claims with the personal data that they are about.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use es_event::{Subject, personal};
use es_store::{AppendError, EventStore, Precondition, ReadOptions, latest_event};
use futures_util::TryStreamExt as _;
use uuid::Uuid;

use super::{
    ClaimError,
    claim_events::{
        CLAIMED, ClaimPayload, NewClaimEvent, OWNED, OwnedPayload, RELEASED, ReleasePayload,
        VALUES, owner_subject, parse_subject, value_subject,
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
    store: &dyn EventStore,
    source: &Arc<str>,
) -> Result<(), ClaimError> {
    let erased = read_erased_persons(store).await?;
    let mut claimed: BTreeMap<(String, Subject), BTreeSet<String>> = BTreeMap::new();
    let options = ReadOptions {
        event_types: vec![CLAIMED],
        ..ReadOptions::recursive()
    };
    let mut claims = store.read(parse_subject(VALUES.to_owned())?, options);
    while let Some(claim) = claims.try_next().await? {
        let payload: ClaimPayload = claim.payload()?;
        let mut segments = claim.subject.as_str().rsplit('/');
        if payload
            .person
            .is_some_and(|person| erased.contains(&person))
            && let (Some(digest), Some(rule)) = (segments.next(), segments.next())
        {
            let of_owner = claimed.entry((rule.to_owned(), payload.owner)).or_default();
            of_owner.insert(digest.to_owned());
        }
    }
    for ((rule, owner), digests) in &claimed {
        release_values(store, source, rule, owner, digests).await?;
    }
    Ok(())
}

/// Returns the persons whose erasure is announced.
async fn read_erased_persons(store: &dyn EventStore) -> Result<BTreeSet<Uuid>, ClaimError> {
    let announcements = parse_subject(personal::ERASURES.to_owned())?;
    let mut announcements = store.read(announcements, ReadOptions::recursive());
    let mut erased = BTreeSet::new();
    while let Some(announcement) = announcements.try_next().await? {
        let last = announcement.subject.as_str().rsplit('/').next();
        erased.extend(last.and_then(|id| id.parse::<Uuid>().ok()));
    }
    Ok(erased)
}

/// Releases those of the values that the owner still has.
async fn release_values(
    store: &dyn EventStore,
    source: &Arc<str>,
    rule: &str,
    owner: &Subject,
    digests: &BTreeSet<String>,
) -> Result<(), ClaimError> {
    let list = owner_subject(rule, owner)?;
    for _ in 0..MAX_ATTEMPTS {
        let Some(latest) = latest_event(store, list.clone(), false).await? else {
            return Ok(());
        };
        let OwnedPayload { values } = latest.payload()?;
        let (released, kept): (BTreeSet<_>, BTreeSet<_>) = values
            .into_iter()
            .partition(|digest| digests.contains(digest));
        if released.is_empty() {
            return Ok(());
        }
        let owner = owner.clone();
        let release = ReleasePayload { owner };
        let mut events = Vec::new();
        for digest in &released {
            let subject = value_subject(rule, digest)?;
            events.push(NewClaimEvent::new(subject, RELEASED, &release)?);
        }
        let payload = OwnedPayload { values: kept };
        events.push(NewClaimEvent::new(list.clone(), OWNED, &payload)?);
        let events = events.into_iter();
        let candidates: Vec<_> = events.map(|one| one.into_candidate(source)).collect();
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
