//! Purchases over kept connections, as many at once as there are connections.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};
use uuid::Uuid;

/// The part of a measurement that only warms up.
pub(crate) const WARM_UP: Duration = Duration::from_millis(500);

pub(crate) struct LoadResult {
    pub(crate) rate: f64,
    pub(crate) median_ms: f64,
    pub(crate) p99_ms: f64,
    /// The longest time in which no request of any connection ended.
    pub(crate) standstill_ms: f64,
}

impl LoadResult {
    /// Of the end and the duration of each request.
    pub(crate) fn of(mut requests: Vec<(Instant, Duration)>, time: Duration) -> Self {
        requests.sort_unstable();
        let gaps = requests
            .windows(2)
            .map(|pair| pair[1].0.duration_since(pair[0].0));
        let standstill = gaps.max().unwrap_or_default();
        let micros = requests.iter().map(|(_, took)| took.as_micros() as u32);
        let mut micros: Vec<u32> = micros.collect();
        micros.sort_unstable();
        let at = |share: f64| f64::from(micros[(micros.len() as f64 * share) as usize]) / 1e3;
        Self {
            rate: micros.len() as f64 / time.as_secs_f64(),
            median_ms: at(0.5),
            p99_ms: at(0.99),
            standstill_ms: standstill.as_secs_f64() * 1e3,
        }
    }

    /// The round in the middle by throughput.
    pub(crate) fn median(mut rounds: Vec<Self>) -> Self {
        rounds.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        rounds.swap_remove(rounds.len() / 2)
    }
}

pub(crate) fn run(address: &str, connections: usize, time: Duration) -> LoadResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let purchases = runtime.block_on(async {
        let begin = Instant::now() + WARM_UP;
        let mut clients = JoinSet::new();
        for _ in 0..connections {
            clients.spawn(purchase(address.to_owned(), begin, begin + time));
        }
        clients.join_all().await.concat()
    });
    LoadResult::of(purchases, time)
}

/// Purchases one copy after the other; the ends and times of those that began after `begin`.
async fn purchase(address: String, begin: Instant, end: Instant) -> Vec<(Instant, Duration)> {
    let mut connection = Connection::open(&address).await;
    let mut purchases = Vec::new();
    loop {
        let sent = Instant::now();
        if sent >= end {
            return purchases;
        }
        connection.purchase(Uuid::new_v4()).await;
        if sent >= begin {
            let ended = Instant::now();
            purchases.push((ended, ended.duration_since(sent)));
        }
    }
}

pub(crate) struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            request: Vec::new(),
            answer: Vec::with_capacity(512),
        }
    }

    pub(crate) async fn purchase(&mut self, id: Uuid) {
        let body = format!(
            r#"{{"id":"{id}","isbn":"978-0-345-53943-1","title":"The Lord of the Rings: The Fellowship of the Ring","author":"John Ronald Reuel Tolkien","numPages":1178}}"#,
        );
        let head = "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ";
        self.request.clear();
        self.request.extend_from_slice(head.as_bytes());
        self.request
            .extend_from_slice(format!("{}\r\n\r\n{body}", body.len()).as_bytes());
        // The answer has no body.
        self.exchange("HTTP/1.1 201", b"\r\n\r\n").await;
    }

    /// Asks for a copy as of the purchase that this connection made last.
    pub(crate) async fn find(&mut self, id: Uuid) {
        let answer = String::from_utf8_lossy(&self.answer);
        let position = answer.split("\r\nevent-position: ").nth(1).unwrap();
        let (position, _) = position.split_once("\r\n").unwrap();
        let request = format!(
            "GET /books/{id} HTTP/1.1\r\nhost: localhost\r\nevent-position: {position}\r\n\r\n"
        );
        self.request = request.into_bytes();
        self.exchange("HTTP/1.1 200", b"}").await;
    }

    /// Sends the request and reads the answer to its end.
    async fn exchange(&mut self, status: &str, end: &[u8]) {
        self.stream.write_all(&self.request).await.unwrap();
        self.answer.clear();
        while !self.answer.ends_with(end) {
            let read = self.stream.read_buf(&mut self.answer).await.unwrap();
            assert_ne!(read, 0, "closed");
        }
        assert!(
            self.answer.starts_with(status.as_bytes()),
            "{}",
            String::from_utf8_lossy(&self.answer)
        );
    }
}
