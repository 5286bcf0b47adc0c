//! The scenario of a test: past events, services and the request's metadata.

use jiff::{SignedDuration, Timestamp};
use serde_json::value::RawValue;

use crate::{
    default_settings::{services_of, with_default_settings, with_defaults},
    expectation::{CommandExpectation, parse_subject},
    scenario_runner::{PastEvent, PastStep, ScenarioRunner},
    scenario_store::ScenarioStore,
};
use es_command::{
    command::{
        Clock, CommandContext, CommandDescriptor, CommandRequest, CommandResources, Handle, Inject,
        Parameter, ServiceType, Services, handle_command,
    },
    reaction::ClockMove,
    settings::SettingsDescriptor,
};
use es_event::{Caller, Event, Metadata, Subject, UpcasterDescriptor, Upcasters};

/// The default time of a test.
const TIME: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// The scenario of a test: past events, services and the request's metadata. [`given`] creates it.
///
/// ```
/// use es_framework::{prelude::*, testing::{Scenario, given}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
///
/// /// The scenario that several tests share.
/// fn a_book_in_summer() -> Scenario {
///     given().at("2026-07-01T12:00:00Z").event_on("/books/42", BookPurchasedEvent {})
/// }
/// ```
#[derive(Debug)]
#[must_use = "nothing is tested before `when` and one of the functions that begin with `then`"]
pub struct Scenario {
    past: Vec<PastStep>,
    services: Services,
    context: CommandContext,
    /// The moves of the clock to the times before each [`Scenario::advance`] and [`Scenario::interrupt`].
    earlier: Vec<ClockMove>,
    /// The way in which the clock comes to its time.
    last_move: fn(Timestamp) -> ClockMove,
}

/// Begins a test without events, at the beginning of 2026 in UTC, with the defaults of all settings.
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
    // As in an application, for the services that the test creates.
    es_net::tls::install_cryptography();
    Scenario {
        past: Vec::new(),
        services: Services::default().with(Clock::at(TIME)),
        context: CommandContext::default(),
        earlier: Vec::new(),
        last_move: ClockMove::Jump,
    }
}

impl Scenario {
    /// Adds a past event on the subject of the command, or on the event's own subject.
    pub fn event<E: Event>(mut self, event: E) -> Self {
        let event = PastEvent::new(None, event);
        self.past.push(PastStep::Event(event));
        self
    }

    /// Adds a past event on another subject.
    ///
    /// # Panics
    /// The text is not a subject.
    #[track_caller]
    pub fn event_on<E: Event>(mut self, subject: &str, event: E) -> Self {
        let event = PastEvent::new(Some(parse_subject(subject)), event);
        self.past.push(PastStep::Event(event));
        self
    }

    /// Adds the past erasure of the person whose id ends this subject. From then on, the personal values in the events
    /// before it read as their replacements, and commands that would store more of the person are refused.
    ///
    /// # Panics
    /// The text is not a subject.
    #[track_caller]
    pub fn erased(mut self, subject: &str) -> Self {
        self.past.push(PastStep::Erasure(parse_subject(subject)));
        self
    }

