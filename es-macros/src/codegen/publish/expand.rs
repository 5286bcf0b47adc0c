//! Generates the descriptor of a publication.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{ItemFn, Type, ext::IdentExt as _, spanned::Spanned as _};

use super::check::CheckedPublication;
use crate::codegen::{
    annotated_function::AnnotatedFunction, declaration, framework::Framework, reaction::states,
};

/// Generates the function and its registration.
pub(super) fn expand_publication(
    function: &ItemFn,
    publication: &CheckedPublication,
    framework: &Framework,
) -> TokenStream {
    let CheckedPublication {
        ident,
        event,
        states,
        output,
        personal,
        forwarded,
        ..
    } = publication;
    let module = quote!(#framework::publication);
    let name = ident.unraw().to_string();
    let publish = expand_publish(publication, framework);
    let parameters = states::describe_states(states, framework);
    let personal = personal_members(event, personal, framework);
    let declaration = declaration(ident, framework);
    let there = framework.with_span(output.span());
    let public_events = quote_spanned! {output.span()=>
        <#output as #there::publication::IntoPublicEvents>::public_events
    };
    quote! {
        #function

        #(#forwarded)*
        const _: () = {
            const PUBLICATION: #module::PublicationDescriptor = #module::PublicationDescriptor {
                name: #name,
                event: <#event as #framework::event::Event>::TYPE,
                publish: #publish,
                parameters: #parameters,
                public_events: #public_events,
                personal: &#personal,
                declaration: #declaration,
            };
            #framework::__private::inventory::submit! { PUBLICATION }
        };
    }
}

/// Generates the closure that decodes the event, rebuilds the states and calls the function.
fn expand_publish(publication: &CheckedPublication, framework: &Framework) -> TokenStream {
    let CheckedPublication {
        ident,
        event,
        by_reference,
        states,
        output,
        personal,
        ..
    } = publication;
    let module = quote!(#framework::publication);
    let names: Vec<Ident> = (0..states.len())
        .map(|index| format_ident!("state_{index}"))
        .collect();
    let named = || names.iter().zip(states);
    let rebuilds = named().map(|(name, state)| {
        let rebuild = states::rebuild(state, framework);
        quote!(let #name = #rebuild;)
    });
    let happened = if *by_reference {
        quote!(&happened)
    } else {
        quote!(happened)
    };
    let personal = personal_members(event, personal, framework);
    // A variable with this span cannot hide the function.
    let events = Ident::new("events", Span::mixed_site());
    let context = if states.is_empty() {
        quote!(_)
    } else {
        quote!(context)
    };
    let borrowed = named().map(|(name, state)| states::borrow(name, state));
    let arguments = std::iter::once(happened).chain(borrowed);
    quote! {
        |event, #context| {
            let happened = #module::decode_event::<#event>(event, &#personal)?;
            #(#rebuilds)*
            ::core::result::Result::Ok(#module::box_events(async move {
                #(let #names = #names.await?;)*
                let mut #events = #module::OutgoingEvents::default();
                <#output as #module::IntoPublicEvents>::add_to(
                    #ident(#(#arguments),*),
                    &mut #events,
                )?;
                ::core::result::Result::Ok(#events)
            }))
        }
    }
}

/// Generates the list of the JSON names of the personal fields that the function sees.
fn personal_members(event: &Type, fields: &[Ident], framework: &Framework) -> TokenStream {
    let members = fields.iter().map(|field| {
        // The compiler reports a field that is not personal at its name.
        let (there, name) = (framework.with_span(field.span()), field.unraw().to_string());
        quote_spanned!(field.span()=> #there::publication::personal_member::<#event>(#name))
    });
    quote!([#(#members),*])
}

/// Generates the function of a publication with mistakes. Further warnings about it would only distract.
pub(super) fn generate_stub(declared: &AnnotatedFunction, _: &Framework) -> TokenStream {
    let function = declared.function_without_attributes();
    quote!(#[allow(unused)] #function)
}
