//! Generates the code of a projection that passed the checks.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, ItemImpl, Type, spanned::Spanned as _};

use super::check::{CheckedProjection, ProjectionStep, StepShape};
use crate::codegen::framework::Framework;

/// Returns the block, and the implementation that calls its functions.
pub(crate) fn expand_projection(
    block: &ItemImpl,
    projection: &CheckedProjection,
    framework: &Framework,
) -> TokenStream {
    let module = quote!(#framework::projection);
    let CheckedProjection {
        model,
        forwarded,
        steps,
    } = projection;
    let types = steps.iter().map(|step| {
        let ProjectionStep {
            conditions, event, ..
        } = step;
        quote!(#(#conditions)* <#event as #framework::event::Event>::TYPE)
    });
    let of_subject: Vec<_> = steps
        .iter()
        .filter(|step| step.key.is_none())
        .map(|step| {
            let (conditions, event) = (&step.conditions, &step.event);
            quote!(#(#conditions)* <#event as #framework::event::Event>::TYPE)
        })
        .collect();
    let of_subject = (!of_subject.is_empty())
        .then(|| quote!(const EVENTS_OF_SUBJECT: &'static [&'static str] = &[#(#of_subject),*];));
    let steps_code = steps.iter().map(|step| step_code(step, framework));
    let needs_subject = steps.iter().any(|step| step.key.is_none());
    let subject_is_there = needs_subject.then(|| subject_is_there(model, forwarded, framework));
    let declaration = declaration(model, framework);
    quote! {
        #block

        #subject_is_there

        #(#forwarded)*
        #[automatically_derived]
        impl #module::Project for #model {
            const EVENTS: &'static [&'static str] = &[#(#types),*];
            #of_subject
            const PROJECTION: #framework::Declaration = #declaration;

            fn change(
                event: &#framework::event::EventView<'_>,
            ) -> ::core::result::Result<
                ::core::option::Option<#module::RowChange<Self>>,
                #module::ProjectionError,
            > {
                #(#steps_code)*
                ::core::result::Result::Ok(::core::option::Option::None)
            }
        }
    }
}

fn declaration(model: &Type, framework: &Framework) -> TokenStream {
    let framework = framework.with_span(model.span());
    quote_spanned!(model.span()=> #framework::declaration!())
}

/// Generates a check at compile time that the read model has a subject. Without one, `#[key(…)]` has
/// to name the key.
fn subject_is_there(model: &Type, forwarded: &[Attribute], framework: &Framework) -> TokenStream {
    quote! {
        #(#forwarded)*
        const _: () = ::core::assert!(
            !<#model as #framework::projection::ReadModel>::SUBJECT.is_empty(),
            "where the read model names no subject, each function of its projection names the key of its row: write `#[key(book)]` above it, or `#[read_model(subject = \"/books/{{id}}\")]`",
        );
    }
}

fn step_code(step: &ProjectionStep, framework: &Framework) -> TokenStream {
    let ProjectionStep {
        conditions, event, ..
    } = step;
    let recorded = step
        .takes_recorded
        .then(|| quote!(let recorded = ::core::clone::Clone::clone(event.recorded());));
    let place = if step.key.is_some() {
        "field"
    } else {
        "subject"
    };
    // The compiler reports a field of another type at the attribute.
    let key = step.key.as_ref().map(|field| {
        let happened = Ident::new("happened", field.span().resolved_at(Span::mixed_site()));
        let value = quote_spanned!(field.span()=> &#happened.#field);
        quote!(|#happened: &#event| #value,)
    });
    let (operation, function) = change(step);
    // The compiler reports a type that is no event once, at the parameter.
    let span = event.span();
    let operation = format_ident!("{operation}_on_{place}", span = span);
    let there = framework.with_span(span);
    let change = quote_spanned!(span=> #there::projection::RowChange::#operation);
    quote! {
        #(#conditions)*
        if event.event_type() == <#event as #framework::event::Event>::TYPE {
            #recorded
            return #change(event, #key #function);
        }
    }
}

/// Returns the kind of change, and the closure that calls the function of the step.
fn change(step: &ProjectionStep) -> (&'static str, TokenStream) {
    let ProjectionStep {
        function, event, ..
    } = step;
    let reference = step.by_reference.then(|| quote!(&));
    let recorded = step.takes_recorded.then(|| quote!(, &recorded));
    let arguments = quote!(#reference happened #recorded);
    let capture = step.takes_recorded.then(|| quote!(move));
    let row = match step.shape {
        StepShape::Put => {
            let closure = quote!(|happened: #event| Self::#function(#arguments));
            return ("put", closure);
        }
        StepShape::Change => quote!({
            let mut row: Self = row?;
            row.#function(#arguments);
            ::core::option::Option::Some(row)
        }),
        StepShape::Replace => quote!(::core::option::Option::Some(row?.#function(#arguments))),
        StepShape::Remove => quote!(row?.#function(#arguments)),
        StepShape::Follow => quote!(Self::#function(row, #arguments)),
    };
    let closure = quote!(#capture |row: ::core::option::Option<Self>, happened: #event| #row);
    ("compute", closure)
}

/// Returns the block of a projection with mistakes and its stub, so that the compiler reports only these
/// mistakes.
pub(crate) fn generate_stub(block: &ItemImpl, framework: &Framework) -> TokenStream {
    let mut block = block.clone();
    block.attrs.push(syn::parse_quote!(#[allow(unused)]));
    if !block.generics.params.is_empty() {
        return quote!(#block);
    }
    let model = &block.self_ty;
    let module = quote!(#framework::projection);
    let declaration = declaration(model, framework);
    quote! {
        #block

        #[automatically_derived]
        impl #module::Project for #model {
            const EVENTS: &'static [&'static str] = &[];
            const PROJECTION: #framework::Declaration = #declaration;

            fn change(
                _: &#framework::event::EventView<'_>,
            ) -> ::core::result::Result<
                ::core::option::Option<#module::RowChange<Self>>,
                #module::ProjectionError,
            > {
                ::core::unreachable!()
            }
        }
    }
}
