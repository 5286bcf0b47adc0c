//! Chains of upcasters over declared events.

use proptest::{collection::vec, prelude::*};

use super::{Upcasters, UpcastersError};
use crate::prelude::*;
use crate::{
    DecodeError, EventCandidate, EventId, EventTime, Hash, RecordedEvent, UpcasterDescriptor,
    encode,
};

macro_rules! steps {
    ($($name:ident)*) => {$(
        #[derive(Event, Debug, Clone, PartialEq)]
        #[es(crate = "crate")]
        struct $name {
            value: i64,
        }
    )*};
}

steps!(First Second Third Fourth Fifth);

#[upcast]
#[es(crate = "crate")]
fn one_becomes_one(old: First) -> Second {
    Second {
        value: old.value.wrapping_mul(3),
    }
}

#[upcast]
#[es(crate = "crate")]
fn one_becomes_two(old: Second) -> (Third, Fifth) {
    let value = old.value.wrapping_add(1);
    (Third { value }, Fifth { value: old.value })
}

#[upcast]
#[es(crate = "crate")]
fn one_becomes_one_or_none(Third { value }: Third) -> Option<Fourth> {
    (value % 2 == 0).then_some(Fourth { value })
}

#[upcast]
#[es(crate = "crate")]
fn one_becomes_several(old: Fourth) -> Vec<Fifth> {
    let several = 0..old.value.rem_euclid(4);
    several.map(|value| Fifth { value }).collect()
}

/// The type and the payload of each upcasted event.
type Read = Vec<(&'static str, i64)>;

const UPCASTERS: [UpcasterDescriptor; 4] = [
    UpcasterDescriptor::of::<First>(),
    UpcasterDescriptor::of::<Second>(),
    UpcasterDescriptor::of::<Third>(),
    UpcasterDescriptor::of::<Fourth>(),
];
const TYPES: [&str; 5] = [
    First::TYPE,
    Second::TYPE,
    Third::TYPE,
    Fourth::TYPE,
    Fifth::TYPE,
];

/// Returns the events that the upcasters produce from an event. `there` tells which upcasters exist.
fn composed(step: usize, value: i64, there: &[bool]) -> Read {
    if !there.get(step).is_some_and(|there| *there) {
        return vec![(TYPES[step], value)];
    }
    match step {
        0 => composed(1, one_becomes_one(First { value }).value, there),
        1 => {
            let (third, fifth) = one_becomes_two(Second { value });
            let mut both = composed(2, third.value, there);
            both.extend(composed(4, fifth.value, there));
            both
        }
        2 => one_becomes_one_or_none(Third { value })
            .map_or_else(Vec::new, |fourth| composed(3, fourth.value, there)),
        _ => one_becomes_several(Fourth { value })
            .iter()
            .flat_map(|fifth| composed(4, fifth.value, there))
            .collect(),
    }
}

fn recorded(event_type: &str, payload: &serde_json::Value) -> RecordedEvent {
    let candidate = EventCandidate {
        source: "test".into(),
        subject: "/books/1".parse().unwrap(),
        event_type: event_type.parse().unwrap(),
        data: encode(&Metadata::default(), payload).unwrap(),
        trace: None,
    };
    let time = EventTime::now();
    RecordedEvent::record(candidate, EventId::new(7).unwrap(), time, Hash::ZERO)
}

fn read(upcasters: &Upcasters, event: &RecordedEvent) -> Result<Read, DecodeError> {
    let mut events = vec![];
    upcasters.read(event, |view| {
        let event_type = TYPES.iter().find(|one| **one == view.event_type());
        let Fifth { value } = view.payload()?;
        events.push((*event_type.unwrap(), value));
        Ok::<_, DecodeError>(())
    })?;
    Ok(events)
}

proptest! {
    #[test]
    fn a_chain_of_upcasters_is_the_composition_of_their_functions(
        there in vec(any::<bool>(), 4),
        step in 0..5_usize,
        value in any::<i64>(),
    ) {
        let declared = UPCASTERS.iter().zip(&there).filter(|(_, there)| **there);
        let upcasters = Upcasters::new(declared.map(|(one, _)| *one)).unwrap();
        let event = recorded(TYPES[step], &serde_json::json!({ "value": value }));
        prop_assert_eq!(read(&upcasters, &event).unwrap(), composed(step, value, &there));
    }
}

#[test]
fn an_event_that_does_not_fit_is_named_with_its_id_and_type() {
    let upcasters = Upcasters::new(UPCASTERS).unwrap();
    let event = recorded(First::TYPE, &serde_json::json!({ "value": "seven" }));
    let error = read(&upcasters, &event).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "event 7 of type com.example.library.First does not fit its declaration: invalid type"
        ),
        "{error}"
    );
}

#[test]
fn what_an_upcaster_made_and_nobody_can_read_is_named_as_such() {
    let upcasters = Upcasters::new([UpcasterDescriptor::of::<First>()]).unwrap();
    let event = recorded(First::TYPE, &serde_json::json!({ "value": 1 }));
    let error = upcasters.read(&event, |view| view.payload::<String>().map(drop));
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("event 7 of type com.example.library.First, upcast to com.example.library.Second, does not fit its declaration: "),
        "{error}"
    );
}

#[test]
fn what_take_says_ends_the_read() {
    let upcasters = Upcasters::new(UPCASTERS).unwrap();
    let event = recorded(Fourth::TYPE, &serde_json::json!({ "value": 3 }));
    let mut taken = 0;
    let outcome = upcasters.read(&event, |_| {
        taken += 1;
        Err::<(), Box<dyn std::error::Error>>("enough".into())
    });
    assert_eq!(
        (outcome.unwrap_err().to_string(), taken),
        ("enough".into(), 1)
    );
}

#[test]
fn upcasters_that_lead_in_a_circle_are_all_named() {
    let circle = UpcasterDescriptor {
        from: Fifth::TYPE,
        to: &[Third::TYPE],
        ..UpcasterDescriptor::of::<First>()
    };
    let error = Upcasters::new(UPCASTERS.into_iter().chain([circle])).unwrap_err();
    let sentence = error.to_string();
    let UpcastersError::Cycle(steps) = error else {
        panic!("{sentence}");
    };
    let types: Vec<_> = steps.iter().map(|(event_type, _)| *event_type).collect();
    assert_eq!(types, [Fifth::TYPE, Third::TYPE, Fourth::TYPE]);
    for (_, place) in steps {
        assert!(sentence.contains(&place.to_string()), "{sentence}");
    }
}

#[test]
fn an_upcaster_to_its_own_event_is_a_circle() {
    let circle = UpcasterDescriptor {
        to: &[First::TYPE],
        ..UpcasterDescriptor::of::<First>()
    };
    let error = Upcasters::new([circle]).unwrap_err();
    assert!(matches!(&error, UpcastersError::Cycle(steps) if steps.len() == 1));
}

#[test]
fn one_upcaster_is_taken_once_and_two_are_refused() {
    let first = UpcasterDescriptor::of::<First>();
    assert_eq!(Upcasters::new([first, first]).unwrap().iter().count(), 1);
    let other = UpcasterDescriptor {
        declaration: crate::declaration!(),
        ..first
    };
    let error = Upcasters::new([first, other]).unwrap_err().to_string();
    for place in [first.declaration, other.declaration] {
        assert!(error.contains(&place.to_string()), "{error}");
    }
}
