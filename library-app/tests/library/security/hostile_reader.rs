//! A hostile reader asks every route everything, and finds no trace of another reader.

use std::{collections::BTreeSet, path::Path};

use reqwest::{Client, Response, StatusCode, header::HeaderMap};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    issued_tokens::{self, Issuer},
    own_loans::create_token,
};
use crate::support::{
    Library, book, eventually, json_of,
    live_query::LiveQuery,
    new_client,
    route_catalog::{CatalogRequest, RouteCatalog},
};

/// The stock tells everyone until when a copy is lent, and so does the problem of a reader who wants to borrow it.
const TELL_DUE_DATES: [&str; 3] = ["GET /books", "GET /books/{id}", "POST /books/borrow"];
/// Copies come back at once, so that all loans are overdue.
const SETTINGS: (&str, &str) = ("LOAN_DAYS", "0");

/// The ISBN of the title that Ada has reserved. She borrows others.
const RESERVED: &str = "0-261-10357-X";

/// All that tells one reader from another.
struct Person {
    id: Uuid,
    name: String,
    /// The due dates of the loans, with the digits that all forms of a time have.
    due_dates: Vec<String>,
}

/// The tokens of the callers.
struct Tokens {
    staff: String,
    ada: String,
    bob: String,
}

/// A library in which Ada has borrowed copies, and of which Bob, the hostile reader, asks everything.
struct Lending {
    library: Library,
    client: Client,
    tokens: Tokens,
    ada: Person,
    bob: Uuid,
    copies: Vec<Uuid>,
    /// The last event.
    position: String,
}

/// A response as text: its status, and its headers and body with the contents of cursors, in small letters.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
    next_cursor: Option<String>,
}

impl Person {
    fn new(id: Uuid) -> Self {
        Self {
            id,
            name: format!("Ada-{}", Uuid::new_v4().simple()),
            due_dates: Vec::new(),
        }
    }

    /// Returns the forms in which a text can name the person, in small letters.
    fn traces(&self, route: &str) -> Vec<String> {
        let mut traces = vec![
            self.id.to_string(),
            self.id.simple().to_string(),
            self.name.to_lowercase(),
        ];
        if !TELL_DUE_DATES.contains(&route) {
            traces.extend(self.due_dates.iter().cloned());
        }
        traces
    }
}

impl Lending {
    async fn start(library: Library, tokens: Tokens, [ada, bob]: [Uuid; 2]) -> Self {
        let mut lending = Self {
            library,
            client: new_client().build().unwrap(),
            tokens,
            ada: Person::new(ada),
            bob,
            copies: Vec::new(),
            position: String::new(),
        };
        for (id, name) in [(ada, lending.ada.name.clone()), (bob, "Bob".to_owned())] {
            let reader = json!({ "id": id, "name": name });
            let staff = lending.tokens.staff.clone();
            lending.send("/readers/register", &reader, &staff, "").await;
        }
        for _ in 0..3 {
            let copy = Uuid::new_v4();
            let staff = lending.tokens.staff.clone();
            lending
                .send("/books/purchase", &book(copy), &staff, "")
                .await;
            lending.copies.push(copy);
        }
        lending.set_aside_for_ada().await;
        // One copy is lent to Ada, one came back, and one was never lent.
        for copy in [lending.copies[0], lending.copies[1]] {
            lending.borrow(copy).await;
        }
        let (body, token) = (
            json!({ "id": lending.copies[1] }),
            lending.tokens.ada.clone(),
        );
        // Bob guesses the key, too.
        lending
            .send("/books/return", &body, &token, &ada.to_string())
            .await;
        lending
    }

    /// Sets a copy aside for Ada, which Bob has returned.
    async fn set_aside_for_ada(&mut self) {
        let (copy, ada, bob) = (Uuid::new_v4(), self.ada.id, self.bob);
        let [staff, of_ada, of_bob] =
            [&self.tokens.staff, &self.tokens.ada, &self.tokens.bob].map(|token| token.to_owned());
        let mut purchase = book(copy);
        purchase["isbn"] = RESERVED.into();
        let [borrow, reserve] = [bob, ada].map(|reader| json!({ "id": copy, "reader": reader }));
        let back = json!({ "id": copy });
        for (path, body, token) in [
            ("/books/purchase", &purchase, &staff),
            ("/books/borrow", &borrow, &of_bob),
            ("/books/reserve", &reserve, &of_ada),
            ("/books/return", &back, &of_bob),
        ] {
            self.send(path, body, token, "").await;
        }
        let url = format!("{}/books/{copy}", self.library.url);
        eventually("the copy is set aside", async || {
            let answer = self.client.get(&url).bearer_auth(&staff).send().await;
            let shown = json_of(answer.unwrap()).await;
            (shown["reader"] == ada.to_string()).then_some(())
        })
        .await;
        self.copies.push(copy);
    }

