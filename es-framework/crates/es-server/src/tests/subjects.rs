//! One slash at the end of a subject is left out wherever a request names a subject.

use serde_json::{Value, json};

use super::{TestServer, candidate};
use es_event::Dialect;

/// Subjects that no request may name.
const MALFORMED: [&str; 7] = ["//", "/a//", "/a//b", "/a/b//", "a/", "", "/a b/"];

/// All requests that name this subject: the version of the API, the route and the body.
fn requests(subject: &str) -> Vec<(u8, &'static str, Value)> {
    let latest = |word: &str| json!({"subject": subject, "type": "io.example.test", "ifEventIsMissing": word});
    let under = |kind: &str, id: Option<&str>| {
        let mut payload = json!({"subject": subject});
        if let Some(id) = id {
            payload["eventId"] = id.into();
        }
        let precondition = json!({"type": kind, "payload": payload});
        json!({"events": [candidate("/other")], "preconditions": [precondition]})
    };
    let both = [
        ("write-events", json!({"events": [candidate(subject)]})),
        ("write-events", under("isSubjectPopulated", None)),
        ("write-events", under("isSubjectOnEventId", Some("0"))),
        (
            "read-events",
            json!({"subject": subject, "options": {"recursive": true}}),
        ),
        (
            "read-events",
            json!({"subject": "/", "options": {"recursive": true, "fromLatestEvent": latest("read-nothing")}}),
        ),
    ];
    let mut requests = vec![
        (1, "read-subjects", json!({"baseSubject": subject})),
        (2, "read-subjects", json!({"subject": subject})),
        (
            2,
            "read-subjects",
            json!({"subject": subject, "options": {"recursive": true}}),
        ),
    ];
    for (route, body) in both {
        requests.push((1, route, body.clone()));
        requests.push((2, route, body));
    }
    requests
}

async fn answer(server: &TestServer, (version, route, body): &(u8, &str, Value)) -> (u16, String) {
    if *version == 1 {
        server.answer(route, body).await
    } else {
        server.v2_answer(route, body).await
    }
}

/// Removes what each write has for itself.
fn comparable(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut lines: Vec<Value> = lines.collect();
    for line in &mut lines {
        let event = match line {
            Value::Array(events) => &mut events[0],
            line => &mut line["data"],
        };
        for own in ["id", "time", "hash", "predecessorhash"] {
            if let Some(member) = event.get_mut(own) {
                *member = Value::Null;
            }
        }
    }
    lines
}

#[tokio::test]
async fn one_slash_at_the_end_of_a_subject_is_left_out() {
    for (with_slash, without) in requests("/a/b/").into_iter().zip(requests("/a/b")) {
        let (one, other) = (
            TestServer::start(Dialect::Event).await,
            TestServer::start(Dialect::Event).await,
        );
        for server in [&one, &other] {
            server.fill(&["/a/b"]).await;
        }
        let (status, text) = answer(&one, &with_slash).await;
        let expected = answer(&other, &without).await;
        assert_eq!((status, expected.0), (200, 200), "{with_slash:?}: {text}");
        if !matches!(with_slash.1, "read-events") {
            assert_eq!(comparable(&text), comparable(&expected.1), "{with_slash:?}");
        }
        assert_eq!(
            text.lines().count(),
            expected.1.lines().count(),
            "{with_slash:?}: {text}"
        );
        assert!(!text.contains("/a/b/"), "{text}");
    }
}

#[tokio::test]
async fn a_pristine_subject_is_the_one_without_the_slash() {
    let server = TestServer::start(Dialect::Event).await;
    server.fill(&["/a/"]).await;
    let payload = json!({"subject": "/a/"});
    let pristine = json!([{"type": "isSubjectPristine", "payload": payload}]);
    let body = json!({"events": [candidate("/b")], "preconditions": pristine});
    assert_eq!(server.answer("write-events", &body).await.0, 409);
    let (_, text) = server.v2_answer("write-events", &body).await;
    assert!(text.contains("precondition-violated"), "{text}");
    assert_eq!(server.ids(&json!({"subject": "/a"})).await, ["0"]);
    assert_eq!(server.ids(&json!({"subject": "/a/"})).await, ["0"]);
}

#[tokio::test]
async fn other_slashes_make_a_subject_malformed() {
    let server = TestServer::start(Dialect::Event).await;
    for subject in MALFORMED {
        for request in requests(subject) {
            let (status, text) = answer(&server, &request).await;
            if request.0 == 1 {
                assert_eq!(status, 400, "{request:?}: {text}");
                assert!(text.contains("malformed subject"), "{request:?}: {text}");
                continue;
            }
            assert_eq!(status, 200, "{request:?}: {text}");
            let codes = [
                "subject-malformed",
                "subject-missing",
                "from-latest-event-incomplete",
            ];
            assert!(
                codes.iter().any(|code| text.contains(code)),
                "{request:?}: {text}"
            );
        }
    }
}
