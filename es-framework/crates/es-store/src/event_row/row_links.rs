//! The links of a row to the rows before it. They show that a row is missing without reading the whole log.

use super::row_flaw::{RowFlaw, sql_number};
use crate::options::IdRange;
use es_event::{EventId, RecordedEvent};

/// The events before one: that of its subject and that of its type.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowLinks {
    /// The previous event of the same subject.
    pub in_subject: Option<EventId>,
    /// The previous event of the same type.
    pub of_type: Option<EventId>,
}

/// The rows that one step of a scan has read, and the rows to which they link.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct LinkCheck {
    found: Vec<u64>,
    linked: Vec<u64>,
}

impl LinkCheck {
    /// Adds a row and the row before it.
    pub fn add_row(&mut self, id: EventId, previous: Option<EventId>) {
        self.found.push(id.get());
        self.add_link(previous);
    }

    /// Adds a row that another row or an index names.
    pub fn add_link(&mut self, linked: Option<EventId>) {
        self.linked.extend(linked.map(EventId::get));
    }

    /// Returns a row that is named but was not found, although the step has read all rows of this range.
    pub fn find_missing(&mut self, read: IdRange) -> Option<u64> {
        self.found.sort_unstable();
        let mut linked = self.linked.iter().copied();
        linked.find(|id| {
            (read.first..=read.last).contains(id) && self.found.binary_search(id).is_err()
        })
    }
}

/// Checks that each of two events with neighbouring ids names the hash of the other.
///
/// # Errors
/// One of the events was replaced.
#[doc(hidden)]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> EventId {
        EventId::new(number).unwrap()
    }

    fn missing(rows: &[(u64, Option<u64>)], latest: Option<u64>, read: (u64, u64)) -> Option<u64> {
        let mut check = LinkCheck::default();
        for (row, previous) in rows {
            check.add_row(id(*row), previous.map(id));
        }
        check.add_link(latest.map(id));
        let (first, last) = read;
        check.find_missing(IdRange { first, last })
    }

    #[test]
    fn a_row_that_another_one_names_is_missed() {
        let whole = [(2, None), (5, Some(2)), (9, Some(5))];
        assert_eq!(missing(&whole, Some(9), (0, 20)), None);
        assert_eq!(missing(&whole[1..], Some(9), (0, 20)), Some(2));
        assert_eq!(
            missing(&[whole[0], whole[2]], Some(9), (0, 20)),
            Some(5),
            "in the middle"
        );
        assert_eq!(
            missing(&whole[..2], Some(9), (0, 20)),
            Some(9),
            "at the end"
        );
        assert_eq!(missing(&[], Some(9), (0, 20)), Some(9), "all rows");
    }

    #[test]
    fn a_row_outside_of_the_range_is_not_missed() {
        assert_eq!(missing(&[(5, Some(2))], Some(9), (3, 8)), None);
        let backwards = [(9, Some(5)), (5, Some(2))];
        assert_eq!(missing(&backwards, Some(9), (3, 20)), None);
        assert_eq!(missing(&[], None, (0, 20)), None);
    }
}
