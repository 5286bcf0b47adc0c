//! The descriptor of a command: its declaration as plain data, without its Rust type.

use futures_util::{FutureExt as _, future::BoxFuture};
use schemars::{Schema, SchemaGenerator};

use super::{
    Command, CommandError, CommandOrder, CommandOutcome, CommandRequest, CommandResources,
    DryRunDecision, Handle, Parameter, RejectionDescriptor, ReplySchema, SubjectCondition,
    pipeline,
    prepared_command::{PrepareFunction, PreparedCommand},
};
use es_event::{Declaration, OwnerRule};

/// The descriptor of a command and its handler.
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
/// assert_eq!((purchase.path, purchase.roles), ("/books/purchase", &["staff"][..]));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CommandDescriptor {
    /// The type's name.
    pub name: &'static str,
    /// The command's summary in one sentence.
    pub summary: &'static str,
    /// The path of the command's HTTP route. An internal command has an empty path.
    pub path: &'static str,
    /// The template of the command's subject.
    pub subject: &'static str,
    /// The condition on the command's subject.
    pub condition: SubjectCondition,
    /// The templates of the other subjects that must have an event.
    pub required_subjects: &'static [&'static str],
    /// The roles of which a caller needs one if authentication is on.
    pub roles: &'static [&'static str],
    /// True if the application does not warn at its start when no token has one of the roles.
    pub role_without_token: bool,
    /// True if everybody may send it without a credential, also if authentication is on.
    pub public: bool,
    /// The roles of which a caller needs one to say when something happened before.
    pub backdate_roles: &'static [&'static str],
    /// The rule about the owner, if there is one.
    pub owner: Option<OwnerRule>,
    /// The place of the command's declaration in the source.
    pub declaration: Declaration,
    /// The place of the command's handler in the source.
    pub handler: Declaration,
    /// Returns the handler's parameters besides the command.
    pub parameters: fn() -> Vec<Parameter>,
    /// Generates the JSON schema of the command's body.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Generates the JSON schema of the handler's reply, if it has one.
    pub reply: fn(&mut SchemaGenerator) -> Option<ReplySchema>,
    /// The rejections that the command's handler can return.
    pub rejections: fn() -> &'static [RejectionDescriptor],
    /// Returns the types of the events that the handler may return.
    pub events: fn() -> Vec<&'static str>,
    /// Returns whether the handler may return no event.
    pub may_be_empty: fn() -> bool,
    prepare: PrepareFunction,
}

impl CommandDescriptor {
    /// Returns whether the command has no HTTP route.
    #[must_use]
    pub const fn is_internal(&self) -> bool {
        self.path.is_empty()
    }

    /// Runs a request through the command pipeline. [`CommandResources`] has an example.
    ///
    /// # Errors
    /// The request is not valid, the handler rejects the command, or the event store does not store its events.
    #[must_use]
    pub fn execute<'a>(
        &self,
        resources: &'a CommandResources,
        request: CommandRequest<'a>,
    ) -> BoxFuture<'a, Result<CommandOutcome, CommandError>> {
        pipeline::execute(self.name, self.prepare, resources, request, None).boxed()
    }

    /// The same, after the earlier commands of this order that are about the same subjects.
    #[doc(hidden)]
    #[must_use]
    pub fn execute_in_order<'a>(
        &self,
        resources: &'a CommandResources,
        request: CommandRequest<'a>,
        order: &'a CommandOrder,
    ) -> BoxFuture<'a, Result<CommandOutcome, CommandError>> {
        pipeline::execute(self.name, self.prepare, resources, request, Some(order)).boxed()
    }

    /// Decides on a request, and appends nothing.
    pub(super) fn decide<'a>(
        &self,
        resources: &'a CommandResources,
        request: CommandRequest<'a>,
    ) -> BoxFuture<'a, Result<DryRunDecision, CommandError>> {
        pipeline::decide(self.prepare, resources, request).boxed()
    }

    /// Returns the descriptor of the command `C`.
    #[must_use]
    pub const fn of<C: Handle>() -> Self {
        // The compiler evaluates the assertions of the inputs here.
        let _ = C::FUNCTION;
        Self {
            name: C::NAME,
            summary: C::SUMMARY,
            path: C::PATH,
            subject: C::SUBJECT,
            condition: C::CONDITION,
            required_subjects: C::REQUIRED_SUBJECTS,
            roles: C::ROLES,
            role_without_token: C::ROLE_WITHOUT_TOKEN,
            public: C::PUBLIC,
            backdate_roles: C::BACKDATE_ROLES,
            owner: C::OWNER,
            declaration: <C as Command>::DECLARATION,
            handler: C::HANDLER,
            parameters: || C::FUNCTION.parameters(),
            schema: SchemaGenerator::subschema_for::<C>,
            reply: |generator| C::FUNCTION.reply_schema(generator),
            rejections: || C::FUNCTION.rejections(),
            events: || C::FUNCTION.events(),
            may_be_empty: || C::FUNCTION.may_be_empty(),
            prepare: PreparedCommand::from_request::<C>,
        }
    }
}

inventory::collect!(CommandDescriptor);
