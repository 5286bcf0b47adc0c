//! The statements of the key stores that differ between the engines. Both have the tables of the first release.

use es_sql::Engine;

/// The parts of statements that differ between the engines.
#[derive(Debug)]
pub(super) struct KeyDialect {
    /// Creates the tables that are missing.
    pub(super) create: &'static [&'static str],
    /// The table with a row for each person.
    pub(super) persons: &'static str,
    /// The table with the identity of the store, and its column that only one row can have.
    pub(super) identity: &'static str,
    pub(super) only_row: &'static str,
    /// Selects rows of persons.
    pub(super) find: &'static str,
    /// The new rows of persons with keys.
    pub(super) new_rows: &'static str,
    /// The place of a row in the files of the database.
    pub(super) place: &'static str,
    /// The condition of an erasure that is not finished, as the index has it.
    pub(super) is_open: &'static str,
    /// Replaces keys, unless another instance has changed them meanwhile.
    pub(super) rewrite: &'static str,
    /// Changes nothing, and fails if new keys cannot be stored.
    pub(super) check: &'static str,
}

impl KeyDialect {
    pub(super) const fn of_engine(engine: Engine) -> &'static Self {
        match engine {
            Engine::Sqlite => &SQLITE,
            Engine::Postgres => &POSTGRES,
        }
    }
}

static SQLITE: KeyDialect = KeyDialect {
    create: &[
        "CREATE TABLE IF NOT EXISTS identity (only INTEGER PRIMARY KEY CHECK (only = 1), id BLOB NOT NULL) STRICT",
        "CREATE TABLE IF NOT EXISTS persons (
            person BLOB PRIMARY KEY,
            key BLOB,
            is_finished INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID",
        "CREATE INDEX IF NOT EXISTS open_erasures ON persons (person) WHERE key IS NULL AND is_finished = 0",
    ],
    persons: "persons",
    identity: "identity",
    only_row: "only",
    find: "SELECT person, key FROM persons WHERE person = $1",
    new_rows: "VALUES ($1, $2)",
    place: "'persons'",
    is_open: "is_finished = 0",
    // SQLite numbers `$` parameters by their first use.
    rewrite: "UPDATE persons SET key = ?2 WHERE person = ?1 AND key = ?3",
    check: "UPDATE identity SET id = id",
};

static POSTGRES: KeyDialect = KeyDialect {
    // `ANALYZE` would copy keys into the statistics of a column. Two instances that start at once create the tables one
    // after the other. Earlier releases had one table for all persons.
    create: &["
        SET lock_timeout = '1min';
        SELECT pg_advisory_xact_lock(4150171429);
        CREATE TABLE IF NOT EXISTS es_key_store (only_row integer PRIMARY KEY CHECK (only_row = 1), id text NOT NULL);
        CREATE TABLE IF NOT EXISTS es_unscrubbed_rewrite (only_row integer PRIMARY KEY CHECK (only_row = 1));
        DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('es_persons') AND relkind = 'r') THEN
                ALTER TABLE es_persons RENAME TO es_persons_of_one_table;
                ALTER INDEX es_persons_pkey RENAME TO es_persons_of_one_table_pkey;
            END IF;
            CREATE TABLE IF NOT EXISTS es_persons (
                person text PRIMARY KEY,
                key bytea,
                is_finished boolean NOT NULL DEFAULT false
            ) PARTITION BY HASH (person);
            FOR part IN 0..63 LOOP
                EXECUTE format('CREATE TABLE IF NOT EXISTS es_persons_%s PARTITION OF es_persons FOR VALUES WITH (MODULUS 64, REMAINDER %s)', part, part);
            END LOOP;
            ALTER TABLE es_persons ALTER COLUMN key SET STATISTICS 0;
            CREATE INDEX IF NOT EXISTS es_open_erasures ON es_persons (person) WHERE key IS NULL AND NOT is_finished;
            IF to_regclass('es_persons_of_one_table') IS NOT NULL THEN
                INSERT INTO es_persons SELECT person, key, is_finished FROM es_persons_of_one_table;
                DROP TABLE es_persons_of_one_table;
            END IF;
        END $$;
    "],
    persons: "es_persons",
    identity: "es_key_store",
    only_row: "only_row",
    find: "SELECT person, key FROM es_persons WHERE person = ANY($1)",
    new_rows: "SELECT * FROM unnest($1::text[], $2::bytea[])",
    place: "tableoid::regclass::text",
    is_open: "NOT is_finished",
    // If this start ends before the old keys are overwritten, the next one does it.
    rewrite: "WITH begun AS (INSERT INTO es_unscrubbed_rewrite VALUES (1) ON CONFLICT DO NOTHING) \
         UPDATE es_persons SET key = rewritten.new_key \
         FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS rewritten (id, new_key, old_key) \
         WHERE person = rewritten.id AND key = rewritten.old_key",
    // It waits for a lock that keeps new persons out.
    check: "UPDATE es_persons SET is_finished = is_finished WHERE person = ''; UPDATE es_key_store SET id = id",
};
