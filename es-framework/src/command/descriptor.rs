//! A command's declaration without its Rust type, as the registry and the routes need it.

use futures_util::{FutureExt as _, future::BoxFuture};
use schemars::{Schema, SchemaGenerator};

use super::{
    Command, CommandBus, CommandError, CommandOutcome, CommandRequest, Condition, Handle,
    Parameter, ParameterOrigin, RejectionDescriptor, Reply, Violation, bus::Attempt,
    idempotency::Attempted, metrics, parse, retry,
};
use crate::Declaration;

/// A declared command together with its handler.
///
/// ```
/// use es_framework::{command::CommandDescriptor, prelude::*};
///
/// /// Adds a new copy of a book to the inventory.
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", role = "staff")]
/// struct PurchaseBookCommand {
///     id: Uuid,
/// }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
///
/// let purchase = CommandDescriptor::of::<PurchaseBookCommand>();
/// assert_eq!((purchase.path, purchase.role), ("/books/purchase", Some("staff")));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CommandDescriptor {
    /// The type's name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The path that it is posted to; empty if nobody posts it.
    pub path: &'static str,
    /// The template of its subject.
    pub subject: &'static str,
    /// What must be true of the subject.
    pub condition: Condition,
    /// What a caller has to be, where callers are known.
    pub role: Option<&'static str>,
    /// Where it is declared.
    pub declaration: Declaration,
    /// Where its handler stands.
    pub handler: Declaration,
    /// What the handler takes besides the command.
    pub parameters: &'static [Parameter],
    /// The JSON schema of its body.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// What its handler answers besides events, if anything.
    pub reply: fn(&mut SchemaGenerator) -> Option<Reply>,
    /// Every refusal that its handler may answer with.
    pub rejections: fn() -> &'static [RejectionDescriptor],
    /// Carries it from its text to its events.
    pub execute: Execute,
}

/// The whole way of one command, its type forgotten.
///
/// ```
/// # use es_framework::{command::{CommandDescriptor, Execute}, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", condition = pristine)]
/// # struct PurchaseBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// let execute: Execute = CommandDescriptor::of::<PurchaseBookCommand>().execute;
/// ```
pub type Execute = for<'a> fn(
    &'a CommandBus,
    CommandRequest<'a>,
) -> BoxFuture<'a, Result<CommandOutcome, CommandError>>;

impl CommandDescriptor {
    /// Whether anybody can post it.
    #[must_use]
    pub const fn is_internal(&self) -> bool {
        self.path.is_empty()
    }

    /// The descriptor of the command `C`.
    #[must_use]
    pub const fn of<C: Handle>() -> Self {
        check_parameters(C::CONDITION, C::PARAMETERS);
        Self {
            name: C::NAME,
            summary: C::SUMMARY,
            path: C::PATH,
            subject: C::SUBJECT,
            condition: C::CONDITION,
            role: C::ROLE,
            declaration: <C as Command>::DECLARATION,
            handler: C::HANDLER,
            parameters: C::PARAMETERS,
            schema: SchemaGenerator::subschema_for::<C>,
            reply: C::reply,
            rejections: C::rejections,
            execute: |bus, request| counted::<C>(bus, request).boxed(),
        }
    }
}

inventory::collect!(CommandDescriptor);

/// A pristine subject has no state that a handler could ask for.
const fn check_parameters(condition: Condition, parameters: &[Parameter]) {
    let mut rest = parameters;
    while let [first, others @ ..] = rest {
        let is_own_state =
            matches!(first.origin, ParameterOrigin::State(_)) && first.subject.is_none();
        assert!(
            !matches!(condition, Condition::Pristine) || !is_own_state || first.optional,
            "the command asks for a pristine subject, which has no state: remove the handler's parameter, or `condition = pristine`"
        );
        rest = others;
    }
}

async fn counted<C: Handle>(
    bus: &CommandBus,
    request: CommandRequest<'_>,
) -> Result<CommandOutcome, CommandError> {
    let ended = execute::<C>(bus, request).await;
    metrics::ended(C::NAME, &ended);
    ended
}

/// parse → validate → bus, and once more from the start when a subject moved meanwhile.
async fn execute<C: Handle>(
    bus: &CommandBus,
    request: CommandRequest<'_>,
) -> Result<CommandOutcome, CommandError> {
    let attempted = attempted::<C>(&request)?;
    let mut attempts = retry::Attempts::default();
    loop {
        let command: C = parse::parse(&request)?;
        parse::validate(&command)?;
        let memory = attempts.memory();
        let attempt = bus.attempt(command, request.context, attempted.as_ref(), memory);
        match attempt.await? {
            Attempt::Done(outcome) => return Ok(outcome),
            Attempt::Moved(subject) => {
                attempts.pause(subject).await?;
                metrics::retried(C::NAME);
            }
        }
    }
}

fn attempted<C: Handle>(request: &CommandRequest<'_>) -> Result<Option<Attempted>, CommandError> {
    let Some(key) = &request.context.idempotency_key else {
        return Ok(None);
    };
    let attempted = Attempted::of(key, request.digest(C::NAME));
    attempted.map(Some).map_err(|part| {
        let (pointer, message) = (String::new(), part.to_string());
        CommandError::Invalid(vec![Violation { pointer, message }])
    })
}
