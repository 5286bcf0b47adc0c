//! Searches for a part of a title among a million copies, over HTTP, one after the other.
//!
//! `cargo bench -p library-app --bench search -- [copies] [--postgres]`; with `--flood` the lookups by key and the
//! readiness probe while others send expensive queries.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "a benchmark may fail by panicking, and it prints"
)]

mod flood;
#[allow(dead_code, unused_imports, reason = "the benchmark uses a part of it")]
#[path = "../../tests/library/support/mod.rs"]
mod support;
mod titles;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use es_framework::{
    event::{EventCandidate, Metadata, encode},
    store::{EventLog as _, sqlite::EmbeddedStore},
};
use reqwest::Client;
use serde_json::{Value, json};
use support::{Library, postgres_server::PostgresServer};
use titles::{Chance, Vocabulary};
use uuid::Uuid;

const COPIES: usize = 1_000_000;
const SEARCHES: usize = 300;
/// No word begins so, nor is any of its groups in one.
const ABSENT: &str = "zzxxqqjj";

#[tokio::main]
async fn main() {
    let copies = std::env::args().find_map(|argument| argument.parse().ok());
    let copies = copies.unwrap_or(COPIES);
    let is_on_postgres = std::env::args().any(|argument| argument == "--postgres");
    let server = is_on_postgres.then(PostgresServer::start).flatten();
    if is_on_postgres && server.is_none() {
        return;
    }
    let database = server.as_ref().map(PostgresServer::url);
    let database = database.unwrap_or_else(|| "sqlite::memory:".into());
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut chance = Chance::new();
    let vocabulary = Vocabulary::new(&mut chance);
    let titles = fill(folder.path(), copies, &vocabulary, &mut chance).await;
    let begin = Instant::now();
    let settings = [
        ("DATABASE_URL", database.as_str()),
        ("RUST_LOG", "warn,es_framework=info"),
    ];
    let library = Library::embedded_with(folder.path(), &settings);
    let search = Search {
        url: library.url.clone(),
        client: support::new_client().build().unwrap(),
    };
    search.await_rows(begin).await;
    if std::env::args().any(|argument| argument == "--flood") {
        return flood::run(&search.url).await;
    }
    println!(
        "search                                  | rows of a page | median ms | 99th percentile ms"
    );
    for (what, ask) in kinds(&vocabulary, &titles) {
        let mut questions = Vec::new();
        questions.resize_with(SEARCHES, || ask(&mut chance));
        search.measure(what, &questions).await;
    }
}

/// The event of a purchase, for a store that is filled without the library.
fn purchased(id: Uuid, book: &Value) -> EventCandidate {
    EventCandidate {
        source: "library-service".into(),
        subject: format!("/books/{id}").parse().unwrap(),
        event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
        data: encode(&Metadata::default(), book).unwrap(),
        trace: None,
    }
}

type Question = Vec<(&'static str, String)>;

/// Asks for titles of the catalog instead of copies, which is SQL of the library's own.
const CATALOG: (&str, String) = ("catalog", String::new());
type Ask<'a> = Box<dyn Fn(&mut Chance) -> Question + 'a>;

/// What is asked for, in the order of the table.
fn kinds<'a>(words: &'a Vocabulary, titles: &'a [String]) -> Vec<(&'static str, Ask<'a>)> {
    let title = |part: String| vec![("title", part)];
    let frequent = move |chance: &mut Chance| words.word(chance, 0, 2).to_owned();
    let rare = move |chance: &mut Chance| words.word(chance, 90, 100).to_owned();
    let some = move |chance: &mut Chance| part_of(&titles[chance.below(titles.len())], chance);
    vec![
        (
            "any part of some title",
            Box::new(move |chance| title(some(chance))),
        ),
        (
            "a frequent word",
            Box::new(move |chance| title(frequent(chance))),
        ),
        ("a rare word", Box::new(move |chance| title(rare(chance)))),
        (
            "two words that hardly meet",
            Box::new(move |chance| title(format!("{} {}", rare(chance), rare(chance)))),
        ),
        (
            "letters that no title has",
            Box::new(move |_| title(ABSENT.into())),
        ),
        (
            "groups of letters that many titles have",
            Box::new(move |_| title("n the in".into())),
        ),
        (
            "a part of a title and one of an author",
            Box::new(move |chance| {
                let author = ("author", rare(chance));
                vec![("title", some(chance)), author]
            }),
        ),
        (
            "a rare word, available",
            Box::new(move |chance| vec![("title", rare(chance)), ("status", "available".into())]),
        ),
        (
            "a frequent word, lent (no copy is)",
            Box::new(move |chance| vec![("title", frequent(chance)), ("status", "lent".into())]),
        ),
        (
            "a rare word, counted",
            Box::new(move |chance| vec![("title", rare(chance)), ("total", "true".into())]),
        ),
        (
            "a frequent word, counted",
            Box::new(move |chance| vec![("title", frequent(chance)), ("total", "true".into())]),
        ),
        (
            "any part of some title, in the catalog",
            Box::new(move |chance| vec![CATALOG, ("title", some(chance))]),
        ),
        (
            "a rare word, in the catalog",
            Box::new(move |chance| vec![CATALOG, ("title", rare(chance))]),
        ),
        (
            "a frequent word, in the catalog",
            Box::new(move |chance| vec![CATALOG, ("title", frequent(chance))]),
        ),
        (
            "two letters that many titles have",
            Box::new(move |_| title("th".into())),
        ),
        (
            "two letters that no title has",
            Box::new(move |_| title("zx".into())),
        ),
    ]
}

