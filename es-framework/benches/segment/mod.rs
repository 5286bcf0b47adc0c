//! The measure: events appended to a file as they are, one flush a batch, subjects in memory.

use std::{
    collections::{HashSet, VecDeque},
    fs::File,
    io::Write as _,
    path::Path,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use es_framework::{
    event::{Dialect, EventCandidate, EventId, EventTime, Hash, RecordedEvent, Subject},
    store::Precondition,
};
use tokio::sync::oneshot;

type Append = (EventCandidate, Precondition, oneshot::Sender<RecordedEvent>);

/// A file with a writer of its own.
#[derive(Clone)]
pub(crate) struct SegmentFile(Arc<(Mutex<WaitingAppends>, Condvar)>);

#[derive(Default)]
struct WaitingAppends {
    appends: VecDeque<Append>,
    wake_at: Option<usize>,
}

impl SegmentFile {
    pub(crate) fn create(path: &Path) -> Self {
        let segment = Self(Arc::default());
        let (queue, file) = (segment.clone(), File::create(path).unwrap());
        std::thread::spawn(move || queue.run(file));
        segment
    }

    pub(crate) async fn append(&self, candidate: EventCandidate, condition: Precondition) {
        let (answer, answered) = oneshot::channel();
        let wake = {
            let mut waiting = self.0.0.lock().unwrap();
            waiting.appends.push_back((candidate, condition, answer));
            let wake = waiting
                .wake_at
                .is_some_and(|count| waiting.appends.len() >= count);
            if wake {
                waiting.wake_at = None;
            }
            wake
        };
        if wake {
            self.0.1.notify_one();
        }
        answered.await.unwrap();
    }

    fn take(&self, company: usize, linger: Duration) -> VecDeque<Append> {
        let begun = Instant::now();
        let mut waiting = self.0.0.lock().unwrap();
        loop {
            let left = linger.checked_sub(begun.elapsed());
            let due = if left.is_some() { company.max(1) } else { 1 };
            if waiting.appends.len() >= due {
                waiting.wake_at = None;
                return std::mem::take(&mut waiting.appends);
            }
            waiting.wake_at = Some(due);
            let left = left.unwrap_or(Duration::from_secs(1));
            waiting = self.0.1.wait_timeout(waiting, left).unwrap().0;
        }
    }

    fn run(&self, mut file: File) {
        let (mut subjects, mut bytes) = (HashSet::<Subject>::new(), Vec::new());
        let (mut next, mut hash) = (EventId::FIRST, Hash::ZERO);
        let (mut company, mut flush) = (1, Duration::ZERO);
        loop {
            let appends = self.take(company, flush / 4);
            let (begun, mut answers) = (Instant::now(), Vec::with_capacity(appends.len()));
            bytes.clear();
            for (candidate, condition, answer) in appends {
                assert!(
                    condition
                        .subject()
                        .is_none_or(|subject| subjects.insert(subject.clone())),
                    "subjects are fresh"
                );
                let event = RecordedEvent::record(candidate, next, EventTime::now(), hash);
                (next, hash) = (next.next().unwrap(), event.hash);
                Dialect::Event.write_line(&event, None, &mut bytes);
                answers.push((answer, event));
            }
            file.write_all(&bytes).unwrap();
            file.sync_data().unwrap();
            flush = (flush * 7 + begun.elapsed()) / 8;
            company = answers.len() + self.0.0.lock().unwrap().appends.len();
            for (answer, event) in answers {
                let _ = answer.send(event);
            }
        }
    }
}
