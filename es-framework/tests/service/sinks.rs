//! Sinks of public events: receivers that work, refuse or are slow, processes that are killed, and operators.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post as accept,
};
use es_framework::Settings;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    http_client::{client, get, json_of, post},
    postgres_server::PostgresServer,
    running_service::{RunningService, TOKEN, book},
    service_process::ServiceProcess,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const CLIENTS: u32 = 8;
const KILLS: u32 = 4;

/// A receiver behind a socket, which can be stopped and started again. Its connections end with its runtime.
struct Receiver {
    address: SocketAddr,
    state: Arc<ReceiverState>,
    runtime: Option<Runtime>,
}

struct ReceiverState {
    status: Mutex<u16>,
    pause: Duration,
    /// The id and the subject of each accepted event.
    events: Mutex<Vec<(String, String)>>,
}

impl Receiver {
    fn start(status: u16, pause: Duration) -> Self {
        let state = Arc::new(ReceiverState {
            status: Mutex::new(status),
            pause,
            events: Mutex::default(),
        });
        let mut receiver = Self {
            address: "127.0.0.1:0".parse().unwrap(),
            state,
            runtime: None,
        };
        receiver.listen();
        receiver
    }

    fn listen(&mut self) {
        let listener = std::net::TcpListener::bind(self.address).unwrap();
        listener.set_nonblocking(true).unwrap();
        self.address = listener.local_addr().unwrap();
        let router = Router::new().route("/events", accept(receive));
        let router = router.with_state(Arc::clone(&self.state));
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            axum::serve(listener, router).await
        });
        self.runtime = Some(runtime);
    }

    fn stop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Stops for a moment and starts again.
    async fn restart(&mut self) {
        self.stop();
        tokio::time::sleep(Duration::from_millis(300)).await;
        self.listen();
    }

    fn events(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.state.events.lock().unwrap()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn receive(
    State(state): State<Arc<ReceiverState>>,
    headers: HeaderMap,
    body: String,
) -> StatusCode {
    let events: Value = serde_json::from_str(&body).unwrap();
    assert!(
        headers["webhook-signature"]
            .to_str()
            .unwrap()
            .starts_with("v1,")
    );
    tokio::time::sleep(state.pause).await;
    let status = *state.status.lock().unwrap();
    if status == 204 {
        let events = events.as_array().cloned().unwrap_or_else(|| vec![events]);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let events = events
            .iter()
            .map(|event| (text(&event["id"]), text(&event["subject"])));
        state.events.lock().unwrap().extend(events);
    }
    status.try_into().unwrap()
}

/// Writes the file of some sinks.
fn write_sinks(folder: &Path, sinks: &[(&str, &Receiver, &str)]) -> PathBuf {
    let mut text = String::new();
    for (name, receiver, more) in sinks {
        writeln!(
            text,
            "[sinks.{name}]\nwebhook = \"http://{}/events\"\nstart = \"first\"\nsecrets = [\"{SECRET}\"]\nallow_private = true\n{more}",
            receiver.address
        )
        .unwrap();
    }
    let file = folder.join("sinks.toml");
    std::fs::write(&file, text).unwrap();
    file
}

/// Returns the id and the subject of each public event that follows from stored events.
async fn expected_events(service: &ServiceProcess) -> BTreeSet<(String, String)> {
    let lines = service.stored_lines().await;
    let events = lines.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let event = line["payload"].get("event").unwrap_or(&line["payload"]);
        let publication = match event["type"].as_str()?.rsplit('.').next()? {
            "BookPurchasedEvent" => "copy_purchased",
            "BookBorrowedEvent" => "copy_lent",
            _ => return None,
        };
        let id = format!("{}/{publication}/0/0", event["id"].as_str()?);
        Some((id, event["subject"].as_str()?.to_owned()))
    });
    events.collect()
}

