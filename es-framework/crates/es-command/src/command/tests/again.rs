//! Tests of repeated commands and of expected versions.

use futures_util::future::join_all;

use super::bank::{
    RivalledStore, open_account, reply, transfer_money, transfer_with, two_accounts,
};
use crate::command::{CommandContext, CommandError, CommandOutcome, ExpectedVersion, SeenVersion};
use es_event::EventId;

fn with_key(key: &str) -> CommandContext {
    CommandContext {
        idempotency_key: Some(key.parse().unwrap()),
        ..CommandContext::default()
    }
}

fn expecting(expected: ExpectedVersion) -> CommandContext {
    CommandContext {
        expected: Some(expected),
        ..CommandContext::default()
    }
}

fn last_event(id: u64) -> CommandContext {
    let seen = SeenVersion::LastEvent(EventId::new(id).unwrap());
    expecting(ExpectedVersion::OneOf(vec![seen]))
}

fn position(id: u64) -> CommandContext {
    let seen = SeenVersion::Position(EventId::new(id).unwrap());
    expecting(ExpectedVersion::OneOf(vec![seen]))
}

/// All parts of a response.
fn answer(outcome: &CommandOutcome) -> (String, bool, Option<EventId>, Option<EventId>, String) {
    (
        outcome.subject.to_string(),
        outcome.created,
        outcome.position,
        outcome.latest,
        reply(outcome).to_owned(),
    )
}

#[tokio::test]
async fn a_command_that_is_sent_again_is_answered_as_the_first_one_was() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    let first = transfer_with(&resources, 60, &with_key("k1"))
        .await
        .unwrap();
    let events = store.events().await.len();
    transfer_money(&resources, 5).await.unwrap();
    let again = transfer_with(&resources, 60, &with_key("k1"))
        .await
        .unwrap();
    assert_eq!(answer(&first), answer(&again));
    // New resources stand for a restart or another instance.
    let elsewhere = transfer_with(&store.resources(), 60, &with_key("k1")).await;
    assert_eq!(answer(&first), answer(&elsewhere.unwrap()));
    assert_eq!(store.events().await.len(), events + 3);
    transfer_with(&resources, 5, &with_key("k2")).await.unwrap();
}

#[tokio::test]
async fn of_copies_that_race_one_is_carried_out_and_all_are_answered_alike() {
    let store = RivalledStore::alone();
    two_accounts(&store).await;
    let resources: Vec<_> = (0..4).map(|_| store.resources()).collect();
    let key = with_key("k1");
    let copies = (0..16).map(|n: usize| transfer_with(&resources[n % 4], 60, &key));
    let answers: Vec<_> = join_all(copies)
        .await
        .into_iter()
        .map(|result| answer(&result.unwrap()))
        .collect();
    assert!(answers.iter().all(|one| *one == answers[0]), "{answers:?}");
    assert_eq!(store.types_on("/accounts/1").await.len(), 2);
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    transfer_with(&resources, 60, &with_key("k1"))
        .await
        .unwrap();
    let other = transfer_with(&resources, 10, &with_key("k1")).await;
    assert!(matches!(other, Err(CommandError::KeyReused)), "{other:?}");
}

#[tokio::test]
async fn a_refused_command_is_decided_on_anew() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    let key = with_key("k1");
    let refused = transfer_with(&resources, 101, &key).await;
    assert!(
        matches!(refused, Err(CommandError::Rejected(_))),
        "{refused:?}"
    );
    open_account(&resources, 3, 1).await;
    let refused = transfer_with(&resources, 101, &key).await;
    assert!(
        matches!(refused, Err(CommandError::Rejected(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_command_is_refused_once_its_subject_has_changed() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    transfer_with(&resources, 1, &last_event(0)).await.unwrap();
    match transfer_with(&resources, 1, &last_event(0)).await {
        Err(CommandError::NotAsExpected { latest, .. }) => assert_eq!(latest, EventId::new(2)),
        other => panic!("{other:?}"),
    }
    let any = expecting(ExpectedVersion::Any);
    transfer_with(&resources, 1, &any).await.unwrap();
}

#[tokio::test]
async fn a_command_is_carried_out_if_its_subject_has_no_event_after_what_the_sender_saw() {
    let store = RivalledStore::alone();
    // The accounts are events 0 and 1, and the transfer writes 2 and 3.
    let resources = two_accounts(&store).await;
    transfer_with(&resources, 1, &position(1)).await.unwrap();
    for too_old in [0, 1] {
        match transfer_with(&resources, 1, &position(too_old)).await {
            Err(CommandError::NotAsExpected { latest, .. }) => assert_eq!(latest, EventId::new(2)),
            other => panic!("{other:?}"),
        }
    }
    transfer_with(&resources, 1, &position(3)).await.unwrap();
}

#[tokio::test]
async fn a_position_that_the_store_does_not_have_matches_nothing() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    let refused = transfer_with(&resources, 1, &position(2)).await;
    assert!(
        matches!(refused, Err(CommandError::NotAsExpected { .. })),
        "{refused:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_between_read_and_write_is_noticed_as_well() {
    let store = RivalledStore::on("/accounts/1", 1);
    let resources = two_accounts(&store).await;
    let refused = transfer_with(&resources, 1, &last_event(0)).await;
    assert!(
        matches!(refused, Err(CommandError::NotAsExpected { .. })),
        "{refused:?}"
    );
    assert_eq!(store.types_on("/accounts/2").await.len(), 1);
}
