//! Events that earlier versions of the server accepted, and that this one would refuse, are read unchanged.

use futures_util::TryStreamExt as _;
use serde_json::value::RawValue;

use super::support::{assert_chain, candidate, tiny};
use crate::EmbeddedStore;
use es_event::{EventCandidate, RecordedEvent, Subject};
use es_store::{EventLog as _, ReadOptions, StoreCatalog as _, verify};

async fn all(store: &EmbeddedStore) -> Vec<RecordedEvent> {
    let read = store.read(Subject::root(), ReadOptions::recursive());
    read.try_collect().await.unwrap()
}

#[tokio::test]
async fn events_that_a_server_would_refuse_today_stay_readable() {
    const DATA: &str = r#"{"number":1,"a":{"b":1,"b":2},"number":2}"#;
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open_with(folder.path(), tiny(), None).unwrap();
    let with_slash = EventCandidate {
        subject: Subject::parse_recorded("/a/b/").unwrap(),
        ..candidate("/", 0)
    };
    let with_repeated_members = EventCandidate {
        data: RawValue::from_string(DATA.to_owned()).unwrap(),
        ..candidate("/a/b", 0)
    };
    let candidates = vec![with_slash, with_repeated_members];
    store.append(candidates, vec![]).await.unwrap();
    store.close().await;
    let store = EmbeddedStore::open_with(folder.path(), tiny(), None).unwrap();
    let events = all(&store).await;
    assert_chain(&events);
    assert_eq!(events[0].subject.as_str(), "/a/b/");
    assert_eq!(events[1].data.get(), DATA);
    let verified = verify(&store, |_| {}).await.unwrap();
    assert_eq!((verified.events, verified.damage), (2, vec![]));
    let listed: Vec<_> = store
        .read_subjects(Subject::root())
        .try_collect()
        .await
        .unwrap();
    let listed: Vec<_> = listed.iter().map(Subject::as_str).collect();
    assert_eq!(listed, ["/", "/a", "/a/b", "/a/b/"]);
}
