//! States: what handlers decide on, rebuilt from the events of a subject.

mod cache;
mod declared;
mod descriptor;
mod metrics;
mod rebuild;
mod rebuilt_state;
mod replay;
mod snapshot;
#[cfg(test)]
mod tests;

pub use declared::{Evolve, State};
pub use descriptor::{StateDescriptor, StateScope};
pub use rebuild::{RebuildError, StateLoader};
pub use rebuilt_state::{LastEvent, RebuiltState};
pub use replay::StateReplay;
pub use snapshot::Snapshots;
