//! The first argument of a reaction's function: its event, or the time of its schedule.

use proc_macro2::TokenStream;
use quote::quote;

use super::check::{ReactionStep, StepCause};
use crate::codegen::framework::Framework;

/// The first argument of a function, and the parameters of the closure and the statement that provide it.
pub(super) struct FirstArgument {
    pub(super) argument: Option<TokenStream>,
    pub(super) statement: Option<TokenStream>,
    pub(super) event: TokenStream,
    /// True if it comes from the context.
    pub(super) is_time: bool,
}

impl FirstArgument {
    pub(super) fn of_step(step: &ReactionStep, framework: &Framework) -> Self {
        match &step.cause {
            StepCause::Event {
                event,
                by_reference,
                ..
            } => Self {
                argument: Some(if *by_reference {
                    quote!(&happened)
                } else {
                    quote!(happened)
                }),
                statement: Some(quote! {
                    let happened = #framework::reaction::decode_event::<#event>(event)?;
                }),
                event: quote!(event),
                is_time: false,
            },
            StepCause::Schedule { takes_time, .. } => Self {
                argument: takes_time.then(|| quote!(time)),
                statement: takes_time.then(|| {
                    quote!(
                        let time = context.time();
                    )
                }),
                event: quote!(_),
                is_time: *takes_time,
            },
        }
    }
}
