//! The commands and the read model of the simulated application: wallets with transfers between two
//! subjects, notes without any precondition, and offers with a deadline. An event contains the balance
//! that its handler saw. So the log alone tells whether a decision fits the events before it.

use std::sync::Arc;

use super::{
    owner_domain::OwnerRow, printer_connection::PrinterConnection,
    wallet_reactions::OfferExpiredEvent,
};
use crate::{
    command::CommandDescriptor,
    prelude::*,
    projection::{ReadModelDescriptor, ReadModels},
};

#[derive(Command)]
#[command(subject = "/wallets/{id}", condition = pristine)]
pub(super) struct OpenWalletCommand {
    pub(super) id: u32,
    pub(super) operation: u32,
}

#[derive(Event)]
pub(super) struct WalletOpenedEvent {
    operation: u32,
}

#[handler]
fn open(command: OpenWalletCommand) -> WalletOpenedEvent {
    let operation = command.operation;
    WalletOpenedEvent { operation }
}

#[derive(State)]
pub(super) struct Wallet {
    balance: i64,
}

#[evolve]
impl Wallet {
    fn opened(_: &WalletOpenedEvent) -> Self {
        Self { balance: 0 }
    }

    fn filled(&mut self, event: &WalletFilledEvent) {
        self.balance += event.amount;
    }

    fn tipped(&mut self, event: &WalletTippedEvent) {
        self.balance += event.amount;
    }

    fn sent(&mut self, event: &TransferSentEvent) {
        self.balance -= event.amount;
    }

    fn received(&mut self, event: &TransferReceivedEvent) {
        self.balance += event.amount;
    }
}

#[derive(Command)]
#[command(subject = "/wallets/{id}")]
pub(super) struct FillWalletCommand {
    pub(super) id: u32,
    pub(super) amount: i64,
    pub(super) operation: u32,
}

#[derive(Event)]
pub(super) struct WalletFilledEvent {
    operation: u32,
    amount: i64,
    balance: i64,
}

#[handler]
fn fill(wallet: &Wallet, command: FillWalletCommand) -> WalletFilledEvent {
    WalletFilledEvent {
        operation: command.operation,
        amount: command.amount,
        balance: wallet.balance,
    }
}

/// Two of these commands write the same event, unlike all others.
#[derive(Command)]
#[command(subject = "/wallets/{id}")]
pub(super) struct TipWalletCommand {
    pub(super) id: u32,
}

#[derive(Event)]
pub(super) struct WalletTippedEvent {
    amount: i64,
    balance: i64,
}

#[handler]
fn tip(wallet: &Wallet, _: TipWalletCommand) -> WalletTippedEvent {
    let balance = wallet.balance;
    WalletTippedEvent { amount: 1, balance }
}

#[derive(Command)]
#[command(subject = "/wallets/{from}")]
pub(super) struct TransferCommand {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) amount: i64,
    pub(super) operation: u32,
}

#[derive(Event)]
pub(super) struct TransferSentEvent {
    pub(super) operation: u32,
    pub(super) from: u32,
    amount: i64,
    balance: i64,
}

#[derive(Event)]
#[event(subject = "/wallets/{to}")]
pub(super) struct TransferReceivedEvent {
    pub(super) operation: u32,
    to: u32,
    amount: i64,
    balance: i64,
}

/// The reason why a wallet sends nothing.
#[derive(Debug, Rejection)]
pub(super) enum TransferRejection {
    /// The wallet offers too little
    #[rejection(conflict, detail = "{balance}")]
    TooLittle { balance: i64 },
}

#[handler]
fn transfer(
    #[subject("/wallets/{from}")] from: &Wallet,
    #[subject("/wallets/{to}")] to: &Wallet,
    command: TransferCommand,
) -> Result<(TransferSentEvent, TransferReceivedEvent), TransferRejection> {
    if from.balance < command.amount {
        let balance = from.balance;
        return Err(TransferRejection::TooLittle { balance });
    }
    let TransferCommand {
        amount, operation, ..
    } = command;
    let sent = TransferSentEvent {
        operation,
        from: command.from,
        amount,
        balance: from.balance,
    };
    let received = TransferReceivedEvent {
        operation,
        to: command.to,
        amount,
        balance: to.balance,
    };
    Ok((sent, received))
}

