//! A field that is absent in older events may be personal.

#![deny(warnings)]

use es_framework::{event::EventDescriptor, prelude::*};

/// An application need not depend on serde.
mod serde {}

/// A member joined.
#[derive(Event, Clone, Debug)]
#[event(package = "com.example.club")]
struct MemberJoinedEvent {
    id: Uuid,
    #[personal(of = id, erased = "nobody")]
    #[serde(default)]
    name: String,
    #[personal(of = id, erased = "no address")]
    #[serde(default = "unknown")]
    address: String,
    #[personal(of = id)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    #[serde(default)]
    guests: Vec<Guest>,
}

#[derive(Clone, Debug, Value)]
struct Guest {
    id: Uuid,
    #[serde(default)]
    #[personal(of = id, erased = "a guest")]
    name: String,
}

fn unknown() -> String {
    "unknown".to_owned()
}

#[test]
fn works() {
    let older = r#"{"id":"00000000-0000-0000-0000-000000000001","guests":[{"id":"00000000-0000-0000-0000-000000000002"}]}"#;
    let event: MemberJoinedEvent = serde_json::from_str(older).unwrap();
    assert_eq!((&*event.name, &*event.address), ("", "unknown"));
    assert_eq!((event.phone, &*event.guests[0].name), (None, ""));
    assert!(EventDescriptor::of::<MemberJoinedEvent>().has_personal_data());
}