/// Asserts that the first deliveries of each subject have the order of its events.
fn assert_ordered(events: &[(String, String)]) {
    let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (id, subject) in events {
        if seen.insert(id) {
            let number: u64 = id.split('/').next().unwrap().parse().unwrap();
            let last = newest.insert(subject, number);
            assert!(last < Some(number), "{id} of {subject} follows {last:?}");
        }
    }
}

/// Purchases and lends copies until the process no longer answers.
async fn use_until_killed(url: String) {
    loop {
        let id = Uuid::new_v4();
        let request = client().post(format!("{url}/books/purchase"));
        let request = request.header("content-type", "application/json");
        if request.body(book(id).to_string()).send().await.is_err() {
            return;
        }
        let request = client().post(format!("{url}/books/{id}/borrow"));
        let request = request.header("content-type", "application/json");
        let body = json!({ "reader": id }).to_string();
        if request.body(body).send().await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_arrives_at_a_healthy_sink_whatever_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut healthy = Receiver::start(204, Duration::ZERO);
    let slow = Receiver::start(204, Duration::from_secs(2));
    let refusing = Receiver::start(500, Duration::ZERO);
    let sinks = [
        ("healthy", &healthy, "batch = 50"),
        ("refusing", &refusing, ""),
        ("slow", &slow, ""),
    ];
    let file = write_sinks(folder.path(), &sinks);
    let data = folder.path().join("data");
    let settings = [("SINKS_FILE", file.to_str().unwrap())];
    for _ in 0..KILLS {
        let service = ServiceProcess::start_on_data(&data, &settings);
        let clients = (0..CLIENTS).map(|_| tokio::spawn(use_until_killed(service.url.clone())));
        let clients: Vec<_> = clients.collect();
        tokio::time::sleep(Duration::from_millis(700)).await;
        healthy.restart().await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(!service.process.log().contains("MfKQ9r8G"));
        drop(service);
        for client in clients {
            client.await.unwrap();
        }
    }
    let service = ServiceProcess::start_on_data(&data, &settings);
    let expected = expected_events(&service).await;
    assert!(expected.len() > 100, "{}", expected.len());
    let received = || -> BTreeSet<_> { healthy.events().iter().cloned().collect() };
    // The time depends on the machine, so an event more is all that each minute has to bring.
    while received().len() < expected.len() {
        let before = received().len();
        eventually("more arrives", async || {
            (received().len() > before).then_some(())
        })
        .await;
    }
    assert_eq!(received(), expected);
    assert_ordered(&healthy.events());
    assert_ordered(&slow.events());
    let slow: BTreeSet<_> = slow.events().iter().cloned().collect();
    assert!(slow.is_subset(&expected) && !slow.is_empty());
    // An outage of others is none of the service.
    let health = get(&format!("{}/actuator/health", service.url)).await;
    assert_eq!(health.status(), 200);
    let status = json_of(get(&format!("{}/actuator/reactions", service.url)).await).await;
    assert!(
        status["refusing"]["held"]["keys"].as_u64() > Some(0),
        "{status}"
    );
    let deliveries = status["refusing"]["deliveries"].as_array().unwrap();
    assert!((1..=20).contains(&deliveries.len()));
    let error = deliveries[0]["error"].as_str().unwrap();
    assert!(error.contains("the receiver answers 500"), "{error}");
    let metrics = get(&format!("{}/actuator/prometheus", service.url)).await;
    let metrics = metrics.text().await.unwrap();
    assert!(
        metrics.contains("es_sink_failed_total{sink=\"refusing\"}"),
        "{metrics}"
    );
    let everything = format!("{status} {metrics} {}", service.process.log());
    assert!(!everything.contains("MfKQ9r8G"));
}

/// Starts a service with one sink.
fn start_with(receiver: &Receiver, more: &str) -> (RunningService, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = write_sinks(folder.path(), &[("erp", receiver, more)]);
    let settings = Settings::default().sinks_file(Some(file));
    (RunningService::start_with(settings), folder)
}

async fn wait_for(receiver: &Receiver, count: usize) {
    eventually("the events arrive", async || {
        (receiver.events().len() >= count).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_receives_the_types_of_its_filter_and_an_operator_replays_them() {
    let receiver = Receiver::start(204, Duration::ZERO);
    let (service, _folder) = start_with(
        &receiver,
        "types = [\"com.example.library.CopyPurchased.v1\"]",
    );
    for _ in 0..3 {
        let id = Uuid::new_v4();
        service.purchase(&book(id)).await;
        let url = format!("{}/books/{id}/borrow", service.url);
        post(&url, json!({ "reader": id }).to_string()).await;
    }
    wait_for(&receiver, 3).await;
    let (_, subject) = receiver.events()[0].clone();
    let replay = async |query: &str| {
        let url = format!("{}/actuator/reactions/erp/replay?{query}", service.url);
        let answer = client().post(url).bearer_auth(TOKEN).send().await.unwrap();
        (answer.status().as_u16(), json_of(answer).await)
    };
    let (status, answer) = replay("from=0&to=1000").await;
    assert_eq!(
        (status, &answer["replay"]["planned"]),
        (200, &json!(3)),
        "{answer}"
    );
    wait_for(&receiver, 6).await;
    let (_, answer) = replay(&format!("key={subject}")).await;
    assert_eq!(answer["replay"], json!({ "planned": 1, "next": null }));
    wait_for(&receiver, 7).await;
    let events = receiver.events().clone();
    let first: BTreeSet<_> = events[..3].iter().collect();
    assert_eq!(first, events.iter().collect());
    let (status, answer) = replay("").await;
    assert_eq!(status, 400, "{answer}");
    let url = format!(
        "{}/actuator/reactions/LoanReporter/replay?from=0&to=9",
        service.url
    );
    let answer = client().post(url).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(answer.status(), 409);
    service.assert_works().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_is_gone_is_shown_and_the_service_stays_healthy() {
    let receiver = Receiver::start(410, Duration::ZERO);
    let (service, _folder) = start_with(&receiver, "");
    service.purchase(&book(Uuid::new_v4())).await;
    let url = format!("{}/actuator/reactions", service.url);
    let status = eventually("the sink has ended", async || {
        let status = json_of(get(&url).await).await["erp"].clone();
        (status["stopped"] == true).then_some(status)
    })
    .await;
    let error = status["error"].as_str().unwrap();
    assert!(
        error.contains("(410 Gone)") && error.contains("rebuild it"),
        "{error}"
    );
    service.assert_works().await;
    *receiver.state.status.lock().unwrap() = 204;
    let url = format!("{url}/erp/rebuild");
    let rebuilt = client().post(url).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(rebuilt.status(), 200);
    wait_for(&receiver, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_instances_delivers_and_the_other_one_takes_over() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(204, Duration::ZERO);
    let file = write_sinks(folder.path(), &[("erp", &receiver, "")]);
    let url = server.url();
    let settings = [
        ("EVENT_STORE_URL", &*url),
        ("DATABASE_URL", &*url),
        ("SINKS_FILE", file.to_str().unwrap()),
    ];
    let first = ServiceProcess::start(&settings);
    let second = ServiceProcess::start(&settings);
    let purchase = async |service: &ServiceProcess| {
        let url = format!("{}/books/purchase", service.url);
        let bought = post(&url, book(Uuid::new_v4()).to_string()).await;
        assert_eq!(bought.status(), StatusCode::CREATED);
    };
    for _ in 0..10 {
        purchase(&first).await;
        purchase(&second).await;
    }
    wait_for(&receiver, 20).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(receiver.events().len(), 20, "one instance delivers");
    drop(first);
    purchase(&second).await;
    wait_for(&receiver, 21).await;
    let ids: BTreeSet<_> = receiver.events().iter().cloned().collect();
    assert_eq!(ids.len(), 21);
}
