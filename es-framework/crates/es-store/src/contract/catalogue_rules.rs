//! The rules for the lists of subjects and event types.

use futures_util::TryStreamExt as _;
use serde_json::value::RawValue;

use super::support::{append, candidate, event_type, subject, write};
use crate::{AppendError, EventSchema, EventStore, KnownEventType, RegisterError, SchemaConflict};

async fn subjects(store: &impl EventStore, base: &str) -> Vec<String> {
    let listed: Vec<_> = store
        .read_subjects(subject(base))
        .try_collect()
        .await
        .unwrap();
    listed.iter().map(ToString::to_string).collect()
}

async fn types(store: &impl EventStore) -> Vec<KnownEventType> {
    store.read_event_types().try_collect().await.unwrap()
}

async fn names(store: &impl EventStore) -> Vec<String> {
    let known = types(store).await;
    known
        .iter()
        .map(|known| known.event_type.to_string())
        .collect()
}

fn schema() -> EventSchema {
    let json = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
    EventSchema::parse(json).unwrap()
}

pub(super) async fn subjects_are_listed_sorted_and_with_their_parents(store: &impl EventStore) {
    assert!(subjects(store, "/").await.is_empty());
    let uuid = "0199a3c2-7d4e-7c3a-9f00-2f2f2f2f2f2f";
    let book = format!("/test/{uuid}/pages");
    write(
        store,
        &["/test/2", "/test/1", "/tests", &book, "/test/1", "/test-a"],
    )
    .await;
    let of_uuid = format!("/test/{uuid}");
    let below = ["/test", &of_uuid, &book, "/test/1", "/test/2"];
    assert_eq!(subjects(store, "/test").await, below);
    assert_eq!(subjects(store, "/test/").await, below);
    let all = [&["/", "/test", "/test-a"], &below[1..], &["/tests"]].concat();
    assert_eq!(subjects(store, "/").await, all);
    assert_eq!(subjects(store, "/test/1").await, ["/test/1"]);
    assert!(subjects(store, "/nothing").await.is_empty());
}

pub(super) async fn children_are_listed_once_in_pages_of_any_size(store: &impl EventStore) {
    let none = store.read_child_subjects(subject("/"), None, 9).await;
    assert!(none.unwrap().is_empty());
    let uuid = "2f2f2f2f-2f2f-2f2f-2f2f-2f2f2f2f2f2f";
    let of_uuid = format!("/test/{uuid}/pages");
    let subjects = [
        "/",
        "/test",
        "/test/1",
        "/test/1-a",
        "/test/1/a",
        "/test/1/b",
    ];
    let parents_without_events = ["/test/2-a/x", "/test/2/x/y", "/test-a/1", &of_uuid];
    write(store, &[&subjects[..], &parents_without_events].concat()).await;
    for (base, expected) in [
        ("/", &["/test", "/test-a"][..]),
        (
            "/test",
            &[
                "/test/1",
                "/test/1-a",
                "/test/2",
                "/test/2-a",
                &format!("/test/{uuid}"),
            ],
        ),
        ("/test/2", &["/test/2/x"]),
        ("/test/1/a", &[]),
        ("/nothing", &[]),
    ] {
        for limit in 1..=expected.len() + 1 {
            let (mut listed, mut after) = (Vec::new(), None);
            loop {
                let page = store.read_child_subjects(subject(base), after, limit).await;
                let page = page.unwrap();
                assert!(page.len() <= limit);
                after = page.last().cloned();
                if page.is_empty() {
                    break;
                }
                listed.extend(page.iter().map(ToString::to_string));
            }
            listed.sort();
            assert_eq!(listed, expected, "{base} in pages of {limit}");
        }
    }
    for (after, count) in [("/a", 5), ("/z", 0)] {
        let after = Some(subject(after));
        let page = store.read_child_subjects(subject("/test"), after, 9).await;
        assert_eq!(page.unwrap().len(), count, "a place beside the base");
    }
}

