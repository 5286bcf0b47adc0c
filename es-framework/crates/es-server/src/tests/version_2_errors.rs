//! Version 2: malformed requests have status 400, errors of the domain have status 200 and a code.

use reqwest::header;
use serde_json::{Value, json};

use super::{TestServer, candidate};
use es_event::Dialect;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A write of one event with one member changed.
fn with(member: &str, value: Value) -> Value {
    let mut event = candidate("/a");
    event[member] = value;
    json!({"events": [event]})
}

fn without(member: &str) -> Value {
    let mut event = candidate("/a");
    event.as_object_mut().unwrap().remove(member);
    json!({"events": [event]})
}

fn under(precondition: Value) -> Value {
    json!({"events": [candidate("/a")], "preconditions": [precondition]})
}

/// The code of the error that is the only line of an answer.
async fn code(server: &TestServer, route: &str, body: &Value) -> String {
    let (status, text) = server.v2_answer(route, body).await;
    assert_eq!(status, 200, "{body}: {text}");
    let line: Value = serde_json::from_str(&text).expect(&text);
    assert_eq!(line["type"], "error", "{body}: {text}");
    let error = &line["data"];
    assert!(error["description"].as_str().unwrap().len() > 8, "{text}");
    assert!(error["details"].is_object(), "{text}");
    let code = error["code"].as_str().unwrap();
    let slug = code.strip_prefix("https://docs.eventsourcingdb.io/errors/");
    slug.unwrap().to_owned()
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "a table of cases")]
async fn a_malformed_request_is_a_400_with_a_json_pointer() {
    let server = TestServer::start(Dialect::Item).await;
    for (route, body, expected) in [
        ("read-events", json!([]), "sequence, expected an object"),
        (
            "read-events",
            json!({"subject": null}),
            "/subject: null is not allowed",
        ),
        (
            "read-events",
            json!({"subject": 7}),
            "/subject: invalid type",
        ),
        (
            "read-events",
            json!({"subject": "/", "options": null}),
            "/options: null is not allowed",
        ),
        (
            "read-events",
            json!({"subject": "/", "options": []}),
            "/options: invalid type",
        ),
        (
            "read-events",
            json!({"subject": "/", "options": {"recursve": true}}),
            "/options/recursve: unknown member",
        ),
        (
            "read-events",
            json!({"subject": "/", "options": {"lowerBoundId": "1"}}),
            "/options/lowerBoundId: unknown member",
        ),
        (
            "read-events",
            json!({"subject": "/", "options": {"lowerBound": {"id": null, "type": "inclusive"}}}),
            "/options/lowerBound/id: null is not allowed",
        ),
        (
            "read-events",
            json!({"subject": "/", "options": {"recursive": "yes"}}),
            "/options/recursive: invalid type",
        ),
        (
            "observe-events",
            json!({"subject": "/", "options": {"order": "chronological"}}),
            "/options/order: unknown member",
        ),
        (
            "read-subjects",
            json!({"baseSubject": "/"}),
            "/baseSubject: unknown member",
        ),
        (
            "read-event-type",
            json!({"eventType": "io.example.test"}),
            "/eventType: unknown member",
        ),
        (
            "run-eventql-query",
            json!({"query": 1}),
            "/query: invalid type",
        ),
        (
            "write-events",
            json!({"events": null}),
            "/events: null is not allowed",
        ),
        (
            "write-events",
            json!({"events": [[]]}),
            "/events/0: invalid type",
        ),
        (
            "write-events",
            with("data", Value::Null),
            "/events/0/data: null is not allowed",
        ),
        (
            "write-events",
            with("traceparent", Value::Null),
            "/events/0/traceparent: null is not allowed",
        ),
        (
            "write-events",
            with("traceParent", json!(TRACE)),
            "/events/0/traceParent: unknown member",
        ),
        (
            "write-events",
            json!({"events": [candidate("/a")], "preconditions": null}),
            "/preconditions: null is not allowed",
        ),
        (
            "write-events",
            under(json!({"type": "isSubjectPristine", "payload": null})),
            "/preconditions/0/payload: null is not allowed",
        ),
        (
            "write-events",
            under(
                json!({"type": "isSubjectPristine", "payload": {"subject": "/a", "options": {"deep": true}}}),
            ),
            "/preconditions/0/payload/options/deep: unknown member",
        ),
        (
            "write-events",
            under(json!({"type": "isEventQlQueryTrue", "payload": {"subject": "/a"}})),
            "/preconditions/0/payload/subject: unknown member",
        ),
        (
            "register-event-schema",
            json!({"type": "io.example.test", "schema": null}),
            "/schema: null is not allowed",
        ),
    ] {
        let (status, text) = server.v2_answer(route, &body).await;
        assert_eq!(status, 400, "{route} {body}: {text}");
        assert!(
            text.contains(expected) && text.ends_with('\n'),
            "{body}: {text}"
        );
    }
    let request = server.v2("data/read-events").body("{");
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 400);
    let content_type = response.headers()[header::CONTENT_TYPE].to_str().unwrap();
    assert!(content_type.starts_with("text/plain"), "{content_type}");
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "a table of cases")]
async fn wrong_values_of_a_write_have_codes() {
    let server = TestServer::start(Dialect::Event).await;
    for (body, expected) in [
        (json!({}), "events-missing"),
        (json!({"events": []}), "events-missing"),
        (without("source"), "source-missing"),
        (with("source", json!("")), "source-missing"),
        (with("source", json!("my-app")), "source-malformed"),
        (without("subject"), "subject-missing"),
        (with("subject", json!("no slash")), "subject-malformed"),
        (with("subject", json!("/a//")), "subject-malformed"),
        (
            with("subject", json!("/a".repeat(101))),
            "subject-malformed",
        ),
        (without("type"), "event-type-missing"),
        (with("type", json!("short")), "event-type-malformed"),
        (without("data"), "data-missing"),
        (with("data", json!([1])), "data-malformed"),
        (
            with("traceparent", json!("00-1-2-3")),
            "traceparent-malformed",
        ),
        (
            with("tracestate", json!("a=1")),
            "tracestate-without-traceparent",
        ),
        (under(json!({})), "precondition-type-missing"),
        (
            under(json!({"type": "isSubjectNice", "payload": {}})),
            "precondition-unknown",
        ),
        (
            under(json!({"type": "isSubjectPristine"})),
            "payload-missing",
        ),
        (
            under(json!({"type": "isSubjectPristine", "payload": {}})),
            "subject-missing",
        ),
        (
            under(json!({"type": "isSubjectOnEventId", "payload": {"subject": "/a"}})),
            "event-id-missing",
        ),
        (
            under(
                json!({"type": "isSubjectOnEventId", "payload": {"subject": "/a", "eventId": "-1"}}),
            ),
            "event-id-malformed",
        ),
        (
            under(json!({"type": "isEventQlQueryTrue", "payload": {}})),
            "query-missing",
        ),
        (
            under(json!({"type": "isEventQlQueryTrue", "payload": {"query": "FROM e IN"}})),
            "query-malformed",
        ),
        (
            under(
                json!({"type": "isEventQlQueryTrue", "payload": {"query": "FROM e IN events PROJECT INTO COUNT()"}}),
            ),
            "query-not-boolean",
        ),
        (
            under(
                json!({"type": "isEventQlQueryTrue", "payload": {"query": "FROM e IN events PROJECT INTO COUNT() / 0 == 1"}}),
            ),
            "query-unevaluable",
        ),
    ] {
        assert_eq!(
            code(&server, "write-events", &body).await,
            expected,
            "{body}"
        );
    }
    let mut both = with("traceparent", json!(TRACE));
    both["events"][0]["tracestate"] = json!("a\u{7}");
    assert_eq!(
        code(&server, "write-events", &both).await,
        "tracestate-malformed"
    );
    let second = json!({"events": [candidate("/a"), candidate("b")]});
    let (_, text) = server.v2_answer("write-events", &second).await;
    assert!(text.contains(r#""index":1"#), "{text}");
    let all = json!({"subject": "/", "options": {"recursive": true}});
    assert!(
        server
            .v2_rows("read-events", "event", &all)
            .await
            .is_empty()
    );
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "a table of cases")]
async fn wrong_values_of_reads_have_codes() {
    let server = TestServer::start(Dialect::Item).await;
    server.fill(&["/a", "/a"]).await;
    let options = |options: Value| json!({"subject": "/", "options": options});
    let from = |subject: &str, r#type: &str, word: &str| {
        let latest = json!({"subject": subject, "type": r#type, "ifEventIsMissing": word});
        json!({"fromLatestEvent": latest})
    };
    let mut late = from("/a", "io.example.test", "read-nothing");
    late["upperBound"] = json!({"id": "0", "type": "inclusive"});
    let mut two = from("/a", "io.example.test", "read-nothing");
    two["lowerBound"] = json!({"id": "0", "type": "inclusive"});
    for (body, expected) in [
        (json!({}), "subject-missing"),
        (json!({"subject": ""}), "subject-missing"),
        (json!({"subject": "a"}), "subject-malformed"),
        (options(json!({"order": "sideways"})), "order-unknown"),
        (
            options(json!({"lowerBound": {"type": "inclusive"}})),
            "event-id-missing",
        ),
        (
            options(json!({"lowerBound": {"id": "", "type": "inclusive"}})),
            "event-id-missing",
        ),
        (
            options(json!({"upperBound": {"id": "x", "type": "inclusive"}})),
            "event-id-malformed",
        ),
        (
            options(json!({"lowerBound": {"id": "1"}})),
            "bound-type-missing",
        ),
        (
            options(json!({"lowerBound": {"id": "1", "type": "open"}})),
            "bound-type-unknown",
        ),
        (
            options(json!({"fromLatestEvent": {}})),
            "from-latest-event-incomplete",
        ),
        (
            options(from("a", "io.example.test", "read-nothing")),
            "subject-malformed",
        ),
        (
            options(from("/a", "short", "read-nothing")),
            "event-type-malformed",
        ),
        (
            options(from("/a", "io.example.test", "wait-for-event")),
            "if-event-is-missing-unknown",
        ),
        (options(late), "range-unsatisfiable"),
        (options(two), "selection-conflicting"),
    ] {
        assert_eq!(
            code(&server, "read-events", &body).await,
            expected,
            "{body}"
        );
    }
    for (route, body, expected) in [
        (
            "observe-events",
            json!({"subject": "a"}),
            "subject-malformed",
        ),
        (
            "observe-events",
            options(from("/a", "io.example.test", "read-nothing")),
            "if-event-is-missing-unknown",
        ),
        (
            "read-subjects",
            json!({"subject": "a"}),
            "subject-malformed",
        ),
        ("read-event-type", json!({}), "event-type-missing"),
        (
            "read-event-type",
            json!({"type": "short"}),
            "event-type-malformed",
        ),
        (
            "read-event-type",
            json!({"type": "io.example.unknown"}),
            "event-type-unknown",
        ),
        ("run-eventql-query", json!({}), "query-missing"),
        (
            "run-eventql-query",
            json!({"query": "FROM"}),
            "query-malformed",
        ),
        (
            "run-eventql-query",
            json!({"query": "FROM e IN events PROJECT INTO 1 / 0"}),
            "query-unevaluable",
        ),
    ] {
        assert_eq!(
            code(&server, route, &body).await,
            expected,
            "{route} {body}"
        );
    }
}

#[tokio::test]
async fn wrong_schemas_have_codes() {
    let server = TestServer::start(Dialect::Item).await;
    server.fill(&["/a"]).await;
    let register = |name: &str, schema: Value| json!({"type": name, "schema": schema});
    let planned = register(
        "io.example.planned",
        json!({"type": "object", "properties": {}}),
    );
    server
        .v2_rows("register-event-schema", "event", &planned)
        .await;
    let strict = json!({"type": "object", "properties": {}, "required": ["n"]});
    for (body, expected) in [
        (json!({"schema": {}}), "event-type-missing"),
        (json!({"type": "io.example.test"}), "event-schema-missing"),
        (
            register("io.example.test", json!([])),
            "event-schema-not-object",
        ),
        (
            register("io.example.test", json!({"type": "string"})),
            "event-schema-malformed",
        ),
        (register("io.example.test", strict), "event-schema-violated"),
        (planned, "event-schema-already-registered"),
    ] {
        assert_eq!(
            code(&server, "register-event-schema", &body).await,
            expected,
            "{body}"
        );
    }
    let schema = json!({"type": "object", "properties": {}, "required": ["n"]});
    let body = register("io.example.strict", schema);
    server
        .v2_rows("register-event-schema", "event", &body)
        .await;
    let violating = with("type", json!("io.example.strict"));
    assert_eq!(
        code(&server, "write-events", &violating).await,
        "event-schema-violated"
    );
}

#[tokio::test]
async fn preconditions_hold_for_a_subject_or_for_all_below_it() {
    let server = TestServer::start(Dialect::Item).await;
    server.fill(&["/orders/42/items/1", "/orders/420"]).await;
    let pristine = |subject: &str, recursive: bool| json!({"type": "isSubjectPristine", "payload": {"subject": subject, "options": {"recursive": recursive}}});
    let populated = |subject: &str, recursive: bool| json!({"type": "isSubjectPopulated", "payload": {"subject": subject, "options": {"recursive": recursive}}});
    let on = |subject: &str, id: &str, recursive: bool| json!({"type": "isSubjectOnEventId", "payload": {"subject": subject, "eventId": id, "options": {"recursive": recursive}}});
    for violated in [
        pristine("/orders/42", true),
        pristine("/", true),
        populated("/orders/42", false),
        populated("/orders/4", true),
        on("/orders/42", "0", false),
        on("/orders/42", "1", true),
        on("/orders", "0", true),
        json!({"type": "isSubjectPopulated", "payload": {"subject": "/orders/42"}}),
        json!({"type": "isEventQlQueryTrue", "payload": {"query": "FROM e IN events PROJECT INTO COUNT() == 0"}}),
    ] {
        let found = code(&server, "write-events", &under(violated.clone())).await;
        assert_eq!(found, "precondition-violated", "{violated}");
    }
    let no_event = json!({"type": "isEventQlQueryTrue", "payload": {"query": "FROM e IN events PROJECT INTO COUNT() == 0"}});
    let some_event = json!({"type": "isEventQlQueryTrue", "payload": {"query": "FROM e IN events PROJECT INTO COUNT() == 2"}});
    for (preconditions, index) in [
        (json!([pristine("/a", false), pristine("/", true)]), 1),
        (json!([some_event, no_event]), 1),
        (
            json!([some_event, pristine("/a", true), populated("/a", false)]),
            2,
        ),
    ] {
        let body = json!({"events": [candidate("/a")], "preconditions": preconditions});
        let (_, text) = server.v2_answer("write-events", &body).await;
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            line["data"]["details"],
            json!({ "precondition": index }),
            "{text}"
        );
    }
    let holding = json!([
        pristine("/orders/42", false),
        pristine("/orders/43", true),
        populated("/orders/42", true),
        on("/orders/42", "0", true),
        on("/orders", "1", true),
        {"type": "isEventQlQueryTrue", "payload": {"query": "FROM e IN events PROJECT INTO COUNT() == 2"}},
    ]);
    let body = json!({"events": [candidate("/a")], "preconditions": holding});
    assert_eq!(
        server.v2_rows("write-events", "event", &body).await.len(),
        1
    );
}

#[tokio::test]
async fn limits_have_a_status_and_a_time_to_retry() {
    let server = TestServer::with(es_store::memory::MemoryStore::new(), |settings| {
        settings.observers_limit = 0;
        settings.events_limit = 1;
        settings.body_limit = 1_000;
    })
    .await;
    let request = server.v2("data/observe-events").body(r#"{"subject":"/"}"#);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    let body = json!({"events": [candidate("/a"), candidate("/b")]});
    assert_eq!(server.v2_answer("write-events", &body).await.0, 413);
    let body = with("data", json!({"text": "x".repeat(1_000)}));
    assert_eq!(server.v2_answer("write-events", &body).await.0, 413);
}
