//! The end mark of a backup, which shows that no line is missing.

use es_event::{EventId, EventType, Hash, HashVersion};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::BackupLine;

/// The content of the last line of a backup.
///
/// ```
/// use es_event::Hash;
/// use es_store::backup::{BackupLine, EndMark};
///
/// let mark = EndMark::default();
/// assert_eq!((mark.events, mark.hash, mark.schemas), (0, Hash::ZERO, 0));
/// let mut line = Vec::new();
/// BackupLine::End(mark).append_to(&mut line);
/// assert!(line.starts_with(br#"{"type":"end","payload":{"events":0,"#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndMark {
    /// The number of events.
    pub events: u64,
    /// The hash of the last event.
    pub hash: Hash,
    /// The number of schemas.
    pub schemas: u64,
    /// The SHA-256 hash of all schemas: for each schema in order its event type, a line break, its JSON text and a
    /// line break.
    pub schemas_hash: Hash,
}

impl Default for EndMark {
    fn default() -> Self {
        LineTally::default().end_mark()
    }
}

/// Counts and hashes the lines of a backup.
///
/// ```
/// use es_store::backup::{EndMark, LineTally};
///
/// assert_eq!(LineTally::default().end_mark(), EndMark::default());
/// ```
#[derive(Debug, Clone)]
pub struct LineTally {
    events: u64,
    hash: Hash,
    schemas: u64,
    schemas_hash: Sha256,
}

impl Default for LineTally {
    fn default() -> Self {
        Self {
            events: 0,
            hash: Hash::ZERO,
            schemas: 0,
            schemas_hash: Sha256::new(),
        }
    }
}

impl LineTally {
    /// Counts a line of the backup. Errors and end marks do not count.
    pub fn add_line(&mut self, line: &BackupLine) {
        match line {
            BackupLine::Event(event) => {
                self.events = self.events.saturating_add(1);
                self.hash = event.hash;
            }
            BackupLine::Schema(event_type, schema) => self.add_schema(event_type, schema.get()),
            BackupLine::Error(_) | BackupLine::End(_) => {}
        }
    }

    fn add_schema(&mut self, event_type: &EventType, schema: &str) {
        self.schemas = self.schemas.saturating_add(1);
        for text in [event_type.as_str(), schema] {
            self.schemas_hash.update(text);
            self.schemas_hash.update(b"\n");
        }
    }

    /// Adds the lines of several events. Parses only the last one, whose id tells the number of events.
    pub(super) fn add_event_lines(&mut self, lines: &[u8]) -> Result<(), String> {
        let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
        let last = lines.rsplit(|byte| *byte == b'\n').next();
        let parsed = BackupLine::parse_line(last.unwrap_or_default());
        let BackupLine::Event(event) = parsed.map_err(|error| error.to_string())? else {
            return Err("a line is no event".to_owned());
        };
        self.events = EventId::count_to(Some(event.id));
        self.hash = event.hash;
        Ok(())
    }

    /// Returns the end mark of the lines so far.
    #[must_use]
    pub fn end_mark(&self) -> EndMark {
        let digest = self.schemas_hash.clone().finalize();
        EndMark {
            events: self.events,
            hash: self.hash,
            schemas: self.schemas,
            schemas_hash: Hash::new(HashVersion::V1, digest.into()),
        }
    }

    /// Compares the lines so far with an end mark.
    ///
    /// # Errors
    /// They differ. The text says how.
    pub fn check_end(&self, written: &EndMark) -> Result<(), String> {
        let found = self.end_mark();
        if (found.events, found.hash) != (written.events, written.hash) {
            return Err(format!(
                "it has {} events, the last with the hash {}, but its end mark says {} and {}",
                found.events, found.hash, written.events, written.hash
            ));
        }
        if found != *written {
            return Err(format!(
                "its {} schemas are not the {} that were written",
                found.schemas, written.schemas
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn schema(name: &str, json: &str) -> BackupLine {
        let schema = RawValue::from_string(json.to_owned()).unwrap();
        BackupLine::Schema(name.parse().unwrap(), schema)
    }

    #[test]
    fn the_hash_of_the_schemas_covers_types_texts_and_their_order() {
        let tally = |lines: &[BackupLine]| {
            let mut tally = LineTally::default();
            lines.iter().for_each(|line| tally.add_line(line));
            tally
        };
        let lines = || [schema("io.example.A", "{}"), schema("io.example.B", "{ }")];
        let mark = tally(&lines()).end_mark();
        // printf 'io.example.A\n{}\nio.example.B\n{ }\n' | sha256sum
        let expected = "c2f2509a4320e0ea0cb0a46e5d362122b78448bb1519047cc36e6f66b5b3ce4c";
        assert_eq!(mark.schemas_hash.to_string(), expected);
        assert_eq!(tally(&lines()).check_end(&mark), Ok(()));
        let [a, b] = lines();
        for other in [
            vec![b, a],
            vec![schema("io.example.A", "{}")],
            vec![schema("io.example.A", "{}"), schema("io.example.B", "{}")],
            vec![schema("io.example.A", "{}"), schema("io.example.C", "{ }")],
        ] {
            let refused = tally(&other).check_end(&mark).unwrap_err();
            assert!(refused.contains("schemas"), "{refused}");
        }
        let more = EndMark { events: 1, ..mark };
        let refused = tally(&lines()).check_end(&more).unwrap_err();
        assert!(refused.contains("it has 0 events"), "{refused}");
    }
}
