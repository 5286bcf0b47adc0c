//! Generates the implementation of `Evolve`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Ident, Type};

use super::check::{EvolveForm, EvolveStep};
use crate::codegen::framework::Framework;

/// Generates the implementation that calls the functions. Without functions, the implementation is
/// the stub of a block with mistakes.
pub(crate) fn expand_evolve(
    state: &Type,
    forwarded: &[Attribute],
    steps: &[EvolveStep],
    framework: &Framework,
) -> TokenStream {
    let types = steps.iter().map(|step| {
        let EvolveStep {
            conditions, event, ..
        } = step;
        quote!(#(#conditions)* <#event as #framework::event::Event>::TYPE)
    });
    let branches = steps.iter().map(|step| branch(step, framework));
    let event = match steps {
        [] => quote!(_event),
        _ => quote!(event),
    };
    quote! {
        #(#forwarded)*
        #[automatically_derived]
        impl #framework::state::Evolve for #state {
            const EVENTS: &'static [&'static str] = &[#(#types),*];

            fn evolve(
                before: ::core::option::Option<Self>,
                #event: &#framework::event::EventView<'_>,
            ) -> ::core::result::Result<
                ::core::option::Option<Self>,
                #framework::event::DecodeError,
            > {
                #(#branches)*
                ::core::result::Result::Ok(before)
            }
        }
    }
}

fn branch(step: &EvolveStep, framework: &Framework) -> TokenStream {
    let EvolveStep {
        conditions, event, ..
    } = step;
    let after = after(step);
    quote! {
        #(#conditions)*
        if event.event_type() == <#event as #framework::event::Event>::TYPE {
            let event = event.payload::<#event>()?;
            return ::core::result::Result::Ok(#after);
        }
    }
}

/// Generates the state after the event. The compiler reports a wrong return type at the function's
/// output.
fn after(step: &EvolveStep) -> TokenStream {
    let EvolveStep {
        ident,
        by_reference,
        form,
        is_optional,
        output,
        ..
    } = step;
    // Names resolve as generated code, at the location of the output.
    let span = Span::call_site().located_at(*output);
    let event = if *by_reference {
        quote!(&event)
    } else {
        quote!(event)
    };
    let before = (*form == EvolveForm::Follows).then(|| quote!(before,));
    match (form, is_optional) {
        (EvolveForm::Begins | EvolveForm::Follows, false) => quote_spanned! {span=>
            ::core::option::Option::Some({
                let state: Self = Self::#ident(#before #event);
                state
            })
        },
        (EvolveForm::Begins | EvolveForm::Follows, true) => {
            quote_spanned!(span=> Self::#ident(#before #event))
        }
        (EvolveForm::Replaces, false) => quote_spanned! {span=>
            before.map(|state| -> Self { state.#ident(#event) })
        },
        (EvolveForm::Replaces, true) => quote_spanned! {span=>
            before.and_then(|state| -> ::core::option::Option<Self> { state.#ident(#event) })
        },
        (EvolveForm::Changes, _) => changed(ident, &event),
    }
}

fn changed(ident: &Ident, event: &TokenStream) -> TokenStream {
    quote! {
        before.map(|mut state| {
            state.#ident(#event);
            state
        })
    }
}
