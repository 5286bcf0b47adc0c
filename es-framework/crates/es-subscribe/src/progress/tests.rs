//! The positions and failures of one component.

use super::*;
use crate::TroubleCause;

const BRIEF: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_position_that_comes_in_time_is_reached() {
    let progress = SubscriberProgress::new(ComponentKind::ReadModel, "books");
    progress.record_catch_up();
    let waiting = progress.clone();
    let wanted = EventId::new(7);
    let waiter = tokio::spawn(async move {
        waiting
            .wait_until_reached(wanted, Duration::from_secs(10))
            .await
    });
    progress.record_position(EventId::new(6));
    progress.record_position(EventId::new(8));
    assert_eq!(waiter.await.unwrap(), Ok(()));
    assert_eq!(progress.wait_until_reached(wanted, BRIEF).await, Ok(()));
}

#[tokio::test]
async fn a_position_that_does_not_come_is_an_error() {
    let progress = SubscriberProgress::new(ComponentKind::ReadModel, "books");
    progress.record_catch_up();
    let wanted = EventId::FIRST;
    let reached = progress.wait_until_reached(Some(wanted), BRIEF).await;
    assert_eq!(reached, Err(ProgressError::NotReached(wanted)));
}

#[tokio::test]
async fn nothing_is_reached_before_the_rebuild_is_over() {
    let progress = SubscriberProgress::new(ComponentKind::ReadModel, "books");
    progress.record_position(EventId::new(9));
    let reached = progress.wait_until_reached(EventId::new(1), BRIEF).await;
    assert_eq!(reached, Err(ProgressError::Rebuilding));
    progress.record_catch_up();
    assert_eq!(progress.wait_until_reached(None, BRIEF).await, Ok(()));
}

#[tokio::test]
async fn nobody_waits_for_what_has_stopped() {
    let progress = SubscriberProgress::new(ComponentKind::ReadModel, "books");
    progress.record_position(EventId::new(9));
    progress.record_catch_up();
    progress.record_failure(PoisonEvent::unreadable(EventId::FIRST, "poison").into());
    let patience = Duration::from_secs(600);
    let reached = progress
        .wait_until_reached(EventId::new(10), patience)
        .await;
    assert_eq!(reached, Err(ProgressError::Stopped));
    assert_eq!(
        progress.wait_until_reached(EventId::new(9), BRIEF).await,
        Ok(())
    );
}

#[tokio::test]
async fn rows_that_cannot_be_written_answer_only_for_the_events_that_they_have() {
    let progress = SubscriberProgress::new(ComponentKind::ReadModel, "books");
    progress.record_position(EventId::new(9));
    progress.record_catch_up();
    let full = SubscriberFailure::new(TroubleCause::Space, false, "the disk is full");
    progress.record_failure(full);
    let patience = Duration::from_secs(600);
    for (wanted, reached) in [
        (None, Err(ProgressError::Stale)),
        (EventId::new(9), Ok(())),
        (EventId::new(10), Err(ProgressError::Stopped)),
    ] {
        assert_eq!(progress.wait_until_reached(wanted, patience).await, reached);
    }
    progress.record_position(EventId::new(10));
    assert_eq!(progress.state(), SubscriberState::Working);
    assert_eq!(progress.wait_until_reached(None, BRIEF).await, Ok(()));
}

#[test]
fn events_are_counted_from_the_position_to_the_newest() {
    let id = EventId::new;
    for (position, newest, behind) in [
        (None, None, 0),
        (None, id(0), 1),
        (id(0), id(0), 0),
        (id(4), id(9), 5),
        (id(9), id(4), 0),
    ] {
        let progress = SubscriberProgress::new(ComponentKind::Reaction, "reminder");
        progress.record_position(position);
        assert_eq!(progress.events_behind(newest), behind);
    }
}
