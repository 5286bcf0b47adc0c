//! Commands, handlers, states, the command pipeline, idempotency and reactions.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

// Lets the paths `::es_framework::…`, which the macros write, resolve in the unit tests.
#[cfg(test)]
extern crate self as es_framework;

pub mod command;
mod new_event;
pub mod reaction;
pub mod settings;
pub mod state;
#[doc(hidden)]
pub mod unique;
pub mod validate;

pub use reaction::publication;

#[cfg(test)]
mod facade;
#[cfg(test)]
pub use facade::*;

/// The items that expanded macros use, for the facade.
#[doc(hidden)]
pub mod __private {
    pub use crate::validate::nested_field::{
        NestedField, NestedRules, NoNestedRules, NoRulesInside, RulesAreFollowed, RulesInside,
        RulesOutOfReach,
    };
    pub use clap;
    pub use es_event::__private::{
        HasJson, Itself, MissingJson, check_json, inventory, schemars, serde, serde_crate,
    };
}
