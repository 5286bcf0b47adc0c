//! Tests of sinks: each event arrives, in the order of its subject, whatever the receivers do.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Mutex, MutexGuard},
};

use axum::{Router, extract::State, http::StatusCode, routing::post};
use es_event::{EventId, EventView};
use es_sink::{ConfiguredSink, Sink, SinkStart, WebhookSettings, WebhookTransport};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::*;
use crate::{
    publication::{
        OutgoingEvents, PendingEvents, PublicEvent, PublicEventDescriptor, PublicationDescriptor,
        Publications, box_events,
    },
    reaction::sink_reaction,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// An invoice is on its way.
#[derive(Serialize, JsonSchema)]
struct InvoiceSent {
    id: String,
}

impl PublicEvent for InvoiceSent {
    const TYPE: &'static str = "com.example.InvoiceSent.v1";
    const DECLARATION: Declaration = declaration!();
}

/// Publishes two events for an invoice, and none for a draft.
fn publish(view: &EventView<'_>, _: &ReactionContext<'_>) -> Result<PendingEvents, ReactionError> {
    let InvoiceSentEvent { id, .. } = view.payload()?;
    let mut events = OutgoingEvents::default();
    if !id.starts_with("draft") {
        events.push(&InvoiceSent { id })?;
    }
    Ok(box_events(async { Ok(events) }))
}

fn publications() -> Publications {
    let invoice_sent = PublicationDescriptor {
        name: "invoice_sent",
        event: InvoiceSentEvent::TYPE,
        publish,
        parameters: &[],
        public_events: || vec![PublicEventDescriptor::of::<InvoiceSent>()],
        personal: &[],
        declaration: declaration!(),
    };
    Publications::new([invoice_sent]).unwrap()
}

/// A receiver behind a socket.
#[derive(Clone, Default)]
struct Receiver(Arc<Mutex<ReceiverState>>);

#[derive(Default)]
struct ReceiverState {
    /// The accepted events.
    events: Vec<Value>,
    requests: usize,
    /// The status for all events, and for those of some subjects.
    status: Option<u16>,
    refused: BTreeMap<String, u16>,
}

impl Receiver {
    fn lock(&self) -> MutexGuard<'_, ReceiverState> {
        self.0.lock().unwrap()
    }

    async fn listen(&self) -> SocketAddr {
        let router = Router::new().route("/", post(receive));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = router.with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    /// The ids of the stored events of the accepted events, and their subjects.
    fn received(&self) -> Vec<(u64, String)> {
        let state = self.lock();
        let received = state.events.iter().map(|event| {
            let text = |name: &str| event[name].as_str().unwrap();
            let id = text("id").split('/').next().unwrap();
            (id.parse().unwrap(), text("subject").to_owned())
        });
        received.collect()
    }

    /// Asserts that the events of each subject have their order.
    fn assert_ordered(&self) {
        let mut newest = BTreeMap::new();
        for (id, subject) in self.received() {
            let last = newest.insert(subject, id);
            assert!(last < Some(id), "{:?}", self.received());
        }
    }

    async fn wait_for(&self, count: usize) {
        eventually(async || self.lock().events.len() >= count).await;
    }
}

async fn receive(
    State(receiver): State<Receiver>,
    body: String,
) -> (StatusCode, [(&'static str, &'static str); 1]) {
    let event: Value = serde_json::from_str(&body).unwrap();
    let mut state = receiver.lock();
    state.requests += 1;
    let refused = state.refused.get(event["subject"].as_str().unwrap());
    let status = refused.copied().or(state.status).unwrap_or(204);
    if status == 204 {
        state.events.push(event);
    }
    (status.try_into().unwrap(), [("retry-after", "3600")])
}

async fn sink(name: &str, start: SinkStart, receiver: &Receiver) -> ReactionDescriptor {
    let address = receiver.listen().await;
    let transport = WebhookTransport::new(WebhookSettings {
        url: format!("http://{address}/"),
        secrets: vec![SECRET.to_owned()],
        batch: None,
        allow_private: true,
    });
    let sink = Sink {
        name: name.into(),
        types: None,
        max_running: 16,
        transport: Box::new(transport.unwrap()),
    };
    sink_reaction(ConfiguredSink { sink, start }, &publications())
}

fn range(from: u64, to: u64) -> EventSelection {
    EventSelection::Range {
        from: EventId::new(from).unwrap(),
        to: EventId::new(to).unwrap(),
    }
}

#[tokio::test]
async fn each_event_arrives_once_and_a_draft_has_no_task() {
    let (world, receiver) = (World::at(DUE), Receiver::default());
    let erp = sink("erp", SinkStart::First, &receiver).await;
    for id in ["a", "draft", "b"] {
        world.send(id).await;
    }
    catch_up(world.runtime(), erp).await.unwrap();
    catch_up(world.runtime(), erp).await.unwrap();
    let ids: Vec<_> = receiver.received().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [0, 2]);
    let first = receiver.lock().events[0].clone();
    assert_eq!(first["id"], "0/invoice_sent/0/0");
    assert_eq!(first["type"], InvoiceSent::TYPE);
    assert_eq!(first["source"], "test");
    assert_eq!(first["subject"], "/invoices/a");
    assert_eq!(first["data"], serde_json::json!({ "id": "a" }));
}

