//! The inputs of a handler with their types: a description for each parameter, and the slots that hold the values
//! while the handler decides.

use super::{
    Command, CommandError, Inject, InputSource, IsState, Parameter, ParameterOrigin,
    SubjectCondition,
    inject::SourceKind,
    input_slot::{InputOrigins, InputSlot, StateInput, StateSlot},
};
use crate::state::StateScope;
use es_event::{InvalidSubjectValue, Subject};

/// A parameter of the handler of `C` that takes a `&T`.
///
/// ```
/// use es_framework::{command::Input, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}")]
/// # struct BorrowBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
/// # #[handler]
/// # fn borrow(_: BorrowBookCommand) -> Option<BookBorrowedEvent> { None }
/// // fn borrow(command: BorrowBookCommand, clock: &Clock)
/// const CLOCK: Input<BorrowBookCommand, Clock> = Input::injected("clock");
/// ```
#[derive(Debug)]
pub struct Input<C, T: 'static> {
    parameter: Parameter,
    source: InputSource<T>,
    subject: SubjectFunction<C>,
}

/// A parameter of the handler of `C` that takes an `Option<&S>` of a state.
///
/// ```
/// use es_framework::{command::OptionalState, event::{Subject, SubjectTemplatePart}, prelude::*};
/// # #[derive(Event)]
/// # struct ReaderRegisteredEvent {}
/// # #[derive(State)]
/// # struct Reader {}
/// # #[evolve]
/// # impl Reader {
/// #     fn registered(_: &ReaderRegisteredEvent) -> Self { Self {} }
/// # }
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}")]
/// # struct BorrowBookCommand { id: String, reader: String }
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
/// # #[handler]
/// # fn borrow(_: BorrowBookCommand) -> Option<BookBorrowedEvent> { None }
/// // fn borrow(command: BorrowBookCommand, #[subject("/readers/{reader}")] reader: Option<&Reader>)
/// const READER: OptionalState<BorrowBookCommand, Reader> =
///     OptionalState::on_subject("reader", "/readers/{reader}", |command| {
///         Subject::fill_template(&[
///             SubjectTemplatePart::Text("/readers/"),
///             SubjectTemplatePart::field("reader", &command.reader),
///         ])
///     });
/// ```
#[derive(Debug)]
pub struct OptionalState<C, S: 'static>(Input<C, S>);

/// A parameter of the handler of `C` that takes a `Vec<Option<&S>>`: the state of each subject that a function of the
/// command names, in the order of the subjects.
///
/// ```
/// use es_framework::{
///     command::{Input, StatesOfSubjects, fill_subjects},
///     event::{Subject, SubjectTemplatePart},
///     prelude::*,
/// };
/// # #[derive(Event)]
/// # struct DayBookedEvent {}
/// # #[derive(State)]
/// # struct Day {}
/// # #[evolve]
/// # impl Day {
/// #     fn booked(_: &DayBookedEvent) -> Self { Self {} }
/// # }
/// # #[derive(Command)]
/// # #[command(subject = "/seasons/{id}")]
/// # struct BookSeasonCommand { id: String, days: u32 }
/// # #[handler]
/// # fn book(_: BookSeasonCommand) -> Option<DayBookedEvent> { None }
/// // fn book(command: BookSeasonCommand, #[subject("/days/{day}", day in days)] states: Vec<Option<&Day>>)
/// const DAYS: StatesOfSubjects<BookSeasonCommand, Day> =
///     StatesOfSubjects(Input::on_subjects("states", "/days/{day}", |command| {
///         fill_subjects(0..command.days, |day| {
///             let day = SubjectTemplatePart::field("day", &day);
///             Subject::fill_template(&[SubjectTemplatePart::Text("/days/"), day])
///         })
///     }));
/// ```
#[derive(Debug)]
pub struct StatesOfSubjects<C, S: 'static>(pub Input<C, S>);

/// Returns the subject of a state, or the subjects of several.
#[derive(Debug)]
enum SubjectFunction<C> {
    One(fn(&C) -> Result<Subject, InvalidSubjectValue>),
    Several(fn(&C) -> Result<Vec<Subject>, CommandError>),
}

