//! Deadlines that are all due at once, in the embedded event store: how long their commands take.
//!
//! `cargo bench -p es-framework --bench deadlines -- [deadlines]`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    reason = "a benchmark may fail by panicking, and it prints"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use es_framework::{
    App, Settings,
    event::{Event as _, EventCandidate, EventType},
    prelude::*,
    store::{EventLog as _, newest_id, sqlite::EmbeddedStore},
};
use serde_json::value::RawValue;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of events of one append.
const BATCH: usize = 1_000;

#[derive(Event)]
#[event(package = "com.example.deadlines")]
struct BillSentEvent {
    id: u32,
    due_at: Timestamp,
}

#[derive(Command)]
#[command(subject = "/bills/{id}", internal)]
struct RemindCommand {
    id: u32,
}

#[derive(Event)]
#[event(package = "com.example.deadlines", from = RemindCommand)]
struct RemindedEvent {
    id: u32,
}

#[handler]
fn remind(command: RemindCommand) -> RemindedEvent;

struct Reminder;

#[reaction]
impl Reminder {
    #[deadline(at = due_at)]
    fn remind(event: &BillSentEvent) -> RemindCommand {
        RemindCommand { id: event.id }
    }
}

fn sent(id: usize) -> EventCandidate {
    let data =
        format!(r#"{{"metadata":{{}},"payload":{{"id":{id},"dueAt":"2026-01-01T00:00:00Z"}}}}"#);
    EventCandidate {
        source: "tag:deadlines".into(),
        subject: format!("/bills/{id}").parse().unwrap(),
        event_type: EventType::declared(BillSentEvent::TYPE),
        data: RawValue::from_string(data).unwrap(),
        trace: None,
    }
}

#[tokio::main]
async fn main() {
    // Cargo adds flags of its own.
    let count = std::env::args().find_map(|argument| argument.parse().ok());
    let count: usize = count.unwrap_or(100_000);
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path()).unwrap();
    let ids: Vec<usize> = (0..count).collect();
    for ids in ids.chunks(BATCH) {
        let events = ids.iter().copied().map(sent).collect();
        store.append(events, vec![]).await.unwrap();
    }
    let state = folder.path().join("state.sqlite");
    let state = format!("sqlite:{}", state.display()).parse().ok();
    let settings = Settings::default().state_database_url(state);
    let application = App::new("deadlines").settings(settings);
    let begin = Instant::now();
    let application = application.event_store(Arc::new(store.clone()));
    let application = application.build().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    tokio::spawn(application.serve(listener));
    // One event more names the state database.
    let last = 2 * count as u64;
    while newest_id(&store)
        .await
        .unwrap()
        .is_none_or(|id| id.get() < last)
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{count} deadlines: {seconds:.1} s, {:.0}/s",
        count as f64 / seconds
    );
    std::process::exit(0);
}
