//! The messages of breaking changes, and the changes that are not breaking.

use super::change;
use es_framework::{
    event::{EventDescriptor, Upcast, UpcasterDescriptor, Upcasters},
    prelude::*,
    schema_lock::SchemaLock,
};

#[derive(Event)]
struct OpenedEvent {
    id: Uuid,
}

#[derive(Event)]
struct StartedEvent {
    /// The same as before.
    id: Uuid,
}

#[derive(Event)]
#[event(package = "org.other", name = "OpenedEvent")]
struct MovedEvent {
    id: Uuid,
}

fn message(before: EventDescriptor, after: EventDescriptor) -> String {
    let difference = change(before, after);
    assert_eq!(difference.breaking_changes.len(), 1);
    difference.breaking_changes[0].to_string()
}

#[test]
fn an_event_that_was_renamed_is_told_how_to_keep_its_name() {
    let after = EventDescriptor::of::<StartedEvent>();
    let text = message(EventDescriptor::of::<OpenedEvent>(), after);
    assert_eq!(
        text,
        format!(
            "com.example.library.OpenedEvent, line 5 of the lock: stored events of this type are read by nothing any more
  - if com.example.library.StartedEvent at {} is its new name, keep the stored one: #[event(name = \"OpenedEvent\")]
  - or keep its old shape as #[event(name = \"OpenedEvent\")] and write an #[upcast] function that makes today's events of it, or none",
            after.declaration
        )
    );
}

#[test]
fn an_event_in_another_package_is_told_how_to_pin_it() {
    let after = EventDescriptor::of::<MovedEvent>();
    let text = message(EventDescriptor::of::<OpenedEvent>(), after);
    assert!(
        text.contains("pin it with #[event(package = \"com.example.library\")]"),
        "{text}"
    );
}

#[test]
fn a_loss_is_told_with_its_place_and_three_ways_out() {
    mod before {
        use super::*;
        #[derive(Event)]
        #[event(name = "BookPurchasedEvent")]
        pub(super) struct Before {
            num_pages: u32,
        }
    }
    mod after {
        use super::*;
        #[derive(Event)]
        #[event(name = "BookPurchasedEvent")]
        pub(super) struct After {
            #[serde(default)]
            pages: u32,
        }
    }
    let after = EventDescriptor::of::<after::After>();
    let text = message(EventDescriptor::of::<before::Before>(), after);
    assert_eq!(
        text,
        format!(
            "com.example.library.BookPurchasedEvent at {}: the member numPages is stored, and the declaration has no such member
  - restore numPages
  - or, if pages is its new name, read the stored one as well: #[serde(alias = \"numPages\")] above the field of pages
  - or declare a new version: #[event(version = …)] on this struct, its old shape kept as #[event(name = \"BookPurchasedEvent\")], and an #[upcast] function from the one to the other",
            after.declaration
        )
    );
}

/// An event that keeps no field because nobody needs it any more.
#[derive(Event)]
struct ScannedEvent {}

#[upcast]
fn nobody_asks_any_more(_: ScannedEvent) {}

#[test]
fn an_upcaster_may_leave_out_what_it_does_not_need() {
    mod before {
        use super::*;
        #[derive(Event)]
        #[event(name = "ScannedEvent")]
        pub(super) struct Before {
            scanner: String,
        }
    }
    let lock = SchemaLock::from_events(&[EventDescriptor::of::<before::Before>()]);
    let today = [EventDescriptor::of::<ScannedEvent>()];
    let upcasters = Upcasters::new([UpcasterDescriptor::of::<ScannedEvent>()]).unwrap();
    let covered = lock.compare(&today, &upcasters);
    assert_eq!(
        (covered.breaking_changes.len(), covered.changed),
        (0, vec![ScannedEvent::TYPE])
    );
    assert_eq!(
        lock.compare(&today, &Upcasters::default())
            .breaking_changes
            .len(),
        1
    );
    let () = ScannedEvent {}.upcast();
}

#[test]
fn what_is_new_or_changed_without_a_loss_is_told_apart() {
    let events = [EventDescriptor::of::<OpenedEvent>()];
    let more = [events[0], EventDescriptor::of::<ScannedEvent>()];
    let difference = SchemaLock::from_events(&events).compare(&more, &Upcasters::default());
    assert!(difference.breaking_changes.is_empty() && !difference.is_empty());
    assert_eq!(difference.added, [ScannedEvent::TYPE]);
}

#[test]
fn a_package_without_events_is_told_to_be_linked() {
    let file = std::path::Path::new("events.lock.json");
    let error = es_framework::schema_lock::check_packages(file, &["nowhere"]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no event is declared in nowhere"),
        "{error}"
    );
}
