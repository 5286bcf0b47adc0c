//! The claims of personal values, and the erasures of their persons.

use super::{
    execute,
    unique_values::{members, record_without_claim},
};
use crate::{
    command::CommandError,
    prelude::*,
    unique::{ClaimRange, release_claims_of_erased_persons},
};
use es_event::EventDescriptor;
use es_store::{EventLog as _, memory::MemoryStore};

#[derive(Command)]
#[command(subject = "/guests/{id}")]
struct BarGuestCommand {
    id: Uuid,
    card: Option<String>,
}

#[derive(Event)]
#[event(from = BarGuestCommand)]
struct GuestBarredEvent {
    id: Uuid,
    #[personal(of = id)]
    #[unique("guest-card", keep_after_erasure)]
    card: Option<String>,
}

#[handler]
fn bar_guest(command: BarGuestCommand) -> GuestBarredEvent;

#[tokio::test]
async fn the_kept_claim_of_an_erased_person_stays() {
    let (resources, store) = members();
    let [erased, other] = [1, 2].map(Uuid::from_u128);
    let bar = |id: Uuid, card: &str| format!(r#"{{"id":"{id}","card":{card}}}"#);
    execute::<BarGuestCommand>(&resources, &bar(erased, r#""1""#))
        .await
        .unwrap();
    // An erased value reads as none.
    record_without_claim::<BarGuestCommand>(&store, &bar(erased, "null")).await;
    announce_erasure(&store, erased).await;
    let resources = resources.with_unique_events(&[EventDescriptor::of::<GuestBarredEvent>()]);
    let report = resources
        .claim_recorded_values(ClaimRange::default())
        .await
        .unwrap();
    assert_eq!(report.claimed, 0);
    let other = execute::<BarGuestCommand>(&resources, &bar(other, r#""1""#)).await;
    assert!(matches!(other, Err(CommandError::NotUnique { .. })));
}

#[derive(Command)]
#[command(subject = "/desks/{id}")]
struct OccupyDeskCommand {
    id: String,
    person: Uuid,
    card: Option<String>,
}

#[derive(Event)]
#[event(from = OccupyDeskCommand)]
struct DeskOccupiedEvent {
    person: Uuid,
    #[personal(of = person)]
    #[unique("desk-card")]
    card: Option<String>,
}

#[handler]
fn occupy_desk(command: OccupyDeskCommand) -> DeskOccupiedEvent;

#[tokio::test]
async fn a_value_that_a_subject_has_for_another_person_ends_with_that_person() {
    let (resources, store) = members();
    let [first, second] = [1, 2].map(Uuid::from_u128);
    let occupy = async |desk: &str, person: Uuid| {
        let body = format!(r#"{{"id":"{desk}","person":"{person}","card":"1"}}"#);
        execute::<OccupyDeskCommand>(&resources, &body).await
    };
    occupy("a", first).await.unwrap();
    occupy("a", second).await.unwrap();
    for (erased, is_free) in [(first, false), (second, true)] {
        announce_erasure(&store, erased).await;
        release_claims_of_erased_persons(&store, &"garden".into())
            .await
            .unwrap();
        let taken = occupy("b", Uuid::from_u128(3)).await;
        assert_eq!(taken.is_ok(), is_free, "{taken:?}");
    }
}

async fn announce_erasure(store: &MemoryStore, person: Uuid) {
    let announcement = es_event::EventCandidate {
        source: "garden".into(),
        subject: format!("/es-framework/personal-data/{person}")
            .parse()
            .unwrap(),
        event_type: "io.es-framework.PersonalDataErasedEvent".parse().unwrap(),
        data: es_event::encode(&es_event::Metadata::default(), &()).unwrap(),
        trace: None,
    };
    store.append(vec![announcement], vec![]).await.unwrap();
}
