//! Erasures whose instance ends at each step, and ids that are no persons.

use rusqlite::Connection;

use super::*;

/// Waits until a target has dropped its values after the newest announcement.
async fn has_dropped(party: &Party, rows: &CountingTarget, drops: usize) {
    for _ in 0..1_000 {
        let last = *rows.last.lock().unwrap();
        if rows.drops() == drops && last == party.last_event().await {
            return;
        }
        // The clock of a test must not run while the thread of the keys works.
        party.opened.keys().store().find(Vec::new()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{} drops, and {drops} are expected", rows.drops());
}

#[tokio::test]
async fn an_erasure_without_an_announcement_is_completed_by_any_instance_that_runs() {
    let party = Party::new().await;
    party.append(&super::party()).await.unwrap();
    // A paused clock would end the wait for the thread that checks schemas, which all tests share.
    tokio::time::pause();
    let rows = CountingTarget::default();
    let data = party.instance_with(&rows);
    let ada = Uuid::from_u128(2);
    let mut following = data.follow();
    tokio::select! {
        ended = &mut following => panic!("{ended:?}"),
        () = tokio::time::sleep(Duration::from_secs(60)) => {}
    }
    // Another instance ended right after it had destroyed the key. This one does not run while the test looks at that.
    party.opened.keys().store().erase(ada).await.unwrap();
    let before = data.verify(ada, &[]).await.unwrap();
    assert!(!before.is_erased);
    assert!(before.pending[0].contains("not announced"), "{before:?}");
    tokio::select! {
        ended = following => panic!("{ended:?}"),
        () = has_dropped(&party, &rows, 1) => {}
    }
    let after = data.verify(ada, &[]).await.unwrap();
    assert!(after.is_erased && after.pending.is_empty(), "{after:?}");
}

#[tokio::test]
async fn nothing_is_erased_before_the_rows_of_the_instance_are_without_it() {
    let party = Party::new().await;
    party.append(&super::party()).await.unwrap();
    let rows = CountingTarget {
        slow_drops: 1,
        ..CountingTarget::default()
    };
    let (data, ada) = (party.instance_with(&rows), Uuid::from_u128(2));
    // Another instance erases the person.
    party.data.erase(ada).await.unwrap();
    let verified = data.verify(ada, &[]).await.unwrap();
    assert!(!verified.is_erased && verified.pending[0].starts_with("rows"));
    let report = data.erase(ada).await.unwrap();
    assert_eq!(report.unreached, ["rows: it is still being rebuilt"]);
    assert!(!data.verify(ada, &[]).await.unwrap().is_erased);
    assert_eq!(data.erase(ada).await.unwrap().done, ["rows"]);
    assert!(data.verify(ada, &[]).await.unwrap().is_erased);
}

#[tokio::test(start_paused = true)]
async fn an_old_copy_of_the_key_store_lets_every_instance_drop_the_values_again() {
    for change in [
        "UPDATE persons SET key = randomblob(32), is_finished = 0",
        "DELETE FROM persons",
    ] {
        let party = Party::new().await;
        let (ada, rows) = (Uuid::from_u128(2), CountingTarget::default());
        party.data.erase(ada).await.unwrap();
        let other = party.instance_with(&rows);
        let repeated = async {
            has_dropped(&party, &rows, 1).await;
            let file = party.folder.path().join("keys.sqlite");
            Connection::open(file).unwrap().execute(change, []).unwrap();
            party.start_instance(&CountingTarget::default()).await;
            has_dropped(&party, &rows, 2).await;
        };
        tokio::select! {
            ended = other.follow() => panic!("{ended:?}"),
            () = repeated => {}
        }
        let refused = party.append(&super::party()).await;
        assert!(
            matches!(refused, Err(AppendError::ErasedPerson(_))),
            "{change}"
        );
    }
}

#[tokio::test]
async fn an_id_that_is_no_person_is_refused_and_the_persons_are_named() {
    let party = Party::new().await;
    let club = Uuid::from_u128(50);
    let subject: Subject = format!("/clubs/{club}").parse().unwrap();
    let event = EventCandidate {
        subject: subject.clone(),
        ..candidate(&super::party())
    };
    party.opened.append(vec![event], Vec::new()).await.unwrap();
    let unknown = party.data.find_unknown_person(&subject, club).await;
    let text = unknown.unwrap().unwrap().to_string();
    for person in 1..=5 {
        assert!(
            text.contains(&Uuid::from_u128(person).to_string()),
            "{text}"
        );
        let known = party
            .data
            .find_unknown_person(&subject, Uuid::from_u128(person))
            .await;
        assert_eq!(known.unwrap(), None);
    }
    let nowhere = "/clubs/1".parse().unwrap();
    let nobody = party
        .data
        .find_unknown_person(&nowhere, Uuid::from_u128(51))
        .await;
    assert!(
        nobody
            .unwrap()
            .unwrap()
            .to_string()
            .ends_with("in /clubs/1")
    );
}

#[tokio::test]
async fn a_page_says_that_a_value_is_personal_and_states_read_its_replacement() {
    let party = Party::new().await;
    party.append(&super::party()).await.unwrap();
    let states = party.data.redacted_store();
    let pages = parties(&states.clone().for_pages()).await.unwrap();
    let shown = &pages[0].1;
    assert!(
        shown.contains(r#""hostName":"(personal, not shown)""#),
        "{shown}"
    );
    assert!(
        !shown.contains("a host") && !shown.contains("$sealed"),
        "{shown}"
    );
    let states = parties(&states).await.unwrap();
    assert_eq!(states[0].0.as_ref().unwrap().host_name, "a host");
}
