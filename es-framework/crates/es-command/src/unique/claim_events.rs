//! The events of claims, as the event store has them.

use std::collections::BTreeSet;

use es_event::{EventId, EventType, Metadata, Subject};
use es_store::{EventLog, latest_event};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::ClaimError;
use crate::new_event::NewEvent;

/// The type of claims.
#[doc(hidden)]
pub const CLAIMED: EventType = EventType::declared("io.es-framework.ValueClaimedEvent");
/// The member of a claim that names the key of its digest.
#[doc(hidden)]
pub const CLAIMED_KEY_MEMBER: &str = "keyId";
pub(super) const RELEASED: EventType = EventType::declared("io.es-framework.ValueReleasedEvent");
pub(super) const OWNED: EventType = EventType::declared("io.es-framework.OwnedValuesChangedEvent");

/// The parent of the subjects of values.
pub(super) const VALUES: &str = "/es-framework/unique";

/// The payload of a claim. It names the owner and never the value.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaimPayload {
    pub(super) owner: Subject,
    /// The name of the key of the digest.
    pub(super) key_id: Uuid,
    /// The person with whose personal data the claim ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) person: Option<Uuid>,
}

/// The payload of a release.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReleasePayload {
    pub(super) owner: Subject,
}

/// The payload of the list of an owner's values: their digests.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct OwnedPayload {
    pub(super) values: BTreeSet<String>,
}

/// Encodes an event about claims.
pub(super) fn new_event(
    subject: Subject,
    event_type: EventType,
    payload: &impl Serialize,
) -> Result<NewEvent, ClaimError> {
    let data = es_event::encode(&Metadata::default(), payload)
        .map_err(|error| ClaimError::Encode(error.to_string()))?;
    Ok(NewEvent {
        subject,
        event_type,
        data,
    })
}

/// Returns the last event on the subject of a value, and the claim that it is, unless the value is free.
pub(super) async fn read_claim(
    store: &dyn EventLog,
    subject: Subject,
) -> Result<(Option<EventId>, Option<ClaimPayload>), ClaimError> {
    let latest = latest_event(store, subject, false).await?;
    let claim = latest.as_ref().filter(|event| event.event_type == CLAIMED);
    let claim = claim.map(|event| event.payload()).transpose()?;
    Ok((latest.map(|event| event.id), claim))
}

/// Returns the subject of the claims of a value.
pub(super) fn value_subject(rule: &str, digest: &str) -> Result<Subject, ClaimError> {
    parse_subject(format!("{VALUES}/{rule}/{digest}"))
}

/// Returns the subject of the list of an owner's values.
pub(super) fn owner_subject(rule: &str, owner: &Subject) -> Result<Subject, ClaimError> {
    parse_subject(format!("/es-framework/unique-owners/{rule}{owner}"))
}

pub(super) fn parse_subject(text: String) -> Result<Subject, ClaimError> {
    text.parse()
        .map_err(|error: es_event::InvalidSubject| ClaimError::Encode(error.to_string()))
}
