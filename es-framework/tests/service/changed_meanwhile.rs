//! "Only if nobody changed it since I looked": the tag of a query in the `If-Match` of a command.

use es_framework::{
    ClientResponse,
    axum::http::{HeaderName, header},
    event::{EventCandidate, Metadata, encode},
    store::EventLog as _,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    running_service::{RunningService, book},
};

/// A service with a copy.
struct Desk {
    library: RunningService,
    copy: Uuid,
    /// The position of the last command.
    position: String,
}

impl Desk {
    async fn open() -> Self {
        let mut desk = Self {
            library: RunningService::start(),
            copy: Uuid::new_v4(),
            position: String::new(),
        };
        let purchased = desk.library.purchase(&book(desk.copy)).await;
        desk.remember(&purchased);
        desk
    }

    fn remember(&mut self, answer: &ClientResponse) {
        assert!(answer.status < 300, "{}", answer.text());
        self.position = answer.header("event-position").unwrap().to_owned();
    }

    async fn send(&self, verb: &str, body: &Value, tag: &str) -> ClientResponse {
        let client = self.library.client.clone();
        let client = client.with_header(header::IF_MATCH, tag);
        let path = format!("/books/{}/{verb}", self.copy);
        client.post(&path, body).await.unwrap()
    }

    async fn borrow(&self, tag: &str) -> ClientResponse {
        let body = json!({ "reader": Uuid::new_v4() });
        self.send("borrow", &body, tag).await
    }

    async fn give_back(&self, tag: &str) -> ClientResponse {
        self.send("return", &json!({}), tag).await
    }

    async fn look(&self, path: &str, header: HeaderName, value: &str) -> ClientResponse {
        let client = self.library.client.clone();
        client.with_header(header, value).get(path).await.unwrap()
    }

    /// Returns the tag of a query after the last command.
    async fn tag(&self, path: &str) -> String {
        let header = HeaderName::from_static("event-position");
        let answer = self.look(path, header, &self.position).await;
        assert_eq!(answer.status, 200);
        answer.header("etag").unwrap().to_owned()
    }

    fn path(&self) -> String {
        format!("/books/{}", self.copy)
    }

    /// Writes an event that no read model knows on the copy.
    async fn write_note(&self) {
        let note = EventCandidate {
            source: "tests".into(),
            subject: self.path().parse().unwrap(),
            event_type: "com.example.library.NoteWrittenEvent".parse().unwrap(),
            data: encode(&Metadata::default(), &json!({})).unwrap(),
            trace: None,
        };
        let stored = self.library.store.append(vec![note], vec![]).await;
        assert_eq!(stored.unwrap().len(), 1);
    }
}

fn assert_changed(answer: &ClientResponse) {
    assert_eq!(answer.status, 412);
    let problem: Value = answer.json().unwrap();
    let kind = problem["type"].as_str().unwrap();
    assert!(kind.ends_with(":changed-meanwhile"), "{problem}");
}

#[tokio::test]
async fn a_command_with_the_tag_of_a_query_is_carried_out_if_nobody_changed_the_copy() {
    let mut desk = Desk::open().await;
    let seen = desk.tag(&desk.path()).await;
    // Another copy is no change of this one.
    desk.library.purchase(&book(Uuid::new_v4())).await;
    let borrowed = desk.borrow(&seen).await;
    desk.remember(&borrowed);
    assert_changed(&desk.give_back(&seen).await);
    let seen = desk.tag(&desk.path()).await;
    let returned = desk.give_back(&seen).await;
    desk.remember(&returned);
    // A list shows a copy as well.
    let list = desk.tag("/books").await;
    assert_eq!(desk.borrow(&list).await.status, 204);
    assert_changed(&desk.give_back(&list).await);
}

#[tokio::test]
async fn an_event_that_a_query_does_not_show_is_a_change_as_well() {
    let mut desk = Desk::open().await;
    let borrowed = desk.borrow(&desk.tag(&desk.path()).await).await;
    desk.remember(&borrowed);
    let seen = desk.tag(&desk.path()).await;
    desk.write_note().await;
    assert_changed(&desk.give_back(&seen).await);
    // The client has this copy already, and learns its new tag.
    eventually("the tag includes the note", async || {
        let again = desk.look(&desk.path(), header::IF_NONE_MATCH, &seen).await;
        assert_eq!(again.status, 304);
        let returned = desk.give_back(again.header("etag").unwrap()).await;
        (returned.status == 204).then_some(())
    })
    .await;
}

#[tokio::test]
async fn who_has_the_answer_is_not_sent_it_again() {
    let mut desk = Desk::open().await;
    let tag = desk.tag("/books").await;
    let again = desk.look("/books", header::IF_NONE_MATCH, &tag).await;
    assert_eq!((again.status, again.text().as_str()), (304, ""));
    let another = desk.library.purchase(&book(Uuid::new_v4())).await;
    desk.remember(&another);
    assert_ne!(desk.tag("/books").await, tag);
    let changed = desk.look("/books", header::IF_NONE_MATCH, &tag).await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn a_tag_of_events_that_the_store_does_not_have_matches_nothing() {
    let desk = Desk::open().await;
    let seen = desk.tag(&desk.path()).await;
    let (_, digest) = seen.split_once('-').unwrap();
    assert_changed(&desk.borrow(&format!("\"999999-{digest}")).await);
    let malformed = format!("\"0{}", seen.trim_start_matches('"'));
    assert_changed(&desk.borrow(&malformed).await);
    // An empty element of a list has no meaning.
    let borrowed = desk.borrow(&format!("\"foreign\", {seen},")).await;
    assert_eq!(borrowed.status, 204);
}
