//! Compares the result of a command with the expectations of a test.

use std::fmt::{Debug, Write as _};

use serde::Serialize;
use serde_json::Value;

use crate::{
    difference::{assert_same, failed},
    event_json::{event_to_json, expected_events_to_json},
};
use es_command::{
    command::{CommandError, CommandOutcome, IntoDecision, Rejection},
    state::Evolve,
};
use es_event::{DecodeError, RecordedEvent, Subject, Upcasters};
use es_http::Problem;

/// The result of a command in a test. An expectation that does not hold fails the test and shows the
/// difference.
///
/// ```
/// use es_framework::{prelude::*, testing::given};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", condition = pristine)]
/// # struct PurchaseBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// given()
///     .event(BookPurchasedEvent {})
///     .when(PurchaseBookCommand { id: "42".into() })
///     .then_already_exists();
/// ```
#[derive(Debug)]
pub struct CommandExpectation {
    subject: Subject,
    upcasters: Upcasters,
    all: Vec<RecordedEvent>,
    new: Vec<Value>,
    result: Result<CommandOutcome, CommandError>,
}

impl CommandExpectation {
    pub(crate) const fn new(
        subject: Subject,
        upcasters: Upcasters,
        all: Vec<RecordedEvent>,
        new: Vec<Value>,
        result: Result<CommandOutcome, CommandError>,
    ) -> Self {
        Self {
            subject,
            upcasters,
            all,
            new,
            result,
        }
    }

    /// Expects exactly these new events in this order: one, several as a tuple or a `Vec`, or `()` for
    /// none.
    ///
    /// # Panics
    /// Other events were recorded.
    #[track_caller]
    pub fn then(self, events: impl IntoDecision) -> Self {
        self.expect_success();
        let expected = self.expected(events);
        assert_same("the events", &expected, &self.new);
        self
    }

