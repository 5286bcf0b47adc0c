//! Reads that forget a part of the checkpoints of reactions. A reaction on such a store behaves as a reaction with a
//! defect would, without a line of production code for it.

use es_store::simulation::{self, Defect};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::simulated_store::is_of_reaction;
use crate::event::RecordedEvent;

/// Returns the event as a run with a defect reads it.
pub(super) fn forget_parts(event: RecordedEvent) -> RecordedEvent {
    let forgotten = if simulation::has(Defect::IgnoreLeases) {
        "claim"
    } else if simulation::has(Defect::ForgetOpenDeadlines) {
        "openFrom"
    } else {
        return event;
    };
    if !is_of_reaction(&event.subject) {
        return event;
    }
    let data = without_member(&event.data, forgotten).unwrap_or_else(|| event.data.clone());
    RecordedEvent { data, ..event }
}

fn without_member(data: &RawValue, name: &str) -> Option<Box<RawValue>> {
    let mut data: Value = serde_json::from_str(data.get()).ok()?;
    *data.get_mut("payload")?.get_mut(name)? = Value::Null;
    to_raw_value(&data).ok()
}
