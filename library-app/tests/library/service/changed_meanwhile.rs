//! "Only if nobody changed it since I looked": the tag of a query in the `If-Match` of a command.

use crate::support::{Library, TOKEN, book, client, eventually, json_of};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

/// A library with a copy and a reader.
struct Desk {
    library: Library,
    copy: Uuid,
    reader: Uuid,
    /// The position of the last command.
    position: String,
    _folder: tempfile::TempDir,
}

impl Desk {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = Self {
            library: Library::embedded(folder.path()),
            copy: Uuid::new_v4(),
            reader: Uuid::new_v4(),
            position: String::new(),
            _folder: folder,
        };
        let purchased = desk.library.purchase(&book(desk.copy)).await;
        desk.remember(&purchased);
        let registered = json!({ "id": desk.reader, "name": "Ada" });
        let registered = client()
            .post(format!("{}/readers/register", desk.library.url))
            .header("content-type", "application/json")
            .body(registered.to_string());
        desk.remember(&registered.send().await.unwrap());
        desk
    }

    fn remember(&mut self, answer: &Response) {
        assert!(answer.status().is_success(), "{}", answer.status());
        self.position = header(answer, "event-position");
    }

    async fn send(&self, path: &str, body: &Value, tag: &str) -> Response {
        let request = client()
            .post(format!("{}{path}", self.library.url))
            .header("content-type", "application/json")
            .header("if-match", tag);
        request.body(body.to_string()).send().await.unwrap()
    }

    async fn borrow(&self, tag: &str) -> Response {
        let body = json!({ "id": self.copy, "reader": self.reader });
        self.send("/books/borrow", &body, tag).await
    }

    async fn give_back(&self, tag: &str) -> Response {
        self.send("/books/return", &json!({ "id": self.copy }), tag)
            .await
    }

    /// Returns the tag of a query after the last command.
    async fn tag(&self, path: &str) -> String {
        let answer = self.look(path, &[("event-position", &self.position)]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        header(&answer, "etag")
    }

    async fn look(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let request = client().get(format!("{}{path}", self.library.url));
        let add = |request: reqwest::RequestBuilder, header: &(&str, &str)| {
            request.header(header.0, header.1)
        };
        headers.iter().fold(request, add).send().await.unwrap()
    }

    /// Writes an event that no read model knows on the copy.
    async fn write_note(&self) {
        let event = json!({
            "source": "library-service",
            "subject": format!("/books/{}", self.copy),
            "type": "com.example.library.NoteWrittenEvent",
            "data": { "metadata": {}, "payload": {} },
        });
        let request = client()
            .post(format!("{}/api/v1/write-events", self.library.store_url))
            .bearer_auth(TOKEN)
            .body(json!({ "events": [event] }).to_string());
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    }
}

fn header(answer: &Response, name: &str) -> String {
    answer.headers()[name].to_str().unwrap().to_owned()
}

async fn has_changed(answer: Response) {
    assert_eq!(answer.status(), StatusCode::PRECONDITION_FAILED);
    let problem = json_of(answer).await;
    let kind = problem["type"].as_str().unwrap();
    assert!(kind.ends_with(":changed-meanwhile"), "{problem}");
}

#[tokio::test]
async fn a_command_with_the_tag_of_a_query_is_carried_out_if_nobody_changed_the_copy() {
    let mut desk = Desk::open().await;
    let path = format!("/books/{}", desk.copy);
    let seen = desk.tag(&path).await;
    // Another copy is no change of this one.
    desk.library.purchase(&book(Uuid::new_v4())).await;
    let borrowed = desk.borrow(&seen).await;
    assert_eq!(borrowed.status(), StatusCode::OK);
    desk.remember(&borrowed);
    has_changed(desk.give_back(&seen).await).await;
    let seen = desk.tag(&path).await;
    let returned = desk.give_back(&seen).await;
    assert_eq!(returned.status(), StatusCode::OK);
    desk.remember(&returned);
    // A list shows a copy as well.
    let list = desk.tag("/books").await;
    assert_eq!(desk.borrow(&list).await.status(), StatusCode::OK);
    has_changed(desk.give_back(&list).await).await;
}

#[tokio::test]
async fn an_event_that_a_query_does_not_show_is_a_change_as_well() {
    let mut desk = Desk::open().await;
    let path = format!("/books/{}", desk.copy);
    let borrowed = desk.borrow(&desk.tag(&path).await).await;
    desk.remember(&borrowed);
    let seen = desk.tag(&path).await;
    desk.write_note().await;
    has_changed(desk.give_back(&seen).await).await;
    // The client has this copy already, and learns its new tag.
    eventually("the tag includes the note", async || {
        let again = desk.look(&path, &[("if-none-match", &seen)]).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        let returned = desk.give_back(&header(&again, "etag")).await;
        (returned.status() == StatusCode::OK).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_tag_of_events_that_the_store_does_not_have_matches_nothing() {
    let desk = Desk::open().await;
    let seen = desk.tag(&format!("/books/{}", desk.copy)).await;
    let (_, digest) = seen.split_once('-').unwrap();
    has_changed(desk.borrow(&format!("\"999999-{digest}")).await).await;
    has_changed(
        desk.borrow(&format!("\"0{}", seen.trim_start_matches('"')))
            .await,
    )
    .await;
    // An empty element of a list has no meaning.
    let borrowed = desk.borrow(&format!("\"foreign\", {seen},")).await;
    assert_eq!(borrowed.status(), StatusCode::OK);
}

#[tokio::test]
async fn the_location_of_a_reader_shows_the_reader() {
    let desk = Desk::open().await;
    let path = format!("/readers/{}", desk.reader);
    let shown = desk
        .look(&path, &[("event-position", &desk.position)])
        .await;
    assert_eq!(shown.status(), StatusCode::OK);
    let reader = json!({ "id": desk.reader, "name": "Ada" });
    assert_eq!(json_of(shown).await, reader);
}
