//! Every rule of lending, over HTTP against the real program.

use crate::support::{Library, TOKEN, book, client, json_of, start_event_store};
use es_framework::event::RecordedEvent;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

/// Asserts the problem of a refused request.
async fn problem(answer: Response) -> (u16, String, String) {
    let status = answer.status().as_u16();
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let body = json_of(answer).await;
    assert_eq!(body["status"], status);
    let text = |member: &str| body[member].as_str().unwrap().to_owned();
    let name = text("type").rsplit(':').next().unwrap().to_owned();
    (status, name, text("title"))
}

fn refused(status: u16, name: &str, title: &str) -> (u16, String, String) {
    (status, name.to_owned(), title.to_owned())
}

fn tag(answer: &Response) -> String {
    answer.headers()["etag"].to_str().unwrap().to_owned()
}

/// A library with its event store in a temporary folder.
struct Desk {
    library: Library,
    folder: tempfile::TempDir,
}

impl Desk {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::embedded(folder.path());
        Self { library, folder }
    }

    /// Kills the program and starts it again.
    fn restart(self) -> Self {
        let Self {
            mut library,
            folder,
        } = self;
        library.process.kill();
        drop(library);
        let library = Library::embedded(folder.path());
        Self { library, folder }
    }

    async fn send(&self, path: &str, body: &Value) -> Response {
        self.send_with(path, body, &[]).await
    }

    async fn send_with(&self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Response {
        let url = format!("{}{path}", self.library.url);
        let request = client()
            .post(url)
            .header("content-type", "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        request.body(body.to_string()).send().await.unwrap()
    }

    async fn purchased(&self) -> Uuid {
        let id = Uuid::new_v4();
        let answer = self.library.purchase(&book(id)).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        id
    }

    async fn registered(&self) -> Uuid {
        let id = Uuid::new_v4();
        let answer = self
            .send("/readers/register", &json!({"id": id, "name": "Ada"}))
            .await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        assert_eq!(answer.headers()["location"], format!("/readers/{id}"));
        id
    }

    async fn borrow(&self, id: Uuid, reader: Uuid) -> Response {
        let body = json!({"id": id, "reader": reader});
        self.send("/books/borrow", &body).await
    }

    async fn lent(&self, id: Uuid, reader: Uuid) {
        assert_eq!(self.borrow(id, reader).await.status(), StatusCode::OK);
    }

    async fn give_back(&self, id: Uuid) -> Response {
        self.send("/books/return", &json!({"id": id})).await
    }

    async fn remove(&self, id: Uuid) -> Response {
        let body = json!({"id": id, "reason": "the spine is broken"});
        self.send("/books/remove", &body).await
    }

    /// Writes past events into the event store, as a client with the token can.
    async fn wrote(&self, subject: String, event: &str, payload: Value) {
        let event = json!({
            "source": "library-service",
            "subject": subject,
            "type": format!("com.example.library.{event}"),
            "data": {"metadata": {}, "payload": payload},
        });
        let request = client()
            .post(format!("{}/api/v1/write-events", self.library.store_url))
            .bearer_auth(TOKEN)
            .body(json!({"events": [event]}).to_string());
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn a_copy_is_lent_and_comes_back() {
    let desk = Desk::open();
    let (id, reader) = (desk.purchased().await, desk.registered().await);
    let answer = desk.borrow(id, reader).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["event-position"], "3");
    assert_eq!(tag(&answer), "\"2\"");
    let loan = json_of(answer).await;
    assert_eq!(loan.as_object().unwrap().len(), 1);

    let answer = desk.give_back(id).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(json_of(answer).await, json!({"lateFeeCents": 0}));

    let events = desk.library.stored_events().await;
    // The reaction to a return keeps its own records.
    let is_of_library = |event: &&RecordedEvent| !event.subject.as_str().contains("es-framework");
    let described: Vec<_> = events
        .iter()
        .filter(is_of_library)
        .map(|event| {
            let name = event.event_type.as_str().rsplit('.').next().unwrap();
            let payload: Value = serde_json::from_str(event.raw_payload().unwrap().get()).unwrap();
            (name.to_owned(), event.subject.to_string(), payload)
        })
        .skip(2)
        .collect();
    let (copy, of_reader) = (format!("/books/{id}"), format!("/readers/{reader}"));
    let due_at = &loan["dueAt"];
    let expected = [
        (
            "BookBorrowedEvent",
            &copy,
            json!({"id": id, "reader": reader, "dueAt": due_at}),
        ),
        (
            "LoanOpenedEvent",
            &of_reader,
            json!({"reader": reader, "book": id, "dueAt": due_at}),
        ),
        (
            "BookReturnedEvent",
            &copy,
            json!({"id": id, "reader": reader, "lateFeeCents": 0}),
        ),
        (
            "LoanClosedEvent",
            &of_reader,
            json!({"reader": reader, "book": id}),
        ),
    ]
    .map(|(name, subject, payload)| (name.to_owned(), subject.clone(), payload));
    assert_eq!(described, expected);
    // One append wrote both events of the decision.
    assert_eq!(events[2].time, events[3].time);
}

#[tokio::test]
async fn a_lent_or_removed_copy_is_not_lent() {
    let desk = Desk::open();
    let reader = desk.registered().await;
    let id = desk.purchased().await;
    desk.lent(id, reader).await;
    let lent = refused(409, "copy-lent", "The copy is lent");
    assert_eq!(problem(desk.borrow(id, reader).await).await, lent);
    assert_eq!(problem(desk.remove(id).await).await, lent);

    desk.give_back(id).await;
    assert_eq!(desk.remove(id).await.status(), StatusCode::NO_CONTENT);
    let removed = refused(
        410,
        "copy-removed",
        "The copy was removed from the inventory",
    );
    assert_eq!(problem(desk.borrow(id, reader).await).await, removed);
    assert_eq!(problem(desk.remove(id).await).await, removed);
    let not_lent = refused(409, "copy-not-lent", "The copy is not lent");
    assert_eq!(problem(desk.give_back(id).await).await, not_lent);
}

#[tokio::test]
async fn copies_and_readers_must_be_known() {
    let desk = Desk::open();
    let (id, reader) = (desk.purchased().await, desk.registered().await);
    let unknown = refused(404, "not-found", "There is no such thing");
    let nobody = Uuid::new_v4();
    for answer in [
        desk.borrow(Uuid::new_v4(), reader).await,
        desk.borrow(id, nobody).await,
        desk.give_back(Uuid::new_v4()).await,
        desk.remove(Uuid::new_v4()).await,
    ] {
        assert_eq!(problem(answer).await, unknown);
    }
    let twice = json!({"id": reader, "name": "Eve"});
    let answer = desk.send("/readers/register", &twice).await;
    assert_eq!(problem(answer).await.0, 409);
    for (path, body) in [
        ("/readers/register", json!({"id": nobody, "name": " "})),
        ("/books/remove", json!({"id": id, "reason": ""})),
        ("/books/borrow", json!({"id": id, "reader": "nobody"})),
        ("/books/return", json!({"id": id, "fee": 0})),
    ] {
        assert_eq!(problem(desk.send(path, &body).await).await.0, 422, "{path}");
    }
}

#[tokio::test]
async fn a_late_return_costs_50_cents_for_each_started_day() {
    let desk = Desk::open();
    let (id, reader) = (desk.purchased().await, desk.registered().await);
    let late_since = std::time::SystemTime::now() - std::time::Duration::from_secs(60 * 60 * 25);
    let late_since = es_framework::prelude::Timestamp::try_from(late_since).unwrap();
    let payload = json!({"id": id, "reader": reader, "dueAt": late_since});
    desk.wrote(format!("/books/{id}"), "BookBorrowedEvent", payload)
        .await;
    let answer = desk.give_back(id).await;
    assert_eq!(json_of(answer).await, json!({"lateFeeCents": 100}));
}

#[tokio::test]
async fn a_reader_holds_five_copies_at_the_most() {
    let desk = Desk::open();
    let reader = desk.registered().await;
    let mut first = None;
    for _ in 0..5 {
        let id = desk.purchased().await;
        desk.lent(id, reader).await;
        first.get_or_insert(id);
    }
    let sixth = desk.purchased().await;
    let too_many = refused(
        409,
        "loan-limit-reached",
        "The reader holds as many copies as allowed",
    );
    assert_eq!(problem(desk.borrow(sixth, reader).await).await, too_many);
    let other = desk.registered().await;
    let seventh = desk.purchased().await;
    desk.lent(seventh, other).await;
    desk.give_back(first.unwrap()).await;
    desk.lent(sixth, reader).await;
}

#[tokio::test]
async fn a_command_is_refused_once_the_copy_has_changed() {
    let desk = Desk::open();
    let reader = desk.registered().await;
    let id = Uuid::new_v4();
    let purchased = desk.library.purchase(&book(id)).await;
    let body = json!({"id": id, "reader": reader});
    let seen = tag(&purchased);
    let borrowed = desk
        .send_with("/books/borrow", &body, &[("if-match", &seen)])
        .await;
    assert_eq!(borrowed.status(), StatusCode::OK);
    let giving = json!({"id": id});
    let stale = desk
        .send_with("/books/return", &giving, &[("if-match", &seen)])
        .await;
    let changed = refused(412, "changed-meanwhile", "The subject has changed");
    assert_eq!(problem(stale).await, changed);
    let malformed = desk
        .send_with("/books/return", &giving, &[("if-match", "7")])
        .await;
    assert_eq!(problem(malformed).await.0, 400);
    let seen = tag(&borrowed);
    let given_back = desk
        .send_with("/books/return", &giving, &[("if-match", &seen)])
        .await;
    assert_eq!(given_back.status(), StatusCode::OK);
}

/// Returns a response without the time at which it was sent.
async fn whole(answer: Response) -> (StatusCode, Vec<(String, String)>, String) {
    let status = answer.status();
    let headers = answer
        .headers()
        .iter()
        .filter(|(name, _)| *name != "date")
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    (status, headers, answer.text().await.unwrap())
}

#[tokio::test]
async fn a_command_that_is_sent_again_after_a_crash_is_answered_as_the_first_was() {
    let desk = Desk::open();
    let (id, reader) = (desk.purchased().await, desk.registered().await);
    let body = json!({"id": id, "reader": reader});
    let key = [("idempotency-key", "\"borrow-1\"")];
    let first = whole(desk.send_with("/books/borrow", &body, &key).await).await;
    assert_eq!(first.0, StatusCode::OK);
    let other = id_book();
    let purchase = [("idempotency-key", "purchase-1")];
    let created = whole(desk.send_with("/books/purchase", &other, &purchase).await).await;
    assert_eq!(created.0, StatusCode::CREATED);

    let desk = desk.restart();
    let again = whole(desk.send_with("/books/borrow", &body, &key).await).await;
    assert_eq!(again, first);
    let again = whole(desk.send_with("/books/purchase", &other, &purchase).await).await;
    assert_eq!(again, created);
    let reused = desk
        .send_with("/books/return", &json!({"id": id}), &key)
        .await;
    let reused = problem(reused).await;
    assert_eq!(
        (reused.0, reused.1.as_str()),
        (422, "idempotency-key-reused")
    );
}

fn id_book() -> Value {
    book(Uuid::new_v4())
}

/// The number of rounds. The long form sets `BORROW_ROUNDS=200`.
fn rounds() -> usize {
    let long = std::env::var("BORROW_ROUNDS").ok();
    long.map_or(50, |rounds| rounds.parse().unwrap())
}

/// Rounds in which 16 clients borrow at the same time for one reader, whose limit is five copies.
async fn borrow_under_fire(library: &Library, rounds: usize) {
    let url = |path: &str| format!("{}{path}", library.url);
    for round in 0..rounds {
        let reader = Uuid::new_v4();
        let body = json!({"id": reader, "name": "Ada"}).to_string();
        let answer = crate::support::post(&url("/readers/register"), body).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        let copies: Vec<_> = (0..16).map(|_| Uuid::new_v4()).collect();
        let purchases = copies
            .iter()
            .map(|id| async { library.purchase(&book(*id)).await });
        for answer in futures_util::future::join_all(purchases).await {
            assert_eq!(answer.status(), StatusCode::CREATED);
        }
        let borrows = copies.iter().map(|id| {
            let body = json!({"id": id, "reader": reader}).to_string();
            let url = url("/books/borrow");
            async move { crate::support::post(&url, body).await }
        });
        let mut lent = 0;
        for answer in futures_util::future::join_all(borrows).await {
            match answer.status() {
                StatusCode::OK => lent += 1,
                _ => {
                    let (status, name, _) = problem(answer).await;
                    assert_eq!((status, name.as_str()), (409, "loan-limit-reached"));
                }
            }
        }
        assert_eq!(lent, 5, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loan_limit_holds_under_fire_on_the_embedded_event_store() {
    let desk = Desk::open();
    borrow_under_fire(&desk.library, rounds()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loan_limit_holds_under_fire_on_an_event_store_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, store_url) = start_event_store(folder.path(), 0);
    let library = Library::with_store(&store_url);
    borrow_under_fire(&library, rounds()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loan_limit_holds_for_several_instances_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, store_url) = start_event_store(folder.path(), 0);
    let libraries = [
        Library::with_store(&store_url),
        Library::with_store(&store_url),
    ];
    for _ in 0..20 {
        let reader = Uuid::new_v4();
        let url = format!("{}/readers/register", libraries[0].url);
        crate::support::post(&url, json!({"id": reader, "name": "Ada"}).to_string()).await;
        let mut copies = Vec::new();
        for _ in 0..16 {
            let id = Uuid::new_v4();
            libraries[0].purchase(&book(id)).await;
            copies.push(id);
        }
        let borrows = copies.iter().enumerate().map(|(index, id)| {
            let url = format!("{}/books/borrow", libraries[index % 2].url);
            let body = json!({"id": id, "reader": reader}).to_string();
            async move { crate::support::post(&url, body).await }
        });
        let mut lent = 0;
        for answer in futures_util::future::join_all(borrows).await {
            if answer.status() == StatusCode::OK {
                lent += 1;
                continue;
            }
            let (status, name, _) = problem(answer).await;
            let names = ["loan-limit-reached", "contended"];
            assert!(status == 409 && names.contains(&name.as_str()), "{name}");
        }
        assert!((1..=5).contains(&lent), "{lent}");
    }
}
