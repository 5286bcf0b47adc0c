//! Decisions over several subjects.

use futures_util::future::join_all;
use serde_json::json;

use super::bank::{
    AuditCommand, IssueCardCommand, RivalledStore, reply, send, transfer_money, transfer_with,
    two_accounts,
};
use crate::command::{CommandContext, CommandError};
use es_event::{EventId, Metadata, TraceContext};

#[tokio::test]
async fn all_events_of_a_decision_are_written_at_once_each_on_its_subject() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    let outcome = transfer_money(&resources, 30).await.unwrap();
    assert_eq!(reply(&outcome), r#"{"cents":70}"#);
    assert_eq!(outcome.position, EventId::new(4));
    assert_eq!(
        outcome.latest,
        EventId::new(2),
        "of the command's own subject"
    );
    let types = store.types_on("/accounts/1").await;
    assert_eq!(types, ["AccountOpenedEvent", "MoneyPaidOutEvent"]);
    let types = store.types_on("/accounts/2").await;
    assert_eq!(types, ["AccountOpenedEvent", "MoneyPaidInEvent"]);
    assert_eq!(
        store.types_on("/accounts/1/notes/2").await,
        ["NoteTakenEvent"]
    );
}

#[tokio::test]
async fn a_subject_that_is_not_there_is_named() {
    let store = RivalledStore::alone();
    let resources = store.resources();
    super::bank::open_account(&resources, 1, 100).await;
    match transfer_money(&resources, 30).await {
        Err(CommandError::NotFound(subject)) => assert_eq!(subject.as_str(), "/accounts/2"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_subject_that_only_has_to_be_there_is_checked_by_the_append() {
    // The rival writes to the account before the append, which is no conflict.
    let store = RivalledStore::on("/accounts/1", 1);
    let resources = two_accounts(&store).await;
    let context = CommandContext::default();
    let issue = |account: u32| {
        let (resources, context) = (&resources, &context);
        async move {
            let body = json!({"id": account, "account": account});
            send::<IssueCardCommand>(resources, body, context).await
        }
    };
    issue(1).await.unwrap();
    assert_eq!(store.appends(), 1);
    match issue(3).await {
        Err(CommandError::NotFound(subject)) => assert_eq!(subject.as_str(), "/accounts/3"),
        other => panic!("{other:?}"),
    }
    match issue(1).await {
        Err(CommandError::AlreadyExists(subject)) => assert_eq!(subject.as_str(), "/cards/1"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_any_subject_that_was_read_leads_to_a_new_decision() {
    for subject in ["/accounts/1", "/accounts/2"] {
        let store = RivalledStore::on(subject, 2);
        let resources = two_accounts(&store).await;
        let outcome = transfer_money(&resources, 30).await.unwrap();
        assert_eq!(store.appends(), 3, "{subject}");
        // The second decision sees the rival's payment.
        let rest = if subject == "/accounts/1" { 72 } else { 70 };
        assert_eq!(reply(&outcome), json!({"cents": rest}).to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_elsewhere_is_no_conflict() {
    let store = RivalledStore::on("/accounts/3", 1);
    let resources = two_accounts(&store).await;
    transfer_money(&resources, 30).await.unwrap();
    assert_eq!(store.appends(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_state_of_a_whole_subtree_notices_changes_below() {
    for (subject, appends, cents) in [("/accounts/2", 2, 1), ("/elsewhere", 1, 0)] {
        let store = RivalledStore::on(subject, 1);
        let resources = two_accounts(&store).await;
        let context = CommandContext::default();
        let audit = send::<AuditCommand>(&resources, json!({"id": 7}), &context).await;
        audit.unwrap();
        assert_eq!(store.appends(), appends, "{subject}");
        let events = store.events().await;
        let last = events.last().unwrap();
        let payload = last.raw_payload().unwrap().get();
        assert_eq!(payload, json!({"cents": cents}).to_string());
    }
}

#[tokio::test]
async fn nothing_is_spent_twice_under_any_concurrency() {
    let store = RivalledStore::alone();
    two_accounts(&store).await;
    // The resources of each command have their own locks, like a process of its own.
    let resources: Vec<_> = (0..4).map(|_| store.resources()).collect();
    let transfers = (0..32).map(|n: usize| transfer_money(&resources[n % 4], 30));
    let results = join_all(transfers).await;
    let carried_out = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(carried_out, 3);
    let payments = store.types_on("/accounts/2").await.len() - 1;
    assert_eq!(payments, 3);
}

#[tokio::test]
async fn commands_of_one_instance_take_turns_and_do_not_conflict() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    let results = join_all((0..64).map(|_| transfer_money(&resources, 1))).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(store.appends(), 64);
}

#[tokio::test]
async fn metadata_and_trace_of_the_request_go_into_each_event() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let context = CommandContext {
        metadata: Metadata::from_iter([("x-request-id", "r1")]),
        trace: TraceContext::new(Some(parent), None).unwrap(),
        ..CommandContext::default()
    };
    transfer_with(&resources, 30, &context).await.unwrap();
    let events = store.events().await;
    let new: Vec<_> = events.iter().skip(2).collect();
    assert_eq!(new.len(), 3);
    for event in new {
        let metadata = r#"{"metadata":{"x-request-id":"r1"},"payload":"#;
        assert!(event.data.get().starts_with(metadata), "{}", event.data);
        assert_eq!(event.trace.as_ref().map(TraceContext::parent), Some(parent));
    }
    let plain = events.first().unwrap();
    assert!(plain.data.get().starts_with(r#"{"metadata":{},"#));
}
