//! Unique values: who gets them, keeps them and gives them up.

use futures_util::future::join_all;

use super::{Fault, execute, resources, stored};
use crate::{
    command::{CommandError, CommandResources, Handle},
    prelude::*,
    unique::ClaimRange,
};
use es_event::{EventDescriptor, Subject};
use es_store::{EventLog as _, ReadOptions, memory::MemoryStore};
use futures_util::TryStreamExt as _;

#[derive(Command)]
#[command(subject = "/members/{id}")]
struct IssueCardsCommand {
    id: String,
    card: Option<String>,
    spare: Option<String>,
}

#[derive(Event)]
#[event(from = IssueCardsCommand)]
struct CardsIssuedEvent {
    #[unique("card", trim, ignore_case)]
    card: Option<String>,
    #[unique("card", trim, ignore_case)]
    spare: Option<String>,
}

#[handler]
fn issue_cards(command: IssueCardsCommand) -> CardsIssuedEvent;

#[derive(Command)]
#[command(subject = "/members/{id}")]
struct LeaveCommand {
    id: String,
}

#[derive(Event)]
#[event(releases("card"))]
struct MemberLeftEvent {}

#[handler]
fn leave(_: LeaveCommand) -> MemberLeftEvent {
    MemberLeftEvent {}
}

#[derive(Command)]
#[command(subject = "/members/{id}")]
struct GiveCardCommand {
    id: String,
    to: String,
    card: String,
}

#[derive(Event)]
#[event(subject = "/members/{member}")]
struct CardReceivedEvent {
    member: String,
    #[unique("card", trim, ignore_case)]
    card: String,
}

#[handler]
fn give_card(command: GiveCardCommand) -> (MemberLeftEvent, CardReceivedEvent) {
    let received = CardReceivedEvent {
        member: command.to,
        card: command.card,
    };
    (MemberLeftEvent {}, received)
}

pub(super) fn members() -> (CommandResources, MemoryStore) {
    resources(Fault::Rival, 0)
}

