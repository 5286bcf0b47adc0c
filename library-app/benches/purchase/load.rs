//! Purchases over kept connections, as many at once as there are connections.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};
use uuid::Uuid;

/// The part of a measurement that only warms up.
const WARM_UP: Duration = Duration::from_millis(500);

pub(crate) struct Measured {
    pub(crate) rate: f64,
    pub(crate) median_ms: f64,
    pub(crate) p99_ms: f64,
}

impl Measured {
    /// The round in the middle by throughput.
    pub(crate) fn median(mut rounds: Vec<Self>) -> Self {
        rounds.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        rounds.swap_remove(rounds.len() / 2)
    }
}

pub(crate) fn run(address: &str, connections: usize, time: Duration) -> Measured {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut micros = runtime.block_on(async {
        let begin = Instant::now() + WARM_UP;
        let mut clients = JoinSet::new();
        for _ in 0..connections {
            clients.spawn(purchase(address.to_owned(), begin, begin + time));
        }
        clients.join_all().await.concat()
    });
    micros.sort_unstable();
    let at = |share: f64| f64::from(micros[(micros.len() as f64 * share) as usize]) / 1e3;
    Measured {
        rate: micros.len() as f64 / time.as_secs_f64(),
        median_ms: at(0.5),
        p99_ms: at(0.99),
    }
}

/// Purchases one copy after the other; the times of those that began after `begin`.
async fn purchase(address: String, begin: Instant, end: Instant) -> Vec<u32> {
    let mut connection = Connection::open(&address).await;
    let mut micros = Vec::new();
    loop {
        let sent = Instant::now();
        if sent >= end {
            return micros;
        }
        connection.purchase().await;
        if sent >= begin {
            micros.push(sent.elapsed().as_micros() as u32);
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

    pub(crate) async fn purchase(&mut self) {
        let body = format!(
            r#"{{"id":"{}","isbn":"978-0-345-53943-1","title":"The Lord of the Rings: The Fellowship of the Ring","author":"John Ronald Reuel Tolkien","numPages":1178}}"#,
            Uuid::new_v4()
        );
        let head = "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ";
        self.request.clear();
        self.request.extend_from_slice(head.as_bytes());
        self.request
            .extend_from_slice(format!("{}\r\n\r\n{body}", body.len()).as_bytes());
        self.stream.write_all(&self.request).await.unwrap();
        self.answer.clear();
        // The answer has no body.
        while !self.answer.ends_with(b"\r\n\r\n") {
            assert_ne!(
                self.stream.read_buf(&mut self.answer).await.unwrap(),
                0,
                "closed"
            );
        }
        assert!(
            self.answer.starts_with(b"HTTP/1.1 201"),
            "{}",
            String::from_utf8_lossy(&self.answer)
        );
    }
}