// The bounds stand at the functions, because the compiler then reports a type that does not meet them with the
// message of the trait.
impl<C, T> Input<C, T> {
    /// Describes a parameter of any type that a handler may take. A state is that of the command's own subject.
    ///
    /// # Panics
    /// The parameter is a state of a subject that has to be pristine. The panic is an error at compile time.
    #[must_use]
    pub const fn injected(name: &'static str) -> Self
    where
        C: Command,
        T: Inject,
    {
        assert!(
            !matches!(C::CONDITION, SubjectCondition::Pristine)
                || !matches!(T::SOURCE.origin(), ParameterOrigin::State(_)),
            "the command asks for a pristine subject, which has no state: remove the handler's parameter, or `condition = pristine`"
        );
        Self::new(name, T::SOURCE, SubjectFunction::One(C::subject))
    }

    /// Describes a state that is rebuilt from the subject of this template.
    #[must_use]
    pub const fn on_subject(
        name: &'static str,
        template: &'static str,
        subject: fn(&C) -> Result<Subject, InvalidSubjectValue>,
    ) -> Self
    where
        T: IsState,
    {
        let subject = SubjectFunction::One(subject);
        let mut input = Self::new(name, InputSource::state(), subject);
        input.parameter.subject = Some(template);
        input
    }

    /// Describes the states that are rebuilt from the subjects of this template, for [`StatesOfSubjects`].
    #[must_use]
    pub const fn on_subjects(
        name: &'static str,
        template: &'static str,
        subjects: fn(&C) -> Result<Vec<Subject>, CommandError>,
    ) -> Self
    where
        T: IsState,
    {
        let subjects = SubjectFunction::Several(subjects);
        let mut input = Self::new(name, InputSource::state(), subjects);
        input.parameter.subject = Some(template);
        input.parameter.optional = true;
        input
    }

    /// Includes the events of all subjects below the one of the state.
    #[must_use]
    pub const fn recursive(mut self) -> Self
    where
        T: IsState,
    {
        self.parameter.recursive = true;
        self
    }

    const fn new(name: &'static str, source: InputSource<T>, subject: SubjectFunction<C>) -> Self {
        Self {
            parameter: Parameter::new(name, source.origin()),
            source,
            subject,
        }
    }

    /// Returns the slot of the value for this command. A service and a value of the request fill it at once.
    fn slot(
        &'static self,
        command: &C,
        origins: InputOrigins<'_>,
    ) -> Result<InputSlot<T>, CommandError>
    where
        T: Send + Sync,
    {
        let InputOrigins {
            resources,
            context,
            owner,
        } = origins;
        match &self.source.0 {
            SourceKind::State(functions) => {
                let recursive = self.parameter.recursive;
                let slot = |subject| StateSlot::new(functions, StateScope { subject, recursive });
                Ok(match self.subject {
                    SubjectFunction::One(subject) => InputSlot::State(slot(subject(command)?)),
                    SubjectFunction::Several(subjects) => {
                        InputSlot::States(subjects(command)?.into_iter().map(slot).collect())
                    }
                })
            }
            SourceKind::Service(service) => match resources.services.get() {
                Some(provided) => Ok(InputSlot::Service(provided)),
                None => Err(CommandError::NotProvided(service.name)),
            },
            SourceKind::Request(_, read) => Ok(InputSlot::Request(read(context, owner))),
        }
    }
}

impl<C, S> OptionalState<C, S> {
    /// Describes a state of the command's own subject.
    #[must_use]
    pub const fn new(name: &'static str) -> Self
    where
        C: Command,
        S: IsState,
    {
        let subject = SubjectFunction::One(C::subject);
        Self::from_input(Input::new(name, InputSource::state(), subject))
    }

    /// Describes a state that is rebuilt from the subject of this template.
    #[must_use]
    pub const fn on_subject(
        name: &'static str,
        template: &'static str,
        subject: fn(&C) -> Result<Subject, InvalidSubjectValue>,
    ) -> Self
    where
        S: IsState,
    {
        Self::from_input(Input::on_subject(name, template, subject))
    }

    /// Includes the events of all subjects below the one of the state.
    #[must_use]
    pub const fn recursive(self) -> Self
    where
        S: IsState,
    {
        Self(self.0.recursive())
    }

    const fn from_input(mut input: Input<C, S>) -> Self {
        input.parameter.optional = true;
        Self(input)
    }
}

/// One input of a handler: an [`Input`], an [`OptionalState`] or the [`StatesOfSubjects`].
#[doc(hidden)]
pub trait HandlerInput<C>: Send + Sync + 'static {
    /// The type of the handler's parameter: a `&T`, an `Option<&S>`, or a `Vec<Option<&S>>`.
    type Argument<'a>;
    /// The type of the value.
    type Value: Send + Sync + 'static;

