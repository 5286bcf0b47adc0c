//! The client reconnects to an event store that was killed and started again.

use std::{path::Path, time::Duration};

use crate::server_process::{ServerProcess, TOKEN};
use es_event::{EventCandidate, Subject};
use es_store::{EventLog as _, ObserveOptions};
use es_store_client::{ClientSettings, EventSourcingDbStore};
use futures_util::StreamExt as _;
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};

fn start(directory: &Path, port: &str) -> ServerProcess {
    let port = format!("--http-port={port}");
    ServerProcess::start(&["--data-directory", directory.to_str().unwrap(), &port])
}

async fn write(store: &EventSourcingDbStore, count: usize) {
    for _ in 0..count {
        let candidate = EventCandidate {
            source: "tag:library-service".into(),
            subject: "/books/42".parse().unwrap(),
            event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
            data: RawValue::from_string("{}".to_owned()).unwrap(),
            trace: None,
        };
        store.append(vec![candidate], vec![]).await.unwrap();
    }
}

#[tokio::test]
async fn an_observation_survives_a_killed_server_without_a_gap_or_a_repetition() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = start(directory.path(), "0");
    let port = server.port().to_owned();
    let mut settings = ClientSettings::new(&server.url, TOKEN);
    settings.reconnect.longest_outage = Duration::from_secs(60);
    let store = EventSourcingDbStore::new(settings).unwrap();
    let options = ObserveOptions::recursive_after(None);
    let mut events = store.observe(Subject::root(), options);
    for round in 0..3_u64 {
        write(&store, 10).await;
        for expected in round * 10..(round + 1) * 10 {
            let event = timeout(Duration::from_secs(60), events.next()).await;
            let event = event.expect("the observation hangs").unwrap().unwrap();
            assert_eq!(event.id.get(), expected);
        }
        server.kill();
        // The pause is long enough for failed attempts.
        sleep(Duration::from_millis(300)).await;
        server = start(directory.path(), &port);
    }
}
