//! Scenarios of publications: states, several public events, personal values and persons who are erased.

// Functions that tests share also fail by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use es_framework::{prelude::*, testing::given};

const ADA: Uuid = Uuid::from_u128(1);
const THE_CLUB: &str = "/clubs/7";
const OF_ADA: &str = "/members/00000000-0000-0000-0000-000000000001";

#[derive(Debug, PartialEq, Event)]
struct MemberJoinedEvent {
    member: Uuid,
    #[personal(of = member, erased = "former member")]
    #[serde(rename = "displayName")]
    name: String,
    #[personal(of = member)]
    email: Option<String>,
    contact: Contact,
}

#[derive(Debug, PartialEq, Value)]
struct Contact {
    owner: Uuid,
    #[personal(of = owner, erased = "no phone")]
    phone: String,
    city: String,
}

#[derive(Debug, PartialEq, Event)]
struct ClubOpenedEvent {
    halls: Vec<String>,
}

#[derive(Debug, PartialEq, Event)]
struct ClubClosedEvent {}

/// The members of a club.
#[derive(State)]
struct Club {
    names: Vec<String>,
}

#[evolve]
impl Club {
    fn opened(_: &ClubOpenedEvent) -> Self {
        Self { names: Vec::new() }
    }

    fn joined(&mut self, event: &MemberJoinedEvent) {
        self.names.push(event.name.clone());
    }
}

/// A club has a new member.
#[derive(Debug, PartialEq, PublicEvent)]
struct MemberJoined {
    name: String,
    email: Option<String>,
    phone: String,
    city: String,
}

/// A hall can be visited.
#[derive(Debug, PartialEq, PublicEvent)]
#[public_event(version = 2)]
struct HallOpened {
    hall: String,
}

/// A club is no longer there.
#[derive(Debug, PartialEq, PublicEvent)]
#[public_event(name = "ClubGone")]
struct ClubClosed {
    members: Vec<String>,
}

#[publish(personal(name))]
fn member_joined(event: &MemberJoinedEvent) -> MemberJoined {
    MemberJoined {
        name: event.name.clone(),
        email: event.email.clone(),
        phone: event.contact.phone.clone(),
        city: event.contact.city.clone(),
    }
}

#[publish(personal(contact))]
fn phone_joined(event: MemberJoinedEvent, club: &Club) -> Option<MemberJoined> {
    (club.names.len() > 1).then_some(MemberJoined {
        name: event.name,
        email: event.email,
        phone: event.contact.phone,
        city: event.contact.city,
    })
}

#[publish]
fn halls_opened(event: &ClubOpenedEvent) -> Vec<HallOpened> {
    let halls = event.halls.iter();
    halls
        .map(|hall| HallOpened { hall: hall.clone() })
        .collect()
}

#[publish]
fn club_closed(_: &ClubClosedEvent, club: &Club) -> ClubClosed {
    ClubClosed {
        members: club.names.clone(),
    }
}

fn opened() -> ClubOpenedEvent {
    ClubOpenedEvent {
        halls: vec!["north".into(), "south".into()],
    }
}

fn ada_joined() -> MemberJoinedEvent {
    MemberJoinedEvent {
        member: ADA,
        name: "Ada".into(),
        email: Some("ada@example.com".into()),
        contact: Contact {
            owner: ADA,
            phone: "123".into(),
            city: "London".into(),
        },
    }
}

fn hall(hall: &str) -> HallOpened {
    HallOpened { hall: hall.into() }
}

fn joined(name: &str, phone: &str) -> MemberJoined {
    MemberJoined {
        name: name.into(),
        email: None,
        phone: phone.into(),
        city: "London".into(),
    }
}

#[test]
fn types_end_with_the_version() {
    assert_eq!(MemberJoined::TYPE, "com.example.library.MemberJoined.v1");
    assert_eq!(HallOpened::TYPE, "com.example.library.HallOpened.v2");
    assert_eq!(ClubClosed::TYPE, "com.example.library.ClubGone.v1");
}

#[test]
fn public_events_follow_in_order_and_only_named_personal_fields_leave() {
    let halls = vec![hall("north"), hall("south")];
    given()
        .event_on(THE_CLUB, opened())
        .event_on(THE_CLUB, ada_joined())
        .event_on(THE_CLUB, ada_joined())
        .then_published((
            halls,
            joined("Ada", "no phone"),
            joined("Ada", "no phone"),
            // The first member alone is not published by `phone_joined`.
            joined("former member", "123"),
        ));
}

#[test]
fn states_are_those_after_the_event_and_contain_no_personal_value() {
    given()
        .event_on(THE_CLUB, ClubOpenedEvent { halls: vec![] })
        .event_on(THE_CLUB, ada_joined())
        .event_on(THE_CLUB, ClubClosedEvent {})
        .event_on(THE_CLUB, ada_joined())
        .then_published((
            joined("Ada", "no phone"),
            ClubClosed {
                members: vec!["former member".into()],
            },
            joined("Ada", "no phone"),
            joined("former member", "123"),
        ));
}

#[test]
fn an_erased_person_is_published_as_the_replacement() {
    given()
        .event_on(THE_CLUB, ClubOpenedEvent { halls: vec![] })
        .event_on(THE_CLUB, ada_joined())
        .event_on(THE_CLUB, ada_joined())
        .erased(OF_ADA)
        .then_published(vec![
            joined("former member", "no phone"),
            joined("former member", "no phone"),
            joined("former member", "no phone"),
        ]);
}

#[test]
fn nothing_follows_from_no_event() {
    given().then_published_nothing();
    given()
        .event_on(THE_CLUB, ClubOpenedEvent { halls: vec![] })
        .then_published_nothing();
}

fn failure(test: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(test)).unwrap_err();
    *panic.downcast::<String>().unwrap()
}

#[test]
fn a_difference_is_shown_line_by_line() {
    let message = failure(|| {
        given()
            .event_on(THE_CLUB, opened())
            .then_published((hall("north"), hall("west")));
    });
    assert!(
        message.starts_with("a difference in the public events"),
        "{message}"
    );
    assert!(message.contains("-     \"hall\": \"west\""), "{message}");
    assert!(message.contains("+     \"hall\": \"south\""), "{message}");
    let message = failure(|| {
        given()
            .event_on(THE_CLUB, opened())
            .then_published_nothing()
    });
    assert!(
        message.contains("+   \"type\": \"com.example.library.HallOpened.v2\""),
        "{message}"
    );
}

#[test]
fn a_state_that_is_missing_fails_the_test() {
    let message = failure(|| {
        given()
            .event_on(THE_CLUB, ClubClosedEvent {})
            .then_published_nothing();
    });
    assert!(message.contains("/clubs/7 has no state Club"), "{message}");
}