pub(super) async fn event_types_are_listed_sorted(store: &impl EventStore) {
    assert!(types(store).await.is_empty());
    for name in ["written", "bought", "lent", "bought"] {
        append(store, vec![candidate("/a", name, "{}")], vec![])
            .await
            .unwrap();
    }
    let sorted = ["bought", "lent", "written"].map(|name| event_type(name).to_string());
    assert_eq!(names(store).await, sorted);
    let known = store.read_event_type(event_type("lent")).await.unwrap();
    let known = known.unwrap();
    assert!(!known.is_phantom && known.schema.is_none());
    let unknown = store.read_event_type(event_type("sold")).await.unwrap();
    assert!(unknown.is_none(), "{unknown:?}");
}

pub(super) async fn a_refused_write_leaves_no_event_type(store: &impl EventStore) {
    write(store, &["/a"]).await;
    let condition = crate::Precondition::SubjectIsPristine(subject("/a"));
    let refused = append(store, vec![candidate("/a", "sold", "{}")], vec![condition]).await;
    assert!(matches!(refused, Err(AppendError::Conflict(_))));
    assert_eq!(names(store).await, [event_type("happened").to_string()]);
}

pub(super) async fn a_type_with_a_schema_and_no_event_is_a_phantom(store: &impl EventStore) {
    let bought = event_type("bought");
    let registered = store.register_event_schema(bought.clone(), schema()).await;
    assert!(registered.is_ok(), "{registered:?}");
    let known = store
        .read_event_type(bought.clone())
        .await
        .unwrap()
        .unwrap();
    assert!(known.is_phantom);
    assert_eq!(
        known.schema.as_deref().map(RawValue::get),
        Some(schema().json().get())
    );
    let titled = candidate("/a", "bought", r#"{"title":"DDD"}"#);
    append(store, vec![titled], vec![]).await.unwrap();
    let known = store.read_event_type(bought).await.unwrap().unwrap();
    assert!(!known.is_phantom && known.schema.is_some());
    assert_eq!(types(store).await.len(), 1);
}

pub(super) async fn events_follow_the_schema_of_their_type(store: &impl EventStore) {
    let registered = store.register_event_schema(event_type("bought"), schema());
    registered.await.unwrap();
    let wrong = || candidate("/a", "bought", r#"{"title":1}"#);
    let refused = append(store, vec![candidate("/b", "lent", "{}"), wrong()], vec![]).await;
    let Err(AppendError::Schema(conflict)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        conflict.to_string(),
        "schema conflict: event candidate does not match schema: \
         expected string, but got number at /title"
    );
    assert!(subjects(store, "/").await.is_empty(), "all or nothing");
    let other = candidate("/a", "lent", r#"{"title":1}"#);
    append(store, vec![other], vec![]).await.unwrap();
}

pub(super) async fn a_schema_is_registered_once(store: &impl EventStore) {
    let register = || store.register_event_schema(event_type("bought"), schema());
    register().await.unwrap();
    let again = register().await;
    assert!(
        matches!(again, Err(RegisterError::Conflict(SchemaConflict::Exists))),
        "{again:?}"
    );
}

pub(super) async fn a_schema_that_an_event_contradicts_is_refused(store: &impl EventStore) {
    for data in [r#"{"title":"DDD"}"#, r#"{"title":7}"#] {
        for name in ["lent", "bought"] {
            let event = candidate("/a", name, data);
            append(store, vec![event], vec![]).await.unwrap();
        }
    }
    let refused = store.register_event_schema(event_type("bought"), schema());
    let refused = refused.await.unwrap_err().to_string();
    assert_eq!(
        refused,
        "schema conflict: event with ID 3: expected string, but got number at /title"
    );
    let known = store.read_event_type(event_type("bought")).await.unwrap();
    assert!(known.unwrap().schema.is_none());
}

pub(super) async fn a_schema_and_writers_at_once_leave_no_event_that_contradicts_it(
    store: &impl EventStore,
) {
    let writes = (0..40).map(|_| async {
        let wrong = candidate("/a", "bought", r#"{"title":1}"#);
        append(store, vec![wrong], vec![]).await.is_ok()
    });
    let register = store.register_event_schema(event_type("bought"), schema());
    let (written, registered) =
        futures_util::future::join(futures_util::future::join_all(writes), register).await;
    let any = written.contains(&true);
    assert!(
        !(any && registered.is_ok()),
        "an event and a schema that it does not follow"
    );
}
