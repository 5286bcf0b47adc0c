//! Unique values: a subject claims the values of its unique fields in the append of the event that names them.
//!
//! A claim is an event on `/es-framework/unique/<rule>/<digest of the value>`, and so is its release. A third event, on
//! `/es-framework/unique-owners/<rule>/<subject of the owner>`, lists the digests that the owner has claimed, so that a
//! release needs neither the value nor the earlier events of the owner.

mod claim_events;
mod claim_job;
mod claim_plan;
mod erasure;
mod normalization;
mod owned_values;
mod unique_key;

pub use claim_events::{CLAIMED, CLAIMED_KEY_MEMBER};
pub use claim_job::{ClaimJob, ClaimRange, ClaimReport, DuplicateValue};
pub use claim_plan::{ClaimPlan, plan_claims};
pub use erasure::release_claims_of_erased_persons;
pub use owned_values::OwnedValues;
pub use unique_key::{UniqueKey, UniqueKeySource};

use es_event::{DecodeError, EventId, Subject};
use es_store::StoreError;

/// The reason why values cannot be claimed.
#[doc(hidden)]
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another subject has the value of this member.
    #[error("{member} is taken, and {rule} is unique")]
    NotUnique {
        /// The name of the rule.
        rule: &'static str,
        /// The JSON name of the field.
        member: &'static str,
    },
    /// The event store or the key store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A recorded claim is unreadable.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// An event does not fit its declaration.
    #[error("event {event} is unreadable: {reason}")]
    Unreadable {
        /// The event.
        event: EventId,
        /// The reason.
        reason: String,
    },
    /// Others changed this subject during every attempt.
    #[error("others change {0} at the moment: repeat it")]
    Contended(Subject),
    /// The claim cannot be written.
    #[error("the claim of a value cannot be written: {0}")]
    Encode(String),
}