    async fn send(&mut self, path: &str, body: &Value, token: &str, key: &str) -> Value {
        let request = self.client.post(format!("{}{path}", self.library.url));
        let mut request = request.bearer_auth(token).body(body.to_string());
        if !key.is_empty() {
            request = request.header("idempotency-key", key);
        }
        let request = request.header("content-type", "application/json");
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {answer:?}");
        let position = answer.headers()["event-position"].to_str().unwrap();
        self.position = position.to_owned();
        let text = answer.text().await.unwrap();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Lends a copy to Ada.
    async fn borrow(&mut self, copy: Uuid) {
        let body = json!({ "id": copy, "reader": self.ada.id });
        let token = self.tokens.ada.clone();
        let lent = self.send("/books/borrow", &body, &token, "").await;
        let due_at = lent["dueAt"].as_str().unwrap().to_lowercase();
        // Microseconds, because a time can end with zeros or without them.
        let due_at = due_at.trim_end_matches('z');
        self.ada
            .due_dates
            .push(due_at.get(..26).unwrap_or(due_at).to_owned());
    }

    /// Returns requests to every route that are about a person.
    fn requests(&self, catalog: &RouteCatalog, person: &Person) -> Vec<CatalogRequest> {
        let ids = [self.bob].into_iter().chain(self.copies.iter().copied());
        let words = [person.id.to_string(), person.name.clone()];
        let words = words.into_iter().chain(ids.map(|id| id.to_string()));
        let words = words.chain([RESERVED.to_owned()]);
        catalog.requests(&words.collect::<Vec<_>>())
    }

    async fn ask(&self, request: &CatalogRequest, token: &str) -> Answer {
        let url = format!("{}{}", self.library.url, request.path);
        let mut sent = self.client.request(request.method.clone(), url);
        sent = sent.bearer_auth(token);
        let mut names = request.headers.iter().map(|(name, _)| name.as_str());
        if !names.any(|name| name == "Event-Position") {
            sent = sent.header("event-position", &self.position);
        }
        for (name, value) in &request.headers {
            sent = sent.header(name, value);
        }
        if let Some(body) = &request.body {
            sent = sent
                .header("content-type", "application/json")
                .body(body.clone());
        }
        Answer::read(sent.send().await.unwrap()).await
    }

    /// Returns the answer, and those on all further pages.
    async fn ask_all_pages(&self, request: &CatalogRequest, token: &str) -> Vec<Answer> {
        let mut answers = vec![self.ask(request, token).await];
        while let Some(cursor) = &answers[answers.len() - 1].next_cursor {
            let mark = if request.path.contains('?') { '&' } else { '?' };
            let path = format!("{}{mark}cursor={cursor}", request.path);
            let next = CatalogRequest {
                path,
                ..request.clone()
            };
            answers.push(self.ask(&next, token).await);
        }
        answers
    }

    /// Sends the requests with a token, and returns the traces that the answers have of Ada.
    async fn find_traces(&self, requests: Vec<CatalogRequest>, token: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for request in requests {
            let said = request.text();
            for answer in self.ask_all_pages(&request, token).await {
                for trace in self.ada.traces(&request.route) {
                    // An answer may repeat what the request says.
                    if answer.text.contains(&trace) && !said.contains(&trace) {
                        found.insert(format!("{} tells {trace}: {request:?}", request.route));
                    }
                }
            }
        }
        found
    }

    /// Asks everything about Ada and about somebody who does not exist, and returns what differs.
    async fn find_differences(&self, catalog: &RouteCatalog, token: &str) -> Vec<String> {
        let stranger = Person::new(Uuid::new_v4());
        let about_ada = self.requests(catalog, &self.ada);
        let about_nobody = self.requests(catalog, &stranger);
        let mut differences = Vec::new();
        // Bob's own requests under these keys succeeded.
        let mut spent_keys = BTreeSet::new();
        let key_of = |request: &CatalogRequest| {
            let mut headers = request.headers.iter();
            let key = headers.find(|(name, _)| name == "Idempotency-Key");
            key.map(|(_, key)| key.clone())
        };
        for (about_ada, about_nobody) in about_ada.iter().zip(&about_nobody) {
            let is_measurement = about_ada.route.contains("/actuator/");
            let keys = [key_of(about_ada), key_of(about_nobody)];
            let is_spent = keys.iter().flatten().any(|key| spent_keys.contains(key));
            if about_ada.text() == about_nobody.text() || is_measurement || is_spent {
                continue;
            }
            let [one, other] = [
                (self.ask(about_ada, token).await, &self.ada),
                (self.ask(about_nobody, token).await, &stranger),
            ];
            // Bob may act for himself, and that changes what comes next.
            let succeeds = one.0.status.is_success() || other.0.status.is_success();
            let has_acted = about_ada.body.is_some() && succeeds;
            if has_acted {
                spent_keys.extend(keys.into_iter().flatten());
            }
            let [one, other] = [one, other].map(|(answer, person)| answer.without_name(person));
            if one != other && !has_acted {
                differences.push(format!("{about_ada:?}: {one} and {other}"));
            }
        }
        differences
    }
}

impl Answer {
    async fn read(answer: Response) -> Self {
        let (status, headers) = (answer.status(), answer.headers().clone());
        let is_live = headers
            .get("content-type")
            .is_some_and(|it| it == "text/event-stream");
        let body = if is_live {
            LiveQuery::of(answer).block().await.unwrap_or_default()
        } else {
            answer.text().await.unwrap()
        };
        let next_cursor = serde_json::from_str::<Value>(&body).ok();
        let next_cursor = next_cursor.and_then(|it| it["nextCursor"].as_str().map(str::to_owned));
        let cursor = next_cursor.as_deref().map(decode).unwrap_or_default();
        let text = format!("{headers:?}\n{body}\n{cursor}").to_lowercase();
        Self {
            status,
            headers,
            text,
            next_cursor,
        }
    }

