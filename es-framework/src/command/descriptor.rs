//! A command's declaration without its Rust type, as the registry and the routes need it.

use futures_util::{FutureExt as _, future::BoxFuture};
use schemars::{Schema, SchemaGenerator};

use super::{
    Bus, Command, CommandError, Condition, Handle, Outcome, RejectionDescriptor, bus::Attempt,
    parse, retry,
};
use crate::Declaration;

/// A command as it came in.
#[derive(Debug, Clone, Copy)]
pub struct CommandText<'a> {
    /// The JSON text.
    pub body: &'a [u8],
    /// Names and values that the path holds.
    pub path_parameters: &'a [(&'a str, &'a str)],
}

/// A declared command together with its handler.
#[derive(Debug, Clone, Copy)]
pub struct CommandDescriptor {
    /// The type's name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The path that it is posted to.
    pub path: &'static str,
    /// The template of its subject.
    pub subject: &'static str,
    /// What must be true of the subject.
    pub condition: Condition,
    /// Where it is declared.
    pub declaration: Declaration,
    /// Where its handler stands.
    pub handler: Declaration,
    /// The JSON schema of its body.
    pub schema: fn() -> Schema,
    /// Every refusal that its handler may answer with.
    pub rejections: fn() -> &'static [RejectionDescriptor],
    /// Carries it from its text to its events.
    pub execute: Execute,
}

/// The whole way of one command, its type forgotten.
pub type Execute =
    for<'a> fn(&'a Bus, CommandText<'a>) -> BoxFuture<'a, Result<Outcome, CommandError>>;

impl CommandDescriptor {
    /// The descriptor of the command `C`.
    #[must_use]
    pub const fn of<C: Handle>() -> Self {
        Self {
            name: C::NAME,
            summary: C::SUMMARY,
            path: C::PATH,
            subject: C::SUBJECT,
            condition: C::CONDITION,
            declaration: <C as Command>::DECLARATION,
            handler: C::HANDLER,
            schema: || SchemaGenerator::default().into_root_schema_for::<C>(),
            rejections: C::rejections,
            execute: |bus, text| execute::<C>(bus, text).boxed(),
        }
    }
}

inventory::collect!(CommandDescriptor);

/// parse → validate → bus, and once more from the start when the subject moved meanwhile.
async fn execute<C: Handle>(bus: &Bus, text: CommandText<'_>) -> Result<Outcome, CommandError> {
    let mut attempts = retry::Attempts::default();
    loop {
        let command: C = parse::parse(&text)?;
        parse::validate(&command)?;
        match bus.attempt(command).await? {
            Attempt::Done(outcome) => return Ok(outcome),
            Attempt::Moved(subject) => attempts.pause(subject).await?,
        }
    }
}
