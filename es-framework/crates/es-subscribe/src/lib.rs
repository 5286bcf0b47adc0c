//! One engine for everything that follows the events of a store, such as read models and reactions.
//!
//! A [`Subscriber`] says how it handles events. [`follow`] subscribes, reads batches, retries after a pause,
//! parks at a poison event, and records the progress that operators see.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod batch_reader;
mod catch_up;
mod checkpoint;
mod delivery_log;
mod engine;
mod held_keys;
pub mod operator;
mod operator_command;
mod panic;
mod progress;
mod progress_registry;
mod progress_watcher;
mod sink_progress;
mod skip_log;
mod skipped_events;
pub mod state;
#[doc(hidden)]
pub mod status;
mod subscriber;
mod subscriber_state;

pub use checkpoint::SubscriberCheckpoint;
pub use delivery_log::{DeliveryLog, DeliveryRecord};
pub use engine::{back_off, follow};
pub use held_keys::{HeldKey, HeldKeyGroup, HeldKeyId, HeldKeyKind, HeldKeys, MAX_HELD_KEYS};
pub use operator_command::{CommandedSubscriber, answer_during, answer_request};
pub use panic::{catch_panic, panic_text};
pub use progress::{OpenDeadlines, ProgressError, RebuildPace, SubscriberProgress};
pub use progress_registry::ProgressRegistry;
pub use progress_watcher::ProgressWatcher;
pub use skip_log::SkipLog;
pub use skipped_events::SkippedEvents;
pub use subscriber::{Interruption, Subscriber};
pub use subscriber_state::{OngoingFailure, SubscriberFailure, SubscriberState, TroubleCause};
