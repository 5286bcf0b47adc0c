//! Plans the claims and releases of an append: the events, and the preconditions under which they hold.

use std::collections::{BTreeMap, BTreeSet};

use es_event::{EventId, Subject};
use es_store::{EventLog, Precondition, latest_event};
use futures_util::future::try_join_all;
use uuid::Uuid;

use super::{
    ClaimError, OwnedValues, UniqueKey, UniqueKeySource,
    claim_events::{
        CLAIMED, ClaimPayload, OWNED, OwnedPayload, RELEASED, ReleasePayload, new_event,
        owner_subject, read_claim, value_subject,
    },
    owned_values::OwnedValue,
};
use crate::new_event::NewEvent;

/// The events that an append adds for its unique values, with their preconditions.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct ClaimPlan {
    /// The events, in order.
    pub events: Vec<NewEvent>,
    /// The preconditions: nothing that the plan read has changed.
    pub preconditions: Vec<Precondition>,
}

/// A value of a rule: the name of the rule and the digest.
type ValueKey = (&'static str, String);

/// An owner whose values change.
struct Owner {
    rule: &'static str,
    owner: Subject,
    /// The subject of the list of its values, and the last event there.
    list: Subject,
    latest: Option<EventId>,
    before: BTreeSet<String>,
    after: BTreeSet<String>,
    claims: Vec<NewClaim>,
}

/// Plans what an append has to claim and to release, from the values that its events give to their subjects. An owner
/// has the values of its last event alone, so a changed value releases the earlier one.
///
/// # Errors
/// Another owner has one of the values, or a store does not answer.
#[doc(hidden)]
pub async fn plan_claims(
    store: &dyn EventLog,
    keys: &dyn UniqueKeySource,
    owned: &[OwnedValues],
) -> Result<ClaimPlan, ClaimError> {
    if owned.is_empty() {
        return Ok(ClaimPlan::default());
    }
    // Without a value there is no digest.
    let has_value = owned.iter().any(|one| !one.values.is_empty());
    let key = if has_value {
        Some(keys.unique_key().await?)
    } else {
        None
    };
    let mut last = BTreeMap::new();
    for one in owned {
        last.insert((one.rule, &one.owner), one);
    }
    let mut owners = Vec::new();
    for one in last.into_values() {
        owners.push(read_owner(store, key.as_ref(), one));
    }
    let owners = try_join_all(owners).await?;
    let mut plan = ClaimPlan::default();
    let released = plan.release(&owners)?;
    if let Some(key) = &key {
        plan.claim(key, &owners, &released)?;
    }
    for owner in &owners {
        plan.list_values(owner)?;
    }
    Ok(plan)
}

async fn read_owner(
    store: &dyn EventLog,
    key: Option<&UniqueKey>,
    owned: &OwnedValues,
) -> Result<Owner, ClaimError> {
    let OwnedValues {
        owner,
        rule,
        values,
        ..
    } = owned;
    let list = owner_subject(rule, owner)?;
    let latest = latest_event(store, list.clone(), false).await?;
    let before = match &latest {
        Some(event) => event.payload::<OwnedPayload>()?.values,
        None => BTreeSet::new(),
    };
    let values = values.iter();
    let after = values.filter_map(|value| Some((key?.digest(rule, &value.text), value)));
    let after: BTreeMap<_, _> = after.collect();
    let claims = after.iter().map(|(digest, value)| async {
        let claim = NewClaim::read(store, rule, digest, value).await?;
        let person = claim.before.as_ref().map(|before| before.person);
        let is_kept = before.contains(digest) && person == Some(value.person);
        Ok::<_, ClaimError>((!is_kept).then_some(claim))
    });
    let claims = try_join_all(claims).await?;
    Ok(Owner {
        rule,
        owner: owner.clone(),
        list,
        latest: latest.map(|event| event.id),
        claims: claims.into_iter().flatten().collect(),
        after: after.into_keys().collect(),
        before,
    })
}

impl Owner {
    fn released(&self) -> impl Iterator<Item = &String> {
        self.before.difference(&self.after)
    }
}

/// A value that an owner gets, or has for another person until now, and the claim before.
struct NewClaim {
    digest: String,
    member: &'static str,
    person: Option<Uuid>,
    /// The subject of the value, and the last event there.
    subject: Subject,
    latest: Option<EventId>,
    before: Option<ClaimPayload>,
}

impl NewClaim {
    async fn read(
        store: &dyn EventLog,
        rule: &str,
        digest: &str,
        value: &OwnedValue,
    ) -> Result<Self, ClaimError> {
        let subject = value_subject(rule, digest)?;
        let (latest, before) = read_claim(store, subject.clone()).await?;
        Ok(Self {
            digest: digest.to_owned(),
            member: value.member,
            person: value.person,
            subject,
            latest,
            before,
        })
    }
}

impl ClaimPlan {
    /// Releases the values that owners give up, and returns them. The lists of the owners change with each claim and
    /// release, so the condition on a list holds for its values as well.
    fn release(&mut self, owners: &[Owner]) -> Result<BTreeMap<ValueKey, Subject>, ClaimError> {
        let mut released = BTreeMap::new();
        for one in owners {
            for digest in one.released() {
                let subject = value_subject(one.rule, digest)?;
                let owner = one.owner.clone();
                let payload = ReleasePayload { owner };
                self.events.push(new_event(subject, RELEASED, &payload)?);
                released.insert((one.rule, digest.clone()), payload.owner);
            }
        }
        Ok(released)
    }

    /// Claims the values that owners get.
    fn claim(
        &mut self,
        key: &UniqueKey,
        owners: &[Owner],
        released: &BTreeMap<ValueKey, Subject>,
    ) -> Result<(), ClaimError> {
        let mut claimed = BTreeSet::new();
        let claims = owners.iter();
        let claims = claims.flat_map(|owner| owner.claims.iter().map(move |claim| (owner, claim)));
        for (owner, claim) in claims {
            let value_key = (owner.rule, claim.digest.clone());
            let is_free = claim.before.as_ref().is_none_or(|before| {
                before.owner == owner.owner || released.get(&value_key) == Some(&before.owner)
            });
            if !is_free || !claimed.insert(value_key) {
                return Err(ClaimError::NotUnique {
                    rule: owner.rule,
                    member: claim.member,
                });
            }
            let payload = ClaimPayload {
                owner: owner.owner.clone(),
                key_id: key.id(),
                person: claim.person,
            };
            let subject = claim.subject.clone();
            let event = new_event(subject.clone(), CLAIMED, &payload)?;
            self.events.push(event);
            let condition = Precondition::subject_is_unchanged(subject, claim.latest);
            self.preconditions.push(condition);
        }
        Ok(())
    }

    /// Writes the list of an owner's values, if a claim or a release changes.
    fn list_values(&mut self, owner: &Owner) -> Result<(), ClaimError> {
        if owner.released().next().is_some() || !owner.claims.is_empty() {
            let values = owner.after.clone();
            let payload = OwnedPayload { values };
            let list = new_event(owner.list.clone(), OWNED, &payload)?;
            self.events.push(list);
        }
        let condition = Precondition::subject_is_unchanged(owner.list.clone(), owner.latest);
        self.preconditions.push(condition);
        Ok(())
    }
}
