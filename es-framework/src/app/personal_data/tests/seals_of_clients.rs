//! Events in which a client wrote what looks like a sealed value.

use super::*;

#[derive(Debug, PartialEq, Event)]
#[event(informational)]
struct RoomTaggedEvent {
    tags: BTreeMap<String, bool>,
}

fn tagged(tag: &str) -> EventCandidate {
    let tags = BTreeMap::from([(tag.to_owned(), true)]);
    EventCandidate {
        event_type: EventType::declared(RoomTaggedEvent::TYPE),
        data: encode_event(&Metadata::default(), &RoomTaggedEvent { tags }).unwrap(),
        ..candidate(&party())
    }
}

#[tokio::test]
async fn an_event_without_personal_data_that_looks_like_a_sealed_one_is_refused() {
    let party = Party::new().await;
    let appended = party.opened.append(vec![tagged("$sealed")], Vec::new());
    let refused = appended.await.unwrap_err().to_string();
    assert!(refused.contains("/payload/tags"), "{refused}");
    let appended = party.opened.append(vec![tagged("open")], Vec::new());
    assert_eq!(appended.await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_event_of_another_writer_that_looks_like_a_sealed_one_stops_nobody() {
    let party = Party::new().await;
    let mut foreign = tagged("$sealed");
    let ada = Uuid::from_u128(2);
    foreign.subject = format!("/parties/{ada}").parse().unwrap();
    party
        .sealed
        .append(vec![foreign], Vec::new())
        .await
        .unwrap();
    party.append(&super::party()).await.unwrap();
    assert_eq!(parties(&party.opened).await.unwrap().len(), 2);
    let found = party.data.find(ada, true).await.unwrap();
    assert_eq!(found.linked_events.len(), 1);
    party.data.erase(ada).await.unwrap();
}