/// Returns whether a command is carried out, and panics if something else than a taken value prevents it.
async fn is_carried_out<C: Handle>(resources: &CommandResources, body: &str) -> bool {
    match execute::<C>(resources, body).await {
        Ok(_) => true,
        Err(CommandError::NotUnique { rule, member }) => {
            assert_eq!(rule, "card");
            assert!(["card", "spare"].contains(&member), "{member}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

async fn issue(resources: &CommandResources, member: &str, card: &str) -> bool {
    let body = format!(r#"{{"id":"{member}","card":"{card}"}}"#);
    is_carried_out::<IssueCardsCommand>(resources, &body).await
}

async fn count_on(store: &MemoryStore, subject: &str) -> usize {
    let subject: Subject = subject.parse().unwrap();
    let events = store.read(subject, ReadOptions::recursive());
    events.try_collect::<Vec<_>>().await.unwrap().len()
}

#[tokio::test]
async fn a_value_has_one_owner_and_a_loser_leaves_no_event() {
    let (resources, store) = members();
    assert!(issue(&resources, "ada", "A-1").await);
    let before = stored(&store).await;
    for spelling in ["A-1", " a-1 "] {
        assert!(!issue(&resources, "eve", spelling).await);
    }
    assert_eq!(stored(&store).await, before);
    assert!(issue(&resources, "eve", "A-2").await);
}

#[tokio::test]
async fn a_value_that_is_given_up_can_be_taken_again() {
    let (resources, _) = members();
    assert!(issue(&resources, "ada", "1").await);
    assert!(is_carried_out::<LeaveCommand>(&resources, r#"{"id":"ada"}"#).await);
    assert!(issue(&resources, "eve", "1").await);
    assert!(!issue(&resources, "ada", "1").await);
    // Somebody without a value releases nothing, and nothing of others.
    assert!(is_carried_out::<LeaveCommand>(&resources, r#"{"id":"ada"}"#).await);
    assert!(!issue(&resources, "ada", "1").await);
}

#[tokio::test]
async fn a_changed_value_frees_the_earlier_one_in_the_same_append() {
    let (resources, _) = members();
    assert!(issue(&resources, "ada", "1").await);
    assert!(issue(&resources, "ada", "2").await);
    assert!(issue(&resources, "eve", "1").await);
    assert!(!issue(&resources, "eve", "2").await);
    // The refused change has not given up the value that Eve has.
    assert!(!issue(&resources, "ada", "1").await);
    let without = r#"{"id":"ada","card":null}"#;
    assert!(is_carried_out::<IssueCardsCommand>(&resources, without).await);
    assert!(issue(&resources, "eve", "2").await);
}

#[tokio::test]
async fn an_owner_who_repeats_a_value_claims_nothing() {
    let (resources, store) = members();
    assert!(issue(&resources, "ada", "1").await);
    let claims = count_on(&store, "/es-framework").await;
    assert!(issue(&resources, "ada", " 1").await);
    assert_eq!(count_on(&store, "/es-framework").await, claims);
    assert_eq!(count_on(&store, "/members/ada").await, 2);
}

#[tokio::test]
async fn several_fields_under_one_name_share_their_values() {
    let (resources, _) = members();
    let both = r#"{"id":"ada","card":"1","spare":"2"}"#;
    assert!(is_carried_out::<IssueCardsCommand>(&resources, both).await);
    let crossed = r#"{"id":"eve","card":"2","spare":"3"}"#;
    assert!(!is_carried_out::<IssueCardsCommand>(&resources, crossed).await);
    let exchanged = r#"{"id":"ada","card":"2","spare":"1"}"#;
    assert!(is_carried_out::<IssueCardsCommand>(&resources, exchanged).await);
    let twice = r#"{"id":"eve","card":"3","spare":"3"}"#;
    assert!(is_carried_out::<IssueCardsCommand>(&resources, twice).await);
}

#[tokio::test]
async fn one_decision_can_hand_a_value_over() {
    let (resources, _) = members();
    assert!(issue(&resources, "ada", "1").await);
    let give = r#"{"id":"ada","to":"eve","card":"1"}"#;
    assert!(is_carried_out::<GiveCardCommand>(&resources, give).await);
    assert!(!issue(&resources, "ada", "1").await);
    assert!(issue(&resources, "ada", "2").await);
    // Ada has it no more, so she cannot give it away a second time.
    let again = r#"{"id":"ada","to":"joe","card":"1"}"#;
    assert!(!is_carried_out::<GiveCardCommand>(&resources, again).await);
}

#[tokio::test]
async fn of_64_concurrent_commands_one_gets_the_value() {
    let (resources, store) = members();
    let members: Vec<_> = (0..64).map(|number| format!("m{number}")).collect();
    let issued = members.iter().map(|member| issue(&resources, member, "1"));
    let winners = join_all(issued).await.into_iter().filter(|won| *won);
    assert_eq!(winners.count(), 1);
    assert_eq!(count_on(&store, "/members").await, 1);
    // The claim, and the list of the values of its owner.
    assert_eq!(count_on(&store, "/es-framework").await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_is_found_again() {
    let (faulty, store) = resources(Fault::BreaksAfter, 1);
    assert!(issue(&faulty, "ada", "1").await);
    assert_eq!(count_on(&store, "/members/ada").await, 1);
    assert!(!issue(&faulty, "eve", "1").await);
}

#[derive(Command)]
#[command(subject = "/members/{id}")]
struct ColorCardCommand {
    id: String,
    card: String,
    color: String,
}

#[derive(Event)]
#[event(from = ColorCardCommand)]
struct CardColoredEvent {
    #[unique("card")]
    card: String,
    color: String,
}

#[handler]
fn color_card(command: ColorCardCommand) -> CardColoredEvent;

#[tokio::test(start_paused = true)]
async fn the_same_claim_of_another_instance_is_not_taken_for_ones_own() {
    let (faulty, store) = resources(Fault::OtherColorThenBreak, 1);
    let body = r#"{"id":"ada","card":"1","color":"red"}"#;
    assert!(is_carried_out::<ColorCardCommand>(&faulty, body).await);
    let events = store.read("/members/ada".parse().unwrap(), ReadOptions::default());
    let events: Vec<_> = events.try_collect().await.unwrap();
    let has = |index: usize, color: &str| events[index].data.get().contains(color);
    assert_eq!(events.len(), 2);
    assert!(has(0, "blue") && has(1, "red"), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_subject_reveals_no_value() {
    let (resources, store) = members();
    assert!(issue(&resources, "ada", "SECRET").await);
    let framework: Subject = "/es-framework".parse().unwrap();
    let events = store.read(framework, ReadOptions::recursive());
    for event in events.try_collect::<Vec<_>>().await.unwrap() {
        let text = format!("{} {}", event.subject, event.data).to_lowercase();
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn events_that_are_older_than_their_rule_are_claimed_once() {
    let (resources, store) = members();
    // As they were recorded by a release without the rule.
    for (member, card) in [("ada", "1"), ("eve", " 1"), ("joe", "2"), ("kim", "3")] {
        let body = format!(r#"{{"id":"{member}","card":"{card}"}}"#);
        record_without_claim::<IssueCardsCommand>(&store, &body).await;
    }
    record_without_claim::<LeaveCommand>(&store, r#"{"id":"joe"}"#).await;
    let resources = resources.with_unique_events(&[
        EventDescriptor::of::<CardsIssuedEvent>(),
        EventDescriptor::of::<MemberLeftEvent>(),
    ]);
    let report = resources
        .claim_recorded_values(ClaimRange::default())
        .await
        .unwrap();
    assert!(report.is_complete);
    assert_eq!(report.claimed, 2);
    let duplicates = report.duplicates.iter().map(|one| one.subject.as_str());
    assert_eq!(duplicates.collect::<Vec<_>>(), ["/members/eve"]);
    let again = resources
        .claim_recorded_values(ClaimRange::default())
        .await
        .unwrap();
    assert_eq!((again.claimed, again.duplicates.len()), (0, 1));
    let rest = ClaimRange {
        after: report.last,
        until: report.until,
    };
    let nothing = resources.claim_recorded_values(rest).await.unwrap();
    assert_eq!((nothing.claimed, nothing.duplicates.len()), (0, 0));
    assert!(!issue(&resources, "lea", "1").await && !issue(&resources, "lea", "3").await);
    assert!(issue(&resources, "lea", "2").await);
}

#[tokio::test]
async fn a_long_log_is_claimed_in_steps() {
    let (resources, store) = members();
    for number in 0..101 {
        let body = format!(r#"{{"id":"m{number}","card":"{number}"}}"#);
        record_without_claim::<IssueCardsCommand>(&store, &body).await;
    }
    let resources = resources.with_unique_events(&[EventDescriptor::of::<CardsIssuedEvent>()]);
    let first = resources
        .claim_recorded_values(ClaimRange::default())
        .await
        .unwrap();
    assert_eq!((first.claimed, first.is_complete), (100, false));
    // Commands add more events with the rule than a step takes.
    for number in 101..250 {
        assert!(issue(&resources, &format!("m{number}"), &number.to_string()).await);
    }
    let rest = ClaimRange {
        after: first.last,
        until: first.until,
    };
    let second = resources.claim_recorded_values(rest).await.unwrap();
    assert_eq!((second.claimed, second.is_complete), (1, true));
}

#[tokio::test]
async fn a_step_beside_others_claims_each_value_once() {
    for fault in [
        Fault::BreaksBefore,
        Fault::BreaksAfter,
        Fault::Rival,
        Fault::RivalThenBreak,
    ] {
        let (resources, store) = resources(fault, 1);
        let body = r#"{"id":"ada","card":"1"}"#;
        record_without_claim::<IssueCardsCommand>(&store, body).await;
        let resources = resources.with_unique_events(&[EventDescriptor::of::<CardsIssuedEvent>()]);
        let report = resources
            .claim_recorded_values(ClaimRange::default())
            .await
            .unwrap();
        assert!(report.duplicates.is_empty(), "{fault:?}");
        assert_eq!(count_on(&store, "/es-framework/unique").await, 1);
        assert_eq!(count_on(&store, "/es-framework/unique-owners").await, 1);
    }
}

/// Records the events of a command as a release does that knows no rules.
pub(super) async fn record_without_claim<C: Handle>(store: &MemoryStore, body: &str) {
    let elsewhere = MemoryStore::new();
    let resources = CommandResources::new(std::sync::Arc::new(elsewhere.clone()), "garden");
    execute::<C>(&resources, body).await.unwrap();
    let events = elsewhere.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = events.try_collect().await.unwrap();
    let own = events
        .into_iter()
        .filter(|event| !event.subject.as_str().starts_with("/es-framework"));
    let candidates = own.map(|event| es_event::EventCandidate {
        source: event.source.clone(),
        subject: event.subject.clone(),
        event_type: event.event_type.clone(),
        data: event.data,
        trace: None,
    });
    store.append(candidates.collect(), vec![]).await.unwrap();
}
