//! Whatever callers send in whatever order, no answer to a reader tells anything of another reader.

use es_framework::{
    App, ApplicationClient, ClientResponse, Settings, axum::http::HeaderName, prelude::*,
    store::memory::MemoryStore,
};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

const COPIES: u128 = 3;
const READERS: u128 = 3;
const ISBN: &str = "978-0-345-53943-1";

/// A reader, or the staff.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TestCaller {
    Staff,
    Reader(u128),
}

/// A command, and the reader who asks everything after it.
#[derive(Debug, Clone, Copy)]
struct Step {
    sender: TestCaller,
    command: LibraryCommand,
    asks_next: u128,
}

#[derive(Debug, Clone, Copy)]
enum LibraryCommand {
    Register(u128),
    Borrow(u128, u128),
    Return(u128),
    Reserve(u128, u128),
    Cancel(u128),
    Remove(u128),
}

fn copy(number: u128) -> Uuid {
    Uuid::from_u128(0xb00c << 64 | number)
}

fn reader(number: u128) -> Uuid {
    Uuid::from_u128(0xada << 64 | number)
}

fn name(number: u128) -> String {
    format!("Reader of the number {number}")
}

fn any_step() -> impl Strategy<Value = Step> {
    let sender = prop_oneof![
        1 => Just(TestCaller::Staff),
        4 => (0..READERS).prop_map(TestCaller::Reader),
    ];
    let command = prop_oneof![
        1 => (0..READERS).prop_map(LibraryCommand::Register),
        6 => (0..COPIES, 0..READERS).prop_map(|(copy, reader)| LibraryCommand::Borrow(copy, reader)),
        3 => (0..COPIES).prop_map(LibraryCommand::Return),
        3 => (0..COPIES, 0..READERS).prop_map(|(copy, reader)| LibraryCommand::Reserve(copy, reader)),
        1 => (0..READERS).prop_map(LibraryCommand::Cancel),
        1 => (0..COPIES).prop_map(LibraryCommand::Remove),
    ];
    let step = (sender, command, 0..READERS);
    step.prop_map(|(sender, command, asks_next)| Step {
        sender,
        command,
        asks_next,
    })
}

impl LibraryCommand {
    async fn send(self, client: &ApplicationClient) -> ClientResponse {
        let (path, body) = match self {
            Self::Register(number) => {
                let body = json!({ "id": reader(number), "name": name(number) });
                ("/readers/register", body)
            }
            Self::Borrow(book, by) => (
                "/books/borrow",
                json!({ "id": copy(book), "reader": reader(by) }),
            ),
            Self::Return(book) => ("/books/return", json!({ "id": copy(book) })),
            Self::Reserve(book, by) => (
                "/books/reserve",
                json!({ "id": copy(book), "reader": reader(by) }),
            ),
            Self::Cancel(by) => (
                "/books/cancel-reservation",
                json!({ "isbn": ISBN, "reader": reader(by) }),
            ),
            Self::Remove(book) => (
                "/books/remove",
                json!({ "id": copy(book), "reason": "It is wet." }),
            ),
        };
        client.post(path, &body).await.unwrap()
    }
}

/// Returns the client of a sender.
fn act_as(client: &ApplicationClient, sender: TestCaller) -> ApplicationClient {
    let caller = match sender {
        TestCaller::Staff => Caller::authenticated("kim", ["staff"]),
        TestCaller::Reader(number) => {
            let caller = Caller::authenticated(&format!("token-{number}"), ["reader"]);
            caller.with_owner_id(&reader(number).to_string())
        }
    };
    client.clone().with_caller(&caller)
}

/// Checks that a response to a reader names no other one.
fn check(response: &ClientResponse, to: u128, about: &str) {
    let text = format!("{:?} {}", response.headers, response.text());
    for other in (0..READERS).filter(|other| *other != to) {
        for trace in [
            reader(other).to_string(),
            name(other),
            format!("token-{other}"),
        ] {
            assert!(
                !text.contains(&trace),
                "{about} tells reader {to} of {trace}: {text}"
            );
        }
    }
}

async fn run(steps: &[Step]) {
    let app = App::new("library-service").event_store(Arc::new(MemoryStore::new()));
    let application = app.settings(Settings::default()).build().await.unwrap();
    let client = application.client();
    let staff = act_as(&client, TestCaller::Staff);
    for number in 0..COPIES {
        let book = json!({
            "id": copy(number), "isbn": ISBN, "title": "The Hobbit",
            "author": "J. R. R. Tolkien", "numPages": 310,
        });
        assert_eq!(
            staff.post("/books/purchase", &book).await.unwrap().status,
            201
        );
    }
    for number in 0..READERS {
        assert_eq!(
            LibraryCommand::Register(number).send(&staff).await.status,
            201
        );
    }
    let mut position = "0".to_owned();
    for step in steps {
        let response = step.command.send(&act_as(&client, step.sender)).await;
        if let TestCaller::Reader(number) = step.sender {
            check(
                &response,
                number,
                &format!("the response to {:?}", step.command),
            );
        }
        if let Some(last) = response.header("event-position") {
            position = last.to_owned();
        }
        let asking = act_as(&client, TestCaller::Reader(step.asks_next));
        let asking = asking.with_header(HeaderName::from_static("event-position"), &position);
        let mut paths = vec![
            "/books",
            "/books?limit=1&total=true",
            "/books/catalog",
            "/loans/overdue",
            "/titles/978-0-345-53943-1/queue",
            "/fetch-lists/2026-07-01",
        ];
        let books: Vec<_> = (0..COPIES)
            .map(|book| format!("/books/{}", copy(book)))
            .collect();
        let readers = (0..READERS).map(reader);
        let readers: Vec<_> = readers
            .flat_map(|id| ["", "/loans", "/reservations"].map(|of| format!("/readers/{id}{of}")))
            .collect();
        paths.extend(books.iter().chain(&readers).map(String::as_str));
        for path in paths {
            check(&asking.get(path).await.unwrap(), step.asks_next, path);
        }
    }
    application.shutdown().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_answer_to_a_reader_tells_anything_of_another_one(
        steps in prop::collection::vec(any_step(), 1..20),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(run(&steps));
    }
}
