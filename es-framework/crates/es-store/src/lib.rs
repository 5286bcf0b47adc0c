//! The port to the event store, its adapter in memory, backup and verification.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

#[cfg(panic = "abort")]
compile_error!(
    "es-framework needs `panic = \"unwind\"`, which is the default: remove `panic = \"abort\"` from the profile in \
     Cargo.toml. A schema check that exceeds its budget unwinds, and so does a projection that fails, so with `abort` \
     a client or an event could end the process."
);

pub mod backup;
pub mod catalogue;
#[cfg(any(test, feature = "contract"))]
#[doc(hidden)]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "the contract is a test suite"
)]
pub mod contract;
mod error;
mod event_log;
#[doc(hidden)]
pub mod event_row;
mod event_time_lead;
#[cfg(any(test, feature = "contract", feature = "simulation"))]
mod forwarding_log;
mod inline_reads;
mod log_damage;
pub mod memory;
mod meter;
pub mod options;
mod postgres_scheme;
mod precondition;
#[doc(hidden)]
pub mod scan;
pub mod schema;
#[doc(hidden)]
pub mod schema_work;
#[doc(hidden)]
pub mod secret_file;
#[doc(hidden)]
pub mod simulation;
mod store_catalog;
#[doc(hidden)]
pub mod subjects;
mod unreadable_event;
mod verify;
#[doc(hidden)]
pub mod write;

pub use catalogue::KnownEventType;
pub use error::{AppendError, RegisterError, StoreError};
pub use event_log::{EventLog, EventStream, event_with_id, latest_event, newest_id};
#[doc(hidden)]
pub use event_time_lead::event_time_lead;
#[cfg(any(test, feature = "contract", feature = "simulation"))]
#[doc(hidden)]
pub use forwarding_log::ForwardingLog;
#[doc(hidden)]
pub use inline_reads::max_inline_reads;
pub use log_damage::{DamagePlace, LogDamage};
#[doc(hidden)]
pub use log_damage::{DamageSettlement, describe_closed_log};
#[doc(hidden)]
pub use meter::{StoreMeter, install_meter, measure};
pub use options::{
    Bound, FromLatestEvent, IdRange, IfEventIsMissing, InvalidOptions, ObserveOptions, Order,
    ReadOptions,
};
#[doc(hidden)]
pub use postgres_scheme::strip_postgres_scheme;
pub use precondition::{Conflict, Precondition, PreconditionScope};
pub use schema::{EventSchema, InvalidSchema, SchemaConflict};
pub use store_catalog::{EventTypeStream, LineStream, StoreCatalog, SubjectStream};
#[doc(hidden)]
pub use unreadable_event::{find_unreadable_event, newest_id_or_bound};
pub use verify::{Chain, ChainFlaw, VerificationProgress, VerificationReport, verify};
#[doc(hidden)]
pub use verify::{NEWEST, VerificationScope, verify_scope};

/// A whole event store: its log and its catalog. Every adapter passes the whole contract suite.
///
/// ```
/// use std::sync::Arc;
///
/// use es_store::{EventLog, EventStore, memory::MemoryStore};
///
/// let store: Arc<dyn EventStore> = Arc::new(MemoryStore::new());
/// assert_eq!(store.description(), "in memory");
/// let log: Arc<dyn EventLog> = store;
/// ```
pub trait EventStore: EventLog + StoreCatalog {}

impl<S: EventLog + StoreCatalog> EventStore for S {}
