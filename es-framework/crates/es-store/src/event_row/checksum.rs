//! The checksum of a row. It detects a row that is not as it was written, before it reaches a client.

use es_event::EventType;

/// The number of the columns of an event besides its id and its checksum.
pub(super) const COLUMNS: usize = 9;
/// Columns of at most this length in bytes are gathered in a buffer, because one checksum step for all of them is
/// faster than a step for each.
const COPIED: usize = 1 << 10;

/// Computes the checksum of a row from its id and its other columns.
pub(crate) fn compute_checksum<'a>(
    id: i64,
    columns: impl IntoIterator<Item = Option<&'a [u8]>>,
) -> i64 {
    let mut checksum = crc32fast::Hasher::new();
    let mut copied = Vec::with_capacity(COPIED);
    copied.extend_from_slice(&id.to_le_bytes());
    for column in columns {
        // The length separates a column from the next one, and NULL from an empty text.
        let length = column.map_or(-1, |bytes| i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        copied.extend_from_slice(&length.to_le_bytes());
        let bytes = column.unwrap_or_default();
        if bytes.len() <= COPIED {
            copied.extend_from_slice(bytes);
        } else {
            checksum.update(&copied);
            copied.clear();
            checksum.update(bytes);
        }
    }
    checksum.update(&copied);
    checksum.finalize().into()
}

/// Computes the checksum of a schema.
pub fn compute_schema_checksum(event_type: &EventType, schema: &str) -> i64 {
    let columns = [event_type.as_str(), schema];
    compute_checksum(0, columns.map(|text| Some(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_and_its_place_count() {
        let checksum = |id, columns: [Option<&str>; 2]| {
            compute_checksum(id, columns.map(|column| column.map(str::as_bytes)))
        };
        let long = "x".repeat(5_000);
        let different = [
            checksum(0, [Some("a"), Some("b")]),
            checksum(1, [Some("a"), Some("b")]),
            checksum(0, [Some("b"), Some("a")]),
            checksum(0, [Some("ab"), Some("")]),
            checksum(0, [Some("ab"), None]),
            checksum(0, [Some(&long), None]),
            checksum(0, [None, Some(&long)]),
        ];
        for (place, one) in different.iter().enumerate() {
            assert!(!different[place + 1..].contains(one), "{place}");
        }
    }
}
