//! Unique values: who gets them, keeps them and gives them up.

use futures_util::future::join_all;

use super::{Fault, execute, resources, stored};
use crate::{
    command::{CommandError, CommandResources, Handle},
    prelude::*,
};
use es_event::Subject;
use es_store::{EventStore as _, ReadOptions, memory::MemoryStore};
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

fn members() -> (CommandResources, MemoryStore) {
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