    /// Returns the status and the body, with marks in the place of what the request said of a person.
    fn without_name(&self, person: &Person) -> String {
        let (_, body) = self.text.split_once('\n').unwrap();
        let body = body.replace(&person.id.to_string(), "<id>");
        let body = body.replace(&person.name.to_lowercase(), "<name>");
        format!("{} {body}", self.status)
    }
}

/// Returns the content of a cursor.
fn decode(cursor: &str) -> String {
    let digits = cursor.as_bytes().chunks(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16));
    String::from_utf8_lossy(&bytes.collect::<Result<Vec<_>, _>>().unwrap()).into_owned()
}

async fn with_tokens_of_a_file(folder: &Path) -> Lending {
    let (ada, bob) = (Uuid::new_v4(), Uuid::new_v4());
    let create = |name, role, owner: Option<Uuid>| {
        create_token(folder, name, role, owner.map(|id| id.to_string()))
    };
    let tokens = Tokens {
        staff: create("kim", "staff", None),
        ada: create("one", "reader", Some(ada)),
        bob: create("two", "reader", Some(bob)),
    };
    let file = folder.join("tokens");
    let settings = [SETTINGS, ("AUTH_TOKENS_FILE", file.to_str().unwrap())];
    let library = Library::embedded_with(&folder.join("data"), &settings);
    Lending::start(library, tokens, [ada, bob]).await
}

async fn with_tokens_of_an_issuer(folder: &tempfile::TempDir) -> Lending {
    let (ada, bob) = (Uuid::new_v4(), Uuid::new_v4());
    let issuer = Issuer::start().await;
    let head = json!({ "alg": "ES256", "kid": "k1" });
    let token = |name: &str, role| {
        let claims = issued_tokens::with(&issuer.claims(&[role]), "sub", name);
        issuer.token(&head, &claims)
    };
    let tokens = Tokens {
        staff: token("kim", "staff"),
        ada: token(&ada.to_string(), "reader"),
        bob: token(&bob.to_string(), "reader"),
    };
    let library = issuer.library_with(folder, &[SETTINGS]);
    Lending::start(library, tokens, [ada, bob]).await
}

async fn assert_bob_finds_no_trace(lending: &Lending) -> RouteCatalog {
    let catalog = RouteCatalog::read(&lending.library.url, &lending.tokens.bob).await;
    let everything = lending.requests(&catalog, &lending.ada);
    let found = lending.find_traces(everything, &lending.tokens.bob).await;
    assert!(found.is_empty(), "{found:#?}");
    catalog
}

