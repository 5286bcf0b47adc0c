//! The work that each store does, and how it is measured.

use std::{
    fmt,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;
use uuid::Uuid;

use crate::stores::Store;

/// Clients, each of which does the same thing again and again.
#[derive(Clone, Copy)]
pub enum Workload {
    /// Each appends one event to a new subject.
    Append(usize),
    /// The same, if the subject has no events.
    ConditionalAppend(usize),
    /// Each reads a subject of ten events.
    Read(usize),
}

pub const WORKLOADS: [Workload; 10] = [
    Workload::Append(1),
    Workload::Append(8),
    Workload::Append(16),
    Workload::Append(32),
    Workload::Append(64),
    Workload::Append(256),
    Workload::ConditionalAppend(64),
    Workload::Read(1),
    Workload::Read(4),
    Workload::Read(16),
];

/// The subjects that are read.
const SUBJECTS: usize = 50;
const EVENTS_OF_A_SUBJECT: usize = 10;
/// The part of a measurement that only warms up.
const WARM_UP: Duration = Duration::from_millis(200);

/// The results of one round.
#[derive(Clone, Copy)]
pub struct Figures {
    rate: f64,
    median: Duration,
    percentile_99: Duration,
    /// The longest time in which no client was answered.
    standstill: Duration,
}

impl Workload {
    pub fn name(self) -> String {
        match self {
            Self::Append(clients) => format!("appends, {clients}"),
            Self::ConditionalAppend(clients) => format!("conditional appends, {clients}"),
            Self::Read(clients) => format!("reads, {clients}"),
        }
    }

    fn clients(self) -> usize {
        match self {
            Self::Append(clients) | Self::ConditionalAppend(clients) | Self::Read(clients) => {
                clients
            }
        }
    }

    /// Does the work for this time.
    pub async fn measure(self, store: &impl Store, subjects: &[String], time: Duration) -> Figures {
        let mut clients = Vec::new();
        for _ in 0..self.clients() {
            clients.push(store.connect().await);
        }
        let begin = Instant::now() + WARM_UP;
        let end = begin + time;
        let mut tasks = JoinSet::new();
        for (first, client) in clients.into_iter().enumerate() {
            let mut subjects = subjects.to_vec().into_iter().cycle().skip(first);
            tasks.spawn(async move {
                let mut times = Vec::new();
                loop {
                    let sent = Instant::now();
                    if sent >= end {
                        return times;
                    }
                    match self {
                        Self::Append(_) => client.append(&new_subject(), 0).await,
                        Self::ConditionalAppend(_) => client.append_first(&new_subject()).await,
                        Self::Read(_) => {
                            let subject = subjects.next().expect("there are subjects");
                            assert_eq!(client.read(&subject).await, EVENTS_OF_A_SUBJECT);
                        }
                    }
                    if sent >= begin {
                        let answered = Instant::now();
                        times.push((answered, answered.duration_since(sent)));
                    }
                }
            });
        }
        Figures::of(tasks.join_all().await.concat(), time)
    }
}

/// Appends the events that are read, one at a time. Returns their subjects.
pub async fn fill(store: &impl Store) -> Vec<String> {
    let mut tasks = JoinSet::new();
    for _ in 0..SUBJECTS {
        let (store, subject) = (store.clone(), new_subject());
        tasks.spawn(async move {
            for number in 0..EVENTS_OF_A_SUBJECT {
                store.append(&subject, number).await;
            }
            subject
        });
    }
    tasks.join_all().await
}

fn new_subject() -> String {
    format!("/books/{}", Uuid::new_v4())
}

impl Figures {
    /// Of the end and the duration of each request.
    fn of(mut requests: Vec<(Instant, Duration)>, time: Duration) -> Self {
        requests.sort_unstable();
        let gaps = requests
            .windows(2)
            .map(|pair| pair[1].0.duration_since(pair[0].0));
        let standstill = gaps.max().unwrap_or(time);
        let mut times: Vec<Duration> = requests.into_iter().map(|(_, took)| took).collect();
        times.sort_unstable();
        let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or(time);
        Self {
            rate: times.len() as f64 / time.as_secs_f64(),
            median: at(50),
            percentile_99: at(99),
            standstill,
        }
    }

    /// The medians of the rounds, each of its own.
    pub fn median(rounds: Vec<Self>) -> Self {
        let middle = |value: fn(&Self) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let time = |value| Duration::from_secs_f64(middle(value));
        Self {
            rate: middle(|round| round.rate),
            median: time(|round| round.median.as_secs_f64()),
            percentile_99: time(|round| round.percentile_99.as_secs_f64()),
            standstill: time(|round| round.standstill.as_secs_f64()),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        write!(
            f,
            "{:.0}, {:.2} / {:.1} / {:.0}",
            self.rate,
            millis(self.median),
            millis(self.percentile_99),
            millis(self.standstill),
        )
    }
}
