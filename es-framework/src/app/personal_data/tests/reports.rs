//! Reports and verifications of more events than a list can have, and of events that hold values in an unusual form.

use serde_json::{Value, json, value::RawValue};

use super::*;

const ADA: Uuid = Uuid::from_u128(2);

impl Party {
    /// Stores an event as another program would write it.
    async fn store(&self, subject: &str, event_type: &'static str, data: &Value) {
        let stored = EventCandidate {
            subject: subject.parse().unwrap(),
            event_type: EventType::declared(event_type),
            data: RawValue::from_string(data.to_string()).unwrap(),
            ..candidate(&party())
        };
        self.sealed.append(vec![stored], Vec::new()).await.unwrap();
    }

    async fn store_party(&self, data: &Value) {
        self.store("/parties/1", PartyHeldEvent::TYPE, data).await;
    }
}

fn plain_data() -> Value {
    let data = encode_event(&Metadata::default(), &party()).unwrap();
    serde_json::from_str(data.get()).unwrap()
}

#[tokio::test]
async fn a_verification_reads_the_events_for_which_a_report_has_no_room() {
    let party = Party::new().await;
    let empty = json!({ "metadata": {}, "payload": {} });
    for _ in 0..5 {
        let subject = format!("/guests/{ADA}");
        party.store(&subject, "com.example.GuestSeen", &empty).await;
    }
    party.append(&self::party()).await.unwrap();
    let data = party.data.clone().with_max_records(5);
    let report = data.find(ADA, true).await.unwrap();
    assert!(!report.is_complete && report.events.is_empty());
    let verified = data.verify(ADA, &[]).await.unwrap();
    assert!(!verified.is_erased);
    assert_eq!((verified.sealed, verified.linked_event_count), (4, 5));
    let all = data.with_max_records(6).find(ADA, true).await.unwrap();
    assert!(all.is_complete);
}

#[tokio::test]
async fn a_list_with_too_many_events_tells_how_many_there_are() {
    let party = Party::new().await;
    for _ in 0..102 {
        party.store_party(&plain_data()).await;
    }
    let values = ["name-ada".to_owned()];
    let verified = party.data.verify(ADA, &values).await.unwrap();
    assert!(!verified.is_complete);
    assert_eq!(verified.plain_events.len(), 100);
    assert_eq!((verified.plain_event_count, verified.plain), (102, 408));
    let found = verified.found;
    assert_eq!(found.len(), 101);
    assert_eq!(found.last().unwrap(), "more events: 2");
}

#[tokio::test]
async fn a_value_that_became_personal_after_others_of_its_event_is_plain() {
    let party = Party::new().await;
    party.append(&self::party()).await.unwrap();
    let mut earlier: Value = serde_json::from_str(&party.stored().await).unwrap();
    earlier["payload"]["guests"][0]["name"] = "name-ada".into();
    party.store_party(&earlier).await;
    for person in 1..=5 {
        party.data.erase(Uuid::from_u128(person)).await.unwrap();
    }
    for person in 1..=5 {
        let verified = party.data.verify(Uuid::from_u128(person), &[]).await;
        let verified = verified.unwrap();
        let plain = if person == 2 { vec!["1"] } else { vec![] };
        assert_eq!(verified.plain_events, plain, "{person}");
        assert_eq!(verified.is_erased, plain.is_empty(), "{person}");
    }
}

#[tokio::test]
async fn an_event_that_its_declaration_cannot_read_is_not_taken_for_erased() {
    let party = Party::new().await;
    let payload = json!({ "host": ADA, "hostName": "name-ada" });
    party
        .store_party(&json!({ "metadata": {}, "payload": payload }))
        .await;
    let verified = party.data.verify(ADA, &[]).await.unwrap();
    assert!(!verified.is_erased);
    let found = party.data.find(ADA, true).await.unwrap().events;
    assert_eq!(found[0].state, StoredForm::Plain);
    assert_eq!(found[0].value.as_ref().unwrap(), &payload);
}

#[tokio::test]
async fn a_lost_key_is_not_taken_for_an_erasure() {
    let party = Party::new().await;
    party.append(&self::party()).await.unwrap();
    let other = Party::new().await;
    let keys = other.opened.keys().clone();
    let events = PersonalEvents::select(&[EventDescriptor::of::<PartyHeldEvent>()]);
    let opened = PersonalStore::new(Arc::new(party.sealed.clone()), events, keys);
    let data = PersonalData::new(opened, "test".into(), Vec::new());
    assert!(!data.verify(ADA, &[]).await.unwrap().is_erased);
}
