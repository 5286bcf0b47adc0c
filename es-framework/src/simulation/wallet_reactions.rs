//! The reactions of the simulated application, and the commands that they send.

use super::{
    printer_connection::{PrinterConnection, PrinterFailure},
    wallet_domain::{HoldPlacedEvent, HoldSettledEvent, TransferReceivedEvent, TransferSentEvent},
};
use crate::{
    prelude::*,
    reaction::{ReactionDescriptor, Reactions, ReactionsError},
};

/// Its handler releases without a look at the hold, so that a second command is seen in the log.
#[derive(Command)]
#[command(subject = "/holds/{id}", internal)]
pub(super) struct ReleaseHoldCommand {
    id: u32,
}

#[derive(Event)]
pub(super) struct HoldReleasedEvent {}

#[handler]
fn release_hold(_: ReleaseHoldCommand) -> HoldReleasedEvent {
    HoldReleasedEvent {}
}

/// Releases holds at their deadline.
pub(super) struct HoldReleaser;

#[reaction]
impl HoldReleaser {
    #[deadline(at = until, unless(HoldSettledEvent))]
    fn release(event: &HoldPlacedEvent) -> ReleaseHoldCommand {
        ReleaseHoldCommand { id: event.id }
    }
}

/// Its handler counts without a look at the count, so that a second command is seen in the log.
#[derive(Command)]
#[command(subject = "/counts/{wallet}", internal)]
pub(super) struct CountTransferCommand {
    wallet: u32,
    operation: u32,
}

#[derive(Event)]
pub(super) struct TransferCountedEvent {
    operation: u32,
}

#[handler]
fn count_transfer(command: CountTransferCommand) -> TransferCountedEvent {
    let operation = command.operation;
    TransferCountedEvent { operation }
}

/// Counts transfers, and prints a receipt for each of them.
pub(super) struct TransferReporter;

#[reaction]
impl TransferReporter {
    fn count(event: &TransferSentEvent) -> CountTransferCommand {
        CountTransferCommand {
            wallet: event.from,
            operation: event.operation,
        }
    }

    async fn print(
        event: &TransferReceivedEvent,
        printer: &PrinterConnection,
        key: &ReactionKey,
    ) -> Result<(), PrinterFailure> {
        let receipt = format!("transfer {}", event.operation);
        printer.print(receipt, key.as_str()).await
    }
}

/// Prints a letter at the deadline of a hold.
pub(super) struct HoldReminder;

#[reaction]
impl HoldReminder {
    #[deadline(at = until, unless(HoldSettledEvent))]
    async fn remind(
        event: &HoldPlacedEvent,
        printer: &PrinterConnection,
        key: &ReactionKey,
    ) -> Result<(), PrinterFailure> {
        let letter = format!("hold {}", event.id);
        printer.print(letter, key.as_str()).await
    }
}

pub(super) fn reactions() -> Result<Reactions, ReactionsError> {
    Reactions::new([
        ReactionDescriptor::of::<HoldReleaser>(),
        ReactionDescriptor::of::<TransferReporter>(),
        ReactionDescriptor::of::<HoldReminder>(),
    ])
}
