//! Tests of checkpoints: of the progress of several processes, and of leases.

use es_store::memory::MemoryStore;
use jiff::Timestamp;

use super::*;

fn progress(position: u64, settled: i64) -> ReactionProgress {
    ReactionProgress {
        position: EventId::new(position),
        settled: Timestamp::new(settled, 0).unwrap(),
        settled_before: None,
        open_from: EventId::new(1),
    }
}

fn process(store: &Arc<dyn EventLog>, instance: u128) -> CheckpointStore {
    let (store, instance) = (Arc::clone(store), Uuid::from_u128(instance));
    CheckpointStore::new("reminder", store, "tests".into(), instance).unwrap()
}

async fn store_with_events(subject: &Subject, count: usize) -> Arc<dyn EventLog> {
    let store: Arc<dyn EventLog> = Arc::new(MemoryStore::new());
    let handled = EventCandidate {
        source: "tests".into(),
        subject: subject.clone(),
        event_type: es_event::EventType::declared("com.example.InvoiceSentEvent"),
        data: es_event::encode(&Metadata::default(), &1).unwrap(),
        trace: None,
    };
    store.append(vec![handled; count], vec![]).await.unwrap();
    store
}

#[tokio::test]
async fn a_process_whose_clock_is_behind_does_not_forget_a_deadline_that_was_met() {
    let subject: Subject = "/invoices/1".parse().unwrap();
    let store = store_with_events(&subject, 10).await;
    let (mut first, mut second) = (process(&store, 1), process(&store, 2));
    let met = ReactionTask {
        event: EventId::new(3).unwrap(),
        step: "call".into(),
        view: 0,
        at: Timestamp::new(10, 0).ok(),
    };
    first.mark_done(&subject, met.clone());
    let written = first.save(&progress(5, 20)).await;
    assert!(written.unwrap());
    second.load_checkpoint().await.unwrap();
    let written = second.save(&progress(8, 7)).await;
    assert!(written.unwrap());
    first.load_checkpoint().await.unwrap();
    assert!(first.is_task_done(&subject, &met));
    // Once the second process has settled as much, its position counts.
    let written = second.save(&progress(9, 20)).await;
    assert!(written.unwrap());
    assert!(second.is_task_done(&subject, &met));
    assert_eq!(second.last_progress(), Some(&progress(9, 20)));
}

#[tokio::test]
async fn a_clock_that_was_far_ahead_does_not_make_checkpoints_grow_without_a_limit() {
    let subject: Subject = "/invoices/1".parse().unwrap();
    let store = store_with_events(&subject, 1_000).await;
    let mut process = process(&store, 1);
    assert!(process.save(&progress(5, 1_000_000)).await.unwrap());
    // The clock is right again, and a deadline is open that is later than now.
    for event in 6..900 {
        let call = ReactionTask {
            event: EventId::new(event).unwrap(),
            step: "call".into(),
            view: 0,
            at: None,
        };
        process.mark_done(&subject, call);
        assert!(process.save(&progress(event, 20)).await.unwrap());
        assert!(process.count_done() <= 200, "{}", process.count_done());
    }
    assert!(process.position() > EventId::new(600));
}

#[tokio::test(start_paused = true)]
async fn a_second_lease_on_the_same_call_is_not_taken_for_an_expired_one() {
    let store: Arc<dyn EventLog> = Arc::new(MemoryStore::new());
    let subject: Subject = "/invoices/1".parse().unwrap();
    let (mut first, mut second) = (process(&store, 1), process(&store, 2));
    let call = ReactionTask {
        event: EventId::new(0).unwrap(),
        step: "call".into(),
        view: 0,
        at: None,
    };
    for _attempt in 0..3 {
        let progress = first.last_progress().cloned();
        let progress = progress.unwrap_or(ReactionProgress {
            position: None,
            settled: Timestamp::UNIX_EPOCH,
            settled_before: None,
            open_from: None,
        });
        let acquired = first.try_acquire_lease(&subject, &call, &progress).await;
        assert_eq!(acquired.unwrap(), LeaseResult::Acquired);
        second.load_checkpoint().await.unwrap();
        let refused = second.try_acquire_lease(&subject, &call, &progress).await;
        assert_eq!(refused.unwrap(), LeaseResult::HeldElsewhere);
        // The attempt fails, and the next one follows after a pause.
        assert!(first.save(&progress).await.unwrap());
        tokio::time::sleep(Duration::from_secs(30)).await;
    }
}