#[tokio::test]
async fn a_sink_begins_as_it_says() {
    for (start, expected) in [
        (SinkStart::First, &["a", "b", "c", "d"][..]),
        (SinkStart::After(EventId::new(1).unwrap()), &["c", "d"]),
        (SinkStart::Now, &["d"]),
    ] {
        let (world, receiver) = (World::at(DUE), Receiver::default());
        let erp = sink("erp", start, &receiver).await;
        for id in ["a", "b", "c"] {
            world.send(id).await;
        }
        catch_up(world.runtime(), erp).await.unwrap();
        world.send("d").await;
        catch_up(world.runtime(), erp).await.unwrap();
        let names = receiver
            .lock()
            .events
            .iter()
            .map(|event| event["data"]["id"].clone())
            .collect::<Vec<_>>();
        assert_eq!(names, expected, "{start:?}");
    }
}

#[tokio::test]
async fn a_sink_does_not_begin_behind_an_event_that_is_not_recorded() {
    let (world, receiver) = (World::at(DUE), Receiver::default());
    world.send("a").await;
    let after = SinkStart::After(EventId::new(7).unwrap());
    let erp = sink("erp", after, &receiver).await;
    let refused = catch_up(world.runtime(), erp).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "event 7 is not recorded yet, so the sink cannot begin behind it: let it start with \"now\", \"first\" or the id of a recorded event"
    );
}

#[tokio::test]
async fn a_dead_sink_delays_no_other_and_a_held_subject_keeps_its_order() {
    let (world, healthy, refusing, dead) = (
        World::at(DUE),
        Receiver::default(),
        Receiver::default(),
        Receiver::default(),
    );
    refusing
        .lock()
        .refused
        .insert("/invoices/a".to_owned(), 500);
    dead.lock().status = Some(500);
    let first = SinkStart::First;
    let sinks = [
        sink("dead", first, &dead).await,
        sink("healthy", first, &healthy).await,
        sink("refusing", first, &refusing).await,
    ];
    let (running, operator) = world.start(&sinks);
    for _ in 0..5 {
        for id in ["a", "b", "c"] {
            world.send(id).await;
        }
    }
    healthy.wait_for(15).await;
    refusing.wait_for(10).await;
    eventually(async || operator.held("refusing") == ["/invoices/a"]).await;
    eventually(async || operator.held("dead").len() == 3).await;
    let log = operator.progress("dead").deliveries().unwrap();
    let error = log.iter().next().unwrap().error.clone().unwrap();
    assert!(error.contains("the receiver answers 500"), "{error}");
    refusing.lock().refused.clear();
    let retried = operator.retried("refusing", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (1, 1));
    refusing.wait_for(15).await;
    running.abort();
    healthy.assert_ordered();
    refusing.assert_ordered();
    assert!(dead.received().is_empty());
}

#[tokio::test]
async fn a_receiver_that_asks_for_a_pause_gets_nothing_until_it_is_over() {
    let (world, receiver) = (World::at(DUE), Receiver::default());
    receiver.lock().status = Some(429);
    let erp = [sink("erp", SinkStart::First, &receiver).await];
    let (running, operator) = world.start(&erp);
    world.send("a").await;
    eventually(async || operator.held("erp") == ["/invoices/a"]).await;
    let held = operator.progress("erp").held_keys();
    let next = held.iter().next().unwrap().next_attempt.unwrap();
    let pause = next.duration_since(world.clock.now());
    assert_eq!(pause, jiff::SignedDuration::from_hours(1));
    world.send("b").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(receiver.lock().requests, 1);
    receiver.lock().status = None;
    operator.retried("erp", OperatorCommand::Retry, None).await;
    receiver.wait_for(2).await;
    running.abort();
}

