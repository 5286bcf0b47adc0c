//! A book is found by its title in any case and encoding, and by its ISBN with and without hyphens.

use crate::support::postgres_server::PostgresServer;
use crate::support::{Library, book, client, json_of};
use serde_json::Value;
use uuid::Uuid;

/// Titles and the ISBNs of their copies.
const COPIES: [(&str, &str); 7] = [
    ("ΟΔΥΣΣΕΙΑ", "978-0-14-026886-7"),
    ("Οδυσσεύς", "978-0-14-118280-3"),
    ("Café", "978-1-4000-0001-2"),
    ("Cafe\u{301}", "978-1-4000-0001-2"),
    ("İstanbul: Hatıralar ve Şehir", "978-975-08-0716-8"),
    ("The Hobbit", "978-0-345-53943-1"),
    ("The Hobbit", "9780345539431"),
];

struct Stock {
    library: Library,
    position: String,
}

impl Stock {
    async fn purchase_all(library: Library) -> Self {
        let mut position = String::new();
        for (number, (title, isbn)) in (1..).zip(COPIES) {
            let mut copy = book(Uuid::from_u128(number));
            copy["title"] = title.into();
            copy["isbn"] = isbn.into();
            let response = library.purchase(&copy).await;
            let header = &response.headers()["event-position"];
            position = header.to_str().unwrap().to_owned();
        }
        Self { library, position }
    }

    async fn items(&self, path: &str, parameters: &[(&str, &str)]) -> Vec<Value> {
        let encode =
            |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
        let parameters = parameters.iter();
        let parameters = parameters.map(|(name, value)| format!("{name}={}", encode(value)));
        let parameters = parameters.collect::<Vec<_>>().join("&");
        let request = client()
            .get(format!("{}{path}?{parameters}", self.library.url))
            .header("event-position", &self.position);
        let page = json_of(request.send().await.unwrap()).await;
        let items = page["items"].as_array();
        items.unwrap_or_else(|| panic!("{page}")).clone()
    }

    /// Returns the numbers of the copies that a filter finds.
    async fn numbers(&self, parameter: &str, part: &str) -> Vec<u128> {
        let items = self.items("/books", &[(parameter, part)]).await;
        let id = |item: &Value| item["id"].as_str().unwrap().parse::<Uuid>();
        items
            .iter()
            .map(|item| id(item).unwrap().as_u128())
            .collect()
    }
}

async fn search(library: Library) {
    let stock = Stock::purchase_all(library).await;
    for (parameter, part, expected) in [
        ("title", "ΟΔΥΣ", &[1, 2][..]),
        ("title", "οδυς", &[1, 2]),
        ("title", "οδυσσεια", &[1]),
        ("title", "Café", &[3, 4]),
        ("title", "CAFE\u{301}", &[3, 4]),
        ("title", "Cafe", &[]),
        ("title", "istanbul", &[5]),
        ("title", "İSTANBUL", &[5]),
        ("title", "HATIRALAR VE ŞEHİR", &[5]),
        ("isbn", "9780345539431", &[6, 7]),
        ("isbn", "978-0-345-53943-1", &[6, 7]),
        ("isbn", "0345 5394", &[6, 7]),
        ("isbn", "9780345539432", &[]),
    ] {
        let found = stock.numbers(parameter, part).await;
        assert_eq!(found, expected, "{parameter}={part}");
    }
    let copies = stock.items("/books", &[("title", "hobbit")]).await;
    let isbns: Vec<_> = copies.iter().map(|copy| copy["isbn"].clone()).collect();
    assert_eq!(isbns, ["978-0-345-53943-1", "9780345539431"], "as sent");
    let copies = stock.items("/books", &[("title", "café")]).await;
    let titles: Vec<_> = copies.iter().map(|copy| copy["title"].clone()).collect();
    assert_eq!(titles, ["Café", "Cafe\u{301}"], "as sent");
    for isbn in ["9780345539431", "978-0-345-53943-1"] {
        let titles = stock.items("/books/catalog", &[("isbn", isbn)]).await;
        assert_eq!(titles.len(), 1, "{titles:?}");
        assert_eq!(titles[0]["isbn"], "978-0-345-53943-1");
        assert_eq!(titles[0]["total"], 2);
        assert_eq!(titles[0]["available"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn sqlite_finds_each_spelling() {
    let folder = tempfile::tempdir().unwrap();
    search(Library::embedded(folder.path())).await;
}

#[tokio::test]
async fn postgresql_finds_each_spelling() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let url = server.url();
    let settings = [("DATABASE_URL", url.as_str())];
    search(Library::embedded_with(folder.path(), &settings)).await;
}