    fn input(&self) -> &Input<C, Self::Value>;
    fn argument(slot: &InputSlot<Self::Value>) -> Result<Self::Argument<'_>, CommandError>;
}

impl<C: 'static, T: Send + Sync + 'static> HandlerInput<C> for Input<C, T> {
    type Argument<'a> = &'a T;
    type Value = T;

    fn input(&self) -> &Self {
        self
    }

    fn argument(slot: &InputSlot<T>) -> Result<&T, CommandError> {
        slot.required_value()
    }
}

impl<C: 'static, S: Send + Sync + 'static> HandlerInput<C> for OptionalState<C, S> {
    type Argument<'a> = Option<&'a S>;
    type Value = S;

    fn input(&self) -> &Input<C, S> {
        &self.0
    }

    fn argument(slot: &InputSlot<S>) -> Result<Option<&S>, CommandError> {
        Ok(slot.value())
    }
}

impl<C: 'static, S: Send + Sync + 'static> HandlerInput<C> for StatesOfSubjects<C, S> {
    type Argument<'a> = Vec<Option<&'a S>>;
    type Value = S;

    fn input(&self) -> &Input<C, S> {
        &self.0
    }

    fn argument(slot: &InputSlot<S>) -> Result<Vec<Option<&S>>, CommandError> {
        Ok(slot.values())
    }
}

/// The inputs of a handler: a tuple with an [`Input`], an [`OptionalState`] or the
/// [`StatesOfSubjects`] for each parameter besides the command, up to twelve.
///
/// ```
/// use es_framework::{command::{HandlerInputs, Input}, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}")]
/// # struct BorrowBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
/// # #[handler]
/// # fn borrow(_: BorrowBookCommand) -> Option<BookBorrowedEvent> { None }
/// // fn borrow(command: BorrowBookCommand, clock: &Clock, caller: &Caller)
/// const INPUTS: (Input<BorrowBookCommand, Clock>, Input<BorrowBookCommand, Caller>) =
///     (Input::injected("clock"), Input::injected("caller"));
/// assert_eq!(INPUTS.parameters().len(), 2);
/// ```
pub trait HandlerInputs<C>: Send + Sync + 'static {
    /// The handler's arguments besides the command, as a tuple.
    type Arguments<'a>;
    #[doc(hidden)]
    type Slots: Send + Sync;

    /// Describes the parameters.
    fn parameters(&self) -> Vec<Parameter>;
    #[doc(hidden)]
    fn slots(
        &'static self,
        command: &C,
        origins: InputOrigins<'_>,
    ) -> Result<Self::Slots, CommandError>;
    #[doc(hidden)]
    fn states(slots: &mut Self::Slots) -> Vec<&mut dyn StateInput>;
    #[doc(hidden)]
    fn arguments(slots: &Self::Slots) -> Result<Self::Arguments<'_>, CommandError>;
}

macro_rules! tuples {
    ($($input:ident)*) => {
        #[allow(non_snake_case, unused_variables)]
        impl<Cmd: 'static, $($input: HandlerInput<Cmd>),*> HandlerInputs<Cmd> for ($($input,)*) {
            type Arguments<'a> = ($($input::Argument<'a>,)*);
            type Slots = ($(InputSlot<$input::Value>,)*);

            fn parameters(&self) -> Vec<Parameter> {
                let ($($input,)*) = self;
                vec![$($input.input().parameter),*]
            }

            fn slots(
                &'static self,
                command: &Cmd,
                origins: InputOrigins<'_>,
            ) -> Result<Self::Slots, CommandError> {
                let ($($input,)*) = self;
                Ok(($($input.input().slot(command, origins)?,)*))
            }

            fn states(slots: &mut Self::Slots) -> Vec<&mut dyn StateInput> {
                let ($($input,)*) = slots;
                let states = std::iter::empty();
                $(let states = states.chain($input.states());)*
                states.collect()
            }

            fn arguments(slots: &Self::Slots) -> Result<Self::Arguments<'_>, CommandError> {
                let ($($input,)*) = slots;
                Ok(($($input::argument($input)?,)*))
            }
        }
    };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