/// Three to twelve characters of a text.
fn part_of(text: &str, chance: &mut Chance) -> String {
    let length = (3 + chance.below(10)).min(text.len());
    let begin = chance.below(text.len() - length + 1);
    text[begin..begin + length].to_owned()
}

/// Purchases copies, and the titles of some of them.
async fn fill(
    folder: &Path,
    copies: usize,
    words: &Vocabulary,
    chance: &mut Chance,
) -> Vec<String> {
    let store = EmbeddedStore::open(folder).unwrap();
    let mut titles = Vec::new();
    for _ in 0..copies.div_ceil(1_000) {
        let mut candidates = Vec::new();
        for _ in 0..1_000 {
            let (id, title) = (Uuid::new_v4(), words.title(chance));
            let isbn = format!("978-{:010}", chance.below(10_000_000_000));
            let book = json!({
                "id": id, "isbn": isbn, "title": title, "author": words.author(chance),
                "numPages": 100 + chance.below(900),
            });
            candidates.push(purchased(id, &book));
            if candidates.len() % 100 == 0 && title.len() > 3 {
                titles.push(title);
            }
        }
        store.append(candidates, vec![]).await.unwrap();
    }
    store.close().await;
    titles
}

struct Search {
    url: String,
    client: Client,
}

impl Search {
    /// How many rows there are, and how long the answer took.
    async fn ask(&self, question: &Question) -> Option<(usize, Duration)> {
        let is_catalog = question.contains(&CATALOG);
        let path = if is_catalog {
            "/books/catalog"
        } else {
            "/books"
        };
        let mut url = format!("{}{path}?limit=20", self.url);
        for (name, value) in question.iter().filter(|one| **one != CATALOG) {
            url += &format!("&{name}={}", value.replace(' ', "%20"));
        }
        let begin = Instant::now();
        let answer = self.client.get(url).send().await.unwrap();
        let is_answer = answer.status().is_success();
        let bytes = answer.bytes().await.unwrap();
        let time = begin.elapsed();
        let page: Value = serde_json::from_slice(&bytes).unwrap();
        is_answer.then(|| (page["items"].as_array().unwrap().len(), time))
    }

    /// Waits until the rows are there.
    async fn await_rows(&self, begin: Instant) {
        let absent = vec![("title", ABSENT.to_owned())];
        while self.ask(&absent).await.is_none() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        println!(
            "all rows were there after {:.1} s\n",
            begin.elapsed().as_secs_f64()
        );
    }

    async fn measure(&self, what: &str, questions: &[Question]) {
        let mut times = Vec::new();
        let mut rows = 0;
        for question in questions {
            let (found, time) = self.ask(question).await.unwrap();
            rows += found;
            times.push(time.as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "{what:<39} | {:>14.1} | {:>9.2} | {:>18.2}",
            rows as f64 / times.len() as f64,
            times[times.len() / 2],
            times[times.len() * 99 / 100],
        );
    }
}
