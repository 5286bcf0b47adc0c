//! Readers act for themselves and for nobody else; staff act for all.

use std::{path::Path, process::Command};

use crate::support::{Library, book, client, json_of};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

const ADA: Uuid = Uuid::from_u128(0xada);
const BOB: Uuid = Uuid::from_u128(0xb0b);

/// A library with two readers, and the tokens of its callers.
struct Lending {
    library: Library,
    _folder: tempfile::TempDir,
    staff: String,
    ada: String,
    bob: String,
    /// A reader whose token names no owner id.
    nameless: String,
}

pub(super) fn create_token(folder: &Path, name: &str, role: &str, owner: Option<String>) -> String {
    let mut create = Command::new(env!("CARGO_BIN_EXE_library-app"));
    create.args(["token", "create", "--name", name, "--role", role]);
    create.args(owner.iter().flat_map(|owner| ["--owner", owner]));
    let created = create.env("AUTH_TOKENS_FILE", folder.join("tokens"));
    let created = created.output().unwrap();
    assert!(created.status.success(), "{created:?}");
    String::from_utf8(created.stdout).unwrap().trim().to_owned()
}

impl Lending {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let create = |name, role, owner| create_token(folder.path(), name, role, owner);
        let staff = create("kim", "staff", None);
        // A person may write a UUID in capital letters.
        let ada = create("ada", "reader", Some(ADA.to_string().to_uppercase()));
        let bob = create("bob", "reader", Some(BOB.to_string()));
        let nameless = create("someone", "reader", None);
        let file = folder.path().join("tokens");
        let settings = [("AUTH_TOKENS_FILE", file.to_str().unwrap())];
        let library = Library::embedded_with(&folder.path().join("data"), &settings);
        let lending = Self {
            library,
            _folder: folder,
            staff,
            ada,
            bob,
            nameless,
        };
        for (reader, name) in [(ADA, "Ada"), (BOB, "Bob")] {
            let body = json!({ "id": reader, "name": name });
            let answer = lending
                .post("/readers/register", &body, &lending.staff)
                .await;
            assert_eq!(answer.status(), StatusCode::CREATED);
        }
        lending
    }

    async fn post(&self, path: &str, body: &Value, token: &str) -> Response {
        let request = client().post(format!("{}{path}", self.library.url));
        let request = request.header("content-type", "application/json");
        let request = request.bearer_auth(token).body(body.to_string());
        request.send().await.unwrap()
    }

    async fn purchase(&self) -> Uuid {
        let id = Uuid::new_v4();
        let answer = self.post("/books/purchase", &book(id), &self.staff).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        id
    }

    async fn borrow(&self, book: Uuid, reader: Uuid, token: &str) -> Response {
        let body = json!({ "id": book, "reader": reader });
        self.post("/books/borrow", &body, token).await
    }

    async fn give_back(&self, book: Uuid, token: &str) -> Response {
        self.post("/books/return", &json!({ "id": book }), token)
            .await
    }

    async fn loans(&self, reader: Uuid, token: &str) -> Response {
        let url = format!("{}/readers/{reader}/loans", self.library.url);
        client().get(url).bearer_auth(token).send().await.unwrap()
    }

    /// Returns the copies that a reader holds after an event, as a caller sees them.
    async fn books_held(&self, reader: Uuid, token: &str, lent: &Response) -> Vec<String> {
        let url = format!("{}/readers/{reader}/loans", self.library.url);
        let request = client().get(url).bearer_auth(token);
        let request = request.header("event-position", &lent.headers()["event-position"]);
        let loans = json_of(request.send().await.unwrap()).await;
        let books = loans.as_array().unwrap().iter();
        books
            .map(|loan| loan["book"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Checks that a response is the refusal of a rule about owners, and that it does not name the owner.
async fn assert_not_owner(answer: Response, kind: &str) -> Value {
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    let problem = json_of(answer).await;
    let expected = format!("tag:es-framework,2026:problem:{kind}");
    assert_eq!(problem["type"], expected.as_str(), "{problem}");
    let text = problem.to_string();
    for owner in [ADA, BOB] {
        assert!(!text.contains(&owner.to_string()), "{text}");
    }
    problem
}

#[tokio::test]
async fn a_reader_borrows_and_returns_only_for_themselves() {
    let lending = Lending::start().await;
    let copy = lending.purchase().await;
    let refused = lending.borrow(copy, BOB, &lending.ada).await;
    assert_not_owner(refused, "not-owner").await;
    let lent = lending.borrow(copy, ADA, &lending.ada).await;
    assert_eq!(lent.status(), StatusCode::OK);
    let refused = lending.give_back(copy, &lending.bob).await;
    assert_not_owner(refused, "lent-to-somebody-else").await;
    let returned = lending.give_back(copy, &lending.ada).await;
    assert_eq!(returned.status(), StatusCode::OK);
}

#[tokio::test]
async fn staff_borrow_return_and_list_for_every_reader() {
    let lending = Lending::start().await;
    let copy = lending.purchase().await;
    let lent = lending.borrow(copy, BOB, &lending.staff).await;
    assert_eq!(lent.status(), StatusCode::OK);
    let held = lending.books_held(BOB, &lending.staff, &lent).await;
    assert_eq!(held, [copy.to_string()]);
    let returned = lending.give_back(copy, &lending.staff).await;
    assert_eq!(returned.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_reader_lists_only_their_own_loans() {
    let lending = Lending::start().await;
    let copy = lending.purchase().await;
    let lent = lending.borrow(copy, BOB, &lending.bob).await;
    assert_eq!(lent.status(), StatusCode::OK);
    assert_not_owner(lending.loans(BOB, &lending.ada).await, "not-owner").await;
    let live = client().get(format!("{}/readers/{BOB}/loans", lending.library.url));
    let live = live.header("accept", "text/event-stream");
    let live = live.bearer_auth(&lending.ada).send().await.unwrap();
    assert_not_owner(live, "not-owner").await;
    let own = lending.books_held(BOB, &lending.bob, &lent).await;
    assert_eq!(own, [copy.to_string()]);
}

#[tokio::test]
async fn a_caller_without_an_owner_id_owns_nothing_and_learns_why() {
    let lending = Lending::start().await;
    let copy = lending.purchase().await;
    let refused = lending.borrow(copy, ADA, &lending.nameless).await;
    let problem = assert_not_owner(refused, "not-owner").await;
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("no owner id"), "{detail}");
    let refused = lending.loans(ADA, &lending.nameless).await;
    assert_not_owner(refused, "not-owner").await;
}

#[tokio::test]
async fn the_rule_is_checked_before_anything_is_read() {
    let lending = Lending::start().await;
    let unknown = Uuid::new_v4();
    let refused = lending.borrow(unknown, BOB, &lending.ada).await;
    assert_not_owner(refused, "not-owner").await;
    let own = lending.borrow(unknown, ADA, &lending.ada).await;
    assert_eq!(own.status(), StatusCode::NOT_FOUND);
}
