//! The warnings about probable mistakes, each with its remedy.

use crate::Declaration;

/// A probable mistake in the declarations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum DeclarationWarning {
    /// Nothing consumes an event.
    #[error(
        "no state, read model or reaction consumes {event} at {declaration}: consume it, or write `#[event(informational)]` if it is recorded for others only"
    )]
    UnconsumedEvent {
        event: &'static str,
        declaration: Declaration,
    },
    /// The states of a subject ignore one of its events.
    #[error(
        "the state {state} at {state_at} ignores {event} at {declaration}, which occurs on its subject {subject}: add a function for it to `#[evolve]`, or write `#[event(informational)]` if no decision depends on the event"
    )]
    IgnoredEvent {
        state: &'static str,
        state_at: Declaration,
        event: &'static str,
        declaration: Declaration,
        subject: String,
    },
    /// A reaction leads to the event that starts it.
    #[error(
        "the reaction {reaction} at {declaration} can start itself for ever: it sends {command}, handled at {handler}, which records {event}, which leads back to it: break the circle, or write `#[reaction(repeats)]` if the handler ends it"
    )]
    ReactionLoop {
        reaction: &'static str,
        declaration: Declaration,
        command: &'static str,
        handler: Declaration,
        event: &'static str,
    },
    /// Nothing takes declared settings.
    #[error(
        "no handler and no reaction takes the settings {settings} at {declaration}, so that their flags and variables do not exist: take them as `&{settings}`, remove them, or write `#[settings(unused)]` if that is intended"
    )]
    UnusedSettings {
        settings: &'static str,
        declaration: Declaration,
    },
    /// No token has a role.
    #[error(
        "no token in AUTH_TOKENS_FILE has the role {role}, which {name} at {declaration} requires, so that nobody can call it: add a token with `token create`, correct the role, or write `role_without_token` beside it if that is intended"
    )]
    UnknownRole {
        role: String,
        name: String,
        declaration: Declaration,
    },
}
