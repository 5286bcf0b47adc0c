//! What a handler decides on: states, rebuilt from the events of a subject.

mod cache;
mod declared;
mod held;
mod metrics;
mod rebuild;
mod snapshot;
#[cfg(test)]
mod tests;

pub use declared::{Evolve, State};
pub use held::{CachePolicy, CachedState, StateKind, StateSource};
pub use rebuild::{LastEvent, RebuildError, RebuiltState, StateLoader};
pub use snapshot::Snapshots;
