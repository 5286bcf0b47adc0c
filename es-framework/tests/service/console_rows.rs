//! Rows of read models on the pages of the console.

use serde_json::Value;
use uuid::Uuid;

use crate::{
    eventually::eventually,
    running_service::{RunningService, TOKEN, book},
};

#[tokio::test]
async fn a_list_of_rows_leads_to_each_whole_row() {
    let library = RunningService::start();
    let title = "The Lord of the Rings ".repeat(20);
    let mut long = book(Uuid::new_v4());
    long["title"] = title.trim().into();
    assert_eq!(library.purchase(&long).await.status, 201);
    let operator = library.client.clone().with_bearer(TOKEN);
    let rows = "/console/rows/book_copies";
    let link = eventually("the row is there", async || {
        let list = operator.get(rows).await.unwrap().text();
        assert!(!list.contains(title.trim()), "{list}");
        let (_, link) = list.split_once(&format!("href=\"{rows}/"))?;
        let (position, _) = link.split_once('"')?;
        Some(format!("{rows}/{position}"))
    })
    .await;
    let row = operator.get(&link).await.unwrap();
    assert_eq!(row.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(row.json::<Value>().unwrap()["title"], long["title"]);
    let missing = operator.get(&format!("{rows}/7000")).await.unwrap();
    assert_eq!(missing.status, 404);
    let malformed = operator.get(&format!("{rows}/x")).await.unwrap();
    assert_eq!(malformed.status, 400);
}
