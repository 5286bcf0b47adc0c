//! Queries of the stock, the catalog and loans.

use crate::support::{Library, book, client, json_of, post};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

/// A running library, and the last event that a command wrote.
struct Desk {
    library: Library,
    position: Option<String>,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn open(loan_days: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let days = loan_days.to_string();
        let library = Library::embedded_with(folder.path(), &[("LOAN_DAYS", &days)]);
        Self {
            library,
            position: None,
            _folder: folder,
        }
    }

    async fn post(&mut self, path: &str, body: Value) {
        let url = format!("{}{path}", self.library.url);
        let answer = post(&url, body.to_string()).await;
        assert!(answer.status().is_success(), "{path} {}", answer.status());
        let position = answer.headers()["event-position"].to_str().unwrap();
        self.position = Some(position.to_owned());
    }

    async fn purchase(&mut self, title: &str, author: &str, isbn: &str) -> Uuid {
        let id = Uuid::new_v4();
        let mut copy = book(id);
        copy["title"] = title.into();
        copy["author"] = author.into();
        copy["isbn"] = isbn.into();
        self.post("/books/purchase", copy).await;
        id
    }

    async fn register(&mut self) -> Uuid {
        let id = Uuid::new_v4();
        self.post("/readers/register", json!({ "id": id, "name": "Ada" }))
            .await;
        id
    }

    async fn borrow(&mut self, id: Uuid, reader: Uuid) {
        self.post("/books/borrow", json!({ "id": id, "reader": reader }))
            .await;
    }

    /// Sends a query that waits for all events so far.
    async fn ask(&self, path: &str) -> Response {
        let mut request = client().get(format!("{}{path}", self.library.url));
        if let Some(position) = &self.position {
            request = request.header("event-position", position);
        }
        request.send().await.unwrap()
    }

    async fn see(&self, path: &str) -> Value {
        let answer = self.ask(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        json_of(answer).await
    }
}

fn ids(page: &Value) -> Vec<Uuid> {
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|item| item["id"].as_str().unwrap().parse().unwrap())
        .collect()
}

#[tokio::test]
async fn a_copy_shows_where_it_is_from_purchase_to_removal() {
    let mut desk = Desk::open(28);
    let id = desk.purchase("Emma", "Jane Austen", "1").await;
    let path = format!("/books/{id}");
    let copy = desk.see(&path).await;
    let mut expected = book(id);
    expected["title"] = "Emma".into();
    expected["author"] = "Jane Austen".into();
    expected["isbn"] = "1".into();
    expected["status"] = "available".into();
    expected["dueAt"] = Value::Null;
    expected["reader"] = Value::Null;
    assert_eq!(copy, expected);

    let reader = desk.register().await;
    desk.borrow(id, reader).await;
    let lent = desk.see(&path).await;
    assert_eq!(lent["status"], "lent");
    assert_eq!(lent["reader"], reader.to_string());
    assert!(lent["dueAt"].as_str().unwrap().ends_with('Z'), "{lent}");
    let loans = desk.see(&format!("/readers/{reader}/loans")).await;
    let due = lent["dueAt"].clone();
    assert_eq!(
        loans,
        json!([{ "book": id, "dueAt": due, "overdue": false }])
    );
    assert_eq!(desk.see("/loans/overdue").await, json!({ "items": [] }));

    desk.post("/books/return", json!({ "id": id })).await;
    assert_eq!(desk.see(&path).await, expected);
    assert_eq!(
        desk.see(&format!("/readers/{reader}/loans")).await,
        json!([])
    );

    desk.post("/books/remove", json!({ "id": id, "reason": "torn" }))
        .await;
    assert_eq!(desk.see(&path).await["status"], "removed");
    assert_eq!(ids(&desk.see("/books?status=removed").await), [id]);
    assert!(ids(&desk.see("/books?status=available").await).is_empty());
    assert_eq!(desk.see("/books/catalog").await, json!({ "items": [] }));
}

#[tokio::test]
async fn the_location_of_a_reader_shows_the_reader() {
    let mut desk = Desk::open(28);
    let reader = desk.register().await;
    let shown = desk.see(&format!("/readers/{reader}")).await;
    assert_eq!(shown, json!({ "id": reader, "name": "Ada" }));
}

#[tokio::test]
async fn the_stock_is_searched_whatever_the_case_and_the_signs() {
    let mut desk = Desk::open(28);
    let ring = desk.purchase("The Lord of the RINGS", "Tolkien", "1").await;
    let isbn = "0-345-53943-X";
    let over = desk.purchase("Überfahrt: 100% 'wahr'", "Änne", isbn).await;
    desk.purchase("Emma", "Jane Austen", "3").await;
    for (query, found) in [
        ("title=ring", vec![ring]),
        ("title=%C3%BCBER", vec![over]),
        ("title=100%25", vec![over]),
        ("title=%27wahr%27", vec![over]),
        ("title=_", vec![]),
        ("title=%25", vec![over]),
        ("title=%27%29%20OR%201%3D1--", vec![]),
        ("author=%C3%A4nne&title=%C3%BCber", vec![over]),
        ("author=tolkien&title=emma", vec![]),
        ("isbn=0-345-53943-x", vec![over]),
        ("isbn=034553943X", vec![over]),
    ] {
        let page = desk.see(&format!("/books?{query}")).await;
        assert_eq!(ids(&page), found, "{query}");
    }
}

