//! Publications with every return type, with states and with personal fields.

use es_framework::{prelude::*, publication::IntoPublicEvents};

#[derive(Event)]
#[event(package = "com.example.tests")]
struct MemberJoinedEvent {
    id: Uuid,
    club: Uuid,
    #[personal(of = id, erased = "former member")]
    r#type: String,
}

#[derive(State)]
struct Members {
    count: u32,
}

#[evolve]
impl Members {
    fn joined(before: Option<Self>, _: &MemberJoinedEvent) -> Self {
        let count = before.map_or(0, |before| before.count);
        Self { count: count + 1 }
    }
}

/// Somebody joined.
#[derive(PublicEvent)]
#[public_event(package = "com.example.tests", name = "Joined", version = 3)]
struct MemberJoined {
    r#type: String,
}

/// A club has grown.
#[derive(PublicEvent)]
#[public_event(package = "com.example.tests")]
struct ClubGrew {
    count: u32,
}

#[publish(personal(r#type))]
fn member_joined(event: &MemberJoinedEvent) -> MemberJoined {
    MemberJoined {
        r#type: event.r#type.clone(),
    }
}

#[publish]
fn perhaps(_: MemberJoinedEvent) -> Option<ClubGrew> {
    None
}

#[publish]
fn several(
    event: &MemberJoinedEvent,
    members: &Members,
    #[subject("/clubs/{club}", recursive)] club: Option<&Members>,
) -> (MemberJoined, Vec<ClubGrew>) {
    let joined = MemberJoined {
        r#type: event.r#type.clone(),
    };
    let grown = club.map(|club| ClubGrew { count: club.count });
    let own = ClubGrew { count: members.count };
    (joined, grown.into_iter().chain([own]).collect())
}

#[publish]
#[cfg(not(any()))]
#[allow(clippy::needless_pass_by_value)]
fn events(_: &MemberJoinedEvent) -> (ClubGrew, ClubGrew) {
    (ClubGrew { count: 1 }, ClubGrew { count: 2 })
}

#[publish]
#[cfg(any())]
fn never(_: &NoSuchEvent) -> NoSuchPublicEvent {}

#[test]
fn the_types_that_may_follow_are_known() {
    let events = <(MemberJoined, Vec<ClubGrew>)>::public_events();
    let types: Vec<_> = events.iter().map(|event| event.event_type).collect();
    assert_eq!(types, ["com.example.tests.Joined.v3", "com.example.tests.ClubGrew.v1"]);
}
