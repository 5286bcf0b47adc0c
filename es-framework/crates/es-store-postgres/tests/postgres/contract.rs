//! The contract of every store, also on a server without notifications and on one that fails many
//! transactions.

use es_store::contract;

use crate::store_fixture::StoreFixture;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_postgres_store_keeps_the_contract() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    contract::run(|| async { fixture.open(&fixture.schema(), "").await }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_without_notifications_that_aborts_transactions_keeps_the_contract() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let empty = || async {
        let schema = fixture.schema();
        let store = fixture.open(&schema, "&notifications=off").await;
        fixture.server.query(&fail_transactions(&schema, 0.1));
        store
    };
    contract::run(empty).await;
}

/// Statements after which this share of the transactions fails when they write, and the same share of the
/// others when they commit, as in a distributed engine.
pub(crate) fn fail_transactions(schema: &str, share: f64) -> String {
    format!(
        "CREATE FUNCTION {schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF random() < {share} THEN \
                 RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001'; \
             END IF; RETURN NEW; END $$; \
         CREATE TRIGGER fail_early BEFORE UPDATE ON {schema}.es_head \
             FOR EACH ROW EXECUTE FUNCTION {schema}.fail(); \
         CREATE CONSTRAINT TRIGGER fail_late AFTER UPDATE ON {schema}.es_head \
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION {schema}.fail()"
    )
}