/// Reads nothing, so only its idempotency key makes it safe to repeat.
#[derive(Command)]
#[command(subject = "/notes/{id}")]
pub(super) struct WriteNoteCommand {
    pub(super) id: u32,
    pub(super) operation: u32,
}

#[derive(Event)]
pub(super) struct NoteWrittenEvent {
    operation: u32,
}

#[handler]
fn write_note(command: WriteNoteCommand) -> NoteWrittenEvent {
    let operation = command.operation;
    NoteWrittenEvent { operation }
}

/// An offer ends at its deadline unless it is accepted before.
#[derive(Command)]
#[command(subject = "/offers/{id}", condition = pristine)]
pub(super) struct OpenOfferCommand {
    pub(super) id: u32,
    pub(super) until: Timestamp,
    pub(super) operation: u32,
}

#[derive(Event)]
pub(super) struct OfferOpenedEvent {
    operation: u32,
    pub(super) id: u32,
    pub(super) until: Timestamp,
}

#[handler]
fn open_offer(command: OpenOfferCommand) -> OfferOpenedEvent {
    let OpenOfferCommand {
        id,
        until,
        operation,
    } = command;
    OfferOpenedEvent {
        operation,
        id,
        until,
    }
}

#[derive(State)]
pub(super) enum OfferState {
    Placed,
    Ended,
}

#[evolve]
impl OfferState {
    fn placed(_: &OfferOpenedEvent) -> Self {
        Self::Placed
    }

    fn settled(&mut self, _: &OfferAcceptedEvent) {
        *self = Self::Ended;
    }

    fn released(&mut self, _: &OfferExpiredEvent) {
        *self = Self::Ended;
    }
}

#[derive(Command)]
#[command(subject = "/offers/{id}")]
pub(super) struct AcceptOfferCommand {
    pub(super) id: u32,
    pub(super) operation: u32,
}

#[derive(Event)]
pub(super) struct OfferAcceptedEvent {
    operation: u32,
}

/// The reason why an offer is not accepted.
#[derive(Debug, Rejection)]
pub(super) enum SettlementRejection {
    /// The offer has ended
    #[rejection(conflict)]
    OfferEnded,
}

#[handler]
fn accept_offer(
    offer: &OfferState,
    command: AcceptOfferCommand,
) -> Result<OfferAcceptedEvent, SettlementRejection> {
    let operation = command.operation;
    match offer {
        OfferState::Placed => Ok(OfferAcceptedEvent { operation }),
        OfferState::Ended => Err(SettlementRejection::OfferEnded),
    }
}

/// A wallet as clients see it. Applying an event twice is seen in its row.
#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "simulated_wallets", subject = "/wallets/{id}")]
pub(super) struct WalletRow {
    #[key]
    pub(super) id: u32,
    pub(super) balance: i64,
    pub(super) movements: i64,
}

#[projection]
impl WalletRow {
    fn opened(_: &WalletOpenedEvent, recorded: &crate::event::RecordedEvent) -> Self {
        let id = recorded.subject.as_str().trim_start_matches("/wallets/");
        Self {
            id: id.parse().unwrap_or_default(),
            balance: 0,
            movements: 0,
        }
    }

    fn filled(&mut self, event: &WalletFilledEvent) {
        self.balance += event.amount;
        self.movements += 1;
    }

    fn tipped(&mut self, event: &WalletTippedEvent) {
        self.balance += event.amount;
        self.movements += 1;
    }

    fn sent(&mut self, event: &TransferSentEvent) {
        self.balance -= event.amount;
        self.movements += 1;
    }

    fn received(&mut self, event: &TransferReceivedEvent) {
        self.balance += event.amount;
        self.movements += 1;
    }
}

/// Returns the descriptor of a command.
pub(super) fn command_descriptor<C: Command + crate::command::Handle>() -> CommandDescriptor {
    CommandDescriptor::of::<C>()
}

pub(super) fn read_models() -> Result<ReadModels, crate::event::DuplicateDeclaration> {
    ReadModels::new([
        ReadModelDescriptor::of::<WalletRow>(),
        ReadModelDescriptor::of::<OwnerRow>(),
    ])
}

/// Returns the services of one process.
pub(super) fn services(clock: Clock, printer: Arc<PrinterConnection>) -> crate::command::Services {
    crate::command::Services::default()
        .with(clock)
        .with_shared(printer)
}
