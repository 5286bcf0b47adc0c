//! The operations of simulated clients, and the record of their attempts.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use uuid::Uuid;

use super::{
    badge_domain::{BADGES, WearBadgeCommand, badge_name},
    environment::SimulationEnvironment,
    owner_domain::{NameOwnerCommand, OWNERS, owner_id, owner_name},
    wallet_domain::{
        AcceptOfferCommand, FillWalletCommand, OpenOfferCommand, OpenWalletCommand,
        TipWalletCommand, TransferCommand, WriteNoteCommand, command_descriptor,
    },
};
use crate::{command::CommandDescriptor, event::EventId};

/// The number of wallets. Few wallets make conflicts likely.
pub(super) const WALLETS: u64 = 3;
const HOLDS: u64 = 6;
/// The number of holders of badges: more than badges.
pub(super) const HOLDERS: u64 = 3;

/// A command that a simulated client sends, with its values.
#[derive(Debug, Clone, Copy)]
pub(super) enum ClientOperation {
    OpenWallet {
        id: u32,
    },
    FillWallet {
        id: u32,
        amount: i64,
    },
    /// Adds one, like every other tip, so that its events do not name it.
    TipWallet {
        id: u32,
    },
    Transfer {
        from: u32,
        to: u32,
        amount: i64,
    },
    WriteNote {
        id: u32,
    },
    NameOwner {
        id: u32,
    },
    OpenOffer {
        id: u32,
        until: Timestamp,
    },
    AcceptOffer {
        id: u32,
    },
    WearBadge {
        id: u32,
        badge: u32,
    },
}

/// The result of one attempt to carry out an operation.
#[derive(Debug, Clone)]
pub(super) enum AttemptResult {
    /// The command was carried out: its last event, and the last event of its subject.
    Acknowledged {
        position: Option<EventId>,
        latest: Option<EventId>,
    },
    /// The command was refused, and this attempt wrote nothing.
    Refused(String),
    /// The attempt wrote nothing. Another one may succeed.
    NotDone,
    /// Nobody knows whether the attempt wrote something.
    Unknown,
}

/// One attempt to carry out an operation.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    /// The number of events in the store before the request was sent.
    pub(super) length_before: u64,
    /// The number of events in the store after the answer arrived.
    pub(super) length_after: u64,
    pub(super) result: AttemptResult,
}

/// An operation with all of its attempts.
#[derive(Debug, Clone)]
pub(super) struct OperationRecord {
    pub(super) number: u32,
    pub(super) operation: ClientOperation,
    pub(super) attempts: Vec<Attempt>,
}

impl ClientOperation {
    /// Draws an operation.
    pub(super) fn sample(environment: &SimulationEnvironment) -> Self {
        let id = |count: u64| u32::try_from(environment.random_below(count)).unwrap_or_default();
        let amount = || i64::try_from(environment.random_between(1, 20)).unwrap_or_default();
        if environment.random_bool(environment.faults().same_tip) {
            return Self::TipWallet { id: 0 };
        }
        match environment.random_below(100) {
            0..5 => Self::OpenWallet { id: id(WALLETS) },
            5..17 => Self::FillWallet {
                id: id(WALLETS),
                amount: amount(),
            },
            17..25 => Self::WearBadge {
                id: id(HOLDERS),
                badge: id(BADGES + 1),
            },
            25..38 => Self::TipWallet { id: id(WALLETS) },
            38..63 => {
                let from = id(WALLETS);
                let to = (from + 1 + id(WALLETS - 1)) % u32::try_from(WALLETS).unwrap_or(1);
                let amount = amount();
                Self::Transfer { from, to, amount }
            }
            63..68 => Self::WriteNote { id: id(2) },
            68..76 => Self::NameOwner { id: id(OWNERS) },
            76..90 => {
                let delay =
                    i64::try_from(environment.random_between(200, 6_000)).unwrap_or_default();
                let until = environment
                    .now()
                    .saturating_add(SignedDuration::from_millis(delay));
                Self::OpenOffer {
                    id: id(HOLDS),
                    until: until.unwrap_or(Timestamp::MAX),
                }
            }
            _ => Self::AcceptOffer { id: id(HOLDS) },
        }
    }

    /// Returns the command and the body of the request.
    pub(super) fn encode_request(
        self,
        operation: u32,
    ) -> Result<(CommandDescriptor, Vec<u8>), serde_json::Error> {
        fn encode<C: crate::command::Handle + Serialize>(
            command: &C,
        ) -> Result<(CommandDescriptor, Vec<u8>), serde_json::Error> {
            Ok((command_descriptor::<C>(), serde_json::to_vec(command)?))
        }
        match self {
            Self::OpenWallet { id } => encode(&OpenWalletCommand { id, operation }),
            Self::FillWallet { id, amount } => encode(&FillWalletCommand {
                id,
                amount,
                operation,
            }),
            Self::TipWallet { id } => encode(&TipWalletCommand { id }),
            Self::Transfer { from, to, amount } => encode(&TransferCommand {
                from,
                to,
                amount,
                operation,
            }),
            Self::WriteNote { id } => encode(&WriteNoteCommand { id, operation }),
            Self::NameOwner { id } => encode(&NameOwnerCommand {
                id: owner_id(id),
                name: owner_name(operation.into()),
                operation,
            }),
            Self::OpenOffer { id, until } => encode(&OpenOfferCommand {
                id,
                until,
                operation,
            }),
            Self::AcceptOffer { id } => encode(&AcceptOfferCommand { id, operation }),
            Self::WearBadge { id, badge } => encode(&WearBadgeCommand {
                id,
                badge: badge_name(badge),
                operation,
            }),
        }
    }

    /// Returns the person about whom the operation stores something.
    pub(super) fn person(self) -> Option<Uuid> {
        match self {
            Self::NameOwner { id } => Some(owner_id(id)),
            _ => None,
        }
    }

    /// Returns the subjects of the events that the operation writes.
    pub(super) fn subjects(self) -> Vec<String> {
        match self {
            Self::OpenWallet { id } | Self::FillWallet { id, .. } | Self::TipWallet { id } => {
                vec![format!("/wallets/{id}")]
            }
            Self::Transfer { from, to, .. } => {
                vec![format!("/wallets/{from}"), format!("/wallets/{to}")]
            }
            Self::WriteNote { id } => vec![format!("/notes/{id}")],
            Self::NameOwner { id } => vec![format!("/owners/{}", owner_id(id))],
            Self::OpenOffer { id, .. } | Self::AcceptOffer { id } => vec![format!("/offers/{id}")],
            Self::WearBadge { id, .. } => vec![format!("/holders/{id}")],
        }
    }
}