#[tokio::test]
async fn a_reader_with_a_token_of_the_file_finds_no_trace_of_another_reader() {
    let folder = tempfile::tempdir().unwrap();
    let lending = with_tokens_of_a_file(folder.path()).await;
    let catalog = assert_bob_finds_no_trace(&lending).await;
    let differences = lending.find_differences(&catalog, &lending.tokens.bob);
    let differences = differences.await;
    assert!(differences.is_empty(), "{differences:#?}");
}

#[tokio::test]
async fn a_reader_with_a_token_of_an_issuer_finds_no_trace_of_another_reader() {
    let folder = tempfile::tempdir().unwrap();
    assert_bob_finds_no_trace(&with_tokens_of_an_issuer(&folder).await).await;
}

#[tokio::test]
async fn staff_who_ask_the_same_find_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    let lending = with_tokens_of_a_file(folder.path()).await;
    let catalog = RouteCatalog::read(&lending.library.url, &lending.tokens.staff).await;
    let mut questions = lending.requests(&catalog, &lending.ada);
    questions.retain(|request| request.method.is_safe());
    let found = lending.find_traces(questions, &lending.tokens.staff).await;
    let tells = |route: &str, trace: &str| {
        let begin = format!("{route} tells {}", trace.to_lowercase());
        found.iter().any(|one| one.starts_with(&begin))
    };
    let (id, due) = (lending.ada.id.to_string(), &lending.ada.due_dates[0]);
    for route in [
        "GET /books",
        "GET /books/{id}",
        "GET /loans/overdue",
        "GET /titles/{isbn}/queue",
    ] {
        assert!(tells(route, &id), "{route}: {found:#?}");
    }
    assert!(tells("GET /readers/{id}", &lending.ada.name));
    assert!(tells("GET /readers/{reader}/loans", due));
    assert!(tells("GET /loans/overdue", due));
}

#[tokio::test]
async fn the_entity_tag_of_what_staff_see_is_no_tag_of_what_a_reader_sees() {
    let folder = tempfile::tempdir().unwrap();
    let lending = with_tokens_of_a_file(folder.path()).await;
    let catalog = RouteCatalog::read(&lending.library.url, &lending.tokens.bob).await;
    let mut compared = 0;
    for request in lending.requests(&catalog, &lending.ada) {
        if !request.headers.is_empty() || !request.method.is_safe() {
            continue;
        }
        let Tokens { staff, bob, .. } = &lending.tokens;
        let seen = lending.ask(&request, staff).await;
        let Some(tag) = seen.headers.get("etag") else {
            continue;
        };
        let own = lending.ask(&request, bob).await;
        let mut again = request.clone();
        let tag = tag.to_str().unwrap().to_owned();
        again.headers.push(("If-None-Match".to_owned(), tag));
        let answer = lending.ask(&again, bob).await;
        let names_ada = seen.text.contains(&lending.ada.id.to_string());
        if names_ada && own.status == StatusCode::OK {
            assert_eq!(answer.status, StatusCode::OK, "{request:?}");
            compared += 1;
        }
    }
    assert!(compared > 1, "{compared} answers differ");
}

#[tokio::test]
async fn a_live_query_shows_a_reader_that_a_copy_is_lent_and_not_to_whom() {
    let folder = tempfile::tempdir().unwrap();
    let mut lending = with_tokens_of_a_file(folder.path()).await;
    let request = lending.client.get(format!("{}/books", lending.library.url));
    let request = request.header("accept", "text/event-stream");
    let answer = request
        .bearer_auth(&lending.tokens.bob)
        .send()
        .await
        .unwrap();
    let mut live = LiveQuery::of(answer);
    live.next().await;
    let copy = lending.copies[2];
    lending.borrow(copy).await;
    let is_lent = |page: &Value| {
        let rows = page["items"].as_array().unwrap();
        rows.iter()
            .any(|row| row["id"] == copy.to_string() && row["status"] == "lent")
    };
    let page = live.until(is_lent).await.data.to_string();
    assert!(!page.contains(&lending.ada.id.to_string()), "{page}");
    assert!(!page.contains("\"reader\""), "{page}");
}

#[tokio::test]
async fn a_filter_by_the_reader_of_a_copy_is_no_parameter_of_the_stock() {
    let folder = tempfile::tempdir().unwrap();
    let lending = with_tokens_of_a_file(folder.path()).await;
    let url = format!("{}/books?reader={}", lending.library.url, lending.ada.id);
    let answer = lending.client.get(url).bearer_auth(&lending.tokens.bob);
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    assert_eq!(
        json_of(answer).await["type"],
        "tag:es-framework,2026:problem:invalid-parameter"
    );
}
