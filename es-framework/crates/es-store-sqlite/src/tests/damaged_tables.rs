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
        let on_events = damage.sql_on_events("events");
        let Some(statements) =
            on_events.or_else(|| statements_on_tables(damage).map(str::to_owned))
        else {
            return false;
        };
        let file = rusqlite::Connection::open(self.0.path().join("events.sqlite")).unwrap();
        file.execute_batch(&statements).unwrap();
        true
    }

    async fn rebuild(&self, store: &EmbeddedStore) {
        store.rebuild_tables().await.unwrap();
    }
}

/// Returns the statements of a damage that is not one of the rows of events, if there is such a damage here.
fn statements_on_tables(damage: Damage) -> Option<&'static str> {
    Some(match damage {
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
        // The types of events and of schemas are in two tables, and a read compares each event with its index. A store
        // whose last events or schemas are gone with all that follows from them looks like a smaller one.
        Damage::RemovedSchema
        | Damage::ForgedSubtreeEntry
        | Damage::LostTables
        | Damage::LostSchema => return None,
        other => unreachable!("{other:?} is a damage of the rows of events"),
    })
}

#[tokio::test]
async fn no_damage_of_the_file_is_served() {
    let unknown = contract::run_damage(async || DamagedFile(TempDir::new().unwrap())).await;
    let expected = [
        Damage::LostTables,
        Damage::ForgedSubtreeEntry,
        Damage::RemovedSchema,
        Damage::LostSchema,
    ];
    assert_eq!(unknown, expected);
}
