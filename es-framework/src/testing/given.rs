//! What happened before, and what is there when a command comes.

use std::sync::Arc;

use clap::builder::Resettable;
use jiff::Timestamp;

use super::{
    history::{History, Past},
    outcome::Then,
};
use crate::{
    command::{Clock, CommandBus, CommandContext, Handle, Inject, ParameterOrigin, Services},
    event::{Event, Metadata, Subject, UpcasterDescriptor, Upcasters},
    settings::SettingsDescriptor,
    store::{EventStore, memory::MemoryStore},
};

/// The time of a test that does not say otherwise.
const TIME: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// What happened before, and what is there when a command comes. Made by [`given`].
///
/// ```
/// use es_framework::{prelude::*, testing::{Scenario, given}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
///
/// /// What several tests begin with.
/// fn a_book_in_summer() -> Scenario {
///     given().at("2026-07-01T12:00:00Z").event_on("/books/42", BookPurchasedEvent {})
/// }
/// ```
#[derive(Debug)]
#[must_use = "nothing is tested before `when` and one of the functions that begin with `then`"]
pub struct Scenario {
    past: Vec<Past>,
    services: Services,
    context: CommandContext,
}

/// Begins a test: nothing happened, it is the beginning of 2026 in UTC, and all settings have their
/// defaults.
///
/// ```
/// use es_framework::{prelude::*, testing::given};
///
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", condition = pristine)]
/// struct PurchaseBookCommand {
///     id: String,
/// }
///
/// #[derive(Debug, PartialEq, Event)]
/// struct BookPurchasedEvent {
///     on: Timestamp,
/// }
///
/// #[handler]
/// fn purchase(_: PurchaseBookCommand, clock: &Clock) -> BookPurchasedEvent {
///     BookPurchasedEvent { on: clock.now() }
/// }
///
/// given()
///     .at("2026-07-01T12:00:00Z")
///     .when(PurchaseBookCommand { id: "42".into() })
///     .then(BookPurchasedEvent { on: "2026-07-01T12:00:00Z".parse()? });
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn given() -> Scenario {
    Scenario {
        past: Vec::new(),
        services: Services::default().with(Clock::at(TIME)),
        context: CommandContext::default(),
    }
}

impl Scenario {
    /// This happened, to the subject of the command that comes, or to the event's own.
    pub fn event<E: Event>(mut self, event: E) -> Self {
        self.past.push(Past::of(None, event));
        self
    }

    /// This happened to another subject.
    ///
    /// # Panics
    /// The text is no subject.
    #[track_caller]
    pub fn event_on<E: Event>(mut self, subject: &str, event: E) -> Self {
        self.past.push(Past::of(Some(parse(subject)), event));
        self
    }

    /// It is this time, such as `2026-07-01T12:00:00Z`.
    ///
    /// # Panics
    /// The text is no time.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn at(self, time: &str) -> Self {
        match time.parse() {
            Ok(time) => self.with(Clock::at(time)),
            Err(error) => panic!("{time:?} is no time, such as 2026-07-01T12:00:00Z: {error}"),
        }
    }

    /// What happened, and the time.
    pub(super) fn into_past(self) -> (Vec<Past>, Timestamp) {
        (self.past, self.services.clock().now())
    }

    /// What happened, and what is provided: settings that the test does not name, with their defaults.
    pub(super) fn into_parts(self) -> (Vec<Past>, Services) {
        let mut services = self.services;
        for settings in inventory::iter::<SettingsDescriptor> {
            // Those without a default are missed only by whom they are meant for.
            if !services.has(settings.kind)
                && let Ok(provided) = with_defaults(services.clone(), settings)
            {
                services = provided;
            }
        }
        (self.past, services)
    }

    /// Handlers are given this value of its type.
    pub fn with<T: Inject>(mut self, value: T) -> Self {
        self.services = self.services.with(value);
        self
    }

    /// This comes with the command.
    pub fn metadata<'a>(mut self, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.context.metadata = Metadata::from_iter(texts);
        self
    }

    /// The command comes: it is validated and decided on as it is in production.
    ///
    /// # Panics
    /// What was given is impossible, such as a service that nobody provides.
    #[track_caller]
    #[must_use = "nothing is tested before one of the functions that begin with `then`"]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn when<C: Handle>(self, command: C) -> Then {
        let subject = match command.subject() {
            Ok(subject) => subject,
            Err(error) => panic!("the command has no subject: {error}"),
        };
        let store = MemoryStore::new();
        let services = with_default_settings::<C>(self.services);
        let upcasters = match Upcasters::new(inventory::iter::<UpcasterDescriptor>().copied()) {
            Ok(upcasters) => upcasters,
            Err(error) => panic!("{error}"),
        };
        let bus = CommandBus::new(Arc::new(store.clone()) as Arc<dyn EventStore>, "test")
            .with_services(services)
            .with_upcasters(upcasters.clone());
        let history = History::new(store, subject, upcasters);
        match history.play(self.past, bus, command, self.context) {
            Ok(then) => then,
            Err(error) => panic!("{error}"),
        }
    }
}

/// The settings that a handler takes and that the test does not name have their defaults, whatever
/// the environment of the test says.
#[allow(clippy::panic, reason = "a test fails by panicking")]
#[track_caller]
fn with_default_settings<C: Handle>(mut services: Services) -> Services {
    for parameter in C::PARAMETERS {
        let ParameterOrigin::Service(kind) = parameter.origin else {
            continue;
        };
        if services.has(kind) {
            continue;
        }
        let declared = inventory::iter::<SettingsDescriptor>;
        let Some(settings) = declared.into_iter().find(|one| one.kind == kind) else {
            panic!(
                "the handler takes `&{0}`: give it one, as in `given().with({0} {{ … }})`",
                kind.name
            );
        };
        services = match with_defaults(services.clone(), settings) {
            Ok(services) => services,
            Err(error) => panic!(
                "the settings {0} have no default: give them, as in `given().with({0} {{ … }})`: {error}",
                kind.name
            ),
        };
    }
    services
}

fn with_defaults(
    services: Services,
    settings: &SettingsDescriptor,
) -> Result<Services, clap::Error> {
    let arguments = (settings.arguments)();
    let arguments = arguments
        .into_iter()
        .map(|argument| argument.env(Resettable::<clap::builder::OsStr>::Reset));
    let matches = clap::Command::new("test")
        .args(arguments)
        .try_get_matches_from(["test"])?;
    (settings.provide)(&matches, services)
}

#[track_caller]
#[allow(clippy::panic, reason = "a test fails by panicking")]
pub(super) fn parse(subject: &str) -> Subject {
    match subject.parse() {
        Ok(subject) => subject,
        Err(error) => panic!("{error}"),
    }
}
