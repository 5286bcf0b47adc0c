//! Values that do not open: one bad event holds itself and nothing else.

use rusqlite::Connection;
use serde_json::value::RawValue;

use super::*;

impl Party {
    /// Returns the event store of an instance that has just started, after its key store was changed like this.
    async fn restart_after(&self, change: &str) -> PersonalStore {
        let file = self.folder.path().join("keys.sqlite");
        let connection = Connection::open(&file).unwrap();
        assert_eq!(connection.execute(change, []).unwrap(), 1);
        let opened = SqlKeyStore::open(&DatabaseUrl::File(file)).await.unwrap();
        let keys = PersonKeys::new(Arc::new(opened))
            .without_master_keys()
            .await
            .unwrap();
        let events = PersonalEvents::select(&[EventDescriptor::of::<PartyHeldEvent>()]);
        PersonalStore::new(Arc::new(self.sealed.clone()), events, keys)
    }

    /// Stores an event as another program would, and returns the reason why its payload cannot be read.
    async fn reason_of(&self, event: EventCandidate) -> Option<String> {
        self.sealed.append(vec![event], Vec::new()).await.unwrap();
        let events = self.opened.read(Subject::root(), ReadOptions::recursive());
        let events: Vec<_> = events.try_collect().await.unwrap();
        let last = events.last().unwrap().payload::<PartyHeldEvent>();
        last.err().map(|error| error.to_string())
    }
}

/// A party at which only one person is.
fn party_of(person: u128) -> PartyHeldEvent {
    PartyHeldEvent {
        host: Uuid::from_u128(person),
        address: None,
        songs: Vec::new(),
        guests: Vec::new(),
        pair: [1, 2].map(|_| Guest {
            name: "a guest".to_owned(),
            phone: None,
            ..guest(person, "")
        }),
        seats: BTreeMap::new(),
        contact: Contact::Nobody,
        ..party()
    }
}

#[tokio::test]
async fn a_sealed_value_that_was_moved_or_changed_does_not_open_and_all_others_do() {
    let party = Party::new().await;
    party.append(&super::party()).await.unwrap();
    let stored = party.stored().await;
    let data = |text: String| RawValue::from_string(text).unwrap();
    let moved = EventCandidate {
        subject: "/parties/2".parse().unwrap(),
        data: data(stored.clone()),
        ..candidate(&super::party())
    };
    let (start, value) = stored.split_once(r#""value":""#).unwrap();
    let changed = EventCandidate {
        data: data(format!(r#"{start}"value":"AAAA{}"#, &value[4..])),
        ..candidate(&super::party())
    };
    let unknown = stored.replace(
        &Uuid::from_u128(1).to_string(),
        &Uuid::from_u128(77).to_string(),
    );
    let unknown = EventCandidate {
        data: data(unknown),
        ..candidate(&super::party())
    };
    for (event, expected) in [
        (moved, "does not open: it was changed or moved"),
        (changed, "does not open: it was changed or moved"),
        (unknown, "no key of its person"),
    ] {
        let reason = party.reason_of(event).await.unwrap();
        assert!(reason.contains(expected), "{reason}");
    }
    party.append(&super::party()).await.unwrap();
    let read = parties(&party.opened).await.unwrap();
    let read: Vec<_> = read.iter().map(|(event, _)| event.is_some()).collect();
    assert_eq!(read, [true, false, false, false, true]);
    let erased = party.data.erase(Uuid::from_u128(1)).await.unwrap();
    assert!(erased.unreached.is_empty(), "{erased:?}");
}

#[tokio::test]
async fn a_foreign_event_with_a_sealed_value_is_read_as_it_is() {
    let party = Party::new().await;
    party.append(&party_of(1)).await.unwrap();
    let foreign = EventCandidate {
        event_type: EventType::declared("com.other.PartyHeldEvent"),
        data: RawValue::from_string(party.stored().await).unwrap(),
        ..candidate(&super::party())
    };
    let data = foreign.data.clone();
    party
        .sealed
        .append(vec![foreign], Vec::new())
        .await
        .unwrap();
    let read = parties(&party.opened).await.unwrap();
    assert_eq!(read[0].0.as_ref(), Some(&party_of(1)));
    assert_eq!(read[1].1, data.get());
}

#[tokio::test]
async fn a_key_that_is_lost_or_damaged_concerns_its_person_alone() {
    let last = "WHERE person = (SELECT max(person) FROM persons)";
    for change in [
        format!("DELETE FROM persons {last}"),
        format!("UPDATE persons SET key = zeroblob(32) {last}"),
        format!("UPDATE persons SET key = zeroblob(3) {last}"),
    ] {
        let party = Party::new().await;
        for person in [1, 2] {
            party.append(&party_of(person)).await.unwrap();
        }
        let opened = party.restart_after(&change).await;
        let read = parties(&opened).await.unwrap();
        assert_eq!(read[0].0.as_ref(), Some(&party_of(1)), "{change}");
        assert!(read[1].0.is_none(), "{change}");
        let data = PersonalData::new(opened, "test".into(), Vec::new());
        let second = Uuid::from_u128(2);
        let export = data.find(second, true).await.unwrap().events;
        let states: Vec<_> = export.iter().map(|one| one.state).collect();
        assert_eq!(states, [StoredForm::Unreadable; 2], "{change}");
        assert!(!data.verify(second, &[]).await.unwrap().is_erased);
        data.erase(second).await.unwrap();
        assert!(data.verify(second, &[]).await.unwrap().is_erased);
    }
}

#[tokio::test]
async fn a_value_that_is_its_replacement_is_stored_without_a_key() {
    let party = Party::new().await;
    let host = Uuid::from_u128(9);
    party.data.erase(host).await.unwrap();
    let empty = PartyHeldEvent {
        host,
        host_name: "a host".to_owned(),
        age: 0,
        ..party_of(9)
    };
    party.append(&empty).await.unwrap();
    assert_eq!(party.read().await, std::slice::from_ref(&empty));
    let named = PartyHeldEvent {
        host_name: "name-host".to_owned(),
        ..empty
    };
    assert!(matches!(
        party.append(&named).await,
        Err(AppendError::ErasedPerson(_))
    ));
}
