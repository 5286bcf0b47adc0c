//! Tables that somebody changes while the store is closed.

use async_trait::async_trait;
use tempfile::TempDir;

use crate::{EmbeddedStore, OpenError};
use es_store::contract::{self, Damage, DamageableStorage};

/// The directory of a store, whose tables are damaged by SQL.
struct DamagedFile(TempDir);

#[async_trait(?Send)]
impl DamageableStorage for DamagedFile {
    type Store = EmbeddedStore;
    type Error = OpenError;

    const IS_SHARED: bool = false;

    async fn open(&self) -> Result<EmbeddedStore, OpenError> {
        EmbeddedStore::open(self.0.path())
    }

    async fn damage(&self, damage: Damage) -> bool {
        let Some(statements) = statements(damage) else {
            return false;
        };
        let file = rusqlite::Connection::open(self.0.path().join("events.sqlite")).unwrap();
        file.execute_batch(statements).unwrap();
        true
    }
}

/// Returns the statements of a damage.
fn statements(damage: Damage) -> Option<&'static str> {
    Some(match damage {
        Damage::ChangedData => "UPDATE events SET data = '{\"number\":4}' WHERE id = 3",
        Damage::ChangedType => "UPDATE events SET type = 'io.example.contract.even' WHERE id = 3",
        Damage::ChangedSubject => "UPDATE events SET subject = '/a/2' WHERE id = 3",
        Damage::ChangedTime => "UPDATE events SET time = '2020-01-01T00:00:00Z' WHERE id = 3",
        Damage::ChangedTrace => {
            "UPDATE events SET traceparent = replace(traceparent, '4bf9', '4bf8') WHERE id = 3"
        }
        Damage::ChangedSource => "UPDATE events SET source = 'tag:other' WHERE id = 3",
        Damage::ChangedHash => "UPDATE events SET hash = predecessor_hash WHERE id = 3",
        Damage::ChangedLastHash => "UPDATE events SET hash = predecessor_hash WHERE id = 8",
        Damage::SwappedIds => {
            "UPDATE events SET id = 100 WHERE id = 3; UPDATE events SET id = 3 WHERE id = 4; \
             UPDATE events SET id = 4 WHERE id = 100"
        }
        Damage::DeletedFirstOfSubject => "DELETE FROM events WHERE id = 0",
        Damage::DeletedMiddleOfSubject => "DELETE FROM events WHERE id = 3",
        Damage::DeletedLastOfSubject => "DELETE FROM events WHERE id = 6",
        Damage::DeletedLastOfLog => "DELETE FROM events WHERE id = 8",
        Damage::ForgedEvent => {
            "CREATE TEMP TABLE forged AS SELECT * FROM events WHERE id = 6; \
             UPDATE forged SET id = 9; INSERT INTO events SELECT * FROM forged"
        }
        Damage::LostTables => {
            "DELETE FROM events; DELETE FROM event_index; DELETE FROM event_types; \
             DELETE FROM event_schemas; UPDATE index_state SET indexed = 0"
        }
        Damage::LostEvents => "DELETE FROM events",
        Damage::LostSubject => "DELETE FROM event_index WHERE key = CAST('/a/1' AS BLOB)",
        Damage::ChangedSubjectEntry => {
            "DELETE FROM event_index WHERE key = CAST('/a/1' AS BLOB) AND event_id = 6"
        }
        Damage::LostSubtree => "DELETE FROM event_index WHERE substr(key, 1, 1) = x'02'",
        Damage::LostType => "DELETE FROM event_types WHERE type LIKE '%.even'",
        Damage::ChangedSchema => {
            "UPDATE event_schemas SET schema = '{\"type\":\"object\",\"properties\":{}}'"
        }
        Damage::LostSchema => "DELETE FROM event_schemas",
        // The types of events and of schemas are in two tables, a read compares each event with its index, and rows have no
        // links.
        Damage::RemovedSchema | Damage::ForgedSubtreeEntry | Damage::ChangedLink => return None,
    })
}

#[tokio::test]
async fn no_damage_of_the_file_is_served() {
    let unknown = contract::run_damage(async || DamagedFile(TempDir::new().unwrap())).await;
    let expected = [
        Damage::ChangedLink,
        Damage::ForgedSubtreeEntry,
        Damage::RemovedSchema,
    ];
    assert_eq!(unknown, expected);
}
