//! The check that no event between two others was replaced.

use super::row_flaw::{RowFlaw, sql_number};
use es_event::RecordedEvent;

/// Checks that each of two events with neighbouring ids names the hash of the other.
///
/// # Errors
/// One of the events was replaced.
pub fn check_neighbours(events: &[RecordedEvent]) -> Result<(), RowFlaw> {
    for pair in events.windows(2) {
        let [one, other] = pair else { continue };
        let (earlier, later) = if one.id < other.id {
            (one, other)
        } else {
            (other, one)
        };
        if earlier.id.next() == Some(later.id) && later.predecessor_hash != earlier.hash {
            let id = sql_number(later.id.get());
            let flaw = format!("does not follow event {}: their hashes differ", earlier.id);
            return Err(RowFlaw::new(id, flaw));
        }
    }
    Ok(())
}
