//! The reactions of the simulated application, and the commands that they send.

use std::sync::Arc;

use super::{
    news_receiver::{self, NewsReceiver},
    printer_connection::{PrinterConnection, PrinterFailure},
    wallet_domain::{
        OfferAcceptedEvent, OfferOpenedEvent, TransferReceivedEvent, TransferSentEvent,
    },
};
use crate::{
    event::DuplicateDeclaration,
    prelude::*,
    reaction::{React as _, ReactionDescriptor, Reactions},
};

/// Its handler releases without a look at the offer, so that a second command is seen in the log.
#[derive(Command)]
#[command(subject = "/offers/{id}", internal)]
pub(super) struct ExpireOfferCommand {
    id: u32,
}

#[derive(Event)]
pub(super) struct OfferExpiredEvent {}

#[handler]
fn expire_offer(_: ExpireOfferCommand) -> OfferExpiredEvent {
    OfferExpiredEvent {}
}

/// Releases offers at their deadline.
pub(super) struct OfferExpirer;

#[reaction]
impl OfferExpirer {
    #[deadline(at = until, unless(OfferAcceptedEvent))]
    fn release(event: &OfferOpenedEvent) -> ExpireOfferCommand {
        ExpireOfferCommand { id: event.id }
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

/// Prints a letter at the deadline of an offer.
pub(super) struct OfferReminder;

#[reaction]
impl OfferReminder {
    #[deadline(at = until, unless(OfferAcceptedEvent))]
    async fn remind(
        event: &OfferOpenedEvent,
        printer: &PrinterConnection,
        key: &ReactionKey,
    ) -> Result<(), PrinterFailure> {
        let letter = format!("offer {}", event.id);
        printer.print(letter, key.as_str()).await
    }
}

/// Its handler rings without a look at the bell, so that a second command is seen in the log.
#[derive(Command)]
#[command(subject = "/bells/{minute}", internal)]
pub(super) struct RingBellCommand {
    minute: i64,
}

#[derive(Event)]
pub(super) struct BellRungEvent {
    minute: i64,
}

#[handler]
fn ring_bell(command: RingBellCommand) -> BellRungEvent {
    let minute = command.minute;
    BellRungEvent { minute }
}

/// Rings a bell three times an hour.
pub(super) struct BellRinger;

#[reaction]
impl BellRinger {
    #[schedule(cron = "*/20 * * * *", missed = all)]
    fn ring(time: Timestamp) -> RingBellCommand {
        let minute = time.as_second().div_euclid(60);
        RingBellCommand { minute }
    }
}

/// The names of the reactions.
pub(super) const NAMES: [&str; 5] = [
    OfferExpirer::NAME,
    TransferReporter::NAME,
    OfferReminder::NAME,
    BellRinger::NAME,
    news_receiver::NAME,
];

/// Returns the reactions of one process, and its sink.
pub(super) fn reactions(
    receiver: &Arc<NewsReceiver>,
    instance: &'static str,
) -> Result<Reactions, DuplicateDeclaration> {
    Reactions::new([
        news_receiver::sink(receiver, instance)?,
        ReactionDescriptor::of::<OfferExpirer>(),
        ReactionDescriptor::of::<TransferReporter>(),
        ReactionDescriptor::of::<OfferReminder>(),
        ReactionDescriptor::of::<BellRinger>(),
    ])
}
