//! States: what handlers decide on, rebuilt from the events of a subject.

mod cache;
mod cached;
mod declared;
mod history;
mod metrics;
mod rebuild;
mod rebuilt_state;
mod snapshot;
#[cfg(test)]
mod tests;

pub use cached::{CachedState, StateDescriptor, StateScope};
pub use declared::{Evolve, State};
pub use history::StateHistory;
pub use rebuild::{RebuildError, StateLoader};
pub use rebuilt_state::{LastEvent, RebuiltState};
pub use snapshot::Snapshots;
