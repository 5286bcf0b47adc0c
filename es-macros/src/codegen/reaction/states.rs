//! Generates the action of a step that decides on states, and the states that a step takes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Type, spanned::Spanned as _};

use super::{check::ReactionStep, first_argument::FirstArgument};
use crate::codegen::{
    framework::Framework, handler::parameter::InjectedParameter, naming, template,
};

/// Generates the action: the states are rebuilt, and then the function decides.
pub(super) fn expand_decide(
    step: &ReactionStep,
    output: &Type,
    states: &[InjectedParameter],
    framework: &Framework,
) -> TokenStream {
    let module = quote!(#framework::reaction);
    let function = &step.function;
    let FirstArgument {
        argument,
        statement,
        event,
        ..
    } = FirstArgument::of_step(step, framework);
    let names: Vec<Ident> = (0..states.len())
        .map(|index| format_ident!("state_{index}"))
        .collect();
    let rebuilds = names.iter().zip(states).map(|(name, state)| {
        let rebuild = rebuild(state, framework);
        quote!(let #name = #rebuild;)
    });
    let borrowed = names
        .iter()
        .zip(states)
        .map(|(name, state)| borrow(name, state));
    let arguments = argument.into_iter().chain(borrowed);
    quote! {
        #module::ReactionAction::Decide(|#event, context| {
            #statement
            #(#rebuilds)*
            ::core::result::Result::Ok(#module::box_commands(async move {
                #(let #names = #names.await?;)*
                let mut commands = #module::OutgoingCommands::default();
                let decided = Self::#function(#(#arguments),*);
                <#output as #module::IntoCommands>::add_to(decided, &mut commands)?;
                ::core::result::Result::Ok(commands)
            }))
        })
    }
}

/// Generates the future of a state.
pub(crate) fn rebuild(state: &InjectedParameter, framework: &Framework) -> TokenStream {
    let InjectedParameter {
        ty,
        is_optional,
        is_recursive,
        ..
    } = state;
    let rebuild = if *is_optional {
        quote!(rebuild)
    } else {
        quote!(rebuild_required)
    };
    let subject = subject(state, framework);
    // The compiler reports a type that is no state at the parameter.
    let span = Span::call_site().located_at(ty.span());
    let call = quote_spanned!(span=> context.#rebuild::<#ty>);
    quote!(#call(#subject, #is_recursive))
}

/// Generates the argument for a value that the function takes by reference.
pub(crate) fn borrow(name: &Ident, parameter: &InjectedParameter) -> TokenStream {
    if parameter.is_optional {
        quote!(#name.as_ref())
    } else {
        quote!(&#name)
    }
}

/// Generates the subject of a state: that of its template, or the event's own.
pub(super) fn subject(state: &InjectedParameter, framework: &Framework) -> TokenStream {
    let Some((text, template)) = &state.subject else {
        return quote!(::core::clone::Clone::clone(&event.recorded().subject));
    };
    let parts = template::subject_parts(template, framework, |name| {
        let member = naming::camel_case(name);
        // Names resolve as generated code, at the location of the template.
        let span = Span::call_site().located_at(text.span());
        let mut field = naming::field_ident(name).unwrap_or_else(|| format_ident!("_"));
        field.set_span(span);
        let there = framework.with_span(span);
        Some(quote_spanned! {span=>
            #there::event::SubjectTemplatePart::field(#member, &happened.#field)
        })
    });
    quote!(#framework::event::Subject::fill_template(&[#(#parts),*])?)
}

/// Generates the description of a state.
pub(super) fn describe_state(state: &InjectedParameter, framework: &Framework) -> TokenStream {
    let InjectedParameter {
        name,
        ty,
        is_recursive,
        ..
    } = state;
    let subject = match &state.subject {
        Some((_, template)) => {
            let shown = template.render(naming::camel_case);
            quote!(::core::option::Option::Some(#shown))
        }
        None => quote!(::core::option::Option::None),
    };
    let there = framework.with_span(ty.span());
    quote_spanned! {ty.span()=>
        #there::command::Parameter::of_state::<#ty>(#name, #subject, #is_recursive)
    }
}

/// Generates the descriptions of the states of a function.
pub(crate) fn describe_states(states: &[InjectedParameter], framework: &Framework) -> TokenStream {
    let described = states.iter().map(|state| describe_state(state, framework));
    quote!(&[#(#described),*])
}
