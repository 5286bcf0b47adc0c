//! Substring searches among many copies. In SQLite and in PostgreSQL they return the rows that a scan
//! of all titles returns.

use std::path::Path;

use crate::support::postgres_server::PostgresServer;
use crate::support::{Library, book, eventually, get, json_of, purchased};
use es_framework::store::{EventStore as _, sqlite::EmbeddedStore};
use serde_json::json;
use uuid::Uuid;

const COPIES: usize = 24_000;
/// The number of rows on a page, and the number of pages.
const LIMIT: usize = 7;
const PAGES: usize = 3;

const FREQUENT: [&str; 12] = [
    "The",
    "of the",
    "and",
    "Ring",
    "Rings",
    "String",
    "Spring",
    "Über",
    "x-ray",
    "d'Or",
    "Café, du",
    "100%",
];
const RARE: [&str; 6] = [
    "Herring",
    "Overing",
    "ingthe",
    "Pring Sing",
    "B_d",
    "naïve: a",
];
/// No title contains this text, but many titles contain some of its trigrams.
const NOWHERE: [&str; 6] = [
    "rings thex",
    "the ofx",
    "erringth",
    "%",
    "zzxxqqjj",
    "') OR 1=1--",
];

/// The same titles in each run. What is rare is in every 1,500th of them; the last thousand titles have
/// words of their own.
fn title(number: usize) -> String {
    let mut words = Vec::new();
    let mut seed = number * 7_919 + 13;
    for _ in 0..2 + number % 4 {
        words.push(FREQUENT[seed / 7 % FREQUENT.len()]);
        seed = seed * 31 % 1_000_003;
    }
    if number % 1_500 == 700 {
        words.insert(1, RARE[number / 1_500 % RARE.len()]);
    }
    if number + 1_000 > COPIES {
        words.push("Lastingly");
    }
    words.join(" ")
}

/// Returns substrings of three to thirty characters of some titles, and texts that no title contains.
fn parts() -> Vec<String> {
    let some = (0..COPIES).step_by(571).enumerate();
    let some = some.map(|(index, number)| {
        let title: Vec<char> = title(number).chars().collect();
        let length = (3 + index * 5 % 28).min(title.len());
        let begin = index * 3 % (title.len() - length + 1);
        title[begin..begin + length].iter().collect()
    });
    let own = RARE
        .into_iter()
        .chain(NOWHERE)
        .chain(["lastingly", "gs lasting"]);
    some.chain(own.map(String::from)).collect()
}

async fn fill(folder: &Path) {
    let store = EmbeddedStore::open(folder).unwrap();
    for chunk in 0..COPIES / 1_000 {
        let candidates = (0..1_000).map(|index| {
            let id = Uuid::from_u128((chunk * 1_000 + index) as u128);
            let mut copy = book(id);
            copy["title"] = title(chunk * 1_000 + index).into();
            purchased(id, &copy)
        });
        store.append(candidates.collect(), vec![]).await.unwrap();
    }
    store.close().await;
}

/// Returns the numbers of the copies on the first pages, and the total.
async fn found(library: &Library, part: &str, more: &str) -> (Vec<usize>, u64) {
    let (mut numbers, mut cursor) = (Vec::new(), String::new());
    let mut total = 0;
    for page in 0..PAGES {
        let part: String = part.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let total_asked = if page == 0 { "&total=true" } else { "" };
        let asked = format!("title={part}&limit={LIMIT}{more}{total_asked}{cursor}");
        let answer = json_of(get(&format!("{}/books?{asked}", library.url)).await).await;
        let items = answer["items"].as_array();
        let items = items.unwrap_or_else(|| panic!("{asked}: {answer}"));
        numbers.extend(items.iter().map(|item| {
            let id: Uuid = item["id"].as_str().unwrap().parse().unwrap();
            usize::try_from(id.as_u128()).unwrap()
        }));
        total = answer["total"].as_u64().unwrap_or(total);
        match answer["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    (numbers, total)
}

async fn search(database: &str) {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path()).await;
    let library = Library::embedded_with(folder.path(), &[("DATABASE_URL", database)]);
    eventually("all rows are there", async || {
        let rows = get(&format!("{}/books?limit=1&total=true", library.url)).await;
        let are_there = json_of(rows).await["total"] == json!(COPIES);
        are_there.then_some(())
    })
    .await;
    let titles: Vec<_> = (0..COPIES)
        .map(|number| title(number).to_lowercase())
        .collect();
    for (index, part) in parts().iter().enumerate() {
        let lowered = part.to_lowercase();
        let holds = |number: &usize| titles[*number].contains(&lowered);
        let mut expected: Vec<_> = (0..COPIES).filter(holds).collect();
        let total = expected.len() as u64;
        expected.truncate(LIMIT * PAGES);
        let more = ["", "&status=available", "&author=TOLKIEN"][index % 3];
        assert_eq!(
            found(&library, part, more).await,
            (expected, total),
            "{part}"
        );
        let (none, total) = found(&library, part, "&author=nobody").await;
        assert_eq!((none, total), (vec![], 0), "{part}");
    }
}

#[tokio::test]
async fn sqlite_finds_parts_as_a_look_at_each_title_does() {
    search("sqlite::memory:").await;
}

#[tokio::test]
async fn postgresql_finds_parts_as_a_look_at_each_title_does() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    search(&server.url()).await;
}
