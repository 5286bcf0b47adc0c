//! Owners of wallets, whose names are personal data, and the row of each owner.

use uuid::Uuid;

use crate::prelude::*;

/// The number of owners. Few owners make it likely that one is named and erased in the same run.
pub(super) const OWNERS: u64 = 2;

/// The replacement of a name.
pub(super) const ERASED_NAME: &str = "erased owner";

/// The beginning of every name. Nothing else contains it.
pub(super) const NAME_PREFIX: &str = "plain-name-";

/// Returns the id of an owner.
pub(super) fn owner_id(number: u32) -> Uuid {
    Uuid::from_u128(u128::from(number) + 1)
}

/// Returns the name that an operation gives to an owner.
pub(super) fn owner_name(operation: i64) -> String {
    format!("{NAME_PREFIX}{operation}")
}

#[derive(Command)]
#[command(subject = "/owners/{id}")]
pub(super) struct NameOwnerCommand {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) operation: u32,
}

#[derive(Event)]
pub(super) struct OwnerNamedEvent {
    pub(super) operation: u32,
    id: Uuid,
    #[personal(of = id, erased = ERASED_NAME.to_owned())]
    pub(super) name: String,
}

/// The reply repeats the name, so that idempotency records contain it.
#[derive(Value)]
pub(super) struct OwnerReply {
    name: String,
}

#[handler]
fn name_owner(command: NameOwnerCommand) -> Decision<OwnerNamedEvent, OwnerReply> {
    let NameOwnerCommand {
        id,
        name,
        operation,
    } = command;
    let reply = OwnerReply { name: name.clone() };
    let named = OwnerNamedEvent {
        operation,
        id,
        name,
    };
    Decision::new(named, reply)
}

/// An owner as clients see it.
#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "simulated_owners", subject = "/owners/{id}")]
pub(super) struct OwnerRow {
    #[key]
    pub(super) id: Uuid,
    pub(super) name: String,
}

#[projection]
impl OwnerRow {
    fn named(event: OwnerNamedEvent) -> Self {
        let OwnerNamedEvent { id, name, .. } = event;
        Self { id, name }
    }
}