#[tokio::test]
async fn the_catalog_has_one_row_a_title() {
    let mut desk = Desk::open(28);
    let first = desk.purchase("Emma", "Jane Austen", "1").await;
    let second = desk.purchase("Emma", "Jane Austen", "1").await;
    let other = desk.purchase("Persuasion", "Jane Austen", "2").await;
    let reader = desk.register().await;
    desk.borrow(second, reader).await;
    let catalog = desk.see("/books/catalog?author=AUSTEN").await;
    let emma = json!({
        "isbn": "1", "title": "Emma", "author": "Jane Austen", "available": [first], "total": 2,
    });
    let persuasion = json!({
        "isbn": "2", "title": "Persuasion", "author": "Jane Austen", "available": [other], "total": 1,
    });
    assert_eq!(catalog, json!({ "items": [emma, persuasion] }));
    assert_eq!(
        desk.see("/books/catalog?title=suasion").await,
        json!({ "items": [persuasion] })
    );
}

#[tokio::test]
async fn pages_of_the_catalog_neither_repeat_nor_miss_a_title_while_others_are_purchased() {
    let mut desk = Desk::open(28);
    for (title, isbn) in [
        ("B", "1"),
        ("B", "2"),
        ("D \"quoted\"", "1"),
        ("F", "1"),
        ("F", "1"),
    ] {
        desk.purchase(title, "A", isbn).await;
    }
    let mut page = desk.see("/books/catalog?limit=1&total=true").await;
    assert_eq!(page["total"], 4);
    let mut seen = vec![page["items"][0].clone()];
    while let Some(cursor) = page["nextCursor"].as_str().map(str::to_owned) {
        // New titles before and after the page, and a new copy of a title on the page.
        desk.purchase("A", "A", &seen.len().to_string()).await;
        desk.purchase("B", "A", "1").await;
        page = desk
            .see(&format!("/books/catalog?limit=1&cursor={cursor}"))
            .await;
        seen.push(page["items"][0].clone());
    }
    let titles: Vec<_> = seen
        .iter()
        .map(|one| (&one["title"], &one["isbn"]))
        .collect();
    let expected = [("B", "1"), ("B", "2"), ("D \"quoted\"", "1"), ("F", "1")];
    assert_eq!(titles.len(), expected.len(), "{titles:?}");
    for ((title, isbn), expected) in titles.into_iter().zip(expected) {
        assert_eq!((title.as_str().unwrap(), isbn.as_str().unwrap()), expected);
    }
    assert_eq!(seen[3]["total"], 2);
}

#[tokio::test]
async fn a_cursor_that_somebody_made_up_is_refused() {
    let desk = Desk::open(28);
    let hexadecimal = |text: &str| -> String { text.bytes().map(|b| format!("{b:02x}")).collect() };
    for (path, cursor) in [
        ("/books/catalog", r#"{"own":"x"}"#),
        ("/books/catalog", r#"{"own":["a","b"]}"#),
        ("/books/catalog", r#"{"own":["a","b",3]}"#),
        ("/books/catalog", r#"{"place":3}"#),
        ("/books", r#"{"own":["a","b","c"]}"#),
        ("/books", r#"{"place":3,"by":"x"}"#),
        ("/loans/overdue", r#"{"place":3}"#),
        ("/loans/overdue", r#"{"place":3,"by":7}"#),
        ("/loans/overdue", r#"{"place":3,"by":null}"#),
    ] {
        let answer = desk
            .ask(&format!("{path}?cursor={}", hexadecimal(cursor)))
            .await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{path} {cursor}");
    }
}

#[tokio::test]
async fn an_overdue_loan_is_listed_the_longest_first() {
    // The loan is due immediately, so it is overdue a moment later.
    let mut desk = Desk::open(0);
    let reader = desk.register().await;
    let first = desk.purchase("Emma", "Jane Austen", "1").await;
    let second = desk.purchase("Persuasion", "Jane Austen", "2").await;
    desk.borrow(second, reader).await;
    desk.borrow(first, reader).await;
    let page = desk.see("/loans/overdue").await;
    let items = page["items"].as_array().unwrap();
    let books: Vec<_> = items.iter().map(|item| item["book"].clone()).collect();
    assert_eq!(books, [json!(second), json!(first)]);
    let held = desk.see(&format!("/readers/{reader}/loans")).await;
    assert_eq!(held[0]["overdue"], true);
    let page = desk.see("/loans/overdue?limit=1").await;
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest = desk
        .see(&format!("/loans/overdue?limit=1&cursor={cursor}"))
        .await;
    assert_eq!(rest["items"][0]["book"], json!(first));
    assert!(rest.get("nextCursor").is_none());
    let elsewhere = desk.ask(&format!("/books?cursor={cursor}")).await;
    assert_eq!(elsewhere.status(), StatusCode::BAD_REQUEST);
}