    /// Adds a past event as the store keeps it: its type and its payload as JSON. Upcasters apply to it, so
    /// an old event type needs no Rust type.
    ///
    /// # Panics
    /// The subject, the event type or the JSON is invalid.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn event_json(mut self, subject: &str, event_type: &str, payload: &str) -> Self {
        let subject = parse_subject(subject);
        let event_type = match event_type.parse() {
            Ok(event_type) => event_type,
            Err(error) => panic!("{error}"),
        };
        let payload = match RawValue::from_string(payload.to_owned()) {
            Ok(payload) => payload,
            Err(error) => panic!("the payload of {event_type} is not JSON: {error}"),
        };
        let event = PastEvent::from_json(subject, event_type, payload);
        self.past.push(PastStep::Event(event));
        self
    }

    /// Sets the clock to a time such as `2026-07-01T12:00:00Z`.
    ///
    /// # Panics
    /// The text is not a time.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn at(self, time: &str) -> Self {
        match time.parse() {
            Ok(time) => self.with(Clock::at(time)),
            Err(error) => panic!("{time:?} is no time, such as 2026-07-01T12:00:00Z: {error}"),
        }
    }

    /// Lets a length of time pass, such as `24h` or `90m`. A [reaction](Scenario::reacts) meets each deadline and each
    /// time of a schedule on the way when it is due.
    ///
    /// # Panics
    /// The text is no length of time.
    #[track_caller]
    pub fn advance(self, by: &str) -> Self {
        self.move_clock(by, ClockMove::Pass)
    }

    /// Lets a length of time pass while no instance runs. Then a [reaction](Scenario::reacts) meets the deadlines of this
    /// time late, and a schedule follows its rule for missed times.
    ///
    /// # Panics
    /// The text is no length of time.
    #[track_caller]
    pub fn interrupt(self, by: &str) -> Self {
        self.move_clock(by, ClockMove::Jump)
    }

    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    fn move_clock(mut self, by: &str, last_move: fn(Timestamp) -> ClockMove) -> Self {
        let by: SignedDuration = match by.parse() {
            Ok(by) => by,
            Err(error) => panic!("{by:?} is no length of time, such as 24h: {error}"),
        };
        let clock = Clock::at(self.services.clock().now());
        self.earlier.push((self.last_move)(clock.now()));
        clock.advance(by);
        Self { last_move, ..self }.with(clock)
    }

    /// Returns the moves of the clock, after each of which a reaction runs. The first one is to the time of the past.
    pub(crate) fn moves(&self) -> Vec<ClockMove> {
        let last = (self.last_move)(self.services.clock().now());
        self.earlier.iter().copied().chain([last]).collect()
    }

    /// Returns the past and the time.
    pub(crate) fn into_past(self) -> (Vec<PastStep>, Timestamp) {
        (self.past, self.services.clock().now())
    }

    /// Returns the sender of the command or the query.
    pub(crate) const fn sender(&self) -> &Caller {
        &self.context.caller
    }

    /// Returns the services that a handler takes, with the defaults of settings that the test does not give.
    #[track_caller]
    pub(crate) fn services_for(&self, taken: &[ServiceType], by: &str) -> Services {
        with_default_settings(self.services.clone(), taken, by)
    }

    /// Returns the past events and the services, with the defaults of settings that the test does not
    /// give.
    pub(crate) fn into_parts(self) -> (Vec<PastStep>, Services) {
        let mut services = self.services;
        for settings in inventory::iter::<SettingsDescriptor> {
            // A handler that takes settings without a default reports them itself.
            if !services.provides(settings.service)
                && let Ok(provided) = with_defaults(services.clone(), settings)
            {
                services = provided;
            }
        }
        (self.past, services)
    }

    /// Provides a service or settings.
    pub fn with<T: Inject>(mut self, value: T) -> Self {
        self.services = self.services.with(value);
        self
    }

    /// Sets the metadata of the request.
    pub fn metadata<'a>(mut self, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.context.metadata = Metadata::from_iter(texts);
        self
    }

    /// Sets the sender of the command or the query. By default, the service has no authentication, so that every rule
    /// about callers holds.
    ///
    /// ```
    /// # use es_framework::{prelude::*, testing::given};
    /// # #[derive(Command)]
    /// # #[command(subject = "/readers/{id}", role = "reader", owner = id)]
    /// # struct RenameReaderCommand { id: String }
    /// # #[derive(Debug, PartialEq, Event)]
    /// # struct ReaderRenamedEvent {}
    /// # #[handler]
    /// # fn rename(_: RenameReaderCommand) -> ReaderRenamedEvent { ReaderRenamedEvent {} }
    /// let ada = Caller::authenticated("ada", ["reader"]).with_owner_id("7");
    /// let scenario = || given().caller(ada.clone());
    /// scenario().when(RenameReaderCommand { id: "7".into() }).then(ReaderRenamedEvent {});
    /// scenario().when(RenameReaderCommand { id: "8".into() }).then_not_owner();
    /// ```
    pub fn caller(mut self, caller: Caller) -> Self {
        self.context.caller = caller;
        self
    }

    /// Runs a command through the production pipeline.
    ///
    /// # Panics
    /// The scenario is impossible, for example because a service is missing.
    #[track_caller]
    #[must_use = "nothing is tested before one of the functions that begin with `then`"]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn when<C: Handle>(self, command: C) -> CommandExpectation {
        let subject = match command.subject() {
            Ok(subject) => subject,
            Err(error) => panic!("the command has no subject: {error}"),
        };
        let (runner, command_resources, past, context) =
            self.prepare(subject, C::FUNCTION.parameters());
        let handle = handle_command(&command_resources, command, &context);
        match runner.run(past, handle) {
            Ok(then) => then,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs a command of this name through the production pipeline, beginning with the JSON that a client sends.
    /// Each past event needs a subject of its own. The console writes tests in this form.
    ///
    /// ```standalone_crate
    /// use es_framework::{prelude::*, testing::given};
    /// # #[derive(Event)]
    /// # struct BookPurchasedEvent {}
    /// # #[derive(Event)]
    /// # struct BookRemovedEvent {}
    /// # #[derive(State)]
    /// # struct Book {}
    /// # #[evolve]
    /// # impl Book {
    /// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
    /// # }
    /// # #[derive(Command)]
    /// # #[command(subject = "/books/{id}")]
    /// # struct RemoveBookCommand { id: String }
    /// # #[handler]
    /// # fn remove(_: &Book, _: RemoveBookCommand) -> BookRemovedEvent { BookRemovedEvent {} }
    ///
    /// given()
    ///     .event_json("/books/42", "com.example.library.BookPurchasedEvent", "{}")
    ///     .when_json("RemoveBookCommand", r#"{"id":"42"}"#)
    ///     .then_json([("/books/42", "com.example.library.BookRemovedEvent", "{}")]);
    ///
    /// given()
    ///     .when_json("RemoveBookCommand", r#"{"id":"42"}"#)
    ///     .then_problem("not-found", "/books/42 does not exist");
    /// ```
    ///
    /// # Panics
    /// No command has this name, or the scenario is impossible.
    #[track_caller]
    #[must_use = "nothing is tested before one of the functions that begin with `then`"]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn when_json(self, command: &str, json: &str) -> CommandExpectation {
        let declared = inventory::iter::<CommandDescriptor>;
        let Some(descriptor) = declared.into_iter().find(|one| one.name == command) else {
            panic!("no command of this program has the name {command}");
        };
        let (runner, command_resources, past, context) =
            self.prepare(Subject::root(), (descriptor.parameters)());
        let request = CommandRequest {
            body: json.as_bytes(),
            path_parameters: &[],
            context: &context,
        };
        let handle = descriptor.execute(&command_resources, request);
        match runner.run(past, handle) {
            Ok(then) => then,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns the parts with which a command runs.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    fn prepare(
        self,
        subject: Subject,
        parameters: Vec<Parameter>,
    ) -> (
        ScenarioRunner,
        CommandResources,
        Vec<PastStep>,
        CommandContext,
    ) {
        let store = ScenarioStore::new(self.services.clock());
        let services =
            with_default_settings(self.services, &services_of(parameters), "the handler");
        let upcasters = match Upcasters::new(inventory::iter::<UpcasterDescriptor>().copied()) {
            Ok(upcasters) => upcasters,
            Err(error) => panic!("{error}"),
        };
        let command_resources = CommandResources::new(store.log(), "test")
            .with_services(services)
            .with_upcasters(upcasters.clone());
        let runner = ScenarioRunner::new(store, subject, upcasters);
        (runner, command_resources, self.past, self.context)
    }
}
