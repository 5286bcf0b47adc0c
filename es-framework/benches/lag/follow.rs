//! An application whose read model, reaction and live query follow the events.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use es_framework::{App, ApplicationClient, Settings, prelude::*, store::EventStore};
use tokio::{
    net::TcpListener,
    sync::oneshot,
    task::{JoinHandle, spawn_blocking},
};

use super::Timeline;

/// The time between two queries of the read model.
const SAMPLE: Duration = Duration::from_millis(10);
/// The time after which a follower does not keep up.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Event)]
#[event(package = "com.example.lag")]
pub(super) struct TickedEvent {
    id: u32,
    number: u32,
}

#[derive(ReadModel)]
#[read_model(table = "ticks", subject = "/ticks/{id}")]
struct Tick {
    #[key]
    id: u32,
    number: u32,
}

#[projection]
impl Tick {
    fn ticked(event: &TickedEvent) -> Self {
        let TickedEvent { id, number } = *event;
        Self { id, number }
    }
}

/// Shows the newest tick.
#[derive(Query)]
#[query(path = "/ticks/newest")]
struct NewestTick {}

impl QueryHandler for NewestTick {
    type Output = u32;

    async fn handle(self, context: &QueryContext<'_>) -> Result<u32, QueryError> {
        let rows = context.rows::<Tick>().all(1_000).await?;
        Ok(rows.iter().map(|row| row.number).max().unwrap_or_default())
    }
}

#[derive(Command)]
#[command(subject = "/ticks/{id}", internal)]
struct NeverCommand {
    id: u32,
}

#[handler]
fn never(command: NeverCommand) -> TickedEvent {
    let (id, number) = (command.id, 0);
    TickedEvent { id, number }
}

/// The timeline of the run, which the reaction writes to.
static TIMELINE: Mutex<Option<Arc<Timeline>>> = Mutex::new(None);

struct TickReaction;

#[reaction]
impl TickReaction {
    fn see(event: &TickedEvent) -> Option<NeverCommand> {
        let timeline = TIMELINE.lock().unwrap();
        let timeline = timeline.as_ref()?;
        timeline.reacted[event.number as usize].store(timeline.now(), Ordering::Release);
        None
    }
}

/// The lags of each kind of follower in microseconds.
pub(super) struct Lags {
    pub(super) read_model: Vec<u64>,
    pub(super) reaction: Vec<u64>,
    pub(super) live_query: Vec<u64>,
}

/// The running application and those that ask it.
pub(super) struct Followers {
    timeline: Arc<Timeline>,
    is_written: Arc<AtomicBool>,
    queries: JoinHandle<Vec<u64>>,
    outputs: JoinHandle<Vec<(u64, u64)>>,
    stop: oneshot::Sender<()>,
    application: JoinHandle<()>,
}

impl Followers {
    pub(super) async fn start(store: Arc<dyn EventStore>, timeline: Arc<Timeline>) -> Self {
        let count = timeline.acknowledged.len();
        *TIMELINE.lock().unwrap() = Some(Arc::clone(&timeline));
        let application = App::new("lag")
            .settings(Settings::default())
            .event_store(store)
            .build()
            .await
            .unwrap();
        let client = application.client();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let application = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            application.serve_until(listener, stopped).await.unwrap();
        });
        while client.get("/ticks/newest").await.unwrap().status != 200 {
            tokio::time::sleep(SAMPLE).await;
        }
        let is_written = Arc::new(AtomicBool::new(false));
        let queries = ask(client, Arc::clone(&timeline), Arc::clone(&is_written));
        let last = count as u64 - 1;
        let watched = Arc::clone(&timeline);
        Self {
            queries: tokio::spawn(queries),
            outputs: spawn_blocking(move || watch(address, &watched, last)),
            timeline,
            is_written,
            stop,
            application,
        }
    }

    /// Waits until all have seen the last event. Returns their lags.
    pub(super) async fn finish(self) -> Lags {
        self.is_written.store(true, Ordering::Release);
        let timeline = &self.timeline;
        let last = timeline.reacted.last().unwrap();
        let reacted = async {
            while last.load(Ordering::Acquire) == 0 {
                tokio::time::sleep(SAMPLE).await;
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, reacted).await;
        in_time.expect("the reaction does not keep up");
        let outputs = self.outputs.await.unwrap();
        let read_model = self.queries.await.unwrap();
        let reaction = timeline.reacted.iter().enumerate();
        let reaction =
            reaction.map(|(number, seen)| timeline.lag(number, seen.load(Ordering::Acquire)));
        let mut outputs = outputs.into_iter().peekable();
        let mut live_query = Vec::new();
        for number in 0..timeline.reacted.len() {
            // The first output with this event or a later one.
            while outputs
                .next_if(|(newest, _)| *newest < number as u64)
                .is_some()
            {}
            let (_, seen) = outputs.peek().unwrap();
            live_query.push(timeline.lag(number, *seen));
        }
        let lags = Lags {
            read_model,
            reaction: reaction.collect(),
            live_query,
        };
        drop(self.stop);
        self.application.await.unwrap();
        lags
    }
}

/// Asks for the read model as of the last acknowledged event, again and again. Returns how long the answers took.
async fn ask(
    client: ApplicationClient,
    timeline: Arc<Timeline>,
    is_written: Arc<AtomicBool>,
) -> Vec<u64> {
    let mut lags = Vec::new();
    loop {
        let is_last = is_written.load(Ordering::Acquire);
        let position = timeline.last.load(Ordering::Acquire);
        if position > 0 {
            let begin = timeline.now();
            let name = "event-position".parse().unwrap();
            let asking = client.clone().with_header(name, &position.to_string());
            let answer = asking.get("/ticks/newest").await.unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text());
            lags.push(timeline.now() - begin);
        }
        if is_last {
            return lags;
        }
        tokio::time::sleep(SAMPLE).await;
    }
}

/// Reads the outputs of the live query up to the last event: each with its time.
fn watch(address: SocketAddr, timeline: &Timeline, last: u64) -> Vec<(u64, u64)> {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "GET /ticks/newest HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut outputs = Vec::new();
    for line in BufReader::new(stream).lines() {
        let line = line.expect("the live query does not keep up");
        let Some(newest) = line.strip_prefix("data: ") else {
            continue;
        };
        let newest: u64 = newest.parse().unwrap();
        outputs.push((newest, timeline.now()));
        if newest >= last {
            break;
        }
    }
    outputs
}