#[tokio::test]
async fn a_receiver_that_is_gone_ends_its_sink_until_an_operator_rebuilds_it() {
    let (world, receiver) = (World::at(DUE), Receiver::default());
    receiver.lock().status = Some(410);
    let erp = [sink("erp", SinkStart::First, &receiver).await];
    let ended = |operator: &Operator| {
        let state = operator.progress("erp").state();
        let reason = state.trouble().map(|trouble| trouble.reason.clone());
        reason.is_some_and(|reason| reason.contains("(410 Gone)"))
    };
    world.send("a").await;
    let (running, operator) = world.start(&erp);
    eventually(async || ended(&operator)).await;
    running.abort();
    // Neither new events nor a start begin again.
    receiver.lock().status = None;
    world.send("b").await;
    let (running, operator) = world.start(&erp);
    eventually(async || ended(&operator)).await;
    world.send("c").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(receiver.lock().requests, 1);
    assert!(
        operator
            .progress("erp")
            .exits()
            .contains(&OperatorCommand::Rebuild)
    );
    let refused = operator
        .client
        .send_selection("erp", OperatorCommand::Replay, Some(range(0, 1)));
    assert!(refused.await.is_err());
    operator
        .send("erp", OperatorCommand::Rebuild)
        .await
        .unwrap();
    receiver.wait_for(3).await;
    assert!(!ended(&operator));
    running.abort();
}

#[tokio::test]
async fn an_operator_replays_a_range_or_a_subject() {
    let (world, receiver) = (World::at(DUE), Receiver::default());
    let erp = sink("erp", SinkStart::First, &receiver).await;
    let (running, operator) = world.start(&[erp]);
    for id in ["a", "b", "a", "b"] {
        world.send(id).await;
    }
    receiver.wait_for(4).await;
    world.wait_until_done("erp").await;
    let replay = async |name: &str, selection| {
        let client = operator.client.clone();
        let replay = client.send_selection(name, OperatorCommand::Replay, selection);
        replay.await.map(|outcome| outcome.replay.unwrap())
    };
    let mut all = receiver.received();
    all.sort_unstable();
    let outcome = replay("erp", Some(range(all[1].0, all[2].0)))
        .await
        .unwrap();
    assert_eq!((outcome.planned, outcome.next), (2, None));
    receiver.wait_for(6).await;
    world.wait_until_done("erp").await;
    let subject = EventSelection::Key {
        key: "/invoices/b".to_owned(),
    };
    assert_eq!(replay("erp", Some(subject)).await.unwrap().planned, 2);
    receiver.wait_for(8).await;
    running.abort();
    let mut received = receiver.received();
    assert_eq!(received.split_off(6), [all[1].clone(), all[3].clone()]);
    let mut again = received.split_off(4);
    again.sort_unstable();
    assert_eq!(again, all[1..3]);
    let reminder = ReactionDescriptor::of::<ImmediateReminder>();
    let (running, operator) = world.start(&[erp, reminder]);
    let refused = |name, selection| {
        operator
            .client
            .send_selection(name, OperatorCommand::Replay, selection)
    };
    for (name, selection, expected) in [
        ("erp", None, "a replay needs its events"),
        (
            "ImmediateReminder",
            Some(range(0, 1)),
            "the reaction ImmediateReminder cannot replay events: only a sink",
        ),
    ] {
        let error = refused(name, selection).await.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    running.abort();
}

#[tokio::test]
async fn a_sink_tries_for_a_month_with_pauses_of_a_day() {
    let (world, receiver) = (World::at(DUE), Receiver::default());
    receiver.lock().status = Some(500);
    let erp = [sink("erp", SinkStart::First, &receiver).await];
    let (running, operator) = world.start(&erp);
    world.send("a").await;
    let mut longest = jiff::SignedDuration::ZERO;
    let mut days = 0;
    loop {
        // The attempt at the time of the clock has ended.
        let mut next = None;
        eventually(async || {
            let held = world.state.failed_tasks("erp").await.unwrap();
            let failure = held.first().and_then(|task| task.failure.clone());
            next = failure.as_ref().and_then(|failure| failure.retry_at);
            failure.is_some() && next.is_none_or(|next| next > world.clock.now())
        })
        .await;
        let Some(next) = next else { break };
        let pause = next.duration_since(world.clock.now());
        longest = longest.max(pause);
        days += i32::from(pause == jiff::SignedDuration::from_hours(24));
        world.clock.set(next);
    }
    assert!(!operator.held("erp").is_empty());
    running.abort();
    assert_eq!(longest, jiff::SignedDuration::from_hours(24));
    assert!((25..=35).contains(&days), "{days}");
}
