//! Which answer a command gets that meets several obstacles at once.

use std::sync::Arc;

use super::{CommandContext, CommandDescriptor, CommandError, CommandRequest, CommandResources};
use crate::{
    command::{DryRunRejection, ExpectedVersion, Handle, dry_run},
    prelude::*,
};
use es_event::{AuthenticatedCaller, Caller};
use es_store::memory::MemoryStore;

#[derive(Command)]
#[command(subject = "/bookings/{id}", condition = pristine)]
struct BookSlotCommand {
    id: String,
    slot: String,
    owner: String,
}

#[derive(Event)]
#[event(subject = "/slots/{slot}")]
struct SlotTakenEvent {
    slot: String,
    owner: String,
}

#[derive(Event)]
struct SlotBookedEvent {}

#[derive(State)]
struct Slot {
    owner: String,
}

#[evolve]
impl Slot {
    fn taken(event: &SlotTakenEvent) -> Self {
        Self {
            owner: event.owner.clone(),
        }
    }
}

#[derive(Debug, Rejection)]
enum BookingError {
    /// The slot is taken
    #[rejection(conflict)]
    SlotTaken,
    /// The slot belongs to somebody else
    #[rejection(forbidden)]
    ForeignSlot,
}

#[handler]
fn book_slot(
    command: BookSlotCommand,
    #[subject("/slots/{slot}")] slot: Option<&Slot>,
) -> Result<(SlotBookedEvent, SlotTakenEvent), BookingError> {
    let BookSlotCommand {
        slot: name, owner, ..
    } = command;
    match slot {
        Some(_) => Err(BookingError::SlotTaken),
        None => Ok((SlotBookedEvent {}, SlotTakenEvent { slot: name, owner })),
    }
}

/// Books nothing, as an import that finds its work done.
#[derive(Command)]
#[command(subject = "/bookings/{id}", condition = pristine)]
struct SkipBookingCommand {
    id: String,
}

#[handler]
fn skip_booking(_: SkipBookingCommand) -> Option<SlotBookedEvent> {
    None
}

#[derive(Command)]
#[command(subject = "/slots/{slot}")]
struct FreeSlotCommand {
    slot: String,
    is_free: bool,
}

#[derive(Event)]
struct SlotFreedEvent {}

#[handler]
fn free_slot(
    slot: &Slot,
    command: FreeSlotCommand,
    caller: &Caller,
) -> Result<SlotFreedEvent, BookingError> {
    caller
        .must_own(&slot.owner)
        .map_err(|_| BookingError::ForeignSlot)?;
    if command.is_free {
        return Err(BookingError::SlotTaken);
    }
    Ok(SlotFreedEvent {})
}

fn resources() -> CommandResources {
    CommandResources::new(Arc::new(MemoryStore::new()), "bookings")
}

/// Returns the name of the answer to a command, which is the same in a dry run.
async fn answer<C: Handle>(
    resources: &CommandResources,
    body: &str,
    context: &CommandContext,
) -> String {
    let request = CommandRequest {
        body: body.as_bytes(),
        path_parameters: &[],
        context,
    };
    let command = CommandDescriptor::of::<C>();
    let tried = dry_run(resources, &command, request, None).await;
    let tried = match tried.unwrap().decision {
        Ok(_) => "carried out".to_owned(),
        Err(DryRunRejection::Command(error)) => name(&error),
        Err(role) => panic!("{role}"),
    };
    let done = match command.execute(resources, request).await {
        Ok(_) => "carried out".to_owned(),
        Err(error) => name(&error),
    };
    assert_eq!(tried, done, "{body}");
    done
}

fn name(error: &CommandError) -> String {
    match error {
        CommandError::AlreadyExists(subject) => format!("{subject} already exists"),
        CommandError::NotFound(subject) => format!("{subject} not found"),
        CommandError::NotAsExpected { .. } => "changed".to_owned(),
        CommandError::Rejected(rejection) => rejection.name().to_owned(),
        other => panic!("{other}"),
    }
}

fn owned_by(owner: &str, expected: Option<ExpectedVersion>) -> CommandContext {
    let caller = AuthenticatedCaller::new(owner, ["member"]).with_owner_id(owner);
    CommandContext {
        caller: Caller::Authenticated(caller),
        expected,
        ..CommandContext::default()
    }
}

#[tokio::test]
async fn a_repeated_request_is_told_that_its_subject_exists_and_not_what_it_did_itself() {
    let resources = resources();
    let anyone = CommandContext::default();
    let first = r#"{"id":"b1","slot":"monday","owner":"ada"}"#;
    let second = r#"{"id":"b2","slot":"monday","owner":"bob"}"#;
    let book = answer::<BookSlotCommand>;
    assert_eq!(book(&resources, first, &anyone).await, "carried out");
    assert_eq!(
        book(&resources, first, &anyone).await,
        "/bookings/b1 already exists"
    );
    assert_eq!(book(&resources, second, &anyone).await, "slot-taken");
    let skip = answer::<SkipBookingCommand>;
    assert_eq!(
        skip(&resources, r#"{"id":"b1"}"#, &anyone).await,
        "/bookings/b1 already exists"
    );
    assert_eq!(
        skip(&resources, r#"{"id":"b2"}"#, &anyone).await,
        "carried out"
    );
}

#[tokio::test]
async fn missing_things_and_foreign_ones_are_answered_before_a_change_and_a_change_before_a_conflict()
 {
    let resources = resources();
    let stale = || Some(ExpectedVersion::OneOf(vec![]));
    let free = answer::<FreeSlotCommand>;
    let monday = r#"{"slot":"monday","isFree":true}"#;
    let missing = free(&resources, monday, &owned_by("bob", stale())).await;
    assert_eq!(missing, "/slots/monday not found");
    let body = r#"{"id":"b1","slot":"monday","owner":"ada"}"#;
    answer::<BookSlotCommand>(&resources, body, &CommandContext::default()).await;
    let foreign = free(&resources, monday, &owned_by("bob", stale())).await;
    assert_eq!(foreign, "foreign-slot");
    let changed = free(&resources, monday, &owned_by("ada", stale())).await;
    assert_eq!(changed, "changed");
    let conflict = free(
        &resources,
        monday,
        &owned_by("ada", Some(ExpectedVersion::Any)),
    )
    .await;
    assert_eq!(conflict, "slot-taken");
}