    /// Expects exactly these new events in this order: the subject, the type and the JSON of the payload of each.
    ///
    /// # Panics
    /// Other events were recorded.
    #[track_caller]
    pub fn then_json<'a>(
        self,
        events: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) -> Self {
        self.expect_success();
        let expected = events
            .into_iter()
            .map(|(subject, event_type, payload)| {
                event_to_json(&parse_subject(subject), event_type, payload)
            })
            .collect::<Result<Vec<_>, _>>()
            .unwrap_or_else(|error| failed(&error));
        assert_same("the events", &expected, &self.new);
        self
    }

    /// Expects this reply, written as JSON.
    ///
    /// # Panics
    /// The handler gave another reply, or none, or the text is not JSON.
    #[track_caller]
    pub fn then_reply_json(self, reply: &str) -> Self {
        let reply: Value = serde_json::from_str(reply).unwrap_or_else(|error| failed(&error));
        self.then_reply(reply)
    }

    /// Expects that the command fails with this problem: the last segment of its type, such as `not-found`, and its
    /// detail.
    ///
    /// # Panics
    /// The command had another outcome.
    #[track_caller]
    pub fn then_problem(self, name: &str, detail: &str) {
        match self.result {
            Ok(_) => failed(&format!(
                "expected the problem {name}, {}",
                actual(&self.result)
            )),
            Err(error) => {
                let problem = Problem::from(error);
                let found = problem.to_string();
                assert_same("the problem", &format!("{name}: {detail}"), &found);
            }
        }
    }

    /// Expects this reply.
    ///
    /// # Panics
    /// The handler gave another reply, or none.
    #[track_caller]
    pub fn then_reply(self, reply: impl Serialize) -> Self {
        let outcome = self.expect_success();
        let expected = serde_json::to_value(reply).unwrap_or_else(|error| failed(&error));
        let found = outcome
            .reply
            .as_ref()
            .map(|reply| serde_json::from_str::<Value>(reply.get()));
        match found.transpose() {
            Ok(Some(found)) => assert_same("the reply", &expected, &found),
            Ok(None) => failed(&"the handler was expected to reply, and did not"),
            Err(error) => failed(&error),
        }
        self
    }

    /// Expects this rejection.
    ///
    /// # Panics
    /// The command had another outcome.
    #[track_caller]
    pub fn then_rejected(self, rejection: &dyn Rejection) {
        match &self.result {
            Err(CommandError::Rejected(found)) => {
                let text = |one: &dyn Rejection| format!("{}: {one}", one.name());
                assert_same("the rejection", &text(rejection), &text(&**found));
            }
            other => failed(&format!(
                "expected the rejection {}, {}",
                rejection.name(),
                actual(other)
            )),
        }
    }

    /// Expects that the command is carried out, whatever it decides.
    ///
    /// # Panics
    /// The command failed.
    #[track_caller]
    pub fn then_accepted(self) -> Self {
        self.expect_success();
        self
    }

    /// Expects that the command fails because of its rule about the owner.
    ///
    /// # Panics
    /// The command had another outcome.
    #[track_caller]
    pub fn then_not_owner(self) {
        if !matches!(self.result, Err(CommandError::NotOwner(_))) {
            let actual = actual(&self.result);
            failed(&format!(
                "expected that this does not belong to the caller, {actual}"
            ));
        }
    }

    /// Expects that the command fails because another subject has a value that is unique under this rule.
    ///
    /// ```standalone_crate
    /// # use es_framework::{prelude::*, testing::given};
    /// # #[derive(Command)]
    /// # #[command(subject = "/readers/{id}", condition = pristine)]
    /// # struct RegisterReaderCommand { id: String, card: String }
    /// # #[derive(Debug, PartialEq, Event)]
    /// # #[event(from = RegisterReaderCommand)]
    /// # struct ReaderRegisteredEvent { id: String, #[unique("reader-card")] card: String }
    /// # #[handler]
    /// # fn register(command: RegisterReaderCommand) -> ReaderRegisteredEvent;
    /// given()
    ///     .event_on("/readers/1", ReaderRegisteredEvent { id: "1".into(), card: "A-7".into() })
    ///     .when(RegisterReaderCommand { id: "2".into(), card: "A-7".into() })
    ///     .then_not_unique("reader-card");
    /// ```
    ///
    /// # Panics
    /// The command had another outcome.
    #[track_caller]
    pub fn then_not_unique(self, rule: &str) {
        match &self.result {
            Err(CommandError::NotUnique { rule: found, .. }) => {
                assert_same("the rule", &rule.to_owned(), &(*found).to_owned());
            }
            other => failed(&format!(
                "expected that a value is taken under the rule {rule}, {}",
                actual(other)
            )),
        }
    }

    /// Expects that the command fails because this subject does not exist.
    ///
    /// # Panics
    /// The command had another outcome.
    #[track_caller]
    pub fn then_not_found(self, subject: &str) {
        let expected = parse_subject(subject);
        match &self.result {
            Err(CommandError::NotFound(found)) => {
                assert_same("what is not found", &expected, found)
            }
            other => failed(&format!(
                "expected that {expected} is not found, {}",
                actual(other)
            )),
        }
    }

    /// Expects that the command fails because its subject already exists.
    ///
    /// # Panics
    /// The command had another outcome.
    #[track_caller]
    pub fn then_already_exists(self) {
        if !matches!(self.result, Err(CommandError::AlreadyExists(_))) {
            let (subject, actual) = (&self.subject, actual(&self.result));
            failed(&format!("expected that {subject} already exists, {actual}"));
        }
    }

    /// Expects invalid values at exactly these JSON pointers, such as `/numPages`, in this order.
    ///
    /// # Panics
    /// The command had another outcome, or other values are invalid.
    #[track_caller]
    pub fn then_invalid<'a>(self, pointers: impl IntoIterator<Item = &'a str>) {
        let expected: Vec<_> = pointers.into_iter().map(str::to_owned).collect();
        match self.result {
            Err(CommandError::Invalid(violations)) => {
                let found = violations.into_iter().map(|violation| violation.pointer);
                assert_same("the pointers", &expected, &found.collect());
            }
            other => failed(&format!(
                "expected invalid values at {expected:?}, {}",
                actual(&other)
            )),
        }
    }

    /// Expects this state of the command's subject.
    ///
    /// # Panics
    /// The subject has another state, or none.
    #[track_caller]
    pub fn then_state<S: Evolve + Debug + PartialEq>(self, expected: &S) -> Self {
        let subject = self.subject.clone();
        self.then_state_of(subject.as_str(), expected)
    }

    /// Expects this state of another subject.
    ///
    /// # Panics
    /// The subject has another state, or none.
    #[track_caller]
    pub fn then_state_of<S: Evolve + Debug + PartialEq>(self, subject: &str, expected: &S) -> Self {
        let subject = parse_subject(subject);
        let found: Option<S> = self.state(&subject).unwrap_or_else(|error| failed(&error));
        if found.as_ref() != Some(expected) {
            let what = format!("the state of {subject}");
            assert_same(
                &what,
                &format!("{:#?}", Some(expected)),
                &format!("{found:#?}"),
            );
        }
        self
    }

    /// Expects that no event creates a state of the command's subject.
    ///
    /// ```
    /// # use es_framework::{prelude::*, testing::given};
    /// # #[derive(Command)]
    /// # #[command(subject = "/readers/{id}")]
    /// # struct ForgetReaderCommand { id: String }
    /// # #[derive(Event)]
    /// # struct ReaderRegisteredEvent {}
    /// # #[derive(Debug, PartialEq, Event)]
    /// # struct ReaderForgottenEvent {}
    /// # #[derive(Debug, PartialEq, State)]
    /// # struct Reader {}
    /// # #[evolve]
    /// # impl Reader {
    /// #     fn registered(_: &ReaderRegisteredEvent) -> Self { Self {} }
    /// #     fn forgotten(self, _: &ReaderForgottenEvent) -> Option<Self> { None }
    /// # }
    /// # #[handler]
    /// # fn forget(_: ForgetReaderCommand) -> ReaderForgottenEvent { ReaderForgottenEvent {} }
    /// let forget = ForgetReaderCommand { id: "7".into() };
    /// given().event(ReaderRegisteredEvent {}).when(forget).then_no_state::<Reader>();
    /// ```
    ///
    /// # Panics
    /// The subject has a state.
    #[track_caller]
    pub fn then_no_state<S: Evolve + Debug>(self) -> Self {
        let found: Option<S> = self
            .state(&self.subject)
            .unwrap_or_else(|error| failed(&error));
        if let Some(found) = found {
            let subject = &self.subject;
            failed(&format!(
                "expected no state of {subject}, but it is {found:#?}"
            ));
        }
        self
    }

    fn state<S: Evolve>(&self, subject: &Subject) -> Result<Option<S>, DecodeError> {
        let mut state = None;
        for event in self.all.iter().filter(|event| event.subject == *subject) {
            self.upcasters.read(event, |view| {
                state = S::evolve(state.take(), &view)?;
                Ok::<_, DecodeError>(())
            })?;
        }
        Ok(state)
    }

    #[track_caller]
    fn expect_success(&self) -> &CommandOutcome {
        match &self.result {
            Ok(outcome) => outcome,
            refused => failed(&format!(
                "expected that the command is carried out, {}",
                actual(refused)
            )),
        }
    }

    #[track_caller]
    fn expected(&self, events: impl IntoDecision) -> Vec<Value> {
        expected_events_to_json(self.subject.clone(), events)
    }
}

/// Describes the actual result.
fn actual(result: &Result<CommandOutcome, CommandError>) -> String {
    match result {
        Ok(_) => "but the command was carried out".to_owned(),
        Err(CommandError::Rejected(rejection)) => {
            format!("but it was rejected as {}: {rejection}", rejection.name())
        }
        Err(CommandError::Invalid(violations)) => {
            let mut text = "but its values are not valid:".to_owned();
            for violation in violations {
                let _ = write!(text, "\n    {} {}", violation.pointer, violation.message);
            }
            text
        }
        Err(error) => format!("but it was refused: {error}"),
    }
}

#[track_caller]
#[allow(clippy::panic, reason = "a test fails by panicking")]
pub(crate) fn parse_subject(subject: &str) -> Subject {
    match subject.parse() {
        Ok(subject) => subject,
        Err(error) => panic!("{error}"),
    }
}
