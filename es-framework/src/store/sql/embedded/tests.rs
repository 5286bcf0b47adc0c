//! What only this adapter promises.

use crate::store::{contract, sql::embedded::EmbeddedStore};

#[tokio::test]
async fn the_embedded_store_keeps_the_contract() {
    contract::run(|| async { EmbeddedStore::temporary().unwrap() }).await;
}
